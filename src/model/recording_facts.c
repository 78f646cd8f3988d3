/* What the notes of a recording say about its trace: clock, program, functions, losses, and what `info` shows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "model/histogram.h"
#include "model/recording_line.h"

const tl_recording_object *tl_recording_object_of(const tl_recording *r, uint32_t id)
{
    const uint32_t at = tl_hash_get(&r->object_at, id);
    return at == TL_HASH_NONE ? NULL : &r->object[at];
}

const tl_recording_object *tl_recording_home(const tl_recording *r, int64_t function)
{
    const uint32_t line = tl_hash_get(&r->function_at, (uint64_t)function);
    if (line != TL_HASH_NONE)
        return tl_recording_object_of(r, r->function[line].object);
    uint32_t low = 0, high = r->nobject;
    while (low < high) { /* the last one that begins before it */
        const uint32_t middle = low + (high - low) / 2;
        if ((int64_t)r->object[r->by_base[middle]].base < function)
            low = middle + 1;
        else
            high = middle;
    }
    const tl_recording_object *o = low > 0 ? &r->object[r->by_base[low - 1]] : NULL;
    return o && function - (int64_t)o->base <= (int64_t)o->count ? o : NULL;
}

const tl_recording_object *tl_recording_program(const tl_recording *r)
{
    for (uint32_t i = 0; r->process.exe && i < r->nobject; i++)
        if (r->object[i].path && strcmp(r->object[i].path, r->process.exe) == 0)
            return &r->object[i];
    for (uint32_t i = 0; i < r->nobject; i++)
        if (r->object[i].base == 0 && r->object[i].count > 0)
            return &r->object[i];
    return NULL;
}

const tl_recording_event *tl_recording_event_of(const tl_recording *r, uint32_t id)
{
    const uint32_t at = tl_hash_get(&r->event_at, id);
    return at == TL_HASH_NONE ? NULL : &r->event[at];
}

const char *tl_recording_thread(const tl_trace *t, int64_t tid)
{
    const tl_recording *r = t->recording;
    const uint32_t at = r ? tl_hash_get(&r->thread_at, (uint64_t)tid) : TL_HASH_NONE;
    return at == TL_HASH_NONE ? NULL : r->thread[at];
}

static void fill_clock(tl_trace *t)
{
    const tl_recording *r = t->recording;
    if (!r->has_clock)
        return;
    tl_trace_set_clock(t, r->clock.name, r->clock.hz);
    const uint64_t since = tl_scale_ns(&t->scale, r->clock.ticks);
    if (r->clock.hz && r->clock.has_moment && r->clock.unix_ns <= INT64_MAX && since <= INT64_MAX) {
        t->clock.has_utc = true;
        t->clock.utc_offset_ns = (int64_t)r->clock.unix_ns - (int64_t)since;
    }
}

static int fill_functions(tl_trace *t, tl_error *e)
{
    const tl_recording *r = t->recording;
    const tl_recording_object *program = tl_recording_program(r);
    int status = tl_recording_fill_frames(t, e);
    for (uint32_t i = 0; status == 0 && i < r->nfunction; i++) {
        const tl_recording_function *f = &r->function[i];
        const tl_recording_object *o = tl_recording_object_of(r, f->object);
        const tl_function new = {.id = f->id,
                                 .address = f->address,
                                 .name = f->name,
                                 .linkage_name = f->name,
                                 .module = o ? o->build_id : NULL,
                                 .library = o && o != program ? o->path : NULL};
        status = tl_trace_add_function(t, &new, e);
    }
    return status;
}

static int fill_patched(tl_trace *t, tl_error *e)
{
    const tl_recording *r = t->recording;
    tl_patched *list = tl_alloc((size_t)r->nobject + 1, sizeof *list);
    uint32_t n = 0;
    if (!list)
        return tl_note_no_memory(e);
    for (uint32_t i = 0; i < r->nobject; i++)
        if (r->object[i].has_counts) {
            list[n] = r->object[i].counts;
            list[n++].path = r->object[i].path;
        }
    const int status = tl_trace_set_patched(t, list, n, e);
    free(list);
    return status;
}

/* ---- the header ---- */

/* Fields and values under construction, in the trace's arena. */
typedef struct header {
    tl_trace *t;
    tl_field field[8], *member; /* member: of the current struct */
    tl_value value[8 + TL_RECORDING_OPTIONS_MAX + 16];
    uint32_t nfield, nvalue;
    bool failed;
} header;

static tl_value number_value(uint64_t v)
{
    return (tl_value){.type = TL_U64, .as.u = v};
}

static tl_value text_value(const char *s)
{
    return (tl_value){.type = TL_STRING, .n = (uint32_t)strlen(s), .as.p = s};
}

