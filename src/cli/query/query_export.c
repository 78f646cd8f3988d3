/* All tables as files or as a database. Tables without rows are left out. */
#include "cli/query/query_export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/folder_tree.h"
#include "base/io/output_folder.h"
#include "base/text/ends_in.h"
#include "base/text/json_write.h"
#include "cli/message.h"
#include "model/stored_column.h"
#include "query/query_database.h"
#include "query/table_keys.h"
#include "traceloom/format.h"

#define DESCRIPTION "_schema.json"
/* The names of our files: of Parquet, JSON, Arrow and CSV. */
#define OURS        "*.[pjac][asr][orv]*"

typedef struct export
{
    tl_query_job *job;
    tl_output_folder *folder; /* either this ... */
    tl_database *database;    /* ... or this */
    tl_output *described;     /* in memory */
    tl_json json;
    unsigned tables;
    uint64_t rows;
}
export;

/* A result whose first row was asked for already. */
typedef struct begun {
    tl_result result; /* the first member */
    tl_result *from;
    int first;
    bool is_given;
} begun;

static const tl_column_info *column(const tl_result *r, uint32_t i)
{
    const tl_result *from = ((const begun *)(const void *)r)->from;
    return from->column(from, i);
}

static int next(tl_result *r, tl_error *e)
{
    begun *b = (begun *)(void *)r;
    if (b->is_given)
        return b->from->next(b->from, e);
    b->is_given = true;
    return b->first;
}

static const tl_sql_value *value(tl_result *r, uint32_t i)
{
    tl_result *from = ((begun *)(void *)r)->from;
    return from->value(from, i);
}

/* -- the description ------------------------------------------------------------------------------------------------
 */

static int begin_description(export *x, tl_error *e)
{
    const int status = tl_output_open_memory(&x->described, TL_PLAIN, e);
    if (status < 0)
        return status;
    tl_json_init(&x->json, x->described);
    tl_json_object(&x->json);
    tl_json_key_u64(&x->json, "schema", 1);
    tl_json_key_string(&x->json, "version", tl_version());
    tl_json_key(&x->json, "tables");
    tl_json_array(&x->json);
    return 0;
}

static void describe(export *x, const tl_table_info *t, const char *file, const tl_result *r, uint64_t rows)
{
    static const char *const type[] = {[TL_INTEGER] = "INTEGER", [TL_REAL] = "REAL", [TL_TEXT] = "TEXT"};
    uint32_t n = 0;
    const tl_query_job *j = x->job;
    tl_json *json = &x->json;
    const tl_column_info *what = NULL;
    for (uint32_t i = 0; i < tl_query_tables(j->query) && !what; i++)
        if (tl_query_table(j->query, i) == t)
            what = tl_query_table_columns(j->query, i, &n);
    tl_json_object(json);
    tl_json_key_string(json, "name", t->name);
    tl_json_key_string(json, "file", file);
    tl_json_key_u64(json, "rows", rows);
    tl_json_key_string(json, "summary", t->summary);
    if (tl_table_key(t->name)) {
        tl_json_key(json, "key");
        tl_json_array(json);
        for (const char *const *key = tl_table_key(t->name); *key; key++)
            tl_json_string(json, *key);
        tl_json_array_end(json);
    }
    tl_json_key(json, "columns");
    tl_json_array(json);
    for (uint32_t i = 0; i < r->columns; i++) {
        const tl_column_info *c = r->column(r, i);
        tl_json_object(json);
        tl_json_key_string(json, "name", c->name);
        tl_json_key_string(json, "type", c->unit == TL_UNIT_BLOB ? "BLOB" : type[c->type]);
        tl_json_key_string(json, "unit", tl_unit_word(c, r->is_ns));
        tl_json_key_string(json, "what", what && i < n ? what[i].what : NULL);
        if (tl_column_refers(t->name, c->name))
            tl_json_key_string(json, "refers", tl_column_refers(t->name, c->name));
        tl_json_object_end(json);
    }
    tl_json_array_end(json);
    tl_json_object_end(json);
}

static int end_description(export *x, tl_error *e)
{
    size_t n = 0;
    tl_output *out = NULL;
    tl_json_array_end(&x->json);
    tl_json_object_end(&x->json);
    tl_output_puts(x->described, "\n");
    int status = tl_output_finish(x->described, e);
    char *text = status == 0 ? tl_output_take_memory(x->described, &n) : NULL;
    if (status == 0)
        status = tl_output_folder_file(x->folder, DESCRIPTION, &out, e);
    if (status == 0) {
        tl_output_write(out, text, n);
        status = tl_output_finish(out, e);
    }
    tl_output_close(out);
    free(text);
    return status;
}

/* -- tables ---------------------------------------------------------------------------------------------------------
 */

/* The file, or files, of a table. */
typedef struct table_files {
    export *x;
    const tl_table_info *table;
    tl_output *out; /* of the file that is written, or NULL */
    uint32_t parts; /* that were begun */
} table_files;

static int end_file(table_files *f, tl_error *e)
{
    const int status = f->out ? tl_output_finish(f->out, e) : 0;
    tl_output_close(f->out);
    f->out = NULL;
    return status;
}

static int next_part(void *files, tl_output **out, tl_error *e)
{
    table_files *f = files;
    char name[256];
    int status = end_file(f, e);
    snprintf(name, sizeof name, "%s/part-%05" PRIu32 "%s", f->table->name, f->parts++, f->x->job->form->suffix);
    if (status == 0)
        status = tl_output_folder_file(f->x->folder, name, &f->out, e);
    *out = f->out;
    return status;
}

