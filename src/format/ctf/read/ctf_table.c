/* Reads the table of functions and tracks that our own writer puts into a separate stream, see ctf_table.h. */
#include "format/ctf/read/ctf_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/base_name.h"
#include "format/ctf/read/ctf_cursor.h"
#include "format/ctf/read/ctf_reader.h"

/* A track in the table. */
struct ctf_table_row {
    struct ctf_table_row *next;
    uint32_t file; /* index in the folder */
    uint64_t has;
    int64_t pid, tid;
    const char *name;
};

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the names of functions and tracks");
}

/* Is a class one of the table's, with fields where they are expected? */
static bool is_entry(const tl_class *c, enum ctf_table_entry entry)
{
    const tl_class *own = &ctf_table_class[entry];
    if (strcmp(c->name, own->name) != 0 || c->nfield != own->nfield || c->ncontext != 0)
        return false;
    for (uint32_t i = 0; i < c->nfield; i++)
        if (strcmp(c->field[i].name, own->field[i].name) != 0 || c->field[i].type != own->field[i].type)
            return false;
    return true;
}

static bool is_table(const ctf_file *f)
{
    if (strcmp(tl_base_name(f->name), CTF_TABLE) != 0)
        return false;
    const ctf_schema *s = &f->unit->schema;
    for (uint32_t i = 0; i < s->nstream; i++)
        for (uint32_t k = 0; k < s->stream[i]->nevent; k++)
            for (int entry = 0; entry < CTF_TABLE_CLASSES; entry++)
                if (strcmp(s->stream[i]->event[k]->name, ctf_table_class[entry].name) == 0)
                    return true;
    return false;
}

/* A copy that lives as long as the trace; *text is NULL for empty text. */
static bool keep_text(ctf_reader *r, const tl_value *v, const char **text)
{
    *text = v->n > 0 ? tl_strings_get(&r->trace->strings, v->as.p, v->n) : NULL;
    return v->n == 0 || *text;
}

static int add_function(ctf_reader *r, const tl_value *v, tl_error *e)
{
    tl_function f = {.id = v[CTF_FUNCTION_ID].as.i,
                     .address = v[CTF_FUNCTION_ADDRESS].as.u,
                     .line = (uint32_t)v[CTF_FUNCTION_LINE].as.u};
    if (!keep_text(r, &v[CTF_FUNCTION_NAME], &f.name) ||
        !keep_text(r, &v[CTF_FUNCTION_LINKAGE_NAME], &f.linkage_name) ||
        !keep_text(r, &v[CTF_FUNCTION_FILE], &f.file) || !keep_text(r, &v[CTF_FUNCTION_MODULE], &f.module))
        return no_memory(e);
    return tl_trace_add_function(r->trace, &f, e);
}

/* Paths of files are relative to the table's folder. */
static int add_track(ctf_reader *r, const ctf_file *table, const tl_value *v, tl_error *e)
{
    const size_t folder = (size_t)(tl_base_name(table->name) - table->name), n = v[CTF_TRACK_FILE].n;
    char *path = malloc(folder + n + 1);
    struct ctf_table_row *row = tl_arena_zalloc(&r->arena, sizeof *row);
    if (!path || !row) {
        free(path);
        return no_memory(e);
    }
    memcpy(path, table->name, folder);
    if (n > 0)
        memcpy(path + folder, v[CTF_TRACK_FILE].as.p, n);
    path[folder + n] = '\0';
    row->file = tl_folder_find(r->folder, path);
    free(path);
    row->has = v[CTF_TRACK_HAS].as.u;
    row->pid = v[CTF_TRACK_PID].as.i;
    row->tid = v[CTF_TRACK_TID].as.i;
    if (!keep_text(r, &v[CTF_TRACK_NAME], &row->name))
        return no_memory(e);
    row->next = r->table;
    r->table = row;
    return 0;
}

static int read_table(ctf_reader *r, const ctf_file *f, tl_error *e)
{
    static const tl_want want = {.fields = true};
    ctf_cursor *c = calloc(1, sizeof *c);
    tl_batch b = {0};
    int status = c ? tl_batch_init(&b, r->trace, &want, TL_BATCH_MAX, e) : no_memory(e);
    if (status == 0 && (status = ctf_cursor_open(c, f, r->trace, &want, r->progress, e)) == 0) {
        c->before_tracks = true;
        while ((status = ctf_cursor_next(c, &b, e)) > 0) {
            for (uint32_t i = 0; status >= 0 && i < b.n; i++) {
                const tl_class *cls = &r->trace->cls[b.cls[i]];
                const tl_value *v = b.v + b.val[i];
                if (is_entry(cls, CTF_TABLE_FUNCTION))
                    status = add_function(r, v, e);
                else if (is_entry(cls, CTF_TABLE_TRACK))
                    status = add_track(r, f, v, e);
            }
            tl_batch_clear(&b);
            if (status < 0)
                break;
        }
        ctf_cursor_close(c);
    }
    tl_batch_fini(&b);
    free(c);
    return status < 0 ? status : 0;
}

int ctf_table_open(ctf_reader *r, tl_error *e)
{
    uint32_t n = 0;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < r->nfile; i++) {
        if (is_table(&r->file[i]))
            status = read_table(r, &r->file[i], e);
        else
            r->file[n++] = r->file[i];
    }
    if (status == 0)
        r->nfile = n;
    return status;
}

static const ctf_file *find_file(const ctf_reader *r, uint32_t index)
{
    uint32_t low = 0, high = r->nfile; /* files are in the order of the folder */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->file[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->nfile && r->file[low].index == index ? &r->file[low] : NULL;
}

void ctf_table_name_tracks(ctf_reader *r)
{
    for (const struct ctf_table_row *row = r->table; row; row = row->next) {
        const ctf_file *f = find_file(r, row->file);
        for (uint32_t i = 0; f && i < f->unit->schema.nstream; i++) {
            if (f->track[i] == UINT32_MAX)
                continue;
            tl_track *t = &r->trace->track[f->track[i]];
            t->name = row->name ? row->name : t->name;
            t->has_pid = row->has & 1;
            t->has_tid = row->has >> 1 & 1;
            t->pid = row->pid;
            t->tid = row->tid;
        }
    }
}
