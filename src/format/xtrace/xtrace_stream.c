/* Reading an instruction stream: the hot loop over tokens, and the rest of a cursor. */
#include <string.h>

#include "base/endian.h"
#include "format/xtrace/xtrace_ahead.h"
#include "format/xtrace/xtrace_classes.h"
#include "format/xtrace/xtrace_layout.h"
#include "format/xtrace/xtrace_read.h"

#define WINDOW    (256u << 10)
/* Bytes that the hot loop needs before a token: enough for any common one, with accesses of up to 256 bytes. */
#define ENOUGH    (XTRACE_MEM_HEAD + 256u)
#define SIZE_MOST 8u /* its k */
#define SLOTS     3u /* most slots of a common token */

/* Output of the hot loop: columns, and the tape if there is one. */
typedef struct columns {
    uint64_t *ts, *key, *aux, *rank;
    uint32_t *cls, *val;
    tl_value *v;
    tl_arena *arena;
    uint32_t n, end, nval;
} columns;

/* Constants that specialise the loop. */
typedef struct loop {
    bool tape, ranked, has_pc;
} loop;

TL_ALWAYS_INLINE tl_value value_of(tl_type type, uint64_t u)
{
    return (tl_value){.type = (uint8_t)type, .as.u = u};
}

/* Appends the slots of a value that is one number. */
TL_ALWAYS_INLINE uint32_t put_number(tl_value *v, bool tape, tl_type type, uint64_t u)
{
    if (tape)
        *v = value_of(type, u);
    return tape;
}

/* Decodes common tokens from p on into columns. Returns where it stopped: at another token, near `end`, when the
 * columns are full, or at a pc where there was none. At least one instruction came before. */
TL_ALWAYS_INLINE const uint8_t *read_common(xtrace_cursor *c, columns *k, const uint8_t *p, const uint8_t *end, loop is)
{
    const uint8_t *const last = end - ENOUGH;
    const uint32_t full = k->end;
    uint64_t count = c->count, pc = c->pc, rank = c->rank;
    uint32_t n = k->n, nval = k->nval;
    uint64_t *const ts = k->ts, *const key = k->key, *const aux = k->aux;
    uint32_t *const cls = k->cls;
    tl_value *const v = k->v;
    for (; n < full && p <= last; n++) {
        const unsigned token = *p;
        const unsigned insn = token & XTRACE_INSN_MASK, in_class = token & XTRACE_CLASS_MASK;
        if (is.ranked)
            k->rank[n] = rank;
        if (is.tape)
            k->val[n] = nval;
        if (insn == XTRACE_INST || (is.has_pc && insn == XTRACE_PCINST)) {
            uint32_t opcode;
            if (insn == XTRACE_INST) {
                pc += 4;
                opcode = tl_load32(p + 1, false);
                p += XTRACE_INST_SIZE;
            } else {
                pc = tl_load64(p + 1, false);
                opcode = tl_load32(p + 9, false);
                p += XTRACE_PCINST_SIZE;
            }
            const uint64_t level = token >> XTRACE_LEVEL_SHIFT;
            ts[n] = count++;
            key[n] = is.has_pc ? pc : 0;
            aux[n] = opcode | level << 32 | (is.has_pc ? 0 : TL_INSN_NO_PC);
            cls[n] = XTRACE_CLASS_INSN;
            if (is.tape) {
                v[nval] = is.has_pc ? value_of(TL_HEX, pc) : value_of(TL_NULL, 0);
                v[nval + 1] = value_of(TL_HEX, opcode);
                v[nval + 2] = value_of(TL_U64, level);
                nval += 3;
            }
        } else if (in_class == XTRACE_MEM && token >> XTRACE_MEM_SIZE_SHIFT <= SIZE_MOST) {
            const uint32_t size = 1u << (token >> XTRACE_MEM_SIZE_SHIFT);
            ts[n] = count - 1;
            key[n] = tl_load64(p + 1, false);
            aux[n] = size;
            cls[n] = token & XTRACE_MEM_STORE ? XTRACE_CLASS_STORE : XTRACE_CLASS_LOAD;
            if (is.tape) {
                uint8_t *copy = tl_arena_alloc(k->arena, size);
                if (!copy) /* the slow way reports it */
                    break;
                memcpy(copy, p + XTRACE_MEM_HEAD, size);
                v[nval] = value_of(TL_HEX, key[n]);
                v[nval + 1] = value_of(TL_U64, size);
                v[nval + 2] = (tl_value){.type = TL_BYTES, .n = size, .as.p = copy};
                nval += 3;
            }
            p += XTRACE_MEM_HEAD + size;
        } else if (in_class == (XTRACE_STXR & XTRACE_CLASS_MASK) && token <= XTRACE_TARGET) {
            ts[n] = count - 1;
            key[n] = tl_load64(p + 1, false);
            aux[n] = 0;
            cls[n] = xtrace_value_class[token >> 3];
            nval += put_number(is.tape ? v + nval : NULL, is.tape, TL_HEX, key[n]);
            p += XTRACE_VALUE_SIZE;
        } else if (token == XTRACE_FLAGS || token == XTRACE_TIME) {
            ts[n] = count - 1;
            key[n] = tl_load64(p + 1, false);
            aux[n] = 0;
            cls[n] = token == XTRACE_FLAGS ? XTRACE_CLASS_FLAGS : XTRACE_CLASS_TIME;
            if (is.ranked && token == XTRACE_TIME && key[n] > rank)
                k->rank[n] = rank = key[n];
            nval += put_number(is.tape ? v + nval : NULL, is.tape, token == XTRACE_FLAGS ? TL_HEX : TL_U64, key[n]);
            p += XTRACE_VALUE_SIZE;
        } else {
            break;
        }
    }
    c->count = count;
    c->pc = pc;
    c->rank = rank;
    k->n = n;
    k->nval = nval;
    return p;
}