static int write_files(export *x, const tl_table_info *t, tl_result *r, uint64_t *rows, tl_error *e)
{
    const tl_result_form *form = x->job->form;
    const uint64_t most = x->job->cli->args->rows_per_file;
    char name[256];
    table_files files = {.x = x, .table = t};
    snprintf(name, sizeof name, most ? "%s/*%s" : "%s%s", t->name, form->suffix);
    int status = most ? 0 : tl_output_folder_file(x->folder, name, &files.out, e);
    if (status < 0)
        return status;
    tl_result_to to = {.out = files.out,
                       .terminal = x->job->to.terminal,
                       .first = true,
                       .table = t->name,
                       .traces = x->job->to.traces,
                       .next_file = most ? next_part : NULL,
                       .arg = &files,
                       .rows = most,
                       .is_stopped = x->job->to.is_stopped};
    status = form->print(r, &to, rows, e);
    if (status >= 0)
        status = end_file(&files, e);
    tl_output_close(files.out);
    if (status == 0)
        describe(x, t, name, r, *rows);
    return status;
}

static int write_table(export *x, const tl_table_info *t, tl_error *e)
{
    char sql[256];
    tl_statement *s = NULL;
    uint64_t rows = 0;
    snprintf(sql, sizeof sql, "SELECT * FROM %s", t->name); /* names of tables need no quotes */
    int status = tl_query_prepare(&s, x->job->query, sql, NULL, e);
    if (status < 0)
        return status;
    tl_statement_rows from = tl_rows_of_statement(s, x->job->is_ns);
    begun b = {{from.result.columns, from.result.is_ns, column, next, value}, &from.result, 0, false};
    status = b.first = from.result.next(&from.result, e);
    if (status > 0) {
        status = x->database ? tl_database_add(x->database, t->name, &b.result, &rows, e)
                             : write_files(x, t, &b.result, &rows, e);
        x->tables++;
        x->rows += rows;
    }
    tl_statement_close(s);
    return status;
}

static int write_tables(export *x, tl_error *e)
{
    tl_query_job *j = x->job;
    bool any = false;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < tl_query_tables(j->query); i++) {
        const tl_table_info *t = tl_query_table(j->query, i);
        if (!tl_query_is_wanted(j->text.table, j->text.ntable, t->name))
            continue;
        any = true;
        status = write_table(x, t, e);
    }
    if (status == 0 && !any)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "no table matches %s; --schema lists all", j->text.table[0]);
    return status;
}

/* -- all of it ------------------------------------------------------------------------------------------------------
 */

static bool is_database(const char *path)
{
    return tl_has_suffix(path, ".db") || tl_has_suffix(path, ".sqlite");
}

int tl_query_export_check(tl_query_job *j)
{
    const tl_arguments *a = j->cli->args;
    const char *why = NULL;
    if (a->each || a->schema || a->explain || a->recipe || a->query_file || a->output)
        why = "--export writes whole tables: it does not go with --each, --schema, --explain, SQL and -o";
    j->form = is_database(a->export) && !a->to ? tl_result_form_of("csv", NULL)
                                               : tl_result_form_of(a->to ? a->to : "parquet", NULL);
    if (!why && is_database(a->export) && a->to)
        why = "--export to a database does not go with --to";
    if (!why &&
        (!j->form || (!j->form->is_file && strcmp(j->form->name, "csv") != 0 && strcmp(j->form->name, "jsonl") != 0)))
        why = "--export writes parquet, arrow, csv or jsonl";
    if (!why && a->rows_per_file && (!j->form || strcmp(j->form->name, "parquet") != 0 || is_database(a->export)))
        why = "--rows-per-file is for files of parquet";
    if (!why)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "%s", why);
    return TL_EXIT_USAGE;
}

/* Only a folder that an export made is replaced. */
static bool is_ours(const char *path)
{
    char *description = tl_path_join(path, DESCRIPTION);
    const bool is = description && access(description, F_OK) == 0;
    free(description);
    return is;
}

static int write_folder(export *x, tl_error *e)
{
    const tl_arguments *a = x->job->cli->args;
    int status = tl_output_folder_open(&x->folder, a->export, a->force, is_ours(a->export) ? OURS : NULL, e);
    if (status == 0)
        status = begin_description(x, e);
    if (status == 0)
        status = write_tables(x, e);
    if (status == 0)
        status = end_description(x, e);
    if (status == 0)
        status = tl_output_folder_finish(x->folder, e);
    tl_output_close(x->described);
    tl_output_folder_close(x->folder);
    return status;
}

static int write_database(export *x, tl_error *e)
{
    const tl_arguments *a = x->job->cli->args;
    int status = tl_database_open(&x->database, a->export, a->force, e);
    if (status == 0)
        status = write_tables(x, e);
    if (status == 0)
        status = tl_database_finish(x->database, e);
    tl_database_close(x->database);
    return status;
}

int tl_query_export(tl_query_job *j)
{
    const char *path = j->cli->args->export;
    export x = {.job = j};
    tl_error e = {0};
    const int status = is_database(path) ? write_database(&x, &e) : write_folder(&x, &e);
    if (status < 0)
        return tl_say_failure(NULL, &e);
    tl_say(j->cli, NULL, "wrote %s (%u tables, %" PRIu64 " rows)", path, x.tables, x.rows);
    return TL_EXIT_DONE;
}
