/* Results of SQL as text. */
#include "cli/query/query_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/text/float_text.h"
#include "base/text/json_read.h"
#include "base/text/json_write.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "cli/query/query_columns.h"
#include "model/stored_column.h"

#define GAP         2 /* blanks between columns */
#define NUMBER_ROOM 64u

/* A number as programs read it. */
static const char *exact(const tl_sql_value *v, char text[static NUMBER_ROOM])
{
    if (v->kind == TL_VALUE_INTEGER)
        snprintf(text, NUMBER_ROOM, "%" PRId64, v->i64);
    else
        *tl_put_real(text, v->real, false) = '\0';
    return text;
}

static void put_hex(tl_output *out, const tl_sql_value *v)
{
    static const char digit[] = "0123456789abcdef";
    for (size_t i = 0; i < v->size; i++) {
        const unsigned char byte = (unsigned char)v->text[i];
        const char hex[] = {digit[byte >> 4], digit[byte & 15]};
        tl_output_write(out, hex, sizeof hex);
    }
}

/* A value of CSV: as it is, or in quotes. Null is nothing, empty text is two quotes. */
static void put_csv(tl_output *out, const tl_sql_value *v)
{
    char number[NUMBER_ROOM];
    if (v->kind == TL_VALUE_NULL)
        return;
    if (v->kind == TL_VALUE_BLOB) {
        put_hex(out, v);
        return;
    }
    if (v->kind != TL_VALUE_TEXT) {
        tl_output_puts(out, exact(v, number));
        return;
    }
    bool plain = v->size > 0;
    for (size_t i = 0; i < v->size && plain; i++)
        plain = !strchr(",\"\r\n", v->text[i]) || v->text[i] == '\0';
    if (plain) {
        tl_output_write(out, v->text, v->size);
        return;
    }
    tl_output_puts(out, "\"");
    for (size_t i = 0; i < v->size; i++)
        tl_output_write(out, v->text[i] == '"' ? "\"\"" : v->text + i, v->text[i] == '"' ? 2 : 1);
    tl_output_puts(out, "\"");
}

static int print_csv(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    const uint32_t n = r->columns;
    int status = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = r->column(r, i)->name;
        const tl_sql_value v = {.kind = TL_VALUE_TEXT, .text = name, .size = strlen(name)};
        tl_output_puts(to->out, i ? "," : "");
        put_csv(to->out, &v);
    }
    tl_output_puts(to->out, "\r\n");
    for (; (status = r->next(r, e)) > 0; ++*rows) {
        for (uint32_t i = 0; i < n; i++) {
            tl_output_puts(to->out, i ? "," : "");
            put_csv(to->out, r->value(r, i));
        }
        tl_output_puts(to->out, "\r\n");
    }
    return status;
}

/* The column of a compound SELECT is described by its first part: others may have any text there. */
static bool is_json(const tl_sql_value *v)
{
    enum { VALUES = 1 << 20 };
    tl_arena arena = {0};
    tl_error e = {0};
    const tl_json_value *value;
    const bool good =
        !memchr(v->text, '\n', v->size) && tl_json_parse(&value, &arena, v->text, v->size, VALUES, &e) == 0;
    tl_arena_fini(&arena);
    return good;
}

static void put_json(tl_json *j, const tl_column_info *c, const tl_sql_value *v)
{
    char number[NUMBER_ROOM];
    switch (v->kind) {
    case TL_VALUE_NULL:
        tl_json_null(j);
        break;
    case TL_VALUE_INTEGER:
        if (c->unit == TL_UNIT_BOOL)
            tl_json_bool(j, v->i64 != 0);
        else
            tl_json_i64(j, v->i64);
        break;
    case TL_VALUE_REAL:
        if (v->real - v->real == 0)
            tl_json_raw(j, exact(v, number));
        else
            tl_json_null(j); /* infinity */
        break;
    case TL_VALUE_TEXT:
        if (c->unit == TL_UNIT_JSON && is_json(v))
            tl_json_raw(j, v->text);
        else
            tl_json_string_n(j, v->text, v->size);
        break;
    case TL_VALUE_BLOB:
        tl_json_raw(j, "\"");
        put_hex(j->out, v);
        tl_output_puts(j->out, "\"");
        break;
    }
}

/* {"ts":1,"name":"main"} a line. */
static int print_jsonl(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    const uint32_t n = r->columns;
    int status = 0;
    for (; (status = r->next(r, e)) > 0; ++*rows) {
        tl_json j;
        tl_json_init(&j, to->out);
        tl_json_object(&j);
        for (uint32_t i = 0; i < n; i++) {
            tl_json_key(&j, r->column(r, i)->name);
            put_json(&j, r->column(r, i), r->value(r, i));
        }
        tl_json_object_end(&j);
        tl_output_puts(to->out, "\n");
    }
    return status;
}

