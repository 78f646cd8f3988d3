/* Slots of the file of mode "fdr", and the records that the fast path does not write. */
#include "rt/mode/rt_fdr.h"

#include <errno.h>

#include "rt/mode/rt_fdr_file.h"
#include "rt/mode/rt_ring.h"

enum {
    SLOT_MIN = 16 << 10,
    SLOT_MAX = 4 << 20,
    LARGE_MAX = 64 << 20, /* a larger event is lost */
    RESERVE = 48,         /* after `end`: room for a record that begins before it, and the padding */
    SPLIT_MIN = 1024,     /* room that is worth a buffer of its own */
    REST_MAX = 16         /* bytes of an interrupted event that may follow `at` */
};

static void store64(char *at, uint64_t v)
{
    *(volatile uint64_t *)(void *)at = v;
}

/* Metadata: the first eight bytes are stored last. */
static void put_metadata(char *at, uint64_t first, uint64_t second)
{
    store64(at + 8, second);
    RT_PUBLISH();
    store64(at, first);
}

static uint64_t first_word(unsigned kind, uint64_t body)
{
    return FDR_BYTE0(kind, 0) | body << 8;
}

static void put_cpu(char *at, uint32_t cpu, uint64_t tsc)
{
    put_metadata(at, first_word(FDR_NEW_CPU_ID, (cpu & 0xffff) | tsc << 16), tsc >> 40);
}

/* Sets the size of the buffer that begins here, in one store. */
static void put_extents(char *at, uint64_t bytes)
{
    store64(at, first_word(FDR_BUFFER_EXTENTS, bytes));
}

void tl_rt_fdr_begin_buffer(char *at, char *end, uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t now)
{
    uint64_t ns = tl_rt_clock_slow(), seconds = ns / 1000000000, micros = ns % 1000000000 / 1000;
    char *record = at + FDR_METADATA_SIZE;
    put_extents(at, (uint64_t)(end - record));
    RT_PUBLISH();
    put_cpu(record + 3 * FDR_METADATA_SIZE, cpu, now);
    put_metadata(record + 2 * FDR_METADATA_SIZE, first_word(FDR_PID, pid), 0);
    put_metadata(record + FDR_METADATA_SIZE, first_word(FDR_WALLTIME, seconds), seconds >> 56 | micros << 8);
    RT_PUBLISH();
    put_metadata(record, first_word(FDR_NEW_BUFFER, tid), 0);
}

void tl_rt_fdr_pad(char *at, const char *end)
{
    uint64_t size = (uint64_t)(end - at) - FDR_METADATA_SIZE;
    rt_copy(at + FDR_METADATA_SIZE, FDR_WORD_PAD, FDR_WORD_SIZE);
    put_metadata(at, first_word(FDR_CUSTOM_EVENT, size), 0);
}

/* Begins a buffer in the current slot at `at`. */
static void begin_buffer(rt_lane *l, char *at, uint64_t now)
{
    char *end = l->slot.memory + l->slot.size;
    l->cpu = *l->cpu_now;
    l->time = now;
    l->extents = at;
    tl_rt_fdr_begin_buffer(at, end, l->pid, l->tid, l->cpu, now);
    l->at = at + FDR_PREAMBLE_SIZE;
    l->end = end - RESERVE;
    rt_ring_count(l, FDR_PREAMBLE_SIZE, 0);
}

void tl_rt_fdr_end_slot(rt_lane *l)
{
    if (!l->at)
        return;
    rt_ring_end(l);
    tl_rt_fdr_pad(l->at, l->slot.memory + l->slot.size);
}

/* Until it is written again, readers see a buffer without records. */
void tl_rt_fdr_wipe(const rt_slot *s)
{
    store64(s->memory + FDR_METADATA_SIZE, 0);
    RT_PUBLISH();
    put_extents(s->memory, s->size - FDR_METADATA_SIZE);
    RT_PUBLISH();
    rt_zero(s->memory + FDR_METADATA_SIZE, s->size - FDR_METADATA_SIZE);
}

