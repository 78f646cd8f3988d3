/* The calls of a source as rows. */
#include "op/call_scan.h"

#include <stdlib.h>

#include "op/callstack.h"
#include "op/checkpoints.h"
#include "op/insn_calls.h"
#include "op/sample_profile.h"
#include "op/stack_calls.h"
#include "op/stream_reader.h"
#include "op/symbols/discover.h"

struct tl_call_scan {
    tl_source *source;
    tl_profile *profile;
    tl_profile_options options;
    tl_callstack *stack;  /* of entries and exits; or ... */
    tl_insn_calls *insns; /* ... of instructions; or ... */
    tl_stack_calls told;  /* ... of stacks, if there is neither */
    tl_limit limit;
    uint32_t stream, end;        /* the next one, and that after the last */
    tl_stream_reader *streams;   /* one after the other; or ... */
    const tl_checkpoints *known; /* ... or of each only the part that the selected time needs: */
    tl_cursor *cursor;
    tl_call_part part;
    tl_merge *merge; /* ... all together: */
    tl_thread_view *view;
    const tl_run *run;
    uint32_t nrun;
    tl_call_rows rows;
    uint32_t given; /* rows that were handed on */
    bool ended;
};

static bool has_calls(const tl_trace *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->ncls && !any; i++)
        any = t->cls[i].key == TL_KEY_FUNCTION && t->cls[i].kind == TL_ENTER;
    return any;
}

bool tl_call_scan_wanted(const tl_trace *t)
{
    return has_calls(t) || tl_insn_calls_wanted(t) || tl_call_scan_is_told(t);
}

bool tl_call_scan_is_told(const tl_trace *t)
{
    return tl_samples_wanted(t);
}

static bool is_discovered(const tl_source *s)
{
    return s->discovery && !tl_insn_calls_wanted(&s->trace);
}

/* Reads to the first event that tells calls. */
static int look_for_told(tl_source *s, tl_error *e)
{
    const tl_want want = tl_source_want(s, true);
    int status = 0;
    bool any = false;
    for (uint32_t i = 0; i < tl_source_streams(s) && status == 0 && !any; i++) {
        tl_cursor *c = NULL;
        const tl_batch *b;
        status = tl_cursor_open_want(&c, s, i, &want, NULL, e);
        while (status == 0 && !any && (status = tl_cursor_next(c, &b, e)) > 0) {
            status = 0;
            for (uint32_t k = 0; k < b->n && !any; k++)
                any = tl_stack_calls_tells(b, k, &s->trace.cls[b->cls[k]]);
        }
        tl_cursor_close(c);
    }
    if (status == 0)
        s->told_calls = any ? TL_TOLD_SOME : TL_TOLD_NONE;
    return status;
}

int tl_call_scan_prepare(tl_source *s, tl_error *e)
{
    if (tl_call_scan_is_told(&s->trace))
        return s->told_calls == TL_TOLD_UNKNOWN ? look_for_told(s, e) : 0;
    return tl_discover_calls(s, e);
}

uint32_t tl_call_scan_parts(const tl_source *s)
{
    return is_discovered(s) ? 1 : tl_source_streams(s);
}

static void start_told(tl_call_scan *c, const tl_call_scan_options *o)
{
    const tl_told_what what = {.p = c->profile,
                               .trace = &c->source->trace,
                               .options = &c->options,
                               .rows = &c->rows,
                               .places = o->places,
                               .named = true};
    tl_stack_calls_init(&c->told, c->source, &what);
}

/* Makes what matches calls. */
static int start(tl_call_scan *c, const tl_call_scan_options *o, tl_error *e)
{
    tl_source *s = c->source;
    int status = tl_profile_new(&c->profile, &s->trace.clock, e);
    if (status < 0)
        return status;
    if (tl_call_scan_is_told(&s->trace)) {
        start_told(c, o);
        return 0;
    }
    if (!tl_insn_calls_wanted(&s->trace)) {
        status = tl_callstack_new(&c->stack, c->profile, &s->trace, &c->options, TL_EXITS_MISSING, e);
        return status < 0 ? status : tl_callstack_give_rows(c->stack, &c->rows, o->places, e);
    }
    status = tl_insn_calls_can_apply(o->select, &s->trace, e);
    if (status == 0)
        status = tl_insn_calls_new(&c->insns, c->profile, &s->trace, s->code, &c->options, e);
    if (status == 0)
        status = tl_insn_calls_give_rows(c->insns, &c->rows, o->places, e);
    if (status == 0 && o->without & TL_CALL_IDS)
        tl_insn_calls_limit(c->insns, &c->limit);
    return status;
}

int tl_call_scan_open(tl_call_scan **out, tl_source *s, uint32_t first, uint32_t n, const tl_call_scan_options *o,
                      tl_error *e)
{
    if (!tl_call_scan_wanted(&s->trace))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "no calls of functions");
    tl_call_scan *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
    c->source = s;
    c->rows.without = o->without;
    c->rows.all = o->all;
    c->options = (tl_profile_options){.flat = !o->places, .select = o->select};
    c->stream = first;
    c->end = first + n;
    c->ended = n == 0 || s->told_calls == TL_TOLD_NONE;
    int status = start(c, o, e);
    if (status == 0 && is_discovered(s))
        status = tl_thread_view_new(&c->view, s, e);
    if (status == 0 && c->stack && !c->view && !o->all && o->without & TL_CALL_IDS) /* ids count all events */
        c->known = tl_checkpoints_for(s, o->select);
    tl_want want = tl_source_want(s, c->view || (!c->insns && !c->stack)); /* fields name threads, or are stacks */
    want.threads = o->alone ? 1 : want.threads;
    if (status == 0 && !c->known)
        status = c->view ? tl_merge_open_want(&c->merge, s, &want, NULL, e)
                         : tl_stream_reader_open(&c->streams, s, &want, &c->limit, e);
    if (status < 0) {
        tl_call_scan_close(c);
        return status;
    }
    *out = c;
    return 0;
}

