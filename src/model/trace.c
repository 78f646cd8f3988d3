/* A trace as a whole: strings, clock, classes, tracks, functions, damage. */
#include "model/trace_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/recording.h"

#define RATE_PARTS 1000u /* measurements of one frequency differ by at most one part in this many */

void tl_trace_init(tl_trace *t)
{
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    tl_trace_set_clock(t, "ticks", 0);
}

void tl_trace_fini(tl_trace *t)
{
    free(t->cls);
    free(t->track);
    free(t->function);
    free(t->damage);
    free(t->note);
    free(t->property);
    free(t->header);
    tl_recording_free(t->recording);
    tl_strings_fini(&t->damage_known);
    pthread_mutex_destroy(&t->lock);
    tl_hash_fini(&t->function_index);
    tl_strings_fini(&t->strings);
}

/* The lock is held. */
static const char *intern(tl_trace *t, const char *s)
{
    return tl_strings_get(&t->strings, s, strlen(s));
}

const char *tl_trace_intern(tl_trace *t, const char *s)
{
    pthread_mutex_lock(&t->lock); /* other threads may report damage */
    const char *kept = intern(t, s);
    pthread_mutex_unlock(&t->lock);
    return kept;
}

void tl_trace_set_clock(tl_trace *t, const char *name, uint64_t hz)
{
    t->clock.name = name;
    t->clock.hz = hz;
    tl_scale_init(&t->scale, hz);
}

int tl_trace_set_classes(tl_trace *t, const tl_class *c, uint32_t n, tl_error *e)
{
    tl_class *copy = tl_alloc((size_t)n + 1, sizeof *copy); /* n may be 0 */
    if (!copy)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %u event classes", n);
    if (n > 0)
        memcpy(copy, c, n * sizeof *copy);
    t->has_aux = false;
    for (uint32_t i = 0; i < n; i++) {
        copy[i].id = i;
        t->has_aux |= copy[i].aux != TL_AUX_NONE;
    }
    free(t->cls);
    t->cls = copy;
    t->ncls = n;
    return 0;
}

int tl_trace_add_track(tl_trace *t, const tl_track *track, uint32_t *index, tl_error *e)
{
    if (t->ntrack == TL_TRACKS_MAX)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "more than %u threads, which no recorder writes", TL_TRACKS_MAX);
    const char *name = tl_trace_intern(t, track->name);
    if (!name || !TL_GROW(t->track, t->ntrack, 1, t->track_capacity))
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
        !intern_in_place(t, &copy.module) || !intern_in_place(t, &copy.library))
        goto no_memory;
    uint32_t known = tl_hash_get(&t->function_index, (uint64_t)f->id);
    if (known != TL_HASH_NONE) {
        t->function[known] = copy;
        return 0;
    }
    if (!TL_GROW(t->function, t->nfunction, 1, t->function_capacity) ||
        !tl_hash_put(&t->function_index, (uint64_t)f->id, t->nfunction))
        goto no_memory;
    t->function[t->nfunction++] = copy;
    return 0;
no_memory:
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for function %lld", (long long)f->id);
}

/* The identity of a damage entry. */
typedef struct damage_identity {
    uint64_t offset, at, file, rule, kind; /* file and rule: interned */
} damage_identity;

static bool is_known(const tl_trace *t, const void *identity, size_t n)
{
    return tl_strings_has(&t->damage_known, identity, n);
}

static bool remember(tl_trace *t, const void *identity, size_t n)
{
    return tl_strings_get(&t->damage_known, identity, n) != NULL;
}

/* Under the lock. */
static int report(tl_trace *t, tl_error *e, const tl_damage *d, const char *text)
{
    const bool is_note = d->kind == TL_DAMAGE_NOTE;
    tl_damage **list = is_note ? &t->note : &t->damage;
    uint32_t *n = is_note ? &t->nnote : &t->ndamage;
    const char *file = d->file ? intern(t, d->file) : NULL, *rule = intern(t, d->rule);
    if (!rule || (d->file && !file))
        return tl_fail(e, TL_ENOMEM, d->at, "no memory for the list of damage");
    const damage_identity id = {d->offset, d->at, (uintptr_t)file, (uintptr_t)rule, d->kind};
    if (is_known(t, &id, sizeof id))
        return 0;
    t->damage_count += !is_note;
    if (*n == TL_DAMAGE_KEPT) {
        if (t->damage_known.n < TL_DAMAGE_TOLD)
            (void)remember(t, &id, sizeof id); /* if memory runs out, a second pass counts it again */
        return 0;
    }
    uint32_t *capacity = is_note ? &t->note_capacity : &t->damage_capacity;
    tl_damage copy = *d;
    copy.what = intern(t, text);
    copy.file = file;
    if (!TL_GROW(*list, *n, 1, *capacity) || !copy.what || !remember(t, &id, sizeof id))
        return tl_fail(e, TL_ENOMEM, d->at, "no memory for the list of damage");
    (*list)[(*n)++] = copy;
    return 0;
}

