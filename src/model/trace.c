/* A trace as a whole: strings, clock, classes, tracks, functions, damage. */
#include "model/trace_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_trace_init(tl_trace *t)
{
    memset(t, 0, sizeof *t);
    tl_trace_set_clock(t, "ticks", 0);
}

void tl_trace_fini(tl_trace *t)
{
    free(t->cls);
    free(t->track);
    free(t->function);
    free(t->damage);
    tl_hash_fini(&t->function_index);
    tl_strings_fini(&t->strings);
}

const char *tl_trace_intern(tl_trace *t, const char *s)
{
    return tl_strings_get(&t->strings, s, strlen(s));
}

void tl_trace_set_clock(tl_trace *t, const char *name, uint64_t hz)
{
    t->clock.name = name;
    t->clock.hz = hz;
    tl_scale_init(&t->scale, hz);
}

int tl_trace_set_classes(tl_trace *t, const tl_class *c, uint32_t n, tl_error *e)
{
    tl_class *copy = malloc(n * sizeof *copy);
    if (!copy)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %u event classes", n);
    memcpy(copy, c, n * sizeof *copy);
    for (uint32_t i = 0; i < n; i++)
        copy[i].id = i;
    free(t->cls);
    t->cls = copy;
    t->ncls = n;
    return 0;
}

/* Makes room for one more element in an array that doubles. */
static void *grow(void *array, uint32_t n, uint32_t *capacity, size_t element)
{
    if (n < *capacity)
        return array;
    uint32_t larger = *capacity ? *capacity * 2 : 16;
    void *moved = larger > *capacity ? realloc(array, larger * element) : NULL;
    if (moved)
        *capacity = larger;
    return moved;
}

int tl_trace_add_track(tl_trace *t, const tl_track *track, uint32_t *index, tl_error *e)
{
    if (t->ntrack == TL_TRACKS_MAX)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "more than %u threads, which no recorder writes", TL_TRACKS_MAX);
    tl_track *array = grow(t->track, t->ntrack, &t->track_capacity, sizeof *array);
    if (array)
        t->track = array;
    const char *name = tl_trace_intern(t, track->name);
    if (!array || !name)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for thread %u", t->ntrack);
    t->track[t->ntrack] = *track;
    t->track[t->ntrack].name = name;
    *index = t->ntrack++;
    return 0;
}

/* Interns *s unless it is NULL; false when memory runs out. */
static bool intern_in_place(tl_trace *t, const char **s)
{
    return !*s || (*s = tl_trace_intern(t, *s));
}

int tl_trace_add_function(tl_trace *t, const tl_function *f, tl_error *e)
{
    tl_function copy = *f;
    if (!intern_in_place(t, &copy.name) || !intern_in_place(t, &copy.linkage_name) || !intern_in_place(t, &copy.file) ||
        !intern_in_place(t, &copy.module))
        goto no_memory;
    uint32_t known = tl_hash_get(&t->function_index, (uint64_t)f->id);
    if (known != TL_HASH_NONE) {
        t->function[known] = copy;
        return 0;
    }
    tl_function *array = grow(t->function, t->nfunction, &t->function_capacity, sizeof *array);
    if (array)
        t->function = array;
    if (!array || !tl_hash_put(&t->function_index, (uint64_t)f->id, t->nfunction))
        goto no_memory;
    t->function[t->nfunction++] = copy;
    return 0;
no_memory:
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for function %lld", (long long)f->id);
}

int tl_trace_add_damage(tl_trace *t, tl_error *e, uint64_t offset, uint64_t bytes, const char *rule, const char *format,
                        ...)
{
    t->damage_count++;
    if (t->ndamage == TL_DAMAGE_KEPT)
        return 0;
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tl_damage *array = grow(t->damage, t->ndamage, &t->damage_capacity, sizeof *array);
    if (array)
        t->damage = array;
    const char *what = tl_trace_intern(t, text);
    if (!array || !what)
        return tl_fail(e, TL_ENOMEM, offset, "no memory for the list of damage");
    t->damage[t->ndamage++] = (tl_damage){.offset = offset, .bytes = bytes, .rule = rule, .what = what};
    return 0;
}

/* Insertion sort from the back: readers report nearly in order. Falls back to nothing worse than TL_DAMAGE_KEPT
 * entries. */
void tl_trace_sort_damage(tl_trace *t)
{
    for (uint32_t i = 1; i < t->ndamage; i++) {
        tl_damage d = t->damage[i];
        uint32_t at = i;
        for (; at > 0 && t->damage[at - 1].offset > d.offset; at--)
            t->damage[at] = t->damage[at - 1];
        t->damage[at] = d;
    }
}

const char *tl_trace_path(const tl_trace *t)
{
    return t->path;
}

const char *tl_trace_format(const tl_trace *t)
{
    return t->format;
}

const char *tl_trace_version(const tl_trace *t)
{
    return t->version;
}

const char *tl_trace_byte_order(const tl_trace *t)
{
    return t->byte_order;
}

uint64_t tl_trace_bytes(const tl_trace *t)
{
    return t->bytes;
}

const char *tl_trace_build_id(const tl_trace *t)
{
    return t->build_id;
}

const char *tl_trace_exe(const tl_trace *t)
{
    return t->exe;
}

const tl_clock *tl_trace_clock(const tl_trace *t)
{
    return &t->clock;
}

uint64_t tl_trace_time(const tl_trace *t, uint64_t ticks)
{
    return tl_scale_ns(&t->scale, ticks);
}

const char *tl_trace_unit(const tl_trace *t)
{
    return t->clock.hz ? "ns" : "ticks";
}

uint32_t tl_trace_classes(const tl_trace *t)
{
    return t->ncls;
}

const tl_class *tl_trace_class(const tl_trace *t, uint32_t id)
{
    return id < t->ncls ? &t->cls[id] : NULL;
}

uint32_t tl_trace_tracks(const tl_trace *t)
{
    return t->ntrack;
}

const tl_track *tl_trace_track(const tl_trace *t, uint32_t index)
{
    return index < t->ntrack ? &t->track[index] : NULL;
}

const tl_function *tl_trace_function(const tl_trace *t, int64_t id)
{
    uint32_t index = tl_hash_get(&t->function_index, (uint64_t)id);
    return index == TL_HASH_NONE ? NULL : &t->function[index];
}

bool tl_trace_range(const tl_trace *t, uint64_t *begin, uint64_t *end)
{
    if (t->has_range) {
        *begin = t->begin;
        *end = t->end;
    }
    return t->has_range;
}

uint64_t tl_trace_damage_count(const tl_trace *t)
{
    return t->damage_count;
}

uint32_t tl_trace_damages(const tl_trace *t)
{
    return t->ndamage;
}

const tl_damage *tl_trace_damage(const tl_trace *t, uint32_t index)
{
    return index < t->ndamage ? &t->damage[index] : NULL;
}

uint64_t tl_trace_lost_events(const tl_trace *t)
{
    return t->lost_events;
}

uint64_t tl_trace_lost_packets(const tl_trace *t)
{
    return t->lost_packets;
}