static bool take_slot(rt_lane *l, size_t need)
{
    bool ring = tl_rt.set.ring > 0, taken = false;
    uint64_t size = ring ? tl_rt_ring_slot_size() : l->slot.size ? 2 * l->slot.size : SLOT_MIN;
    if (!ring && size > SLOT_MAX)
        size = SLOT_MAX;
    uint64_t least = need + FDR_PREAMBLE_SIZE + 2 * RESERVE;
    if (size < least) {
        if (ring || least > LARGE_MAX) {
            l->lost.memory++;
            return false;
        }
        size = least;
    }
    if (ring) {
        taken = tl_rt_ring_take(l);
    } else {
        rt_slot s = {.size = size};
        s.memory = tl_rt_store_take(&tl_rt_fdr_store, &s.size, &s.offset);
        taken = s.memory != NULL;
        if (taken && l->slot.memory)
            tl_rt_store_unmap(l->slot.memory, l->slot.size);
        if (taken)
            l->slot = s;
    }
    if (!taken) {
        l->full = true;
        l->at = l->end = NULL;
    }
    return taken;
}

static void count_lost(rt_lane *l)
{
    if (tl_rt_fdr_store.failed == ENOBUFS)
        l->lost.memory++;
    else
        l->lost.disk++;
}

/* Ends the current slot, and begins another one. False: none left, or too small for an event. */
static bool next_slot(rt_lane *l, uint64_t now, size_t need)
{
    uint64_t mask = rt_signals_block();
    tl_rt_fdr_end_slot(l);
    bool taken = take_slot(l, need);
    if (taken)
        begin_buffer(l, l->slot.memory, now);
    else
        l->at = NULL; /* the padding stays */
    rt_signals_restore(mask);
    return taken;
}

bool tl_rt_fdr_room(rt_lane *l, uint64_t now, size_t need)
{
    if (l->full) {
        count_lost(l);
        return false;
    }
    if (now < l->time)
        now = l->time;
    if (!l->at || (size_t)(l->end + FDR_FUNCTION_SIZE - l->at) < FDR_METADATA_SIZE + need || l->at > l->end) {
        if (!next_slot(l, now, need)) {
            if (l->full)
                count_lost(l);
            return false;
        }
    } else if (now - l->time > INT32_MAX || *l->cpu_now != l->cpu) {
        l->cpu = *l->cpu_now;
        put_cpu(l->at, l->cpu, now);
        l->at += FDR_METADATA_SIZE;
        l->time = now;
        rt_ring_count(l, FDR_METADATA_SIZE, 0);
    }
    return true;
}

/* A thread's first buffer, which first uses up the rest of the previous thread's slot. */
bool tl_rt_fdr_attach(rt_lane *l)
{
    uint64_t now = rt_now();
    bool go_on = l->at && l->at <= l->end && (size_t)(l->end - l->at) >= SPLIT_MIN;
    tl_rt_ring_leave(l, go_on);
    if (!go_on)
        return !l->full && next_slot(l, now, SLOT_MIN / 2);
    put_extents(l->extents, (uint64_t)(l->at - l->extents - FDR_METADATA_SIZE));
    RT_PUBLISH();
    begin_buffer(l, l->at, now);
    return true;
}

void tl_rt_fdr_event(rt_lane *l, uint64_t now, unsigned kind, uint32_t type, const void *data, size_t n)
{
    if (n > LARGE_MAX || !tl_rt_fdr_room(l, now, FDR_METADATA_SIZE + n)) {
        l->lost.memory += n > LARGE_MAX;
        return;
    }
    if (now < l->time)
        now = l->time;
    uint64_t delta = now - l->time, mask = n > REST_MAX ? rt_signals_block() : 0;
    rt_copy(l->at + FDR_METADATA_SIZE, data, n);
    put_metadata(l->at, first_word(kind, n | delta << 32), delta >> 24 | (uint64_t)(type & 0xffff) << 8);
    RT_STORE(l->at, l->at + FDR_METADATA_SIZE + n);
    RT_STORE(l->time, now);
    rt_ring_count(l, FDR_METADATA_SIZE + n, 1);
    if (n > REST_MAX)
        rt_signals_restore(mask);
}

