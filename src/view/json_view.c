/* An answer as one JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "view/view.h"

#define PATH_MAX_LEVELS 4u

/* A writer that tracks its open objects by the path of names: "pause.count" is in "pause". */
typedef struct members {
    tl_json json;
    struct {
        const char *name;
        size_t length;
        bool is_list;
    } open[PATH_MAX_LEVELS];
    unsigned depth;
} members;

static void leave_to(members *m, unsigned depth)
{
    while (m->depth > depth)
        if (m->open[--m->depth].is_list)
            tl_json_array_end(&m->json);
        else
            tl_json_object_end(&m->json);
}

static void enter(members *m, const char *name, size_t n, bool is_list)
{
    tl_json_key_n(&m->json, name, n);
    if (is_list)
        tl_json_array(&m->json);
    else
        tl_json_object(&m->json);
    m->open[m->depth].name = name;
    m->open[m->depth].length = n;
    m->open[m->depth++].is_list = is_list;
}

/* Closes and opens objects between the last member and this one, and writes its key. */
static void go_to(members *m, const char *path)
{
    unsigned level = 0;
    bool same = true;
    for (;; level++) {
        const size_t n = strcspn(path, ".[");
        if (!path[n] || level == PATH_MAX_LEVELS) {
            leave_to(m, level);
            tl_json_key(&m->json, path);
            return;
        }
        const bool is_list = path[n] == '[';
        same = same && level < m->depth && m->open[level].length == n && memcmp(m->open[level].name, path, n) == 0;
        if (!same) {
            leave_to(m, level);
            enter(m, path, n, is_list);
        }
        if (is_list) {
            leave_to(m, level + 1);
            return;
        }
        path += n + 1;
    }
}

static void put_sum(tl_json *j, const tl_cell *v)
{
    char text[TL_SUM_TEXT + 1];
    text[0] = '-';
    tl_sum_text(text + 1, v->sum);
    tl_json_raw(j, v->negative ? text : text + 1);
}

static void put_row(tl_json *j, const tl_part *part, uint64_t row, bool plain);

static void put_rows(tl_json *j, const tl_part *part, uint64_t first, uint64_t n, bool plain)
{
    tl_json_array(j);
    for (uint64_t i = 0; part && i < n; i++)
        put_row(j, part, first + i, plain);
    tl_json_array_end(j);
}

static void put_value(tl_json *j, const tl_part *part, const tl_column *c, const tl_cell *v, bool plain)
{
    char text[32];
    switch (v->kind) {
    case TL_CELL_NULL:
        tl_json_null(j);
        break;
    case TL_CELL_TEXT:
        if (c->info.unit == TL_UNIT_JSON)
            tl_json_raw(j, v->text);
        else
            tl_json_string(j, v->text);
        break;
    case TL_CELL_REAL:
        snprintf(text, sizeof text, "%.17g", v->real);
        tl_json_raw(j, text);
        break;
    case TL_CELL_UINT:
        if (c->info.unit == TL_UNIT_HEX) {
            snprintf(text, sizeof text, "0x%" PRIx64, v->u64);
            tl_json_string(j, text);
        } else if (c->info.unit == TL_UNIT_BOOL) {
            tl_json_bool(j, v->u64 != 0);
        } else {
            tl_json_u64(j, v->u64);
        }
        break;
    case TL_CELL_INT:
        tl_json_i64(j, v->i64);
        break;
    case TL_CELL_SUM:
        put_sum(j, v);
        break;
    case TL_CELL_ROWS:
        put_rows(j, part->list, v->rows.first, v->rows.n, plain);
        break;
    }
}

static bool is_left_out(const tl_column *c, const tl_cell *v)
{
    return (c->flags & TL_LEFT_OUT && v->kind == TL_CELL_NULL) ||
           (c->flags & TL_NOT_0 && v->kind == TL_CELL_UINT && v->u64 == 0);
}

/* The columns of a row as members of the open object. */
static void put_members(members *m, const tl_part *part, uint64_t row, bool plain)
{
    for (uint32_t i = 0; i < part->ncolumn; i++) {
        const tl_column *c = &part->column[i];
        const char *key = c->json && !plain ? c->json : c->info.name;
        tl_cell v;
        if (!key || (!plain && c->flags & TL_NOT_IN_JSON))
            continue;
        tl_part_cell(part, row, i, &v);
        if (!plain && is_left_out(c, &v))
            continue;
        const size_t n = strcspn(key, ".[");
        if (key[n]) {
            go_to(m, key);
        } else {
            leave_to(m, 0);
            tl_json_name(&m->json, key, n);
        }
        put_value(&m->json, part, c, &v, plain);
    }
}

static void put_row(tl_json *j, const tl_part *part, uint64_t row, bool plain)
{
    members m = {.json = *j};
    tl_json_object(&m.json);
    put_members(&m, part, row, plain);
    leave_to(&m, 0);
    tl_json_object_end(&m.json);
    *j = m.json;
}

const char *tl_rows_json(const tl_part *part, const tl_cell *rows)
{
    tl_output *memory = NULL;
    tl_json j;
    size_t n = 0;
    char *text = NULL, *kept = NULL;
    if (tl_output_open_memory(&memory, TL_PLAIN, NULL) == 0) {
        tl_json_init(&j, memory);
        put_rows(&j, part->list, rows->rows.first, rows->rows.n, true);
        if (tl_output_finish(memory, NULL) == 0)
            text = tl_output_take_memory(memory, &n);
    }
    tl_output_close(memory);
    if (text)
        kept = tl_arena_alloc(&part->answer->scratch, n + 1);
    if (kept) {
        memcpy(kept, text, n);
        kept[n] = 0;
    }
    free(text);
    part->answer->failed = part->answer->failed || !kept;
    return kept ? kept : "";
}

/* Rows that are members: of an object, or of the answer itself, where names may be paths. */
static void put_pairs(members *m, const tl_part *p)
{
    tl_cell name, value;
    if (p->key) {
        go_to(m, p->key);
        tl_json_object(&m->json);
    }
    for (uint64_t i = 0; i < p->n; i++) {
        tl_part_cell(p, i, 0, &name);
        tl_part_cell(p, i, 1, &value);
        if (p->key)
            tl_json_key(&m->json, name.text);
        else
            go_to(m, name.text);
        put_value(&m->json, p, &p->column[1], &value, false);
    }
    if (p->key)
        tl_json_object_end(&m->json);
}

static int show_json(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    tl_output *out = s->out;
    members m = {.depth = 0};
    tl_json *j = &m.json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    if (a->unit)
        tl_json_key_string(j, "unit", a->unit);
    for (const tl_part *p = a->first; p; p = p->next) {
        if (!p->for_programs)
            continue;
        if (p->is_object) {
            put_pairs(&m, p);
            continue;
        }
        if (!p->key) {
            put_members(&m, p, 0, false);
            continue;
        }
        go_to(&m, p->key);
        tl_json_array(j);
        for (uint64_t i = 0; i < p->n; i++) {
            put_row(j, p, i, false);
            tl_arena_reset(&p->answer->scratch);
        }
        tl_json_array_end(j);
    }
    leave_to(&m, 0);
    tl_json_object_end(j);
    tl_output_puts(out, "\n");
    return tl_answer_check(a, e);
}

static int show_jsonl(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    tl_output *out = s->out;
    const tl_part *p = tl_answer_main(a);
    tl_json j;
    for (uint64_t i = 0; p && i < p->n; i++) {
        tl_json_init(&j, out);
        put_row(&j, p, i, true);
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
