/* An answer as Markdown: its sentences, and its tables. */
#include <stdlib.h>
#include <string.h>

#include "view/text_table.h"
#include "view/view.h"

#define SHOWN (TL_TEXT_COLUMNS + 2u) /* columns, the name, and its suffix */

static void take_role(const tl_part *p, tl_column_role role, uint32_t shown[static SHOWN], unsigned *n)
{
    for (uint32_t i = tl_part_next_column(p, p->ncolumn); i < p->ncolumn; i = tl_part_next_column(p, i))
        if (p->column[i].role == role && p->column[i].info.title && *n < SHOWN)
            shown[(*n)++] = i;
}

/* The columns for people, in the order of the text; returns how many. */
static unsigned shown_columns(const tl_part *p, uint32_t shown[static SHOWN])
{
    unsigned n = 0;
    take_role(p, TL_ROLE_NUMBER, shown, &n);
    take_role(p, TL_ROLE_NAME, shown, &n);
    take_role(p, TL_ROLE_SUFFIX, shown, &n);
    return n;
}

/* Text whose blanks must stay: the lines of a tree. */
static void put_lines(tl_output *out, const char *text)
{
    for (; *text; text++) {
        const char *as = *text == ' ' ? "&nbsp;" : *text == '|' ? "\\|" : *text == '`' ? "\\`" : NULL;
        if (as)
            tl_output_puts(out, as);
        else
            tl_output_write(out, text, 1);
    }
}

/* The text before the name of a row. */
static void put_prefix(const tl_part *p, uint64_t row, tl_output *out)
{
    char buf[64];
    for (uint32_t i = 0; i < p->ncolumn; i++)
        if (p->column[i].role == TL_ROLE_PREFIX)
            put_lines(out, tl_cell_shown(p, row, i, buf, sizeof buf));
}

static void put_row(const tl_part *p, uint64_t row, const uint32_t *shown, unsigned n, tl_output *out)
{
    char text[64];
    for (unsigned i = 0; i < n; i++) {
        tl_output_puts(out, "| ");
        if (p->column[shown[i]].role == TL_ROLE_NAME)
            put_prefix(p, row, out);
        tl_text_put_markdown(out, tl_cell_shown(p, row, shown[i], text, sizeof text));
        tl_output_puts(out, " ");
    }
    tl_output_puts(out, "|\n");
    tl_arena_reset(&p->answer->scratch);
}

static void put_table(const tl_part *p, tl_output *out)
{
    uint32_t shown[SHOWN];
    const unsigned n = shown_columns(p, shown);
    if (n && p->n == 0)
        tl_output_printf(out, "%s\n", p->none ? p->none : "nothing to show");
    if (n == 0 || p->n == 0)
        return;
    for (unsigned i = 0; i < n; i++) {
        tl_output_puts(out, "| ");
        tl_text_put_markdown(out, p->column[shown[i]].info.title);
        tl_output_puts(out, " ");
    }
    tl_output_puts(out, "|\n");
    for (unsigned i = 0; i < n; i++)
        tl_output_puts(out, p->column[shown[i]].info.type == TL_TEXT ? "|---" : "|--:");
    tl_output_puts(out, "|\n");
    for (uint64_t row = 0; row < p->n; row++)
        put_row(p, row, shown, n, out);
}

/* Sentences of the answer (part is NULL) or of a part. */
typedef struct speech {
    void (*of_answer)(const tl_answer *a, const tl_prose *p);
    void (*of_part)(const tl_part *part, const tl_prose *p);
} speech;

/* Each line is a paragraph; text laid out in columns goes verbatim into a fence. */
static int put_speech(const tl_showing *s, speech say, const tl_part *part, bool verbatim, tl_error *e)
{
    const tl_terminal plain = {.unicode = s->terminal->unicode, .width = s->terminal->width};
    tl_output *memory = NULL;
    size_t n = 0;
    int status = tl_output_open_memory(&memory, TL_PLAIN, e);
    if (status < 0)
        return status;
    const tl_prose prose = {.out = memory, .terminal = &plain, .markdown = !verbatim};
    if (say.of_answer)
        say.of_answer(s->answer, &prose);
    else
        say.of_part(part, &prose);
    status = tl_output_finish(memory, e);
    char *text = status < 0 ? NULL : tl_output_take_memory(memory, &n);
    tl_output_close(memory);
    if (verbatim)
        tl_output_puts(s->out, "```text\n");
    for (size_t at = 0, end; text && at < n; at = end) {
        const char *newline = memchr(text + at, '\n', n - at);
        end = newline ? (size_t)(newline - text) + 1 : n;
        tl_output_write(s->out, text + at, end - at);
        tl_output_puts(s->out, !verbatim && end < n ? "\n" : "");
    }
    if (verbatim)
        tl_output_puts(s->out, "```\n");
    free(text);
    return status;
}

static int put_part(const tl_showing *s, const tl_part *p, tl_error *e)
{
    tl_output *out = s->out;
    const tl_terminal plain = {.unicode = s->terminal->unicode};
    const tl_prose prose = {.out = out, .terminal = &plain, .markdown = true};
    int status = 0;
    if (p->before) {
        tl_output_puts(out, "\n");
        status = put_speech(s, (speech){.of_part = p->before}, p, p->verbatim, e);
    }
    uint32_t shown[SHOWN];
    if (shown_columns(p, shown)) {
        tl_output_puts(out, "\n");
        put_table(p, out);
        if (p->left_out && !s->ask->has_top) {
            tl_output_puts(out, "\n");
            tl_say_left_out(&prose, p->left_out, p->of, p->rest);
        }
    }
    if (status == 0 && p->after) {
        tl_output_puts(out, "\n");
        status = put_speech(s, (speech){.of_part = p->after}, p, false, e);
    }
    return status;
}

static int show_markdown(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    int status = a->head ? put_speech(s, (speech){.of_answer = a->head}, NULL, false, e) : 0;
    for (const tl_part *p = a->first; p && status == 0; p = p->next)
        if (p->for_people)
            status = put_part(s, p, e);
    return status < 0 ? status : tl_answer_check(a, e);
}

const tl_view tl_view_markdown = {
    .name = "markdown", .suffix = ".md", .show = show_markdown, .what = "tables for documents and comments"};
