/* Writing XRay profiles, in the layout of xprof_layout.h and always little-endian, as LLVM's runtime does.
 *
 * One record for each stack with calls or self time, in one block per thread, or several if they exceed its u32 size.
 * The format holds i32 function ids, calls, and the ticks spent in a stack and below it: all else is dropped and
 * reported. Id 0 ends a stack, so that stacks with it or with ids beyond i32 cannot be written. Profiles of samples are
 * refused: a reader would take their numbers for calls. */
#include "format/xray/xprof_write.h"

#include <stdlib.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/xray/xprof_layout.h"
#include "model/place_tree.h"

typedef struct writer {
    const tl_profile *p;
    tl_output *out;
    tl_place_walk walk;
    uint64_t *time; /* by place: self time plus that of everything written below; UNFIT: cannot be written */
    uint32_t longest, blocks;
    uint64_t unfit, cut;
} writer;

#define UNFIT    UINT64_MAX
#define TIME_MAX ((uint64_t)INT64_MAX) /* readers would take more for negative */

static bool fits(const tl_function *f)
{
    return f->id != 0 && f->id >= INT32_MIN && f->id <= INT32_MAX;
}

/* Chosen so that each place has the same calls and self time when read again. */
static int find_times(writer *w, tl_error *e)
{
    const tl_profile *p = w->p;
    w->time = calloc(p->nplace, sizeof *w->time);
    if (!w->time)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write the profile");
    for (uint32_t i = 1; i < p->nplace; i++) {
        const tl_place *at = &p->place[i];
        const uint64_t self = p->stat[i].self < TIME_MAX ? p->stat[i].self : TIME_MAX;
        const bool bad = at->function != TL_NO_FUNCTION && !fits(&p->function[at->function]);
        w->time[i] = bad || w->time[at->parent] == UNFIT ? UNFIT : self;
    }
    for (uint32_t i = p->nplace - 1; i > 0; i--) { /* children come after their parents */
        uint64_t *parent = &w->time[p->place[i].parent];
        if (w->time[i] != UNFIT)
            *parent = w->time[i] < TIME_MAX - *parent ? *parent + w->time[i] : TIME_MAX;
    }
    return 0;
}

static void put32(tl_output *out, uint32_t v)
{
    uint8_t b[4];
    tl_store32(b, v, false);
    tl_output_write(out, b, sizeof b);
}

static void put64(tl_output *out, uint64_t v)
{
    uint8_t b[8];
    tl_store64(b, v, false);
    tl_output_write(out, b, sizeof b);
}

/* The process of all threads, or 0 if it is unknown or not the same. */
static uint64_t common_pid(const tl_profile *p)
{
    for (uint32_t i = 0; i < p->ntrack; i++)
        if (!p->track[i].has_pid || p->track[i].pid != p->track[0].pid)
            return 0;
    return p->ntrack ? (uint64_t)p->track[0].pid : 0;
}

static void put_header(writer *w)
{
    put64(w->out, XPROF_MAGIC);
    put64(w->out, XPROF_VERSION);
    put64(w->out, 0); /* the time of recording is unknown */
    put64(w->out, common_pid(w->p));
}

static bool next_record(writer *w, uint32_t track)
{
    while (tl_place_walk_next(&w->walk)) {
        const uint32_t place = w->walk.place;
        if (w->walk.leaving || w->walk.track != track || w->p->place[place].function == TL_NO_FUNCTION ||
            !tl_place_is_used(w->p, place))
            continue;
        if (w->time[place] != UNFIT)
            return true;
        w->unfit++;
    }
    return false;
}

static uint64_t record_size(const writer *w)
{
    return ((uint64_t)tl_place_walk_frames(&w->walk, w->longest) + 1) * XPROF_ID_SIZE + XPROF_NUMBERS_SIZE;
}

