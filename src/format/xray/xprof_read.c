/* Reading XRay profiles: LLVM's profiling mode files, whose layout is in xprof_layout.h.
 *
 * The time of a record includes that of its callees, so a place's self time depends on all records of its thread.
 * Opening makes a tree for each thread; read_profile adds these up under the functions' names. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/grow.h"
#include "base/io/window.h"
#include "format/xray/xprof_layout.h"
#include "format/xray/xprof_write.h"
#include "format/xray/xray_classes.h"

enum { WINDOW = 128 << 10 };

typedef struct xprof_reader {
    tl_input *in;
    tl_trace *trace;
    bool big, whole_header;
    uint64_t size, pid;
    tl_profile *tree; /* of each thread, functions without names; NULL after it was handed over */
} xprof_reader;

/* A function of a path, and its place in the tree. */
typedef struct frame {
    int32_t id;
    uint32_t place;
} frame;

/* One pass over the file, which fills the reader's tree. */
typedef struct pass {
    xprof_reader *r;
    tl_trace *t; /* if not NULL, gets damage and counts */
    tl_window window;
    uint64_t position, stop; /* stop: end of the block, limited to the file */
    uint32_t root;           /* of the block's thread */
    int32_t *path;           /* leaf first */
    size_t npath, path_capacity;
    frame *stack; /* of the previous record, root first */
    size_t stack_capacity;
    size_t depth; /* of it; 0 at the begin of a block */
} pass;

static int probe(const tl_probe *p)
{
    if (p->size < 8)
        return 0;
    return tl_load64(p->head, false) == XPROF_MAGIC || tl_load64(p->head, true) == XPROF_MAGIC ? 64 : 0;
}

/* n bytes at the position (n <= WINDOW), which are before s->stop; NULL on failure. */
static const uint8_t *bytes(pass *s, size_t n, tl_error *e)
{
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, s->position, n, &available, e);
    if (p && available < n) {
        tl_fail(e, TL_EIO, s->position, "the file became shorter while it was read");
        return NULL;
    }
    return p;
}

/* Reads ids up to the terminating 0. 1: done; 0: the block ends first; < 0: error. */
static int read_path(pass *s, tl_error *e)
{
    s->npath = 0;
    while (s->stop - s->position >= XPROF_ID_SIZE) {
        const uint8_t *p = bytes(s, XPROF_ID_SIZE, e);
        if (!p)
            return TL_EIO;
        int32_t id = (int32_t)tl_load32(p, s->r->big);
        s->position += XPROF_ID_SIZE;
        if (id == 0)
            return 1;
        if (!TL_GROW(s->path, s->npath, 1, s->path_capacity) || !TL_GROW(s->stack, s->npath, 1, s->stack_capacity))
            return tl_fail(e, TL_ENOMEM, s->position, "no memory for a stack of more than %zu functions", s->npath);
        s->path[s->npath++] = id;
    }
    return 0;
}

/* Adds a record to those of equal path: sums of times are in `total` until settle(). Most paths begin like the previous
 * one. */
static int add_record(pass *s, uint64_t calls, uint64_t time, tl_error *e)
{
    tl_profile *p = s->r->tree;
    const int32_t *outermost = s->path + s->npath - 1;
    size_t depth = 0;
    while (depth < s->npath && depth < s->depth && s->stack[depth].id == outermost[-(ptrdiff_t)depth])
        depth++;
    uint32_t place = depth ? s->stack[depth - 1].place : s->root;
    for (; depth < s->npath && place != TL_HASH_NONE; depth++) {
        const int32_t id = outermost[-(ptrdiff_t)depth];
        const uint32_t function = tl_profile_intern_function(p, NULL, id);
        place = function == TL_HASH_NONE ? TL_HASH_NONE : tl_profile_child(p, place, function);
        s->stack[depth] = (frame){id, place};
    }
    s->depth = depth;
    if (place == TL_HASH_NONE)
        return tl_fail(e, TL_ENOMEM, s->position, "no memory for the call tree");
    p->stat[place].calls = tl_add_saturated(p->stat[place].calls, calls);
    p->stat[place].total = tl_add_saturated(p->stat[place].total, time);
    return 0;
}

static int damage(pass *s, tl_error *e, uint64_t offset, uint64_t lost, const char *rule, const char *what)
{
    return s->t ? tl_trace_add_damage(s->t, e, offset, lost, rule, "%s", what) : 0;
}

