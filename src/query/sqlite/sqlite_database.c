/* Databases in files. Without journal and sync: the file has no name before it is whole. */
#include "query/query_database.h"

#ifdef TL_HAVE_SQLITE

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/name_beside.h"
#include "base/protobuf.h"
#include "base/text/ends_in.h"
#include "query/sql_type.h"

struct tl_database {
    sqlite3 *db;
    char *path, *temporary; /* NULL: it is not there */
    bool overwrite;
};

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a database");
}

static int fail(const tl_database *d, tl_error *e)
{
    const int code = sqlite3_errcode(d->db);
    if (code == SQLITE_NOMEM)
        return no_memory(e);
    return tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s: %s", d->path, sqlite3_errmsg(d->db));
}

static int run(tl_database *d, const char *sql, tl_error *e)
{
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(d, e);
}

static int create(tl_database *d, tl_error *e)
{
    char *name = tl_name_beside(d->path);
    int fd = -1;
    if (!name)
        return no_memory(e);
    for (unsigned i = 0; i < TL_NAME_TRIES && fd < 0; i++) {
        tl_name_try(name, i);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        const int status = tl_fail_beside(e, errno, d->path, d->path, "file");
        free(name);
        return status;
    }
    close(fd);
    d->temporary = name;
    return 0;
}

