/* Rows of answers as JSON. */
#include "model/row_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_members_leave(tl_members *m, unsigned depth)
{
    while (m->depth > depth)
        if (m->open[--m->depth].is_list)
            tl_json_array_end(&m->json);
        else
            tl_json_object_end(&m->json);
}

static void enter(tl_members *m, const char *name, size_t n, bool is_list)
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

void tl_members_go(tl_members *m, const char *path)
{
    unsigned level = 0;
    bool same = true;
    for (;; level++) {
        const size_t n = strcspn(path, ".[");
        if (!path[n] || level == TL_MEMBERS_LEVELS) {
            tl_members_leave(m, level);
            tl_json_key(&m->json, path);
            return;
        }
        const bool is_list = path[n] == '[';
        same = same && level < m->depth && m->open[level].length == n && memcmp(m->open[level].name, path, n) == 0;
        if (!same) {
            tl_members_leave(m, level);
            enter(m, path, n, is_list);
        }
        if (is_list) {
            tl_members_leave(m, level + 1);
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

static void put_rows(tl_json *j, const tl_part *part, uint64_t first, uint64_t n, bool plain)
{
    tl_json_array(j);
    for (uint64_t i = 0; part && i < n; i++)
        tl_row_json(j, part, first + i, plain);
    tl_json_array_end(j);
}

void tl_cell_json(tl_json *j, const tl_part *part, const tl_column *c, const tl_cell *v, bool plain)
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
        put_rows(j, part->list, v->rows.first,
                 part->list_most && part->list_most < v->rows.n ? part->list_most : v->rows.n, plain);
        break;
    }
}

static bool is_left_out(const tl_column *c, const tl_cell *v)
{
    return (c->flags & TL_LEFT_OUT && v->kind == TL_CELL_NULL) ||
           (c->flags & TL_NOT_0 && v->kind == TL_CELL_UINT && v->u64 == 0);
}

void tl_members_row(tl_members *m, const tl_part *part, uint64_t row, bool plain)
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
            tl_members_go(m, key);
        } else {
            tl_members_leave(m, 0);
            tl_json_name(&m->json, key, n);
        }
        tl_cell_json(&m->json, part, c, &v, plain);
    }
}

void tl_row_json(tl_json *j, const tl_part *part, uint64_t row, bool plain)
{
    tl_members m = {.json = *j};
    tl_json_object(&m.json);
    tl_members_row(&m, part, row, plain);
    tl_members_leave(&m, 0);
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
