/* The data stream files of a folder: every file beside a usable metadata file. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "format/ctf/read/ctf_reader.h"

/* Track numbers of all files together, one for each stream class of each file. Stream classes beyond the first are
 * rare; a folder with more than this is made to waste memory. */
#define TRACK_SLOTS_MAX (16u << 20)

/* A folder with a unit. */
typedef struct place {
    const char *metadata; /* its path, which begins with the folder's */
    size_t n;             /* length of the folder's path, including the '/' */
    ctf_unit *unit;
} place;

static int compare_places(const void *left, const void *right)
{
    const place *a = left, *b = right;
    const int order = memcmp(a->metadata, b->metadata, a->n < b->n ? a->n : b->n);
    return order ? order : TL_COMPARE(a->n, b->n);
}

static size_t folder_length(const char *path)
{
    return (size_t)(tl_base_name(path) - path);
}

/* All folders with metadata, even unusable ones, where `unit` is NULL. */
static place *places_of(const ctf_reader *r, uint32_t *n)
{
    const tl_folder *folder = r->folder;
    uint32_t capacity = 1, unit = 0;
    for (uint32_t i = 0; i < folder->n; i++)
        capacity += strcmp(tl_base_name(folder->file[i].name), "metadata") == 0;
    place *p = tl_alloc(capacity, sizeof *p);
    *n = 0;
    for (uint32_t i = 0; p && i < folder->n; i++) {
        const char *name = folder->file[i].name;
        if (strcmp(tl_base_name(name), "metadata") != 0)
            continue;
        const bool usable = unit < r->nunit && r->unit[unit].metadata == name; /* both are in the same order */
        p[(*n)++] = (place){name, folder_length(name), usable ? &r->unit[unit] : NULL};
        unit += usable;
    }
    if (p)
        qsort(p, *n, sizeof *p, compare_places);
    return p;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of files");
}

/* Makes a file of a unit a stream, unless it is one of 2010 without a section. */
static int add_file(ctf_reader *r, const ctf_unit *u, uint32_t index, tl_error *e)
{
    const tl_folder_file *of = &r->folder->file[index];
    ctf_file *f = &r->file[r->nfile];
    *f = (ctf_file){.unit = u, .folder = r->folder, .index = index, .name = of->name, .size = of->size, .cpu = -1};
    if (u->schema.dialect == CTF_2010) {
        f->section = ctf_2010_section(&u->schema, f->name, &f->cpu);
        if (f->section == UINT32_MAX) {
            const int status = ctf_report(r->trace, f, TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, 0, 0, f->size,
                                          "ctf2010.unknown-section", "the file belongs to no section");
            return status < 0 ? no_memory(e) : 0;
        }
    }
    if (u->schema.nstream == 0) { /* at most packets of only a header */
        const int status = ctf_report(r->trace, f, TL_DAMAGE_NOTE, 0, 0, 0, "ctf.stream-class",
                                      "the metadata has no stream class: the file cannot hold events");
        return status < 0 ? no_memory(e) : 0;
    }
    r->nfile++;
    return 0;
}

/* A file without metadata. Those of LTTng's index are not needed. */
static int leave_out(ctf_reader *r, const char *name, tl_error *e)
{
    const size_t n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, ".idx") == 0)
        return 0;
    return tl_trace_add_content(r->trace, &r->trace->not_read, name, n, e);
}

/* Lists the folders in the folder that contain traces. */
static int add_parts(ctf_reader *r, const place *places, uint32_t n, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < n; i++)
        if (places[i].unit)
            status = tl_trace_add_content(r->trace, &r->trace->parts, places[i].metadata,
                                          places[i].n ? places[i].n - 1 : 0, e);
    return status;
}

static int add_track_slots(ctf_reader *r, tl_error *e)
{
    uint64_t slots = 0;
    for (uint32_t i = 0; i < r->nfile; i++)
        slots += r->file[i].unit->schema.nstream;
    if (slots > TRACK_SLOTS_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "too many stream classes for %u files", r->nfile);
    uint32_t *slot = tl_arena_alloc(&r->arena, (size_t)(slots + 1) * sizeof *slot);
    if (!slot)
        return no_memory(e);
    memset(slot, 0xff, (size_t)(slots + 1) * sizeof *slot);
    for (uint32_t i = 0; i < r->nfile; i++) {
        r->file[i].track = slot;
        slot += r->file[i].unit->schema.nstream;
    }
    return 0;
}

int ctf_files_open(ctf_reader *r, tl_error *e)
{
    const tl_folder *folder = r->folder;
    uint32_t nplace;
    place *places = places_of(r, &nplace);
    r->file = calloc((size_t)folder->n + 1, sizeof *r->file);
    int status = places && r->file ? 0 : no_memory(e);
    for (uint32_t i = 0; status == 0 && i < folder->n; i++) {
        const tl_folder_file *file = &folder->file[i];
        const bool is_metadata = strcmp(tl_base_name(file->name), "metadata") == 0;
        const place key = {file->name, folder_length(file->name), NULL};
        const place *at = bsearch(&key, places, nplace, sizeof *places, compare_places);
        r->trace->bytes += at ? file->size : 0;
        if (!is_metadata && at && at->unit && file->size > 0)
            status = add_file(r, at->unit, i, e);
        else if (!at)
            status = leave_out(r, file->name, e);
    }
    if (status == 0)
        status = add_parts(r, places, nplace, e);
    free(places);
    return status == 0 ? add_track_slots(r, e) : status;
}