static int report_list(tl_trace *t, tl_error *e, const tl_damage *d, const char *format, va_list arguments)
{
    char text[200];
    vsnprintf(text, sizeof text, format, arguments);
    pthread_mutex_lock(&t->lock);
    int status = report(t, e, d, text);
    pthread_mutex_unlock(&t->lock);
    return status;
}

int tl_trace_report(tl_trace *t, tl_error *e, const tl_damage *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int status = report_list(t, e, d, format, arguments);
    va_end(arguments);
    return status;
}

int tl_trace_add_damage(tl_trace *t, tl_error *e, uint64_t offset, uint64_t bytes, const char *rule, const char *format,
                        ...)
{
    const tl_damage d = {
        .offset = offset, .bytes = bytes, .at = offset, .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, .rule = rule};
    va_list arguments;
    va_start(arguments, format);
    int status = report_list(t, e, &d, format, arguments);
    va_end(arguments);
    return status;
}

static int compare_damage(const tl_damage *a, const tl_damage *b)
{
    int files = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    return files ? files : TL_COMPARE(a->at, b->at);
}

static void sort_damage(tl_damage *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        tl_damage d = list[i];
        uint32_t at = i;
        for (; at > 0 && compare_damage(&list[at - 1], &d) > 0; at--)
            list[at] = list[at - 1];
        list[at] = d;
    }
}

/* Insertion sort from the back: readers report nearly in order, and at most TL_DAMAGE_KEPT entries. */
void tl_trace_sort_damage(tl_trace *t)
{
    pthread_mutex_lock(&t->lock);
    sort_damage(t->damage, t->ndamage);
    sort_damage(t->note, t->nnote);
    pthread_mutex_unlock(&t->lock);
}

void tl_trace_add_out_of_order(tl_trace *t, uint64_t part, uint64_t n)
{
    pthread_mutex_lock(&t->lock);
    if (!is_known(t, &part, sizeof part) && remember(t, &part, sizeof part)) /* real entries have more bytes */
        atomic_fetch_add(&t->out_of_order, n);
    pthread_mutex_unlock(&t->lock);
}

int tl_trace_add_content(tl_trace *t, tl_contents *to, const char *name, size_t n, tl_error *e)
{
    if (to->n < TL_CONTENTS_NAMED) {
        const char *copy = tl_strings_get(&t->strings, name, n);
        if (!copy)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of files");
        to->name[to->n] = copy;
    }
    to->n++;
    return 0;
}

