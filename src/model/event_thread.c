/* The thread that an event names by context fields. */
#include "model/event_thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "model/field_text.h"

uint32_t tl_class_find_field(const tl_class *c, bool context, const char *name)
{
    const uint32_t end = context ? c->ncontext : c->nfield;
    for (uint32_t i = context ? 0 : c->ncontext; i < end; i++)
        if (strcmp(c->field[i].name, name) == 0)
            return i;
    return TL_NO_FIELD;
}

const tl_value *tl_event_value(const tl_batch *b, uint32_t i, uint32_t field)
{
    if (field == TL_NO_FIELD || !b->val)
        return NULL;
    const tl_value *end = b->v + b->val[i + 1], *v = tl_values_skip(b->v + b->val[i], end, field);
    return v < end ? v : NULL;
}

static uint32_t find_context(const tl_class *c, const char *name, const char *other)
{
    const uint32_t i = tl_class_find_field(c, true, name);
    return i != TL_NO_FIELD ? i : tl_class_find_field(c, true, other);
}

tl_thread_fields tl_thread_fields_of(const tl_class *c)
{
    return (tl_thread_fields){.tid = find_context(c, "vtid", "tid"), .pid = find_context(c, "vpid", "pid")};
}

tl_thread_fields *tl_thread_fields_new(const tl_trace *t)
{
    tl_thread_fields *f = tl_alloc((size_t)t->ncls + 1, sizeof *f);
    for (uint32_t i = 0; f && i < t->ncls; i++)
        f[i] = tl_thread_fields_of(&t->cls[i]);
    return f;
}

static bool is_integer(const tl_value *v)
{
    return v && (v->type == TL_I64 || v->type == TL_U64);
}

bool tl_event_thread_get(const tl_thread_fields *f, const tl_batch *b, uint32_t i, tl_event_thread *out)
{
    const tl_value *tid = tl_event_value(b, i, f->tid);
    if (!is_integer(tid))
        return false;
    const tl_value *pid = tl_event_value(b, i, f->pid);
    out->tid = tid->as.i;
    out->has_pid = is_integer(pid);
    out->pid = out->has_pid ? pid->as.i : 0;
    return true;
}

const char *tl_event_thread_name(int64_t tid, char room[static TL_THREAD_NAME_ROOM])
{
    snprintf(room, TL_THREAD_NAME_ROOM, "thread %" PRId64, tid);
    return room;
}