/* {"schema":1,"columns":[{"name":..,"unit":..}],"rows":[[..],..]} in one line. */
static int print_json(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    const uint32_t n = r->columns;
    int status = 0;
    tl_json j;
    tl_json_init(&j, to->out);
    tl_json_object(&j);
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key(&j, "columns");
    tl_json_array(&j);
    for (uint32_t i = 0; i < n; i++) {
        const tl_column_info *c = r->column(r, i);
        tl_json_object(&j);
        tl_json_key_string(&j, "name", c->name);
        tl_json_key_string(&j, "unit", tl_unit_word(c, r->is_ns));
        tl_json_object_end(&j);
    }
    tl_json_array_end(&j);
    tl_json_key(&j, "rows");
    tl_json_array(&j);
    bool more = false;
    for (; (status = r->next(r, e)) > 0 && !(more = to->cut && *rows == to->cut); ++*rows) {
        tl_json_array(&j);
        for (uint32_t i = 0; i < n; i++)
            put_json(&j, r->column(r, i), r->value(r, i));
        tl_json_array_end(&j);
    }
    tl_json_array_end(&j);
    if (more) {
        tl_json_key(&j, "more");
        tl_json_bool(&j, true);
    }
    tl_json_object_end(&j);
    tl_output_puts(to->out, "\n");
    return more ? 0 : status;
}

/* The cells of a table, which has to be laid out as a whole. */
typedef struct grid {
    const char **cell; /* [rows][columns] */
    size_t n, capacity;
    bool *right; /* [columns] of numbers */
    unsigned *width;
    uint32_t columns;
    tl_arena arena;
    bool failed;
} grid;

/* 2026-01-31T12:00:00.000000000Z; or the number, of years that have no four digits. */
static void show_utc(int64_t ns, char *text, size_t size)
{
    const int64_t in_s = 1000000000, rest = (ns % in_s + in_s) % in_s;
    const time_t second = (time_t)((ns - rest) / in_s);
    struct tm tm;
    char day[32];
    if (ns < INT64_MIN + in_s || !gmtime_r(&second, &tm) || strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        snprintf(text, size, "%" PRId64, ns);
    else
        snprintf(text, size, "%s.%09" PRId64 "Z", day, rest);
}

static void show_integer(const tl_column_info *c, int64_t v, bool is_ns, char *text, size_t size)
{
    const uint64_t amount = v < 0 ? -(uint64_t)v : (uint64_t)v;
    char *at = text + (v < 0);
    text[0] = '-';
    if (c->unit == TL_UNIT_TIME)
        tl_human_time(at, size - 1, amount, is_ns);
    else if (c->unit == TL_UNIT_BYTES)
        tl_human_bytes(at, size - 1, amount);
    else if (c->unit == TL_UNIT_HEX)
        snprintf(text, size, "0x%" PRIx64, (uint64_t)v);
    else if (c->unit == TL_UNIT_UTC)
        show_utc(v, text, size);
    else if (c->unit == TL_UNIT_BOOL)
        snprintf(text, size, "%s", v ? "yes" : "no");
    else
        snprintf(text, size, "%" PRId64, v);
}

/* Such numbers are bytes, or counts: all digits say something. */
static bool is_whole(double v)
{
    return v > -1e15 && v < 1e15 && v == (double)(int64_t)v;
}

/* A value as people read it, clean. */
static const char *shown(grid *g, const tl_column_info *c, const tl_sql_value *v, bool is_ns)
{
    char text[NUMBER_ROOM];
    text[0] = '\0';
    if (v->kind == TL_VALUE_INTEGER)
        show_integer(c, v->i64, is_ns, text, sizeof text);
    else if (v->kind == TL_VALUE_REAL)
        snprintf(text, sizeof text, is_whole(v->real) ? "%.0f" : "%.6g", v->real);
    else if (v->kind == TL_VALUE_BLOB)
        snprintf(text, sizeof text, "%zu bytes", v->size);
    const char *from = v->kind == TL_VALUE_TEXT ? v->text : text;
    const size_t n = strlen(from);
    char *copy = tl_arena_alloc(&g->arena, n + 1);
    g->failed = g->failed || !copy;
    return copy ? tl_text_clean(copy, n + 1, from) : "";
}

static void add_cell(grid *g, uint32_t column, const char *text)
{
    if (!TL_GROW(g->cell, g->n, 1, g->capacity)) {
        g->failed = true;
        return;
    }
    g->cell[g->n++] = text;
    const unsigned width = tl_text_width(text, strlen(text));
    if (width > g->width[column])
        g->width[column] = width;
}

static int fill(grid *g, tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    int status = 0;
    g->columns = r->columns;
    g->right = calloc((size_t)g->columns + 1, sizeof *g->right);
    g->width = calloc((size_t)g->columns + 1, sizeof *g->width);
    if (!g->right || !g->width)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    for (uint32_t i = 0; i < g->columns; i++) {
        const char *name = r->column(r, i)->name;
        add_cell(g, i,
                 shown(g, r->column(r, i), &(tl_sql_value){.kind = TL_VALUE_TEXT, .text = name, .size = strlen(name)},
                       r->is_ns));
    }
    for (; !g->failed && (status = r->next(r, e)) > 0; ++*rows) {
        if (to->most && *rows >= to->most)
            continue; /* only counted */
        for (uint32_t i = 0; i < g->columns; i++) {
            const tl_sql_value v = *r->value(r, i);
            g->right[i] = g->right[i] || v.kind == TL_VALUE_INTEGER || v.kind == TL_VALUE_REAL;
            add_cell(g, i, shown(g, r->column(r, i), &v, r->is_ns));
        }
    }
    return g->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table") : status;
}

static void fini(grid *g)
{
    free(g->cell);
    free(g->right);
    free(g->width);
    tl_arena_fini(&g->arena);
}

static void pad(tl_output *out, unsigned n)
{
    tl_output_printf(out, "%*s", (int)n, "");
}

static void print_line(const grid *g, size_t row, const tl_result_to *to)
{
    tl_output *out = to->out;
    for (uint32_t i = 0; i < g->columns; i++) {
        const char *text = g->cell[row * g->columns + i];
        const unsigned width = tl_text_width(text, strlen(text)), room = g->width[i] - width;
        pad(out, (i ? GAP : 0) + (g->right[i] ? room : 0));
        tl_output_puts(out, text);
        if (!g->right[i] && i + 1 < g->columns)
            pad(out, room);
    }
    tl_output_puts(out, "\n");
}

/* Rows that were read are printed until ^C. */
static bool goes_on(const tl_result_to *to, int *status, tl_error *e)
{
    if (*status >= 0 && to->is_stopped())
        *status = tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "interrupted");
    return *status >= 0;
}