/* A function for each loop, so that the compiler gives it all registers. */
#define LOOP(name, ...)                                                                                                \
    static TL_NOINLINE const uint8_t *name(xtrace_cursor *c, columns *k, const uint8_t *p, const uint8_t *end)         \
    {                                                                                                                  \
        return read_common(c, k, p, end, (loop){__VA_ARGS__});                                                         \
    }
LOOP(read_columns, .has_pc = true)
LOOP(read_columns_no_pc, .has_pc = false)
LOOP(read_ranked, .has_pc = true, .ranked = true)
LOOP(read_tape, .has_pc = true, .tape = true)
LOOP(read_tape_no_pc, .tape = true)
LOOP(read_tape_ranked, .has_pc = true, .tape = true, .ranked = true)

/* Reads common tokens into a batch, at most up to instruction number `stop`. */
static const uint8_t *fill(xtrace_cursor *c, tl_batch *b, const uint8_t *p, const uint8_t *end, uint64_t stop)
{
    columns k = {b->ts, b->key, b->aux, b->rank, b->cls, b->val, b->v, b->arena, b->n, b->capacity, b->nval};
    if ((size_t)(end - p) < ENOUGH || c->count == 0 || c->count >= stop || (c->no_pc && b->rank))
        return p;
    if (stop - c->count < k.end - k.n) /* that many events have no more instructions */
        k.end = k.n + (uint32_t)(stop - c->count);
    if (b->val) {
        const uint32_t used = b->nval;
        if (!tl_batch_slots(b, (k.end - k.n) * SLOTS))
            return p; /* the slow way reports it */
        b->nval = used;
        k.v = b->v;
    }
    p = b->rank  ? (b->val ? read_tape_ranked : read_ranked)(c, &k, p, end)
        : b->val ? (c->no_pc ? read_tape_no_pc : read_tape)(c, &k, p, end)
                 : (c->no_pc ? read_columns_no_pc : read_columns)(c, &k, p, end);
    b->n = k.n;
    if (b->val) {
        b->nval = k.nval;
        b->val[k.n] = k.nval;
    }
    return p;
}

/* Common tokens for callers that only count them, at most up to instruction number `stop`. Then pcs do not matter. */
static const uint8_t *count_common(xtrace_cursor *c, const uint8_t *p, const uint8_t *end, uint64_t stop)
{
    uint64_t insns = 0, mem[2] = {0}, value[6] = {0};
    if ((size_t)(end - p) < ENOUGH)
        return p;
    for (const uint8_t *const last = end - ENOUGH; p <= last;) {
        const unsigned token = *p, insn = token & XTRACE_INSN_MASK;
        if (insn == XTRACE_INST && c->count + insns < stop) {
            insns++;
            p += XTRACE_INST_SIZE;
        } else if (insn == XTRACE_PCINST && c->count + insns < stop) {
            insns++;
            p += XTRACE_PCINST_SIZE;
        } else if ((token & XTRACE_CLASS_MASK) == XTRACE_MEM && token >> XTRACE_MEM_SIZE_SHIFT <= SIZE_MOST) {
            mem[token >> 3 & 1]++;
            p += XTRACE_MEM_HEAD + ((size_t)1 << (token >> XTRACE_MEM_SIZE_SHIFT));
        } else if ((token & XTRACE_CLASS_MASK) == (XTRACE_STXR & XTRACE_CLASS_MASK) && token <= XTRACE_TARGET) {
            value[token >> 3]++;
            p += XTRACE_VALUE_SIZE;
        } else {
            break;
        }
    }
    uint64_t *const by = c->tally->by_class, all = insns;
    by[XTRACE_CLASS_INSN] += insns;
    by[XTRACE_CLASS_LOAD] += mem[0];
    by[XTRACE_CLASS_STORE] += mem[1];
    all += mem[0] + mem[1];
    for (unsigned i = 0; i < TL_COUNT(value); i++) {
        by[xtrace_value_class[i]] += value[i];
        all += value[i];
    }
    c->count += insns;
    c->tally->by_track[c->insns->track] += all;
    return p;
}

