/* Tables of `report` as sections of a page, and what is known of their columns. */
#include "view/page/page_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/json_write.h"
#include "op/source_impl.h"
#include "op/symbols/code_map.h"
#include "view/markup_text.h"
#include "view/page/answer_section.h"
#include "view/page/page_events.h"
#include "view/page/page_text.h"
#include "view/view.h"

enum { STATIC_ROWS = 40, CELL_SIZE = 256, ROWS_TEXT = 48 };

typedef struct page_table {
    tl_table_run run;
    bool begun, off; /* off: several sources cannot be added up */
    tl_answer answer;
    char rows[ROWS_TEXT]; /* what is left out */
} page_table;

struct tl_html_tables {
    tl_html_tables_options o;
    tl_json_limit limit; /* of each */
    page_table *table;   /* by kind */
    size_t n;
    tl_html_section *section;
    size_t nsection;
    tl_html_section events[TL_HTML_EVENT_SECTIONS];
    tl_code_map *code;
    char *facts;
    const tl_answer *first; /* of the first section, or NULL */
};

bool tl_html_tables_know(const char *word)
{
    const tl_table_kind *kind = tl_table_find(word, NULL);
    return kind && kind->tab;
}

int tl_html_tables_new(tl_html_tables **out, const tl_html_tables_options *o, tl_error *e)
{
    tl_html_tables *t = calloc(1, sizeof *t);
    const uint64_t part = o->limit / TL_HTML_TABLE_PART;
    if (t) {
        tl_table_kinds(&t->n);
        t->table = calloc(t->n, sizeof *t->table);
        t->section = calloc(t->n + TL_HTML_EVENT_SECTIONS + 1, sizeof *t->section);
    }
    if (!t || !t->table || !t->section) {
        tl_html_tables_free(t);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the tables of the page");
    }
    t->o = *o;
    t->limit.bytes = part < TL_HTML_TABLE_BYTES_MAX ? part : TL_HTML_TABLE_BYTES_MAX;
    t->limit.rows = TL_HTML_TABLE_ROWS_MAX;
    *out = t;
    return 0;
}

/* Has the source something for the table? The tab of events is for events that no other tab shows. */
static int has_table(const tl_html_tables *t, const tl_table_kind *kind, tl_source *s, bool *has, tl_error *e)
{
    *has = false;
    if (!kind->tab || tl_source_is_profile(s) || !tl_needs_met(kind->info.needs, tl_source_has(s, NULL)))
        return 0;
    if (kind != tl_table_find(kind->info.name, tl_source_trace(s)))
        return 0;
    if (t->o.can_select && !t->o.can_select(t->o.arg, kind))
        return 0;
    *has = kind != &tl_table_class || tl_table_without_profile(tl_source_trace(s));
    return *has ? 0 : tl_source_find_event(s, tl_html_is_other, has, e);
}

static int begin_table(tl_html_tables *t, page_table *p, const tl_table_kind *kind, tl_error *e)
{
    tl_table_options options = {0};
    if (t->o.by && strcmp(t->o.by, kind->info.name) == 0)
        options = t->o.options;
    options.several = t->o.several;
    options.no_demangle = t->o.options.no_demangle;
    int status = kind->pass && t->o.exe && !t->code ? tl_code_map_open(&t->code, t->o.exe, e) : 0;
    if (status < 0)
        return status;
    options.code = kind->pass ? t->code : NULL;
    p->begun = true;
    return tl_table_run_init(&p->run, kind, &options, e);
}

/* The first events, and where events are, by the rows of the table of classes. */
static int make_events(tl_html_tables *t, page_table *p, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_answer answer;
    int status = tl_table_run_answer(&p->run, &(tl_ask){.for_programs = true}, "", &answer, e);
    if (status == 0)
        status = tl_html_events(s, select, tl_answer_main(&answer), t->limit.bytes, t->events, e);
    tl_answer_fini(&answer);
    return status;
}