static int print_table(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    grid g = {0};
    int status = fill(&g, r, to, rows, e);
    tl_output_puts(to->out, to->first || status < 0 ? "" : "\n");
    for (size_t row = 0; goes_on(to, &status, e) && g.columns && row < g.n / g.columns; row++)
        print_line(&g, row, to);
    if (status >= 0 && to->most && *rows > to->most)
        tl_output_printf(to->out, "... %" PRIu64 " more; --rows 0 shows all\n", *rows - to->most);
    fini(&g);
    return status;
}

static void put_markdown(tl_output *out, const char *text)
{
    for (; *text; text++)
        tl_output_write(out, *text == '|' ? "\\|" : text, *text == '|' ? 2 : 1);
}

static int print_markdown(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    grid g = {0};
    int status = fill(&g, r, to, rows, e);
    tl_output_puts(to->out, to->first || status < 0 ? "" : "\n");
    for (size_t row = 0; goes_on(to, &status, e) && g.columns && row < g.n / g.columns; row++) {
        for (uint32_t i = 0; i < g.columns; i++) {
            tl_output_puts(to->out, i ? " | " : "| ");
            put_markdown(to->out, g.cell[row * g.columns + i]);
        }
        tl_output_puts(to->out, " |\n");
        for (uint32_t i = 0; i < g.columns && row == 0; i++)
            tl_output_puts(to->out, g.right[i] ? "|---:" : "|---");
        tl_output_puts(to->out, row == 0 ? "|\n" : "");
    }
    fini(&g);
    return status;
}

const tl_result_form tl_result_forms[] = {
    {"table", ".txt", print_table, false},      {"json", ".json", print_json, false},
    {"jsonl", ".jsonl", print_jsonl, false},    {"csv", ".csv", print_csv, false},
    {"markdown", ".md", print_markdown, false}, {"parquet", ".parquet", tl_print_parquet, true},
    {"arrow", ".arrows", tl_print_arrow, true}, {NULL, NULL, NULL, false}};

const tl_result_form *tl_result_form_of(const char *name, const char *path)
{
    const size_t n = path ? strlen(path) : 0;
    for (const tl_result_form *f = tl_result_forms; f->name; f++) {
        const size_t m = strlen(f->suffix);
        if (name ? strcmp(f->name, name) == 0 : n > m && strcmp(path + n - m, f->suffix) == 0)
            return f;
    }
    return NULL;
}
