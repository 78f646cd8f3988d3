/* Writes basic ("naive") files of versions 1 to 3, always little-endian, with zeros in all unused bytes; see
 * basic_layout.h. Events are written in the order given. These files cannot hold custom and typed events; in version 1
 * tail exits become exits, and only version 3 has process ids. */
#include "format/xray/basic_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/xray/basic_layout.h"

enum { BIG = false };

int basic_create(void *writer, const tl_write_context *context, tl_error *e)
{
    basic_writer *w = writer;
    w->context = *context;
    w->track = UINT32_MAX;
    int status = xray_write_version(context, "xray-basic", BASIC_VERSION_MAX, &w->version, e);
    if (status < 0)
        return status;
    w->action = xray_write_actions(context->trace);
    if (!w->action)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xray-basic: no memory for the event classes");

    uint8_t header[BASIC_HEADER_SIZE] = {0};
    tl_store16(header + BASIC_HEADER_VERSION, (uint16_t)w->version, BIG);
    tl_store16(header + BASIC_HEADER_TYPE, BASIC_TYPE, BIG);
    tl_store32(header + BASIC_HEADER_FLAGS, BASIC_FLAG_CONSTANT_TSC | BASIC_FLAG_NONSTOP_TSC, BIG);
    tl_store64(header + BASIC_HEADER_HZ, context->trace->clock.hz, BIG);
    tl_output_write(context->out, header, sizeof header);
    return 0;
}

tl_accept basic_accept(void *writer, const tl_class *c)
{
    (void)writer;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    return xray_write_action(c) <= XRAY_WRITE_ENTER_ARGS ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP;
}

/* Takes the ids of a track. False when memory runs out. */
static bool change_track(basic_writer *w, uint32_t track)
{
    uint64_t cut = 0;
    w->tid = xray_write_tid(w->context.trace, track, &cut);
    w->pid = 0;
    bool has_pid = xray_write_pid(w->context.trace, track, &w->pid, &cut);
    if (cut > 0)
        w->cut_id++;
    w->track = track;
    if (!has_pid || w->version >= 3)
        return true;
    w->pid = 0;
    return tl_hash_put(&w->no_pid_track, track, 1);
}

static uint8_t known_cpu(basic_writer *w, const tl_batch *b, uint32_t i)
{
    int32_t cpu = b->cpu ? b->cpu[i] : -1;
    if (cpu > UINT8_MAX)
        w->wide_cpu++;
    return cpu < 0 ? 0 : (uint8_t)(uint32_t)cpu;
}

/* An argument record for the first argument, directly after the entry, which cannot have more. */
static void write_argument(basic_writer *w, uint32_t id)
{
    if (w->args.n == 0)
        return;
    w->more_args += w->args.n - 1;
    uint8_t *p = (uint8_t *)tl_output_reserve(w->context.out, BASIC_RECORD_SIZE);
    memset(p, 0, BASIC_RECORD_SIZE);
    tl_store16(p + BASIC_RECORD_TYPE, BASIC_ARGUMENT, BIG);
    tl_store32(p + BASIC_ARGUMENT_ID, id, BIG);
    tl_store32(p + BASIC_ARGUMENT_TID, w->tid, BIG);
    tl_store32(p + BASIC_ARGUMENT_PID, w->pid, BIG);
    tl_store64(p + BASIC_ARGUMENT_VALUE, w->args.v[0], BIG);
    tl_output_commit(w->context.out, (char *)p + BASIC_RECORD_SIZE);
}

static bool write_one(basic_writer *w, const tl_batch *b, uint32_t i)
{
    int64_t id = (int64_t)b->key[i];
    if (TL_UNLIKELY(id < INT32_MIN || id > INT32_MAX)) {
        w->wide_id++;
        return true;
    }
    if (TL_UNLIKELY(b->track[i] != w->track) && !change_track(w, b->track[i]))
        return false;
    unsigned kind = w->action[b->cls[i]];
    if (kind == BASIC_TAIL_EXIT && w->version == 1) {
        kind = BASIC_EXIT;
        w->tail_exits++;
    }
    uint8_t *p = (uint8_t *)tl_output_reserve(w->context.out, BASIC_RECORD_SIZE);
    memset(p, 0, BASIC_RECORD_SIZE); /* the record type is 0, too */
    p[BASIC_FUNCTION_CPU] = known_cpu(w, b, i);
    p[BASIC_FUNCTION_KIND] = (uint8_t)kind;
    tl_store32(p + BASIC_FUNCTION_ID, (uint32_t)id, BIG);
    tl_store64(p + BASIC_FUNCTION_TSC, b->ts[i], BIG);
    tl_store32(p + BASIC_FUNCTION_TID, w->tid, BIG);
    tl_store32(p + BASIC_FUNCTION_PID, w->pid, BIG);
    tl_output_commit(w->context.out, (char *)p + BASIC_RECORD_SIZE);

    if (TL_UNLIKELY(kind == BASIC_ENTER_ARGS)) {
        if (!xray_write_arguments(&w->args, b, i, &w->other_args))
            return false;
        write_argument(w, (uint32_t)id);
    }
    return true;
}

int basic_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    basic_writer *w = writer;
    for (uint32_t i = from; i < to; i++)
        if (w->action[b->cls[i]] <= XRAY_WRITE_ENTER_ARGS && !write_one(w, b, i))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "xray-basic: no memory for an event");
    return 0;
}

int basic_finish(void *writer, tl_error *e)
{
    basic_writer *w = writer;
    if (w->wide_id > 0 && w->track == UINT32_MAX && !w->context.is_part)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "xray-basic: numbers of functions have 32 bits there, and these are addresses");
    const struct {
        const char *what;
        uint64_t n;
    } drop[] = {
        {"function events with ids over 32 bits", w->wide_id},
        {"arguments that are not whole numbers", w->other_args},
        {"arguments of a call after its first", w->more_args},
        {"tail exits, which version 1 does not hold (written as exits)", w->tail_exits},
        {"function names", xray_write_names(w->context.trace)},
        {"processor numbers over 8 bits (truncated)", w->wide_cpu},
        {"process or thread ids over 32 bits (truncated)", w->cut_id},
        {"process ids, which versions 1 and 2 do not hold", w->no_pid_track.n},
    };
    for (size_t i = 0; i < TL_COUNT(drop); i++)
        if (drop[i].n > 0)
            tl_drops_add(w->context.drops, drop[i].what, drop[i].n);
    return 0;
}

void basic_discard(void *writer)
{
    basic_writer *w = writer;
    free(w->action);
    free(w->args.v);
    tl_hash_fini(&w->no_pid_track);
}
