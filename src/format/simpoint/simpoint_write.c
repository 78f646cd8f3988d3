/* Writing basic block vectors for SimPoint: how often each basic block was executed, interval by interval.
 *
 *   T:1:12 :2:300 :7:4
 *
 * One line per interval: 'T', then for each block that was executed in it, in ascending order of ids, a colon, its id,
 * a colon, how many of the interval's instructions belong to it, and a space. Ids count from 1, in the order in which
 * blocks were executed first. An interval ends with the block that makes it full, so that it can be a little longer;
 * the last one ends with the trace. Blocks whose pc is not known are left out. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pair_map.h"
#include "base/text/number.h"
#include "isa/a64_block.h"
#include "model/format_impl.h"

#define INTERVAL   UINT64_C(100000000) /* instructions, by default: usual with SimPoint */
#define BLOCKS_MAX (1u << 24)          /* distinct ones; more is TL_ENOMEM: such a vector is useless */
#define NO_TRACK   UINT32_MAX

typedef struct simpoint_writer {
    tl_output *out;
    const tl_trace *trace;
    tl_drops *drops;
    bool *is_insn; /* by class */
    uint64_t interval;

    tl_pair_map map;   /* start and length -> id - 1 */
    uint64_t *insns;   /* by that: instructions in this interval */
    uint32_t *used;    /* blocks of this interval */
    uint32_t capacity; /* of insns and used */
    uint32_t capacity_used;
    uint32_t nused;
    uint64_t total; /* instructions in this interval */

    uint32_t track; /* the track with instructions, or NO_TRACK: none so far */
    a64_cutter cutter;
    uint64_t start, length; /* the open block; length 0: none */
    bool has_pc;
    uint64_t without_pc, others; /* not written: instructions, events that are not instructions */
    bool is_part;                /* see tl_write_context */
} simpoint_writer;

static int simpoint_create(void *writer, const tl_write_context *context, tl_error *e)
{
    simpoint_writer *w = writer;
    const tl_trace *t = context->trace;
    bool any = false;
    w->out = context->out;
    w->trace = t;
    w->drops = context->drops;
    w->is_part = context->is_part;
    w->interval = context->options->interval ? context->options->interval : INTERVAL;
    w->track = NO_TRACK;
    w->is_insn = calloc((size_t)t->ncls + 1, sizeof *w->is_insn);
    if (!w->is_insn)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write basic block vectors");
    for (uint32_t i = 0; i < t->ncls; i++) {
        const tl_class *c = &t->cls[i];
        w->is_insn[i] = c->kind == TL_INSN && c->role == TL_ROLE_A64 && c->aux == TL_AUX_INSN;
        any = any || w->is_insn[i];
    }
    if (!any)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "simpoint: the trace has no instructions of A64");
    return 0;
}

/* Ends the interval. */
static void put_line(simpoint_writer *w)
{
    qsort(w->used, w->nused, sizeof *w->used, tl_compare_u32);
    tl_output_puts(w->out, "T");
    for (uint32_t i = 0; i < w->nused; i++) {
        char *p = tl_output_reserve(w->out, 48);
        *p++ = ':';
        p = tl_put_u64(p, (uint64_t)w->used[i] + 1);
        *p++ = ':';
        p = tl_put_u64(p, w->insns[w->used[i]]);
        *p++ = ' ';
        tl_output_commit(w->out, p);
        w->insns[w->used[i]] = 0;
    }
    tl_output_puts(w->out, "\n");
    w->nused = 0;
    w->total = 0;
}

static TL_NOINLINE uint32_t add_block(simpoint_writer *w)
{
    if (!TL_GROW(w->insns, w->map.n, 1, w->capacity) || !TL_GROW(w->used, w->map.n, 1, w->capacity_used))
        return TL_HASH_NONE;
    const uint32_t index = tl_pair_map_add(&w->map, w->start, w->length, BLOCKS_MAX);
    if (index != TL_HASH_NONE)
        w->insns[index] = 0;
    return index;
}

/* Ends the open block. */
static int close_block(simpoint_writer *w, tl_error *e)
{
    const uint64_t length = w->length;
    if (length == 0)
        return 0;
    if (!w->has_pc) {
        w->without_pc += length;
        w->length = 0;
        return 0;
    }
    uint32_t index = tl_pair_map_get(&w->map, w->start, length);
    if (TL_UNLIKELY(index == TL_HASH_NONE) && (index = add_block(w)) == TL_HASH_NONE)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for more than %" PRIu32 " different blocks", w->map.n);
    w->length = 0;
    if (w->insns[index] == 0)
        w->used[w->nused++] = index;
    w->insns[index] += length;
    w->total += length;
    if (w->total >= w->interval)
        put_line(w);
    return 0;
}

static int refuse_track(const simpoint_writer *w, uint32_t track, tl_error *e)
{
    const tl_track *a = &w->trace->track[w->track], *b = &w->trace->track[track];
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                   "basic block vectors are of one thread, and there are instructions of \"%.40s\" and \"%.40s\": "
                   "choose one with -t or --cpu, or write all with --split track",
                   a->name ? a->name : "?", b->name ? b->name : "?");
}

static int simpoint_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    simpoint_writer *w = writer;
    const uint32_t *const cls = b->cls;
    const uint64_t *const aux = b->aux, *const pc = b->key;
    const bool *const is_insn = w->is_insn;
    a64_cutter cutter = w->cutter;
    uint64_t length = w->length;
    int status = 0;
    for (uint32_t i = from; status == 0 && i < to; i++) {
        if (!is_insn[cls[i]]) {
            w->others++;
            continue;
        }
        if (TL_UNLIKELY(b->track[i] != w->track)) {
            if (w->track != NO_TRACK)
                return refuse_track(w, b->track[i], e);
            w->track = b->track[i];
        }
        const bool has_pc = tl_insn_has_pc(aux[i]);
        if (a64_cutter_step(&cutter, has_pc, pc[i], tl_insn_level(aux[i]), a64_block_class(tl_insn_opcode(aux[i])))) {
            w->length = length;
            status = close_block(w, e);
            w->start = pc[i];
            w->has_pc = has_pc;
            length = 0;
        }
        length++;
    }
    w->length = length;
    w->cutter = cutter;
    return status;
}

static int simpoint_finish(void *writer, tl_error *e)
{
    simpoint_writer *w = writer;
    int status = close_block(w, e);
    if (status == 0 && w->map.n == 0 && w->others + w->without_pc > 0 && !w->is_part)
        status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                         "simpoint: there are no instructions of A64 to write whose pc is known");
    if (status == 0 && w->nused > 0)
        put_line(w);
    tl_drops_add(w->drops, "instructions without a known pc", w->without_pc);
    tl_drops_add(w->drops, "events that are not instructions", w->others);
    return status;
}

static void simpoint_discard(void *writer)
{
    simpoint_writer *w = writer;
    tl_pair_map_fini(&w->map);
    free(w->is_insn);
    free(w->insns);
    free(w->used);
}

const tl_format tl_format_simpoint = {
    .name = "simpoint",
    .summary = "basic block vectors of a thread, interval by interval, for SimPoint",
    .suffixes = ".bb .bbv",
    .event_writer = &(const tl_event_writer){.holds = "instructions of A64",
                                             .interval = true,
                                             .size = sizeof(simpoint_writer),
                                             .create = simpoint_create,
                                             .accept = tl_accept_events, /* even what it skips: long runs */
                                             .write = simpoint_write,
                                             .finish = simpoint_finish,
                                             .discard = simpoint_discard},
};
