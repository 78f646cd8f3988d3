/* A profile as a log of samples: the own values of each stack, one after the other.
 *
 *   time     a sam str line for each stack with time of its own. If all samples of the profile represent the same whole
 *            number of ms, that is the period and the counts are exact; otherwise the period is 1 ms, and the remainder
 *            of one stack is added to the next, so that sums stay right.
 *   threads  each tree is a thread, whose samples follow each other without a gap.
 *   memory   a sam mem line after the sam str line of its stack; the classes of objects are not known. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/same_text.h"
#include "format/tracelog/tracelog_write.h"
#include "model/label.h"
#include "model/place_tree.h"

enum { NS_PER_MS = 1000000 };
#define NO_WEIGHT UINT32_MAX
#define NO_IID    UINT32_MAX

/* Output state of a thread. */
typedef struct thread_state {
    bool begun;
    uint64_t iid, ms;
    uint64_t rest_ns;    /* its time not written yet */
    uint32_t size, kept; /* depth of the last stack, and how much of it the walk has not left since */
} thread_state;

typedef struct profile_writer {
    const tl_profile *p;
    tl_text_writer tw;
    tl_place_walk walk;
    tracelog_heads heads;
    tracelog_losses losses;
    thread_state *thread; /* [ntrack + 1]: by track, the last one for everything without a thread */
    uint64_t threads;
    uint32_t *iid;  /* [nfunction]; NO_IID: not written */
    tl_hash of_iid; /* iid -> function */
    tracelog_iids iids;
    uint64_t period_ms;
    bool counts;                            /* samples are counted, not time */
    uint32_t samples, time, bytes, objects; /* weights, or NO_WEIGHT */
} profile_writer;

static uint32_t find_weight(const tl_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->nweight; i++)
        if (strcmp(p->kind[i].name, name) == 0)
            return i;
    return NO_WEIGHT;
}

static uint64_t weight_of(const profile_writer *w, uint32_t place, uint32_t weight)
{
    return weight == NO_WEIGHT ? 0 : tl_profile_weight_self(w->p, place, weight);
}

static uint64_t time_ns(const profile_writer *w, uint32_t place)
{
    const uint64_t ticks = w->p->nweight ? weight_of(w, place, w->time) : w->p->stat[place].self;
    return tl_scale_ns(&w->p->scale, ticks);
}

/* Finds out whether all samples represent the same whole number of ms. */
static void choose_period(profile_writer *w)
{
    uint64_t period = 0; /* ns */
    w->period_ms = TRACELOG_PERIOD_MS;
    for (uint32_t i = 0; w->samples != NO_WEIGHT && i < w->p->nplace; i++) {
        const uint64_t samples = weight_of(w, i, w->samples), ns = time_ns(w, i);
        uint64_t expected;
        if (samples == 0 && ns == 0)
            continue;
        if (period == 0)
            period = samples ? ns / samples : 0;
        if (period == 0 || period % NS_PER_MS != 0 || period / NS_PER_MS > TRACELOG_PERIOD_MAX ||
            __builtin_mul_overflow(period, samples, &expected) || expected != ns)
            return;
    }
    if (period == 0)
        return;
    w->counts = true;
    w->period_ms = period / NS_PER_MS;
}

/* The same function, but perhaps another line of it. */
static bool same_function(const tl_function *a, const tl_function *b)
{
    return a->id == b->id && tl_same_text(a->name, b->name) && tl_same_text(a->module, b->module) &&
           tl_same_text(a->library, b->library);
}

/* Gives a function its iid, and writes it if new. */
static bool number_function(profile_writer *w, uint32_t index)
{
    const tl_function *f = &w->p->function[index];
    const bool keeps_id = f->id >= 0 && f->id < TRACELOG_OWN_IID;
    const uint32_t other = keeps_id ? tl_hash_get(&w->of_iid, (uint64_t)f->id) : TL_HASH_NONE;
    if (other != TL_HASH_NONE && same_function(&w->p->function[other], f)) {
        w->iid[index] = w->iid[other];
        return true;
    }
    const uint32_t iid = tracelog_iid_new(&w->iids, other == TL_HASH_NONE ? f->id : -1);
    w->iid[index] = iid;
    return tl_hash_put(&w->of_iid, iid, index) && tracelog_head_function(&w->tw, &w->heads, iid, f);
}

