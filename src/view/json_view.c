/* An answer as one JSON object. */
#include "view/json_view.h"

#include <stdlib.h>

#include "model/row_json.h"
#include "view/view.h"

/* Rows that are members: of an object, or of the answer itself, where names may be paths. */
static void put_pairs(tl_members *m, const tl_part *p)
{
    tl_cell name, value;
    if (p->key) {
        tl_members_go(m, p->key);
        tl_json_object(&m->json);
    }
    for (uint64_t i = 0; i < p->n; i++) {
        tl_part_cell(p, i, 0, &name);
        tl_part_cell(p, i, 1, &value);
        if (p->key)
            tl_json_key(&m->json, name.text);
        else
            tl_members_go(m, name.text);
        tl_cell_json(&m->json, p, &p->column[1], &value, false);
    }
    if (p->key)
        tl_json_object_end(&m->json);
}

/* The row as text, with a NUL behind it; NULL when memory runs out. */
static char *row_text(const tl_part *p, uint64_t row, size_t *n)
{
    tl_output *memory = NULL;
    tl_json j;
    char *text = NULL;
    if (tl_output_open_memory(&memory, TL_PLAIN, NULL) == 0) {
        tl_json_init(&j, memory);
        tl_row_json(&j, p, row, false);
        tl_output_write(memory, "", 1);
        if (tl_output_finish(memory, NULL) == 0)
            text = tl_output_take_memory(memory, n);
    }
    tl_output_close(memory);
    p->answer->failed = p->answer->failed || !text;
    return text;
}

/* Rows of lists in the cells of a row that list_most leaves out. */
static uint64_t left_out_of_lists(const tl_part *p, uint64_t row)
{
    uint64_t n = 0;
    for (uint32_t i = 0; p->list && i < p->ncolumn; i++) {
        tl_cell v;
        tl_part_cell(p, row, i, &v);
        if (v.kind == TL_CELL_ROWS && v.rows.n > p->list_most)
            n += v.rows.n - p->list_most;
    }
    return n;
}

static uint64_t lists_of(const tl_answer *a)
{
    uint64_t n = 0;
    for (const tl_part *p = a->first; p; p = p->next)
        n += p->for_programs && !p->is_object && p->key;
    return n;
}

/* The first rows, within the limit: `bytes` of the list. */
static void put_some(tl_json *j, tl_part *p, tl_json_limit *limit, uint64_t bytes)
{
    uint64_t i = 0;
    p->list_most = limit->rows / 8 + 1;
    for (; i < p->n && i < limit->rows; i++) {
        size_t n = 0;
        char *text = row_text(p, i, &n);
        tl_arena_reset(&p->answer->scratch);
        if (!text || n > bytes) {
            free(text);
            break;
        }
        tl_json_raw(j, text);
        free(text);
        bytes -= n;
        limit->left_out += left_out_of_lists(p, i);
    }
    limit->left_out += p->n - i;
    p->list_most = 0;
}

static void put_all(tl_json *j, const tl_part *p)
{
    for (uint64_t i = 0; i < p->n; i++) {
        tl_row_json(j, p, i, false);
        tl_arena_reset(&p->answer->scratch);
    }
}

int tl_answer_json(const tl_answer *a, tl_output *out, tl_json_limit *limit, tl_error *e)
{
    const uint64_t begin = tl_output_bytes(out);
    uint64_t lists = limit ? lists_of(a) : 0;
    tl_members m = {.depth = 0};
    tl_json *j = &m.json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    if (a->unit)
        tl_json_key_string(j, "unit", a->unit);
    for (tl_part *p = a->first; p; p = p->next) {
        if (!p->for_programs)
            continue;
        if (p->is_object) {
            put_pairs(&m, p);
            continue;
        }
        if (!p->key) {
            tl_members_row(&m, p, 0, false);
            continue;
        }
        tl_members_go(&m, p->key);
        tl_json_array(j);
        if (limit) {
            const uint64_t used = tl_output_bytes(out) - begin;
            put_some(j, p, limit, used < limit->bytes ? (limit->bytes - used) / lists : 0);
            lists--;
        } else {
            put_all(j, p);
        }
        tl_json_array_end(j);
    }
    tl_members_leave(&m, 0);
    if (limit)
        tl_json_key_u64(j, "left_out", limit->left_out);
    tl_json_object_end(j);
    return tl_answer_check(a, e);
}

static int show_json(const tl_showing *s, tl_error *e)
{
    const int status = tl_answer_json(s->answer, s->out, NULL, e);
    tl_output_puts(s->out, "\n");
    return status;
}

static int show_jsonl(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    tl_output *out = s->out;
    const tl_part *p = tl_answer_main(a);
    tl_json j;
    for (uint64_t i = 0; p && i < p->n; i++) {
        tl_json_init(&j, out);
        tl_row_json(&j, p, i, true);
        tl_output_puts(out, "\n");
        tl_arena_reset(&p->answer->scratch);
    }
    return tl_answer_check(a, e);
}

const tl_view tl_view_json = {.name = "json",
                              .suffix = ".json",
                              .for_programs = true,
                              .show = show_json,
                              .what = "one object with everything, as --json"};
const tl_view tl_view_jsonl = {
    .name = "jsonl", .suffix = ".jsonl", .for_programs = true, .show = show_jsonl, .what = "one object of JSON a row"};