int tl_html_tables_add(tl_html_tables *t, tl_source *s, const tl_select *select, tl_error *e)
{
    const tl_table_kind *const *kinds = tl_table_kinds(&t->n);
    tl_table_run **of_insns = tl_alloc(t->n + 1, sizeof *of_insns);
    uint32_t n = 0;
    int status = of_insns ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the tables of the page");
    for (size_t i = 0; i < t->n && status == 0; i++) {
        page_table *p = &t->table[i];
        const tl_table_kind *kind = kinds[i];
        bool has = false;
        if (!p->off)
            status = has_table(t, kind, s, &has, e);
        if (status < 0)
            break;
        if (!has)
            continue;
        p->off = t->o.several && !tl_table_adds_up(kind);
        if (p->off)
            continue;
        if (!p->begun)
            status = begin_table(t, p, kind, e);
        if (status < 0)
            break;
        if (p->run.pass) {
            of_insns[n++] = &p->run;
            continue;
        }
        status = tl_table_run_add(&p->run, s, select, t->o.threads, e);
        if (status == TL_EINVAL) { /* times in another unit */
            p->off = true;
            status = 0;
        }
        if (status == 0 && kind == &tl_table_class && !p->off && !tl_table_run_is_empty(&p->run))
            status = make_events(t, p, s, select, e);
    }
    if (status == 0 && n)
        status = tl_table_runs_add(of_insns, n, s, select, t->o.threads, e);
    free(of_insns);
    return status;
}

/* ---- columns ---- */

static const char *unit_word(tl_column_unit unit)
{
    static const char *const word[] = {
        [TL_UNIT_NONE] = "",       [TL_UNIT_COUNT] = "count", [TL_UNIT_TIME] = "time", [TL_UNIT_BYTES] = "bytes",
        [TL_UNIT_SHARE] = "share", [TL_UNIT_HEX] = "hex",     [TL_UNIT_BOOL] = "bool", [TL_UNIT_JSON] = "json",
        [TL_UNIT_UTC] = "utc",     [TL_UNIT_BLOB] = "blob"};
    return word[unit];
}