/* Writes the functions of the stack from a depth on. */
static bool number_functions(profile_writer *w, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const uint32_t index = w->walk.stack[i];
        if (w->iid[index] == NO_IID && !(w->p->function[index].flags & TL_FUNCTION_UNKNOWN) &&
            !number_function(w, index))
            return false;
    }
    return true;
}

static thread_state *begin_thread(profile_writer *w, uint32_t track)
{
    thread_state *t = &w->thread[track == TL_NO_TRACK ? w->p->ntrack : track];
    if (!t->begun) {
        t->begun = true;
        t->iid = w->threads++;
        t->rest_ns = NS_PER_MS / 2; /* so that the sum is rounded to nearest */
        tracelog_head_thread(&w->tw, &w->heads, t->iid, track == TL_NO_TRACK ? NULL : &w->p->track[track]);
    }
    return t;
}

static void pass_time(thread_state *t, uint64_t ms)
{
    t->ms = ms < TRACELOG_MS_MAX - t->ms ? t->ms + ms : TRACELOG_MS_MAX;
}

/* The line that sets the stack of the walk. */
static bool put_stack(profile_writer *w, thread_state *t, uint64_t count)
{
    const uint32_t depth = w->walk.depth < TRACELOG_DEPTH_MAX ? w->walk.depth : TRACELOG_DEPTH_MAX;
    const uint64_t first = count < UINT32_MAX ? count : UINT32_MAX;
    uint64_t passed;
    w->losses.too_deep += depth < w->walk.depth;
    t->kept = t->kept < depth ? t->kept : depth;
    if (!number_functions(w, t->kept, depth))
        return false;
    pass_time(t, __builtin_mul_overflow(count, w->period_ms, &passed) ? UINT64_MAX : passed);
    tracelog_put_line(&w->tw, t->iid, t->ms, first, t->kept, t->size);
    for (uint32_t i = t->kept; i < depth; i++) {
        const uint32_t index = w->walk.stack[i];
        tl_text_room(&w->tw, TRACELOG_NUMBER_ROOM);
        *w->tw.p++ = ' ';
        if (w->iid[index] == NO_IID)
            *w->tw.p++ = '?';
        else
            w->tw.p = tracelog_put_short(w->tw.p, w->iid[index]);
    }
    tl_text_char(&w->tw, '\n');
    tracelog_put_count(&w->tw, t->iid, t->ms, count - first, depth);
    t->size = t->kept = depth;
    return true;
}

static void put_memory(profile_writer *w, const thread_state *t, uint64_t objects, uint64_t bytes)
{
    tl_text_room(&w->tw, 5 * TRACELOG_NUMBER_ROOM);
    TL_TEXT_COPY(&w->tw, "sam mem ");
    char *p = tracelog_put_hex(w->tw.p, t->iid, TRACELOG_IID_DIGITS, TRACELOG_UPPER);
    *p++ = ' ';
    p = tl_put_u64(p, t->ms);
    p = TL_PUT(p, " ?:");
    p = tl_put_u64(p, objects);
    *p++ = ':';
    p = tl_put_u64(p, bytes);
    *p++ = '\n';
    w->tw.p = p;
}

/* Writes a place's own amounts; those of a root belong to the empty stack. */
static bool put_place(profile_writer *w, uint32_t place, uint32_t track)
{
    const uint64_t samples = weight_of(w, place, w->samples), ns = time_ns(w, place);
    const uint64_t objects = weight_of(w, place, w->objects), bytes = weight_of(w, place, w->bytes);
    if (samples == 0 && ns == 0 && objects == 0 && bytes == 0)
        return true;
    thread_state *t = begin_thread(w, track);
    uint64_t count = samples;
    if (!w->counts) {
        uint64_t sum;
        if (__builtin_add_overflow(ns, t->rest_ns, &sum))
            sum = UINT64_MAX;
        w->losses.rounded += ns % NS_PER_MS != 0;
        count = sum / NS_PER_MS;
        t->rest_ns = sum % NS_PER_MS;
    }
    if (count == 0 && objects == 0 && bytes == 0)
        return true;
    if (!put_stack(w, t, count))
        return false;
    if (objects || bytes)
        put_memory(w, t, objects, bytes);
    return true;
}