static void put_record(writer *w)
{
    const uint32_t frames = tl_place_walk_frames(&w->walk, w->longest);
    const tl_place_stat *stat = &w->p->stat[w->walk.place];
    const bool deepest = frames == w->longest; /* nothing below it is written */
    w->cut += frames < w->walk.depth;
    for (uint32_t i = frames; i-- > 0;)
        put32(w->out, (uint32_t)w->p->function[tl_place_walk_frame(&w->walk, frames, i)].id);
    put32(w->out, 0);
    put64(w->out, stat->calls);
    put64(w->out, deepest && stat->self < TIME_MAX ? stat->self : w->time[w->walk.place]);
}

/* Writes the records of a thread: the first pass measures the blocks, the second writes them. */
static int put_thread(writer *w, uint32_t root, uint32_t track, uint64_t thread, tl_error *e)
{
    uint32_t *size = NULL; /* of the blocks */
    uint32_t n = 0, capacity = 0;
    tl_place_walk_start(&w->walk, root);
    while (next_record(w, track)) {
        const uint64_t more = record_size(w);
        if (n > 0 && more <= UINT32_MAX - size[n - 1]) {
            size[n - 1] += (uint32_t)more;
            continue;
        }
        if (!TL_GROW(size, n, 1, capacity)) {
            free(size);
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write the profile");
        }
        size[n++] = XPROF_BLOCK_SIZE + (uint32_t)more; /* at most TL_PLACES_MAX ids, far below 4 GiB */
    }

    const uint64_t unfit = w->unfit; /* counted once, not twice */
    uint32_t block = 0, left = 0;
    tl_place_walk_start(&w->walk, root);
    while (next_record(w, track)) {
        if (left == 0) {
            left = size[block] - XPROF_BLOCK_SIZE;
            put32(w->out, size[block++]);
            put32(w->out, w->blocks++);
            put64(w->out, thread);
        }
        left -= (uint32_t)record_size(w);
        put_record(w);
    }
    w->unfit = unfit;
    free(size);
    return 0;
}

static int put_threads(writer *w, const tl_place_tree *tree, tl_error *e)
{
    const tl_profile *p = w->p;
    bool threadless = false;
    int status = 0;
    put_header(w);
    for (uint32_t place = tree->child[0]; place && status == 0; place = tree->next[place]) {
        uint32_t track = p->place[place].track;
        if (p->place[place].function != TL_NO_FUNCTION)
            threadless = true;
        else
            status = put_thread(w, place, track, p->track[track].has_tid ? (uint64_t)p->track[track].tid : track, e);
    }
    if (threadless && status == 0)
        status = put_thread(w, 0, TL_NO_TRACK, 0, e);
    return status;
}

static void report_drops(const writer *w, tl_drops *drops)
{
    const tl_profile *p = w->p;
    uint64_t names = 0;
    for (uint32_t i = 0; i < p->nfunction; i++)
        names += p->function[i].name != NULL;
    tl_drops_add(drops, "latency histograms, with shortest and longest calls", tl_profile_histograms(p));
    tl_drops_add(drops, "function names", names);
    tl_drops_add(drops, "the clock's frequency", p->clock.hz != 0);
    tl_drops_add(drops, "the build-id", p->build_id != NULL);
    tl_drops_add(drops, "stacks with a function id that does not fit", w->unfit);
    tl_drops_add(drops, TL_DROP_CUT_STACKS, w->cut);
}

int xprof_write(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    if (p->nweight)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "xray-profile: holds calls and their time, not samples of stacks; pprof and tlp hold those");
    tl_place_tree tree;
    int status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    writer w = {.p = p, .out = context->out};
    status = find_times(&w, e);
    if (status >= 0)
        status = tl_place_tree_longest(&tree, tl_place_is_used, TL_STACK_FRAMES_MAX, &w.longest, e);
    if (status >= 0)
        status = tl_place_walk_init(&w.walk, &tree, e);
    if (status >= 0)
        status = put_threads(&w, &tree, e);
    if (status >= 0 && w.unfit > 0 && w.blocks == 0)
        status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                         "xray-profile: numbers of functions have 32 bits there, and these are addresses");
    if (status >= 0)
        report_drops(&w, context->drops);
    free(w.time);
    tl_place_walk_fini(&w.walk);
    tl_place_tree_fini(&tree);
    return status < 0 ? status : 0;
}