/* Reads the record at the position. 1: done; 0: the block ends within it; < 0: error. */
static int read_record(pass *s, tl_error *e)
{
    const uint64_t start = s->position;
    int status = read_path(s, e);
    if (status < 0)
        return status;
    if (status == 0 || s->stop - s->position < XPROF_NUMBERS_SIZE) {
        status = damage(s, e, start, s->stop - start, "profile.truncated-record",
                        "a record truncated by the end of its block");
        return status < 0 ? status : 0;
    }
    const uint8_t *p = bytes(s, XPROF_NUMBERS_SIZE, e);
    if (!p)
        return TL_EIO;
    uint64_t calls = tl_load64(p, s->r->big), time = tl_load64(p + XPROF_NUMBERS_TIME, s->r->big);
    uint64_t time_at = s->position + XPROF_NUMBERS_TIME;
    s->position += XPROF_NUMBERS_SIZE;
    if (s->npath == 0) {
        status = damage(s, e, start, s->position - start, "profile.empty-path", "a record without functions");
        return status < 0 ? status : 1;
    }
    if (time >> 63) {
        if (s->t)
            status = tl_trace_add_damage(s->t, e, time_at, 8, "profile.negative-time",
                                         "time of %" PRId64 " ticks; counted as 0", (int64_t)time);
        if (status < 0)
            return status;
        time = 0;
    }
    if (s->t) {
        s->t->profile_paths++;
        s->t->profile_calls = tl_add_saturated(s->t->profile_calls, calls);
    }
    status = add_record(s, calls, time, e);
    return status < 0 ? status : 1;
}

/* Finds the root of the tree of a block's thread. */
static int enter_thread(pass *s, uint64_t thread, tl_error *e)
{
    char name[40];
    snprintf(name, sizeof name, "thread %" PRIu64, thread);
    const tl_track track = {
        .name = name, .tid = (int64_t)thread, .pid = (int64_t)s->r->pid, .has_tid = true, .has_pid = true};
    s->root = tl_profile_thread_root(s->r->tree, &track);
    s->depth = 0;
    return s->root == TL_HASH_NONE ? tl_fail(e, TL_ENOMEM, s->position, "no memory for the call tree") : 0;
}

/* Reads the block at the position. 1: another may follow; 0: nothing more can be read; < 0: error. */
static int read_block(pass *s, tl_error *e)
{
    const uint64_t start = s->position, size = s->r->size;
    s->stop = size;
    if (size - start < XPROF_BLOCK_SIZE) {
        int status =
            damage(s, e, start, size - start, "profile.truncated-block", "the file ends within a block header");
        return status < 0 ? status : 0;
    }
    const uint8_t *p = bytes(s, XPROF_BLOCK_SIZE, e);
    if (!p)
        return TL_EIO;
    const uint32_t length = tl_load32(p + XPROF_BLOCK_BYTES, s->r->big);
    if (length < XPROF_BLOCK_SIZE) {
        int status =
            s->t ? tl_trace_add_damage(s->t, e, start, size - start, "profile.bad-block-size",
                                       "block of %" PRIu32 " bytes; expected %d or more", length, XPROF_BLOCK_SIZE)
                 : 0;
        return status < 0 ? status : 0;
    }
    int status = enter_thread(s, tl_load64(p + XPROF_BLOCK_THREAD, s->r->big), e);
    if (status < 0)
        return status;
    s->position += XPROF_BLOCK_SIZE;
    const bool cut = length > size - start;
    s->stop = cut ? size : start + length;
    status = 1;
    while (status == 1 && s->position < s->stop)
        status = read_record(s, e);
    if (status == 1 && cut)
        status = damage(s, e, size, 0, "profile.truncated-block", "the file ends within a block");
    s->position = s->stop;
    return status < 0 ? status : 1;
}

/* From the leaves up: a place has at least the time of its children; the rest is its self time. */
static void settle(tl_profile *p, tl_trace *t)
{
    for (uint32_t i = p->nplace - 1; i > 0; i--) { /* children come after their parents */
        if (p->place[i].function == TL_NO_FUNCTION)
            continue;
        tl_place_stat *stat = &p->stat[i], *parent = &p->stat[p->place[i].parent];
        const uint64_t below = stat->outer;
        const bool clamped = stat->total < below; /* left at once, still open, or without a record */
        stat->total = clamped ? below : stat->total;
        stat->self = stat->total - below;
        parent->outer = tl_add_saturated(parent->outer, stat->total);
        if (t) {
            t->profile_clamped += clamped && stat->calls > 0;
            t->profile_self = tl_add_saturated(t->profile_self, stat->self);
        }
    }
}

static int run(xprof_reader *r, tl_trace *t, tl_error *e)
{
    pass s = {.r = r, .t = t, .position = XPROF_HEADER_SIZE};
    int status = tl_profile_new(&r->tree, &r->trace->clock, e);
    if (status == 0)
        status = tl_window_init(&s.window, r->in, WINDOW, e);
    if (status == 0)
        status = 1;
    while (status == 1 && s.position < r->size)
        status = read_block(&s, e);
    tl_window_fini(&s.window);
    free(s.path);
    free(s.stack);
    if (status < 0)
        return status;
    settle(r->tree, t);
    if (t)
        t->profile_threads = r->tree->ntrack;
    return 0;
}