/* Samples of the empty stack have no place, so their thread is unknown: they go to the first one. */
static bool put_empty(profile_writer *w)
{
    const uint64_t empty = tl_profile_samples(w->p).empty;
    if (!w->counts || empty == 0)
        return true;
    const uint32_t first = w->walk.tree->child[0], track = w->p->place[first].track;
    return put_stack(w, begin_thread(w, track), empty);
}

static bool put_places(profile_writer *w)
{
    bool ok = put_empty(w) && put_place(w, 0, TL_NO_TRACK);
    while (ok && tl_place_walk_next(&w->walk)) {
        thread_state *t = &w->thread[w->walk.track == TL_NO_TRACK ? w->p->ntrack : w->walk.track];
        if (!w->walk.leaving)
            ok = put_place(w, w->walk.place, w->walk.track);
        else if (w->p->place[w->walk.place].function != TL_NO_FUNCTION && w->walk.depth <= t->kept)
            t->kept = w->walk.depth - 1;
    }
    return ok;
}

static bool put_start(profile_writer *w, const tl_write_context *context)
{
    const tl_profile *p = w->p;
    uint32_t i = 0;
    tracelog_head_settings(&w->tw, false, w->period_ms);
    w->heads.library = p->exe;
    while (i < p->ntrack && !(p->track[i].has_pid && p->track[i].pid >= 0))
        i++;
    const char *name = p->exe ? p->exe : context->options->title;
    return i == p->ntrack || tracelog_head_process(&w->tw, &w->heads, p->track[i].pid, name);
}

static void report(const profile_writer *w, tl_drops *drops)
{
    const tl_profile *p = w->p;
    const tl_sample_counts samples = tl_profile_samples(p);
    tracelog_losses_report(&w->losses, drops);
    if (p->nweight == 0)
        tl_drops_add(drops, "call counts", tl_profile_called_places(p));
    tl_drops_add(drops, "latency histograms, with shortest and longest calls", tl_profile_histograms(p));
    tl_drops_add(drops, "samples with an empty stack", w->counts ? 0 : samples.empty);
    tl_drops_add(drops, "the build-id", p->build_id != NULL);
}

static int write_with(profile_writer *w, const tl_write_context *context, const tl_place_tree *tree, tl_error *e)
{
    const tl_profile *p = w->p;
    int status = tl_place_walk_init(&w->walk, tree, e);
    w->thread = calloc((size_t)p->ntrack + 1, sizeof *w->thread);
    w->iid = tl_alloc((size_t)p->nfunction + 1, sizeof *w->iid);
    bool ok = status >= 0 && w->thread && w->iid;
    for (uint32_t i = 0; ok && i < p->nfunction; i++)
        w->iid[i] = NO_IID;
    if (ok) {
        choose_period(w);
        tl_text_open(&w->tw, context->out);
        ok = put_start(w, context) && put_places(w);
        tl_text_close(&w->tw);
    }
    return status < 0 ? status : ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "tracelog: no memory for the profile");
}

int tracelog_write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    tl_place_tree tree;
    profile_writer w = {.p = p, .iids = {.first = TRACELOG_OWN_IID}};
    w.samples = find_weight(p, "samples");
    w.time = find_weight(p, "time");
    w.bytes = find_weight(p, "alloc_space");
    w.objects = find_weight(p, "alloc_objects");
    w.heads.losses = &w.losses;
    w.losses.ticks = p->clock.hz == 0;
    int status = tracelog_write_dialect(context, &w.heads.vs, e);
    if (status >= 0)
        status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    status = write_with(&w, context, &tree, e);
    if (status == 0)
        report(&w, context->drops);
    tl_place_walk_fini(&w.walk);
    tl_place_tree_fini(&tree);
    tracelog_heads_fini(&w.heads);
    tl_hash_fini(&w.of_iid);
    free(w.thread);
    free(w.iid);
    return status;
}