static void add_text(header *h, const char *name, const char *text)
{
    h->field[h->nfield++] = (tl_field){.name = name, .type = TL_STRING};
    h->value[h->nvalue++] = text_value(text);
}

/* A struct of at most `most` members, which follow. */
static void add_struct(header *h, const char *name, uint32_t most)
{
    h->member = tl_arena_zalloc(&h->t->strings.arena, ((size_t)most + 1) * sizeof *h->member);
    h->failed |= !h->member;
    h->field[h->nfield++] = (tl_field){.name = name, .type = TL_STRUCT, .member = h->member};
    h->value[h->nvalue++] = (tl_value){.type = TL_STRUCT};
}

static void add_member(header *h, const char *name, tl_value v)
{
    tl_field *f = &h->field[h->nfield - 1];
    if (h->failed)
        return;
    h->member[f->nmember++] = (tl_field){.name = name, .type = (tl_type)v.type};
    h->value[h->nvalue - f->nmember].n = f->nmember; /* the struct's own slot is before its members */
    h->value[h->nvalue++] = v;
}

static void add_process(header *h, const tl_recording *r)
{
    add_struct(h, "process", 3);
    add_member(h, "id", number_value(r->process.pid));
    if (r->process.has_parent)
        add_member(h, "parent", number_value(r->process.parent));
    if (r->process.exe)
        add_member(h, "exe", text_value(r->process.exe));
}

static void add_options(header *h, const tl_recording *r)
{
    add_struct(h, "options", r->noption);
    for (uint32_t i = 0; i < r->noption; i++) {
        uint64_t number;
        const bool is_number = tl_parse_u64(r->option[i].text, &number);
        if (is_number && number == 0) /* not set */
            continue;
        add_member(h, r->option[i].name, is_number ? number_value(number) : text_value(r->option[i].text));
    }
}

static void add_losses(header *h, const tl_recording *r)
{
    const struct {
        const char *name;
        uint64_t n;
    } loss[] = {{"late", r->lost.late}, {"depth", r->lost.depth}, {"memory", r->lost.memory},
                {"disk", r->lost.disk}, {"exits", r->lost.exits}, {"threads", r->lost.threads}};
    bool any = false;
    for (size_t i = 0; i < TL_COUNT(loss); i++)
        any |= loss[i].n > 0;
    if (!any)
        return;
    add_struct(h, "losses", TL_COUNT(loss));
    for (size_t i = 0; i < TL_COUNT(loss); i++)
        if (loss[i].n > 0)
            add_member(h, loss[i].name, number_value(loss[i].n));
}

/* For a full ring: how much was overwritten, and from when on, in ns since the first event, nothing is missing. */
static void add_ring(header *h, const tl_recording *r)
{
    const tl_trace *t = h->t;
    const uint64_t begin = t->has_range ? t->begin : 0, complete = r->ring.complete;
    if (r->ring.reused == 0)
        return;
    add_struct(h, "ring", 3);
    add_member(h, "slots_reused", number_value(r->ring.reused));
    add_member(h, "events_overwritten", number_value(r->ring.overwritten));
    add_member(h, "complete_from", number_value(complete > begin ? tl_scale_ns(&t->scale, complete - begin) : 0));
}

static int fill_header(tl_trace *t, tl_recording_state state, tl_error *e)
{
    const tl_recording *r = t->recording;
    header h = {.t = t};
    if (r->has_process)
        add_process(&h, r);
    if (r->noption)
        add_options(&h, r);
    add_text(&h, "recording",
             r->ended || state == TL_RECORDING_DONE ? "finished"
                                                    : "not finished: the program was still running, or was killed");
    if (r->has_lost)
        add_losses(&h, r);
    add_ring(&h, r);
    tl_field *field = tl_arena_alloc(&t->strings.arena, ((size_t)h.nfield + 1) * sizeof *field);
    if (h.failed || !field)
        return tl_note_no_memory(e);
    memcpy(field, h.field, h.nfield * sizeof *field);
    return tl_trace_set_header(t, field, h.nfield, h.value, h.nvalue, e);
}

int tl_recording_finish(tl_trace *t, tl_recording_state state, tl_error *e)
{
    const tl_recording *r = t->recording;
    fill_clock(t);
    if (r->process.exe)
        t->exe = r->process.exe;
    const tl_recording_object *program = tl_recording_program(r);
    if (program)
        t->build_id = program->build_id;
    const uint64_t lost[] = {r->lost.late, r->lost.depth, r->lost.memory, r->lost.disk, r->lost.threads};
    for (size_t i = 0; i < TL_COUNT(lost); i++) /* exits without an entry are not losses: their calls began before */
        t->lost_events = tl_add_saturated(t->lost_events, lost[i]);
    int status = fill_functions(t, e);
    if (status >= 0)
        status = fill_patched(t, e);
    return status < 0 ? status : fill_header(t, state, e);
}