static void tell_progress(xtrace_cursor *c)
{
    if (c->reader->progress && c->offset > c->told)
        __atomic_fetch_add(c->reader->progress, c->offset - c->told, __ATOMIC_RELAXED);
    c->told = c->offset;
}

/* Is the next token an instruction at which to stop? 1: yes, 0: no, < 0: error. */
static int at_stop(xtrace_cursor *c, uint64_t stop, tl_error *e)
{
    size_t available;
    if (c->count < stop)
        return 0;
    const uint8_t *p = tl_window_at(&c->window, c->offset, 1, &available, e);
    if (!p)
        return TL_EIO;
    const unsigned insn = available ? *p & XTRACE_INSN_MASK : 0;
    return insn == XTRACE_INST || insn == XTRACE_PCINST;
}

/* Reads on until the batch is full. 1: there may be more; 0: the stream has ended; 2: instruction number `stop` is
 * next; < 0: error. When only counting, reads everything at once. */
static int read_on(xtrace_cursor *c, tl_batch *b, uint64_t stop, tl_error *e)
{
    while (c->tally || b->n < b->capacity) {
        size_t available;
        if (c->offset >= c->end)
            return 0;
        const uint8_t *p = tl_window_at(&c->window, c->offset, ENOUGH, &available, e);
        if (!p)
            return TL_EIO;
        if (available > c->end - c->offset)
            available = (size_t)(c->end - c->offset);
        const uint8_t *end = p + available, *q = c->tally ? count_common(c, p, end, stop) : fill(c, b, p, end, stop);
        c->offset += (uint64_t)(q - p);
        if (c->offset - c->told >= WINDOW)
            tell_progress(c);
        if (q > p)
            continue;
        int status = at_stop(c, stop, e);
        if (status != 0)
            return status > 0 ? 2 : status;
        status = xtrace_token(c, c->tally ? NULL : b, e);
        if (status <= 0)
            return status;
    }
    return 1;
}

/* How many instructions come before the next snapshot. */
static int find_due(xtrace_cursor *c, tl_error *e)
{
    xtrace_entry next;
    c->due = UINT64_MAX;
    if (!c->snapshots || c->record >= c->snapshots->snapshots.records)
        return 0;
    int status = xtrace_snapshots_entry(&c->snapshots->snapshots, c->record, &next, e);
    if (status >= 0)
        c->due = next.good ? next.insns : 0; /* a damaged one is skipped at once */
    return status;
}

/* Puts snapshots up to the next instruction into a batch, or counts them. */
static int take_snapshots(xtrace_cursor *c, uint64_t until, tl_batch *b, tl_error *e)
{
    const uint64_t before = c->record;
    int status = xtrace_snapshots_batch(&c->snapshots->snapshots, &c->record, 0, until, b, XTRACE_CLASS_SNAPSHOT,
                                        c->snapshots->track, e);
    if (status < 0)
        return status;
    for (uint32_t i = 0; b->rank && i < b->n; i++)
        b->rank[i] = c->rank;
    if (c->insns && c->record == before)
        c->record = c->snapshots->snapshots.records;
    return c->insns ? find_due(c, e) : 0;
}

/* Sets the processor of the events. */
static void fill_cpu(tl_batch *b, const xtrace_file *f)
{
    const int32_t cpu = xtrace_file_cpu(f);
    for (uint32_t i = 0; b->cpu && i < b->n; i++)
        b->cpu[i] = cpu;
}

/* For a stream of snapshots alone. */
static int next_snapshots(xtrace_cursor *c, tl_batch *b, tl_error *e)
{
    int status = take_snapshots(c, c->to, b, e);
    fill_cpu(b, c->snapshots);
    return status < 0 ? status : b->n > 0;
}

/* When only counting: the range of times. */
static void tally_times(xtrace_cursor *c)
{
    const uint32_t track = c->insns->track;
    const uint64_t last = c->count ? c->count - 1 : 0;
    if (!c->tally->by_track[track])
        return;
    c->tally->begin[track] = 0;
    c->tally->end[track] = last > c->tally->end[track] ? last : c->tally->end[track];
}

