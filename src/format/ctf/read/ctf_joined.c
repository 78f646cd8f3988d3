/* Which files are one stream: tracers that limit the size of files (LTTng with --tracefile-size) leave several for
 * each. docs/format/ctf.md has the rule. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/io/base_name.h"
#include "format/ctf/read/ctf_index.h"

typedef struct member {
    ctf_file *file;
    const ctf_scan *scan;
    size_t stem; /* bytes of the name before the number of the file; 0: none */
} member;

/* Bytes of a name before `_DIGITS` at the end of n bytes; 0: no such end. */
static size_t before_number(const char *name, size_t n)
{
    size_t at = n;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at < n && at > 1 && name[at - 1] == '_' ? at - 1 : 0;
}

/* The same; `numbers`: how many must be there. */
static size_t stem_of(const char *name, unsigned numbers)
{
    const char *base = tl_base_name(name);
    size_t n = strlen(base), first = 0;
    for (unsigned i = 0; i < numbers; i++) {
        n = before_number(base, n);
        first = i == 0 ? n : first;
    }
    return n > 0 ? (size_t)(base - name) + first : 0;
}

/* Whether all packets of a file belong to one identifiable stream, in order of time. */
static bool can_join(const ctf_file *f, const ctf_scan *s, member *m)
{
    if (f->unit->schema.dialect == CTF_2010 || !s->one_stream || !s->has_begin || s->regresses || s->nspan != 1 ||
        !s->span[0].has_range)
        return false;
    *m = (member){(ctf_file *)f, s, stem_of(f->name, s->has_instance ? 1 : 2)};
    return s->has_instance || (s->cpu >= 0 && m->stem > 0);
}

static int order(uint64_t a, uint64_t b)
{
    return TL_COMPARE(a, b);
}

/* 0: the same stream, if their times allow it. */
static int compare_streams(const member *a, const member *b)
{
    const uint64_t of[][2] = {{(uintptr_t)a->file->unit, (uintptr_t)b->file->unit},
                              {a->scan->span[0].stream, b->scan->span[0].stream},
                              {a->scan->has_instance, b->scan->has_instance}};
    for (size_t i = 0; i < TL_COUNT(of); i++)
        if (of[i][0] != of[i][1])
            return order(of[i][0], of[i][1]);
    if (a->scan->has_instance)
        return order(a->scan->instance, b->scan->instance);
    if (a->scan->cpu != b->scan->cpu)
        return order((uint32_t)a->scan->cpu, (uint32_t)b->scan->cpu);
    if (a->stem != b->stem)
        return order(a->stem, b->stem);
    return memcmp(a->file->name, b->file->name, a->stem);
}

static int compare_members(const void *left, const void *right)
{
    const member *a = left, *b = right;
    const int streams = compare_streams(a, b);
    if (streams)
        return streams;
    const int begins = order(a->scan->span[0].begin, b->scan->span[0].begin);
    return begins ? begins : order(a->file->index, b->file->index);
}

/* Joins n files, if each has ended when the next one begins. */
static void join(const member *m, size_t n)
{
    bool one_stem = true;
    for (size_t i = 1; i < n; i++) {
        if (!m[i - 1].scan->closed || m[i - 1].scan->span[0].end > m[i].scan->span[0].begin)
            return;
        one_stem = one_stem && m[i].stem == m[0].stem && memcmp(m[i].file->name, m[0].file->name, m[0].stem) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        m[i].file->first = m[0].file;
        m[i].file->next = i + 1 < n ? m[i + 1].file : NULL;
    }
    m[0].file->stem = one_stem ? m[0].stem : 0;
}

int ctf_files_join(ctf_reader *r, const ctf_index *index, tl_error *e)
{
    member *m = tl_alloc((size_t)r->nfile + 1, sizeof *m);
    r->stream = tl_arena_alloc(&r->arena, ((size_t)r->nfile + 1) * sizeof *r->stream);
    if (!m || !r->stream) {
        free(m);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of streams");
    }
    size_t n = 0;
    for (uint32_t i = 0; i < r->nfile; i++) {
        ctf_file *f = &r->file[i];
        f->first = f;
        f->next = NULL;
        f->stem = 0;
        n += can_join(f, &index->scan[i], &m[n]);
    }
    qsort(m, n, sizeof *m, compare_members);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && compare_streams(&m[from], &m[to]) == 0; to++)
            continue;
        if (to - from > 1)
            join(m + from, to - from);
    }
    free(m);
    r->nstream = 0;
    for (uint32_t i = 0; i < r->nfile; i++)
        if (r->file[i].first == &r->file[i])
            r->stream[r->nstream++] = &r->file[i];
    return 0;
}