void tl_rt_fdr_enter(rt_lane *l, rt_frame *f, uint64_t now, bool has_value, uint64_t value)
{
    size_t need = FDR_FUNCTION_SIZE + (has_value ? (size_t)FDR_METADATA_SIZE : 0);
    f->mark = NULL;
    if (!rt_fdr_is_ready(l, now) || (size_t)(l->end + FDR_FUNCTION_SIZE - l->at) < need) {
        if (!tl_rt_fdr_room(l, now, need))
            return;
        if (now < l->time)
            now = l->time;
    }
    f->base = l->time;
    f->mark = l->at;
    if (has_value)
        put_metadata(l->at + FDR_FUNCTION_SIZE, first_word(FDR_CALL_ARGUMENT, value), value >> 56);
    RT_PUBLISH();
    unsigned action = has_value ? FDR_ENTER_ARGS : FDR_ENTER;
    uint64_t word = (uint64_t)f->function << FDR_ID_SHIFT_LITTLE | action << FDR_ACTION_SHIFT_LITTLE;
    store64(l->at, word | (now - l->time) << 32);
    RT_STORE(l->at, l->at + need);
    RT_STORE(l->time, now);
    rt_ring_count(l, need - FDR_FUNCTION_SIZE, 0);
}

/* Also takes back calls with an argument. */
bool tl_rt_fdr_take_back(rt_lane *l, const rt_frame *f)
{
    if (rt_fdr_is_last(l, f)) {
        rt_fdr_take_back(l, f);
        return true;
    }
    if (!f->mark || l->at != f->mark + FDR_FUNCTION_SIZE + FDR_METADATA_SIZE)
        return false;
    uint64_t word = (uint64_t)f->function << FDR_ID_SHIFT_LITTLE | FDR_ENTER_ARGS << FDR_ACTION_SHIFT_LITTLE;
    if (*(volatile uint64_t *)(void *)f->mark != (word | (l->time - f->base) << 32))
        return false;
    rt_fdr_take_back(l, f);
    rt_ring_count(l, -(uint64_t)FDR_METADATA_SIZE, 0);
    store64(f->mark + 8, 0);
    store64(f->mark + 16, 0);
    return true;
}

/* The size of the complete record at `at`. */
static uint64_t size_at(const char *at)
{
    uint64_t word = *(const uint64_t *)(const void *)at;
    unsigned kind = FDR_KIND((uint8_t)word, false);
    if (!FDR_IS_METADATA((uint8_t)word, false))
        return FDR_WORD_ACTION((uint32_t)word, false) == FDR_ENTER_ARGS ? FDR_FUNCTION_SIZE + FDR_METADATA_SIZE
                                                                        : FDR_FUNCTION_SIZE;
    bool is_event = kind == FDR_CUSTOM_EVENT || kind == FDR_TYPED_EVENT;
    return FDR_METADATA_SIZE + (is_event ? word >> 8 & UINT32_MAX : 0);
}

static bool is_entry(const char *at, uint32_t function, unsigned action)
{
    uint64_t entry = (uint64_t)function << FDR_ID_SHIFT_LITTLE | action << FDR_ACTION_SHIFT_LITTLE;
    return (*(const uint64_t *)(const void *)at & UINT32_MAX) == entry;
}

/* Is the last record, complete or not yet counted in `at`, the entry of this function? */
static bool ends_with_entry(const rt_lane *l, uint32_t function)
{
    enum { WITH_VALUE = FDR_FUNCTION_SIZE + FDR_METADATA_SIZE };
    return is_entry(l->at, function, FDR_ENTER) || is_entry(l->at, function, FDR_ENTER_ARGS) ||
           is_entry(l->at - FDR_FUNCTION_SIZE, function, FDR_ENTER) ||
           is_entry(l->at - WITH_VALUE, function, FDR_ENTER_ARGS);
}

/* A record is written at `at` from its end, then `at` advances, then the time. A call goes onto the stack before its
 * entry is written, and off it before its exit is. The running time may be that of an entry which is not written: room
 * was made for it. */
bool tl_rt_fdr_repair(rt_lane *l)
{
    if (!l->at)
        return true;
    const char *end = l->slot.memory + l->slot.size;
    const rt_frame *f = l->top;
    bool entered = (f != l->entering && f->begin <= l->time) || ends_with_entry(l, f->function);
    if (*(const uint64_t *)(const void *)l->at)
        l->at += size_at(l->at);
    if (l->at > end - RESERVE + FDR_FUNCTION_SIZE) { /* that was the padding */
        l->at = l->end = NULL;
        return entered;
    }
    rt_zero(l->at, FDR_METADATA_SIZE + REST_MAX);
    if (l->time < f->begin)
        l->time = f->begin;
    l->cpu = UINT32_MAX; /* the next record begins with the time and the processor */
    return entered;
}