int tl_trace_add_property(tl_trace *t, const char *name, const char *text, int64_t number, tl_error *e)
{
    tl_property p = {.name = tl_trace_intern(t, name), .text = text, .number = number};
    if (!p.name || !intern_in_place(t, &p.text) || !TL_GROW(t->property, t->nproperty, 1, t->property_capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the properties of the trace");
    t->property[t->nproperty++] = p;
    return 0;
}

uint64_t tl_trace_allocation_sampling(const tl_trace *t)
{
    for (uint32_t i = 0; i < t->nproperty; i++)
        if (strcmp(t->property[i].name, TL_PROPERTY_ALLOCATION_SAMPLING) == 0 && !t->property[i].text)
            return (uint64_t)t->property[i].number;
    return 0;
}

int tl_trace_set_header(tl_trace *t, const tl_field *field, uint32_t n, const tl_value *v, uint32_t slots, tl_error *e)
{
    tl_value *copy = tl_alloc((size_t)slots + 1, sizeof *copy);
    if (!copy)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the header of the trace");
    for (uint32_t i = 0; i < slots; i++)
        copy[i] = v[i];
    free(t->header);
    t->header = copy;
    t->header_field = field;
    t->nheader = n;
    return 0;
}

const tl_value *tl_trace_header(const tl_trace *t, const tl_field **field, uint32_t *n)
{
    *field = t->header_field;
    *n = t->nheader;
    return t->header;
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

const char *tl_clock_unit(const tl_clock *c)
{
    if (c->hz)
        return "ns";
    return c->name && strcmp(c->name, "instructions") == 0 ? "instructions" : "ticks";
}

const char *tl_trace_unit(const tl_trace *t)
{
    return tl_clock_unit(&t->clock);
}

bool tl_same_clock(const tl_clock *a, const tl_clock *b)
{
    const bool named_alike = a->name && b->name ? strcmp(a->name, b->name) == 0 : a->name == b->name;
    const uint64_t more = a->hz > b->hz ? a->hz : b->hz, less = a->hz > b->hz ? b->hz : a->hz;
    return named_alike && more - less <= less / RATE_PARTS;
}

bool tl_trace_counts_insns(const tl_trace *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->ncls && !any; i++)
        any = t->cls[i].kind == TL_INSN;
    return any && t->clock.hz == 0;
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

uint32_t tl_trace_notes(const tl_trace *t)
{
    return t->nnote;
}

const tl_damage *tl_trace_note(const tl_trace *t, uint32_t index)
{
    return index < t->nnote ? &t->note[index] : NULL;
}

uint32_t tl_trace_properties(const tl_trace *t)
{
    return t->nproperty;
}

const tl_property *tl_trace_property(const tl_trace *t, uint32_t index)
{
    return index < t->nproperty ? &t->property[index] : NULL;
}

bool tl_trace_is_ranked(const tl_trace *t)
{
    return t->ranked;
}

uint64_t tl_trace_out_of_order(const tl_trace *t)
{
    return t->out_of_order;
}

const char *tl_kind_name(tl_kind kind)
{
    static const char *const name[] = {"enter", "exit",  "instant", "counter", "sample", "insn", "mem",
                                       "regs",  "state", "loss",    "format",  "begin",  "end"};
    return (size_t)kind < TL_COUNT(name) ? name[kind] : "instant";
}

const char *tl_role_name(tl_role role)
{
    static const char *const name[] = {[TL_ROLE_ALLOCATION] = "allocation",
                                       [TL_ROLE_COLLECTION] = "collection",
                                       [TL_ROLE_COMPILATION] = "compilation",
                                       [TL_ROLE_CODE_SEARCH] = "code search",
                                       [TL_ROLE_CODE] = "code",
                                       [TL_ROLE_FUNCTION_NAME] = "function name",
                                       [TL_ROLE_TYPE_NAME] = "type name",
                                       [TL_ROLE_LIVE_OBJECTS] = "live objects",
                                       [TL_ROLE_HEAP_SIZES] = "heap sizes",
                                       [TL_ROLE_CPU] = "processor time",
                                       [TL_ROLE_PAUSED] = "recording paused",
                                       [TL_ROLE_RESUMED] = "recording resumed",
                                       [TL_ROLE_A64] = "instruction",
                                       [TL_ROLE_LOAD] = "load",
                                       [TL_ROLE_STORE] = "store",
                                       [TL_ROLE_STORED] = "stored",
                                       [TL_ROLE_SYSTEM_VALUE] = "system register",
                                       [TL_ROLE_CALL_ARGUMENT] = "call argument",
                                       [TL_ROLE_CALL_RESULT] = "call result",
                                       [TL_ROLE_CALL_BUFFERS] = "call buffers",
                                       [TL_ROLE_CACHE_ADDRESS] = "cache address",
                                       [TL_ROLE_TARGET] = "branch target",
                                       [TL_ROLE_ORDER] = "order",
                                       [TL_ROLE_FLAGS] = "flags",
                                       [TL_ROLE_GENERAL] = "general registers",
                                       [TL_ROLE_SNAPSHOT] = "snapshot",
                                       [TL_ROLE_DOMAIN] = "domain",
                                       [TL_ROLE_ASSEMBLY] = "assembly",
                                       [TL_ROLE_MODULE] = "module",
                                       [TL_ROLE_MODULE_OWNER] = "module owner",
                                       [TL_ROLE_TYPE] = "type",
                                       [TL_ROLE_SWITCH] = "switch",
                                       [TL_ROLE_WAKE] = "wake-up"};
    return (size_t)role < TL_COUNT(name) ? name[role] : NULL;
}