/* Takes batches that were read ahead. 1: *b is full; 0: the cursor has to read by itself. */
static int next_ahead(xtrace_cursor *c, tl_batch *b, tl_error *e)
{
    if (c->first && !c->tally && !c->part && !c->snapshots && c->from == 0 && c->to == UINT64_MAX) {
        int status = xtrace_ahead_open(&c->ahead, c, b, e);
        if (status < 0)
            return status;
    }
    c->first = false;
    if (!c->ahead)
        return 0;
    int status = xtrace_ahead_next(c->ahead, c, b, e);
    if (status == 0) {
        xtrace_ahead_close(c->ahead);
        c->ahead = NULL;
    }
    return status;
}

/* Reads by itself, until there are events or none will come. */
static int next_events(xtrace_cursor *c, tl_batch *b, tl_error *e)
{
    int status = 1;
    while (status > 0 && b->n == 0) {
        if (c->due <= c->count || (c->ended && c->due < c->to)) {
            status = take_snapshots(c, c->ended ? c->to : c->count + 1, b, e);
            status = status < 0 ? status : 1;
            continue;
        }
        if (c->ended)
            break;
        status = read_on(c, b, c->due < c->to ? c->due : c->to, e);
        if (status == 0 || (status == 2 && c->count >= c->to))
            c->ended = true;
        status = status < 0 ? status : 1;
    }
    return status < 0 ? status : 0;
}

/* Reports damage in the file's compression; for the named file the core does that. */
static int tell_broken(const xtrace_cursor *c, tl_error *e)
{
    uint64_t offset = 0;
    const char *broken = c->insns->own && !c->part ? tl_input_damage(c->insns->in, &offset) : NULL;
    const tl_damage d = {
        .offset = offset, .at = offset, .kind = TL_DAMAGE_FAULT, .rule = "input.damaged", .file = c->insns->name};
    return broken ? tl_trace_report(c->reader->trace, e, &d, "%s", broken) : 0;
}

int xtrace_cursor_next(void *cursor, tl_batch *b, tl_error *e)
{
    xtrace_cursor *c = cursor;
    if (!c->insns)
        return next_snapshots(c, b, e);
    int status = next_ahead(c, b, e);
    if (status != 0) {
        fill_cpu(b, c->insns);
        return status;
    }
    status = next_events(c, b, e);
    if (status < 0)
        return status;
    if (c->ended) {
        tell_progress(c);
        status = tell_broken(c, e);
        if (status < 0)
            return status;
    }
    if (c->tally)
        tally_times(c);
    tl_batch_set_track(b, c->insns->track);
    fill_cpu(b, c->insns);
    return b->n > 0;
}

int xtrace_cursor_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    xtrace_reader *r = reader;
    xtrace_cursor *c = cursor;
    const xtrace_stream *s = &r->stream[stream];
    *c = (xtrace_cursor){
        .reader = r, .stream = stream, .to = UINT64_MAX, .end = UINT64_MAX, .no_pc = TL_INSN_NO_PC, .first = true};
    c->insns = s->insns == XTRACE_NONE ? NULL : &r->file[s->insns];
    c->snapshots = s->snapshots == XTRACE_NONE ? NULL : &r->file[s->snapshots];
    if (c->insns && tl_window_init(&c->window, c->insns->in, WINDOW, e) < 0)
        return TL_ENOMEM;
    const int status = find_due(c, e);
    if (status < 0)
        tl_window_fini(&c->window);
    return status;
}

int xtrace_cursor_open_part(xtrace_reader *r, uint32_t stream, xtrace_cursor *c, tl_error *e)
{
    *c = (xtrace_cursor){.reader = r, .stream = stream, .to = UINT64_MAX, .due = UINT64_MAX, .part = true};
    c->insns = &r->file[r->stream[stream].insns];
    return tl_window_init(&c->window, c->insns->in, WINDOW, e);
}

int xtrace_cursor_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e)
{
    xtrace_cursor *c = cursor;
    c->from = from;
    c->to = to;
    if (c->snapshots && from > 0) {
        int status = xtrace_snapshots_find(&c->snapshots->snapshots, from - 1, &c->record, e);
        if (status >= 0)
            status = find_due(c, e);
        if (status < 0)
            return status;
    }
    if (!c->insns || from == 0)
        return 0;
    xtrace_place place;
    int status = xtrace_seek(c, from, &place, e);
    if (status < 0)
        return status;
    c->offset = c->told = place.offset;
    c->count = place.count;
    c->rank = place.rank;
    c->pc = place.pc;
    c->no_pc = place.has_pc ? 0 : TL_INSN_NO_PC;
    return 0;
}

void xtrace_cursor_tally(void *cursor, tl_tally *t)
{
    xtrace_cursor *c = cursor;
    if (!c->insns || c->snapshots)
        return;
    c->tally_store = *t;
    c->tally = &c->tally_store;
}

void xtrace_cursor_close(void *cursor)
{
    xtrace_cursor *c = cursor;
    xtrace_ahead_close(c->ahead);
    tl_window_fini(&c->window);
}
