/* Numbers of methods and classes. */
#include "managed/managed_names.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Something of the runtime, by its address. */
typedef struct object {
    const void *at;
    uint32_t iid;
    uint32_t nplace;
    uint64_t start, size; /* of its code */
    char *name;           /* another one is another method, at the same address */
    managed_place *place;
    char *untold; /* lines that are written when a frame names it; NULL: none */
} object;

typedef struct table {
    object *slot;
    uint32_t n, capacity;
    uint32_t next; /* iid */
} table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static table methods, classes;
static char **files; /* written; iid = index */
static uint32_t nfiles, files_room, nlines;

static uint32_t home(const void *p, uint32_t capacity)
{
    return (uint32_t)((uint64_t)(uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (capacity - 1);
}

/* The object's place, or where it would be. */
static object *place_of(const table *t, const void *at)
{
    uint32_t i = home(at, t->capacity);
    while (t->slot[i].at && t->slot[i].at != at)
        i = (i + 1) & (t->capacity - 1);
    return &t->slot[i];
}

static bool make_room(table *t)
{
    enum { FIRST = 1024 };
    if (t->n * 2 < t->capacity)
        return true;
    const table old = *t;
    t->capacity = old.capacity ? old.capacity * 2 : FIRST;
    t->slot = calloc(t->capacity, sizeof *t->slot);
    if (!t->slot) {
        *t = old;
        return false;
    }
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.slot[i].at)
            *place_of(t, old.slot[i].at) = old.slot[i];
    free(old.slot);
    return true;
}

/* The entry of an object, made if need be; NULL: no memory. */
static object *enter(table *t, const void *at)
{
    if (!make_room(t))
        return NULL;
    object *o = place_of(t, at);
    if (!o->at) {
        *o = (object){.at = at, .iid = MANAGED_UNKNOWN};
        t->n++;
    }
    return o;
}

static const object *find(const table *t, const void *at)
{
    const object *o = t->capacity ? place_of(t, at) : NULL;
    return o && o->at ? o : NULL;
}

/* ---- methods ---- */

/* A line about a method: a fact, or to be one when it is used. */
__attribute__((format(printf, 2, 3))) static void tell(object *o, const char *format, ...)
{
    char *line = NULL, *all = NULL;
    va_list args;
    va_start(args, format);
    const int n = vasprintf(&line, format, args);
    va_end(args);
    if (n >= 0 && managed_set.jit != MANAGED_NO_JIT)
        managed_fact("%s", line);
    else if (n >= 0 && asprintf(&all, "%s%s", o->untold ? o->untold : "", line) >= 0) {
        free(o->untold);
        o->untold = all;
    }
    if (n >= 0)
        free(line);
}

static uint32_t file_iid(const char *name)
{
    for (uint32_t i = nfiles; i-- > 0;)
        if (strcmp(files[i], name) == 0)
            return i;
    if (!TL_GROW(files, nfiles, 1, files_room) || !(files[nfiles] = strdup(name)))
        return MANAGED_UNKNOWN;
    managed_fact("fil src 0x%08X \"%s\"\n", nfiles, managed_clean(files[nfiles]));
    return nfiles++;
}

/* Writes the lines of a method's code, each once, and remembers which offset is in which. */
static void add_places(object *o, const managed_method *m)
{
    free(o->place);
    o->place = tl_alloc(m->nplace, sizeof *o->place);
    o->nplace = 0;
    for (uint32_t i = 0; o->place && i < m->nplace; i++) {
        const struct managed_source *s = &m->place[i];
        const bool same = i > 0 && s[-1].row == s->row && strcmp(s[-1].file, s->file) == 0;
        const uint32_t file = same ? 0 : file_iid(s->file);
        if (file == MANAGED_UNKNOWN)
            break;
        if (!same)
            tell(o, "lin src 0x%08X 0x%08X 0x%08X %u %u %u %u\n", ++nlines, file, o->iid, s->row, s->column, s->row,
                 s->column);
        o->place[o->nplace++] = (managed_place){s->offset, nlines};
    }
}

void managed_method_known(const managed_method *m)
{
    const char *name = managed_clean(m->name);
    pthread_mutex_lock(&lock);
    object *o = enter(&methods, m->at);
    if (o && (!o->name || strcmp(o->name, name) != 0)) {
        free(o->name);
        o->name = strdup(name);
        o->iid = methods.next++;
        tell(o, "fun nam 0x%08X \"%s\" \"%s\" \"(%s)\"\n", o->iid, name, managed_clean(m->result),
             managed_clean(m->parameters));
    }
    if (o) {
        tell(o, "fun inf 0x%08X 0x%016llX 0x%016llX 0x%016llX 0x%08X 0x%016llX:0x%llx\n", o->iid,
             (unsigned long long)(uintptr_t)m->at, (unsigned long long)(uintptr_t)m->class,
             (unsigned long long)(uintptr_t)m->module, m->token, (unsigned long long)m->start,
             (unsigned long long)m->size);
        o->start = m->start;
        o->size = m->size;
        add_places(o, m);
    }
    pthread_mutex_unlock(&lock);
}

/* The line of an offset; 0: not known. */
static uint32_t line_of(const object *o, uint64_t offset)
{
    uint32_t low = 0, high = o->nplace;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (o->place[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? o->place[low - 1].line : 0;
}

managed_frame managed_method_frame(const void *method, uint64_t ip)
{
    managed_frame f = {.iid = MANAGED_UNKNOWN};
    pthread_mutex_lock(&lock);
    const object *o = find(&methods, method);
    if (o)
        f = (managed_frame){.iid = o->iid,
                            .ip = !managed_set.lines        ? 0
                                  : ip & MANAGED_OFFSET     ? line_of(o, ip & ~MANAGED_OFFSET)
                                  : ip - o->start < o->size ? line_of(o, ip - o->start)
                                                            : 0};
    pthread_mutex_unlock(&lock);
    return f;
}

managed_frame managed_method_shown(const void *method, uint64_t ip)
{
    char *told = NULL;
    if (managed_set.jit == MANAGED_NO_JIT) {
        pthread_mutex_lock(&lock);
        object *o = methods.capacity ? place_of(&methods, method) : NULL;
        if (o && o->at) {
            told = o->untold;
            o->untold = NULL;
        }
        pthread_mutex_unlock(&lock);
    }
    if (told) {
        managed_fact("%s", told);
        managed_facts_write();
    }
    free(told);
    return managed_method_frame(method, ip);
}

/* ---- classes ---- */

uint32_t managed_class_find(const void *class)
{
    pthread_mutex_lock(&lock);
    const object *o = find(&classes, class);
    const uint32_t iid = o ? o->iid : MANAGED_UNKNOWN;
    pthread_mutex_unlock(&lock);
    return iid;
}

uint32_t managed_class_known(const void *class, const void *module, uint32_t token, char *name)
{
    pthread_mutex_lock(&lock);
    object *o = enter(&classes, class);
    const uint32_t iid = !o ? MANAGED_UNKNOWN : o->iid != MANAGED_UNKNOWN ? o->iid : classes.next++;
    if (o && o->iid == MANAGED_UNKNOWN) {
        o->iid = iid;
        managed_fact("cls ldf 0x%016llX 0x%08X 0x%016llX 0x%08X 0x00000000\ncls nam 0x%08X \"%s\"\n",
                     (unsigned long long)(uintptr_t) class, iid, (unsigned long long)(uintptr_t)module, token, iid,
                     managed_clean(name));
    }
    pthread_mutex_unlock(&lock);
    return iid;
}