static int add_run(tl_call_scan *c, tl_error *e)
{
    if (c->nrun == 0) {
        const int status = tl_merge_runs(c->merge, &c->run, &c->nrun, e);
        if (status <= 0)
            return status;
    }
    const tl_run *run = c->run++;
    c->nrun--;
    const tl_batch *b = tl_thread_view_batch(c->view, run->batch, run->from, run->to);
    const int status = tl_callstack_add_ids(c->stack, b, tl_thread_view_ids(c->view), e);
    return status < 0 ? status : 1;
}

/* Whatever they are made of. */
static int add_calls(tl_call_scan *c, const tl_batch *b, tl_error *e)
{
    return c->insns   ? tl_insn_calls_add(c->insns, b, e)
           : c->stack ? tl_callstack_add(c->stack, b, e)
                      : tl_stack_calls_add(&c->told, b, e);
}

/* The same of the part of a stream that is needed. */
static int add_part(tl_call_scan *c, tl_error *e)
{
    const tl_want want = tl_source_want(c->source, false);
    const tl_batch *b;
    tl_batch cut;
    int status = 1;
    if (!c->cursor) {
        status = tl_call_part_begin(&c->part, c->known, c->stream, c->stack, c->profile, e);
        if (status == 0)
            status = tl_cursor_open_want(&c->cursor, c->source, c->stream, &want, &c->part.limit, e);
        if (status < 0)
            return status;
    }
    status = c->part.ended ? 0 : tl_cursor_next(c->cursor, &b, e);
    if (status <= 0)
        return status;
    tl_call_part_cut(&c->part, b, &cut);
    status = tl_callstack_add(c->stack, &cut, e);
    return status < 0 ? status : 1;
}

static int add_batch(tl_call_scan *c, tl_error *e)
{
    const tl_batch *b;
    if (c->known)
        return add_part(c, e);
    int status = tl_stream_reader_next(c->streams, c->stream, &b, e);
    if (status <= 0)
        return status;
    status = add_calls(c, b, e);
    return status < 0 ? status : 1;
}

/* The streams so far have ended: so have their calls. */
static int finish(tl_call_scan *c, tl_error *e)
{
    const uint32_t stream = c->stream++;
    c->ended = c->merge || c->stream == c->end;
    if (c->insns)
        return tl_insn_calls_finish(c->insns, e);
    const bool ok = c->stack ? tl_callstack_finish(c->stack) : tl_stack_calls_finish(&c->told);
    if (c->known) {
        tl_call_part_finish(&c->part, c->known, stream, c->profile);
        tl_cursor_close(c->cursor);
        c->cursor = NULL;
    }
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows of calls");
}

/* Reads until there are some rows, or no more. */
static int fill(tl_call_scan *c, tl_error *e)
{
    int status = 0;
    while (status >= 0 && c->rows.n < TL_CALL_ROWS_MOST / 2 && !c->ended) {
        status = c->merge ? add_run(c, e) : add_batch(c, e);
        if (status == 0)
            status = finish(c, e);
    }
    return status;
}

int tl_call_scan_take(tl_call_scan *c, tl_call_rows *rows, tl_error *e)
{
    tl_call_rows_clear(rows);
    const int status = fill(c, e);
    if (status < 0)
        return status;
    const tl_call_rows full = c->rows;
    c->rows = *rows;
    c->rows.without = full.without;
    c->rows.all = full.all;
    *rows = full;
    return full.n != 0;
}

int tl_call_scan_next(tl_call_scan *c, tl_call_rows *rows, tl_error *e)
{
    if (c->given == c->rows.n) {
        tl_call_rows_clear(&c->rows);
        c->given = 0;
    }
    const int status = c->given ? 0 : fill(c, e);
    if (status < 0)
        return status;
    const uint32_t left = c->rows.n - c->given, n = left < TL_CALL_ROWS_MOST ? left : TL_CALL_ROWS_MOST;
    if (n == 0)
        return 0;
    *rows = tl_call_rows_part(&c->rows, c->given, n);
    c->given += n;
    return 1;
}

const tl_profile *tl_call_scan_profile(const tl_call_scan *c)
{
    return c->profile;
}

void tl_call_scan_close(tl_call_scan *c)
{
    if (!c)
        return;
    tl_merge_close(c->merge);
    tl_cursor_close(c->cursor);
    tl_thread_view_free(c->view);
    tl_stream_reader_close(c->streams);
    tl_callstack_free(c->stack);
    tl_insn_calls_free(c->insns);
    tl_stack_calls_fini(&c->told);
    tl_profile_free(c->profile);
    tl_call_rows_fini(&c->rows);
    free(c);
}