int tl_database_open(tl_database **out, const char *path, bool overwrite, tl_error *e)
{
    if (!overwrite && access(path, F_OK) == 0)
        return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s exists", path);
    tl_database *d = calloc(1, sizeof *d);
    if (!d)
        return no_memory(e);
    d->overwrite = overwrite;
    d->path = strdup(path);
    int status = d->path ? create(d, e) : no_memory(e);
    if (status == 0 &&
        sqlite3_open_v2(d->temporary, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        status = d->db ? fail(d, e) : no_memory(e);
    if (status == 0)
        status =
            run(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN", e);
    if (status < 0) {
        tl_database_close(d);
        return status;
    }
    *out = d;
    return 0;
}

static void put_quoted(tl_pb *b, const char *name)
{
    tl_pb_text(b, "\"");
    for (; *name; name++)
        tl_pb_raw(b, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    tl_pb_text(b, "\"");
}

/* Runs the SQL and forgets it. */
static int run_made(tl_database *d, tl_pb *sql, tl_error *e)
{
    tl_pb_raw(sql, "", 1);
    const int status = sql->failed ? no_memory(e) : run(d, (const char *)sql->data, e);
    tl_pb_clear(sql);
    return status;
}

static int create_table(tl_database *d, tl_pb *sql, const char *table, const tl_result *r, tl_error *e)
{
    tl_pb_text(sql, "CREATE TABLE ");
    put_quoted(sql, table);
    for (uint32_t i = 0; i < r->columns; i++) {
        tl_pb_text(sql, i ? ", " : " (");
        put_quoted(sql, r->column(r, i)->name);
        tl_pb_text(sql, " ");
        tl_pb_text(sql, tl_sql_type(r->column(r, i)));
    }
    tl_pb_text(sql, ")");
    return run_made(d, sql, e);
}

static int prepare_insert(tl_database *d, tl_pb *sql, const char *table, const tl_result *r, sqlite3_stmt **out,
                          tl_error *e)
{
    tl_pb_text(sql, "INSERT INTO ");
    put_quoted(sql, table);
    for (uint32_t i = 0; i < r->columns; i++)
        tl_pb_text(sql, i ? ",?" : " VALUES (?");
    tl_pb_raw(sql, ")", 2);
    const int status = sql->failed                                                                      ? no_memory(e)
                       : sqlite3_prepare_v2(d->db, (const char *)sql->data, -1, out, NULL) == SQLITE_OK ? 0
                                                                                                        : fail(d, e);
    tl_pb_clear(sql);
    return status;
}

/* Copies: the bytes of a value may end with the next one. */
static int bind_value(sqlite3_stmt *s, int at, const tl_sql_value *v)
{
    switch (v->kind) {
    case TL_VALUE_INTEGER:
        return sqlite3_bind_int64(s, at, v->i64);
    case TL_VALUE_REAL:
        return sqlite3_bind_double(s, at, v->real);
    case TL_VALUE_TEXT:
        return sqlite3_bind_text64(s, at, v->text, v->size, SQLITE_TRANSIENT, SQLITE_UTF8);
    case TL_VALUE_BLOB:
        return sqlite3_bind_blob64(s, at, v->size ? v->text : "", v->size, SQLITE_TRANSIENT);
    default:
        return sqlite3_bind_null(s, at);
    }
}

static int insert(tl_database *d, sqlite3_stmt *s, tl_result *r, uint64_t *rows, tl_error *e)
{
    int status;
    while ((status = r->next(r, e)) > 0) {
        for (uint32_t i = 0; i < r->columns; i++)
            if (bind_value(s, (int)i + 1, r->value(r, i)) != SQLITE_OK)
                return fail(d, e);
        if (sqlite3_step(s) != SQLITE_DONE)
            return fail(d, e);
        sqlite3_reset(s);
        ++*rows;
    }
    return status;
}

static bool is_key(const char *name)
{
    return strcmp(name, "id") == 0 || strcmp(name, "ts") == 0 || tl_ends_in(name, "_id");
}

static int create_indexes(tl_database *d, tl_pb *sql, const char *table, const tl_result *r, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < r->columns; i++) {
        const char *name = r->column(r, i)->name;
        if (!is_key(name))
            continue;
        tl_pb index = {0};
        tl_pb_text(&index, table);
        tl_pb_text(&index, ".");
        tl_pb_text(&index, name);
        tl_pb_raw(&index, "", 1);
        tl_pb_text(sql, "CREATE INDEX ");
        if (!index.failed)
            put_quoted(sql, (const char *)index.data);
        sql->failed = sql->failed || index.failed;
        tl_pb_fini(&index);
        tl_pb_text(sql, " ON ");
        put_quoted(sql, table);
        tl_pb_text(sql, " (");
        put_quoted(sql, name);
        tl_pb_text(sql, ")");
        status = run_made(d, sql, e);
    }
    return status;
}

int tl_database_add(tl_database *d, const char *table, tl_result *r, uint64_t *rows, tl_error *e)
{
    tl_pb sql = {0};
    sqlite3_stmt *s = NULL;
    *rows = 0;
    int status = create_table(d, &sql, table, r, e);
    if (status == 0)
        status = prepare_insert(d, &sql, table, r, &s, e);
    if (status == 0)
        status = insert(d, s, r, rows, e);
    sqlite3_finalize(s);
    if (status == 0)
        status = create_indexes(d, &sql, table, r, e);
    tl_pb_fini(&sql);
    return status;
}

static int give_name(tl_database *d, tl_error *e)
{
    if (d->overwrite ? rename(d->temporary, d->path) < 0 : link(d->temporary, d->path) < 0) {
        if (errno == EEXIST)
            return tl_fail(e, TL_EEXIST, TL_NO_OFFSET, "%s exists", d->path);
        if (d->overwrite || rename(d->temporary, d->path) < 0) /* a file system without links */
            return tl_fail_errno(e, errno, "%s: cannot rename the complete file", d->path);
    } else if (!d->overwrite) {
        unlink(d->temporary);
    }
    free(d->temporary);
    d->temporary = NULL;
    return 0;
}

int tl_database_finish(tl_database *d, tl_error *e)
{
    const int status = run(d, "COMMIT", e);
    if (status < 0)
        return status;
    if (sqlite3_close(d->db) != SQLITE_OK)
        return fail(d, e);
    d->db = NULL;
    return give_name(d, e);
}

void tl_database_close(tl_database *d)
{
    if (!d)
        return;
    sqlite3_close(d->db);
    if (d->temporary)
        unlink(d->temporary);
    free(d->temporary);
    free(d->path);
    free(d);
}

#else

int tl_database_open(tl_database **out, const char *path, bool overwrite, tl_error *e)
{
    (void)out;
    (void)path;
    (void)overwrite;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build has no SQL: it was made without SQLite");
}

int tl_database_add(tl_database *d, const char *table, tl_result *r, uint64_t *rows, tl_error *e)
{
    (void)d;
    (void)table;
    (void)r;
    (void)rows;
    (void)e;
    return TL_EUNSUPPORTED;
}

int tl_database_finish(tl_database *d, tl_error *e)
{
    (void)d;
    (void)e;
    return TL_EUNSUPPORTED;
}

void tl_database_close(tl_database *d)
{
    (void)d;
}

#endif