static int open_reader(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    (void)want;
    (void)progress;
    xprof_reader *r = reader;
    uint8_t header[XPROF_HEADER_SIZE] = {0};
    size_t got = 0;
    int status = tl_input_read(in, 0, header, sizeof header, &got, e);
    if (status < 0)
        return status;
    r->in = in;
    r->trace = t;
    r->size = tl_input_size(in);
    r->big = tl_load64(header + XPROF_HEADER_MAGIC, true) == XPROF_MAGIC;
    r->whole_header = got == sizeof header;
    if (tl_load64(header + XPROF_HEADER_MAGIC, r->big) != XPROF_MAGIC)
        return tl_fail(e, TL_EFORMAT, 0, "no \"xrayprof\" magic number at the start");
    t->byte_order = r->big ? "big" : "little";
    t->profile_inclusive = true;
    tl_trace_set_clock(t, "tsc", 0);
    if (!r->whole_header)
        return tl_trace_add_damage(t, e, 0, got, "header.truncated", "file header of %d bytes, but the file has %zu",
                                   XPROF_HEADER_SIZE, got);
    const uint64_t version = tl_load64(header + XPROF_HEADER_VERSION, r->big);
    r->pid = tl_load64(header + XPROF_HEADER_PID, r->big);
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, version);
    t->version = tl_trace_intern(t, text);
    if (!t->version)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the trace");
    if (version != XPROF_VERSION)
        status = tl_trace_add_damage(t, e, XPROF_HEADER_VERSION, 8, "profile.unknown-version",
                                     "version 0x%" PRIx64 "; known is 0x%" PRIx64, version, XPROF_VERSION);
    if (status == 0)
        status = run(r, t, e);
    tl_trace_sort_damage(t);
    return status;
}

static uint32_t streams(void *reader)
{
    (void)reader;
    return 0;
}

/* Adds the trees of the threads to a profile, whose functions are those of the trace. */
static int add_tree(const xprof_reader *r, tl_profile *p, tl_error *e)
{
    const tl_profile *tree = r->tree;
    const bool is_new = p->per_thread || tree->ntrack == 1; /* then no place exists twice */
    uint32_t *place = calloc(tree->nplace, sizeof *place);  /* of the tree -> of p; those of p without threads: 0 */
    uint32_t *function = tl_alloc((size_t)tree->nfunction + 1, sizeof *function);
    bool ok = place && function && tl_profile_reserve(p, tree->nplace, tree->nfunction);
    for (uint32_t i = 0; ok && i < tree->nfunction; i++) {
        function[i] = tl_profile_intern_function(p, r->trace, tree->function[i].id);
        ok = function[i] != TL_HASH_NONE;
    }
    for (uint32_t i = 1; ok && i < tree->nplace; i++) {
        const tl_place *at = &tree->place[i];
        if (at->function == TL_NO_FUNCTION)
            place[i] = p->per_thread ? tl_profile_thread_root(p, &tree->track[at->track]) : 0;
        else if (is_new)
            place[i] = tl_profile_append_child(p, place[at->parent], function[at->function]);
        else
            place[i] = tl_profile_child(p, place[at->parent], function[at->function]);
        ok = place[i] != TL_HASH_NONE;
        if (ok) {
            tl_place_stat *stat = &p->stat[place[i]];
            stat->calls = tl_add_saturated(stat->calls, tree->stat[i].calls);
            stat->self = tl_add_saturated(stat->self, tree->stat[i].self);
        }
    }
    free(place);
    free(function);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the call tree");
}

static void drop_tree(xprof_reader *r)
{
    tl_profile_free(r->tree);
    r->tree = NULL;
}

static int read_profile(void *reader, tl_profile *p, tl_error *e)
{
    xprof_reader *r = reader;
    p->has_histogram = false;
    int status = 0;
    if (r->whole_header && !r->tree)
        status = run(r, NULL, e);
    if (status == 0 && r->tree)
        status = add_tree(r, p, e);
    drop_tree(r);
    return status < 0 ? status : tl_profile_sum_up(p, e);
}

static void close_reader(void *reader)
{
    drop_tree(reader);
}

const tl_format tl_format_xray_profile = {
    .name = "xray-profile",
    .summary = "LLVM XRay profiling mode file",
    .suffixes = ".xrayprof",
    .reader = &(const tl_reader){.size = sizeof(xprof_reader),
                                 .probe = probe,
                                 .open = open_reader,
                                 .streams = streams,
                                 .functions = xray_functions,
                                 .profile = read_profile,
                                 .close = close_reader},
    .profile_writer = &(const tl_profile_writer){.per_thread = true, .write = xprof_write},
};
