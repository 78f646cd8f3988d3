/* Writing TraceLogs: the form of each class, and the begin and end of a log. */
#include "format/tracelog/tracelog_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/base_name.h"
#include "format/tracelog/tracelog_write_record.h"

static const char format_name[] = "tracelog", dialect_doc[] = "doc", dialect_vs[] = "vs";

static bool is_own(const tl_trace *t)
{
    return t && t->format && strcmp(t->format, format_name) == 0;
}

int tracelog_write_dialect(const tl_write_context *context, bool *vs, tl_error *e)
{
    const char *wanted = context->options->version;
    if (wanted && strcmp(wanted, dialect_doc) != 0 && strcmp(wanted, dialect_vs) != 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: there is no dialect \"%s\" to write, only \"%s\" and \"%s\"",
                       format_name, wanted, dialect_doc, dialect_vs);
    if (!wanted && is_own(context->trace))
        wanted = context->trace->version;
    *vs = wanted && strcmp(wanted, dialect_vs) == 0;
    return 0;
}

/* The record of a class, by the fields that only it has; TRACELOG_RECORDS if none. */
static tracelog_record record_of(const tl_class *c)
{
    uint32_t r = 0;
    while (r < TRACELOG_RECORDS && tracelog_shapes[r].field != c->field)
        r++;
    return (tracelog_record)r;
}

/* Threads of several joined logs may share numbers. */
static bool count_same_threads(tracelog_writer *w)
{
    const tl_trace *t = w->context.trace;
    tl_strings names = {0};
    tl_hash seen = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->ntrack; i++) {
        const char *name = tl_strings_get(&names, t->track[i].name, strlen(t->track[i].name));
        ok = name != NULL;
        if (ok && tl_hash_get(&seen, (uintptr_t)name) != TL_HASH_NONE)
            w->losses.same_iid += strcmp(name, "process") != 0;
        else
            ok = ok && tl_hash_put(&seen, (uintptr_t)name, 1);
    }
    tl_strings_fini(&names);
    tl_hash_fini(&seen);
    return ok;
}

/* What must precede lines of calls and samples of other sources. */
static bool put_start(tracelog_writer *w, bool calls)
{
    const tl_write_context *c = &w->context;
    const tl_trace *t = c->trace;
    uint32_t i = 0;
    bool ok = true;
    tl_text_writer tw;
    tl_text_open(&tw, c->out);
    tracelog_head_time(&tw, &t->clock, w->base);
    if (!w->own) {
        tracelog_head_settings(&tw, calls, TRACELOG_PERIOD_MS);
        w->pace.period_ms = TRACELOG_PERIOD_MS;
        w->heads.library = t->exe;
        while (i < t->ntrack && !(t->track[i].has_pid && t->track[i].pid >= 0))
            i++;
        const char *file = t->exe ? t->exe : c->options->title ? NULL : t->path;
        const char *name = file ? tl_base_name(file) : c->options->title;
        if (i < t->ntrack)
            ok = tracelog_head_process(&tw, &w->heads, t->track[i].pid, name);
    }
    tl_text_close(&tw);
    return ok;
}

/* Decides the form of each class. */
static void choose_actions(tracelog_writer *w, bool *records, bool *calls)
{
    const tl_trace *t = w->context.trace;
    *records = *calls = false;
    for (uint32_t i = 0; i < t->ncls; i++) {
        const tl_class *c = &t->cls[i];
        uint8_t action = (uint8_t)record_of(c);
        if (action < TRACELOG_RECORDS) {
            *records = true;
        } else if (tracelog_is_call(c)) {
            action = TRACELOG_WRITE_CALL;
            *calls = true;
            w->by_address = w->by_address || c->by_address;
        } else {
            action = tracelog_is_sample(c) ? TRACELOG_WRITE_SAMPLE : TRACELOG_WRITE_NOTHING;
        }
        w->action[i] = action;
    }
    for (uint32_t i = 0; *calls && i < t->ncls; i++) /* a thread has one stack: its calls know more */
        if (w->action[i] == TRACELOG_WRITE_SAMPLE)
            w->action[i] = TRACELOG_WRITE_NOTHING;
}

int tracelog_create(void *writer, const tl_write_context *context, tl_error *e)
{
    tracelog_writer *w = writer;
    const tl_trace *t = context->trace;
    bool records, calls;
    w->context = *context;
    w->own = is_own(t);
    w->base = w->own ? 0 : context->options->begin;
    w->pointer_digits = TRACELOG_POINTER_DIGITS;
    w->pace.period_ms = w->log_period_ms = TRACELOG_DEFAULT_PERIOD;
    w->heads.losses = &w->losses;
    w->losses.ticks = t->clock.hz == 0;
    int status = tracelog_write_dialect(context, &w->vs, e);
    if (status < 0)
        return status;
    w->heads.vs = w->vs;
    w->action = malloc((size_t)t->ncls + 1);
    if (!w->action)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for the classes", format_name);
    choose_actions(w, &records, &calls);
    bool ok = tracelog_calls_init(w, records && !w->own) && (!w->own || count_same_threads(w));
    /* A log contains its begin, unless it is joined from several with times of their own. */
    if (ok && (!w->own || t->clock.hz != 1000))
        ok = put_start(w, calls);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for the threads", format_name);
}

tl_accept tracelog_accept(void *writer, const tl_class *c)
{
    const tracelog_writer *w = writer;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    return w->action[c->id] == TRACELOG_WRITE_NOTHING ? TL_ACCEPT_DROP : TL_ACCEPT_KEEP;
}

int tracelog_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    tracelog_writer *w = writer;
    bool ok = true;
    tl_text_writer tw;
    tracelog_threads_run(&w->threads, b);
    tl_text_open(&tw, w->context.out);
    for (uint32_t i = from; i < to && ok; i++) {
        const uint8_t action = w->action[b->cls[i]];
        if (TL_LIKELY(action < TRACELOG_RECORDS))
            ok = tracelog_put_record(&tw, w, (tracelog_record)action, b, i);
        else if (action == TRACELOG_WRITE_CALL)
            ok = tracelog_put_call(&tw, w, b, i);
        else if (action == TRACELOG_WRITE_SAMPLE)
            ok = tracelog_put_foreign_sample(&tw, w, b, i);
    }
    tl_text_close(&tw);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for a line", format_name);
}

int tracelog_finish(void *writer, tl_error *e)
{
    tracelog_writer *w = writer;
    (void)e;
    w->losses.moved = w->calls.nest.moved;
    w->losses.unmatched_exits = w->calls.nest.unmatched_exits;
    w->losses.too_deep += w->calls.nest.too_deep;
    tracelog_losses_report(&w->losses, w->context.drops);
    return 0;
}

void tracelog_discard(void *writer)
{
    tracelog_writer *w = writer;
    free(w->action);
    tracelog_threads_fini(&w->threads);
    tl_hash_fini(&w->named);
    tracelog_heads_fini(&w->heads);
    tracelog_calls_fini(&w->calls);
}
