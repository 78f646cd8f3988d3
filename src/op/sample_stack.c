/* Finds places of a profile for the frames of sampled stacks. */
#include "op/sample_stack.h"
#include "base/text/same_text.h"

#include <stdlib.h>

#include "base/grow.h"

enum { FRESH_LEAST = 64 };

void tl_sample_stack_init(tl_sample_stack *s, tl_profile *p, tl_source *source, bool lines)
{
    *s = (tl_sample_stack){.p = p, .source = source, .unknown = TL_NO_FUNCTION};
    s->lines = lines && source->reader->locate;
}

void tl_sample_stack_fini(tl_sample_stack *s)
{
    free(s->known);
    free(s->fresh);
    *s = (tl_sample_stack){0};
}

/* ---- functions ---- */

/* Remembers that a function has this name in this batch; false when memory runs out. */
static bool remember(tl_sample_stack *s, uint32_t function, const char *name)
{
    if (!TL_GROW_TO(s->known, s->nknown, function, UINT32_MAX))
        return false;
    s->known[function] = (tl_known_name){name, s->batch};
    return true;
}

/* A function without a number. */
static uint32_t unnumbered_function(tl_sample_stack *s, const tl_frame *f)
{
    if (!f->name && s->unknown != TL_NO_FUNCTION)
        return s->unknown;
    uint32_t function = tl_profile_add_function(s->p, &(tl_function){.name = f->name, .flags = TL_FUNCTION_UNKNOWN});
    if (!f->name && function != TL_HASH_NONE)
        s->unknown = function;
    return function;
}

/* A function whose number is new, or has another name. */
TL_COLD static uint32_t new_function(tl_sample_stack *s, const tl_frame *f)
{
    tl_profile *p = s->p;
    const tl_function made = {.id = (int64_t)f->function, .name = f->name, .flags = s->function_flags};
    uint32_t function = tl_profile_add_function(p, &made);
    if (function == TL_HASH_NONE)
        return function;
    if (!tl_id_map_put(&p->by_id, f->function, function))
        return TL_HASH_NONE;
    return remember(s, function, f->name) ? function : TL_HASH_NONE;
}

/* The function of a frame, at any place in it; TL_HASH_NONE when memory runs out. */
TL_ALWAYS_INLINE uint32_t whole_function(tl_sample_stack *s, const tl_frame *f)
{
    const tl_profile *p = s->p;
    if (TL_UNLIKELY(!(f->flags & TL_FRAME_FUNCTION)))
        return unnumbered_function(s, f);
    const uint32_t function = tl_id_map_get(&p->by_id, f->function);
    if (TL_UNLIKELY(function == TL_HASH_NONE))
        return new_function(s, f);
    const tl_known_name *known = &s->known[function];
    if (TL_LIKELY(known->batch == s->batch && known->name == f->name))
        return function;
    if (tl_same_text(p->function[function].name, f->name))
        return remember(s, function, f->name) ? function : TL_HASH_NONE;
    return new_function(s, f);
}

uint32_t tl_sample_stack_function(tl_sample_stack *s, const tl_frame *f, bool named)
{
    if (named || !(f->flags & TL_FRAME_FUNCTION))
        return whole_function(s, f);
    const uint32_t function = tl_id_map_get(&s->p->by_id, f->function);
    const tl_function *known = tl_trace_function(&s->source->trace, (int64_t)f->function);
    const tl_frame last = {.function = f->function, .name = known ? known->name : NULL};
    return function != TL_HASH_NONE ? function : new_function(s, &last);
}

/* The function with the frame's line, if known. */
static uint32_t function_at(tl_sample_stack *s, uint32_t function, const tl_frame *f)
{
    tl_location at = {0};
    if (function == TL_HASH_NONE || !s->source->reader->locate(s->source->state, f, &at))
        return function;
    tl_function located = s->p->function[function];
    located.file = at.file;
    located.line = at.line;
    located.offset = at.has_offset ? at.offset : 0;
    located.flags |= at.has_offset ? TL_FUNCTION_OFFSET : 0;
    return tl_profile_add_function(s->p, &located);
}

/* ---- places ---- */

uint32_t tl_sample_stack_place_slow(tl_sample_stack *s, uint32_t root, const tl_frame *top)
{
    const tl_frame *at = top;
    size_t n = 0;
    for (; at && !at->memo; at = at->caller) {
        if (!TL_GROW(s->fresh, n, 1, s->nfresh))
            return TL_HASH_NONE;
        s->fresh[n++] = (tl_frame *)(uintptr_t)at; /* its cursor's frames: their memo may be written */
    }
    uint32_t place = at ? at->memo : root;
    while (n > 0) {
        tl_frame *f = s->fresh[--n];
        uint32_t function = whole_function(s, f);
        if (s->lines)
            function = function_at(s, function, f);
        if (TL_UNLIKELY(function == TL_HASH_NONE))
            return TL_HASH_NONE;
        place = tl_profile_child(s->p, place, function);
        if (TL_UNLIKELY(place == TL_HASH_NONE))
            return TL_HASH_NONE;
        f->memo = place;
    }
    return place;
}

uint32_t tl_sample_stack_at_ip(tl_sample_stack *s, uint32_t place, const tl_frame *top, uint64_t ip)
{
    const tl_place at = s->p->place[place];
    tl_function whole = s->p->function[at.function];
    whole.file = NULL;
    whole.line = whole.offset = 0;
    whole.flags &= ~(uint32_t)TL_FUNCTION_OFFSET;
    tl_frame moved = *top;
    moved.caller = NULL;
    moved.name = whole.name;
    moved.ip = ip;
    moved.flags |= TL_FRAME_IP;
    const uint32_t function = function_at(s, tl_profile_add_function(s->p, &whole), &moved);
    return function == TL_HASH_NONE ? function : tl_profile_child(s->p, at.parent, function);
}