static void put_columns(tl_json *j, const tl_part *p)
{
    tl_json_array(j);
    for (uint32_t i = 0; i < p->ncolumn; i++) {
        const tl_column *c = &p->column[i];
        const char *key = c->json ? c->json : c->info.name;
        if (!key || c->flags & TL_NOT_IN_JSON)
            continue;
        tl_json_object(j);
        tl_json_key_string(j, "key", key);
        tl_json_key_string(j, "title", c->info.title);
        tl_json_key_string(j, "unit", unit_word(c->info.unit));
        tl_json_key_string(j, "what", c->info.what);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static void put_table(tl_json *j, const tl_table_kind *kind, const tl_answer *a)
{
    tl_json_object(j);
    tl_json_key_string(j, "section", kind->info.name);
    tl_json_key_string(j, "tab", kind->tab);
    tl_json_key_string(j, "title", kind->info.summary);
    tl_json_key(j, "parts");
    tl_json_array(j);
    for (const tl_part *p = a->first; p; p = p->next) {
        if (!p->for_programs)
            continue;
        tl_json_object(j);
        tl_json_key_string(j, "key", p->key);
        tl_json_key(j, "columns");
        put_columns(j, p);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_json_object_end(j);
}

/* ---- sections ---- */

static bool is_there(const page_table *p)
{
    return p->begun && !p->off && !tl_table_run_is_empty(&p->run);
}

bool tl_html_tables_any(const tl_html_tables *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (is_there(&t->table[i]))
            return true;
    return false;
}

static int make_section(tl_html_tables *t, size_t i, const char *subject, tl_error *e)
{
    page_table *p = &t->table[i];
    const tl_ask ask = {.for_programs = true};
    tl_json_limit limit = t->limit;
    char *json = NULL;
    size_t n = 0;
    if (!is_there(p))
        return 0;
    int status = tl_table_run_answer(&p->run, &ask, subject, &p->answer, e);
    if (status == 0)
        status = tl_html_answer(&p->answer, &limit, &json, &n, e);
    if (status < 0)
        return status;
    t->first = t->first ? t->first : &p->answer;
    snprintf(p->rows, sizeof p->rows, "rows of --by %s", p->run.kind->info.name);
    t->section[t->nsection++] = (tl_html_section){
        .name = p->run.kind->info.name, .json = json, .n = n, .left_out = limit.left_out, .what = p->rows};
    return 0;
}

/* What the columns of the sections are. */
static int make_columns(tl_html_tables *t, tl_error *e)
{
    tl_output *out;
    tl_json j;
    char *json = NULL;
    size_t n = 0;
    int status = tl_html_json_begin(&out, &j, e);
    if (status < 0)
        return status;
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key(&j, "tables");
    tl_json_array(&j);
    for (size_t i = 0; i < t->n; i++)
        if (t->table[i].answer.first)
            put_table(&j, t->table[i].run.kind, &t->table[i].answer);
    tl_json_array_end(&j);
    tl_json_object_end(&j);
    status = tl_html_take(out, &json, &n, e);
    if (status == 0)
        t->section[t->nsection++] = (tl_html_section){.name = "tables", .json = json, .n = n};
    return status;
}

static int make_facts(tl_html_tables *t, tl_error *e)
{
    const tl_terminal plain = {0};
    tl_output *out;
    size_t n;
    int status = tl_output_open_memory(&out, TL_PLAIN, e);
    if (status < 0)
        return status;
    if (t->first->head)
        t->first->head(t->first, &(tl_prose){.out = out, .terminal = &plain});
    tl_output_write(out, "", 1);
    status = tl_html_take(out, &t->facts, &n, e);
    if (status == 0)
        t->facts[strcspn(t->facts, "\n")] = 0;
    return status;
}

int tl_html_tables_make(tl_html_tables *t, const char *subject, const tl_html_section **section, size_t *n, tl_error *e)
{
    int status = 0;
    for (size_t i = 0; i < t->n && status == 0; i++)
        status = make_section(t, i, subject, e);
    for (size_t i = 0; i < TL_HTML_EVENT_SECTIONS && status == 0; i++)
        if (t->events[i].json) {
            t->section[t->nsection++] = t->events[i];
            t->events[i] = (tl_html_section){0};
        }
    if (status == 0 && t->nsection)
        status = make_columns(t, e);
    if (status == 0 && t->first)
        status = make_facts(t, e);
    *section = t->section;
    *n = t->nsection;
    return status;
}

const char *tl_html_tables_facts(const tl_html_tables *t)
{
    return t->facts ? t->facts : "";
}

/* ---- for readers without scripts ---- */

static void put_cell(tl_output *out, const tl_part *p, uint64_t row, uint32_t column)
{
    char text[CELL_SIZE];
    const tl_column *c = &p->column[column];
    const char *shown = tl_cell_shown(p, row, column, text, sizeof text);
    const size_t n = strlen(shown);
    tl_output_puts(out, c->info.type == TL_TEXT && c->role == TL_ROLE_NAME ? "<td>" : "<td class=\"num\">");
    tl_put_markup(out, shown, n < CELL_SIZE ? n : CELL_SIZE);
    tl_output_puts(out, "</td>");
}

void tl_html_tables_put(const tl_html_tables *t, tl_output *out)
{
    const tl_part *p = t->first ? tl_answer_main(t->first) : NULL;
    if (!p)
        return;
    tl_output_puts(out, "<table>\n<thead><tr>");
    for (uint32_t k = 0; k < p->ncolumn; k++) {
        tl_output_puts(out, p->column[k].info.title ? "<th>" : "");
        tl_html_put(out, p->column[k].info.title ? p->column[k].info.title : "");
        tl_output_puts(out, p->column[k].info.title ? "</th>" : "");
    }
    tl_output_puts(out, "</tr></thead>\n<tbody>\n");
    for (uint64_t i = 0; i < p->n && i < STATIC_ROWS; i++) {
        tl_output_puts(out, "<tr>");
        for (uint32_t k = 0; k < p->ncolumn; k++)
            if (p->column[k].info.title)
                put_cell(out, p, i, k);
        tl_output_puts(out, "</tr>\n");
        tl_arena_reset(&p->answer->scratch);
    }
    tl_output_puts(out, "</tbody>\n</table>\n");
}

void tl_html_tables_free(tl_html_tables *t)
{
    if (!t)
        return;
    for (size_t i = 0; t->table && i < t->n; i++) {
        tl_answer_fini(&t->table[i].answer);
        if (t->table[i].begun)
            tl_table_run_fini(&t->table[i].run);
    }
    for (size_t i = 0; i < t->nsection; i++)
        free((char *)(uintptr_t)t->section[i].json);
    for (size_t i = 0; i < TL_HTML_EVENT_SECTIONS; i++)
        free((char *)(uintptr_t)t->events[i].json);
    tl_code_map_close(t->code);
    free(t->table);
    free(t->section);
    free(t->facts);
    free(t);
}
