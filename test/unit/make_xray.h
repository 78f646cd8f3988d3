/* Builds XRay logs in memory for tests: little-endian, one call a record. */
#ifndef TL_TEST_MAKE_XRAY_H
#define TL_TEST_MAKE_XRAY_H

#include "base/endian.h"
#include "check.h"
#include "format/xray/basic_layout.h"
#include "format/xray/fdr_layout.h"
#include "traceloom/traceloom.h"

typedef struct made {
    uint8_t data[1 << 18];
    size_t n;
    size_t extents; /* place of the BufferExtents record of the open buffer */
    bool big;
} made;

static inline uint8_t *made_room(made *m, size_t n)
{
    uint8_t *p = m->data + m->n;
    memset(p, 0, n);
    m->n += n;
    return p;
}

static inline void made_header(made *m, unsigned version, unsigned type, uint64_t hz, uint64_t buffer_size)
{
    uint8_t *p = made_room(m, FDR_HEADER_SIZE);
    tl_store16(p + FDR_HEADER_VERSION, (uint16_t)version, m->big);
    tl_store16(p + FDR_HEADER_TYPE, (uint16_t)type, m->big);
    tl_store64(p + FDR_HEADER_HZ, hz, m->big);
    tl_store64(p + FDR_HEADER_BUFFER_SIZE, buffer_size, m->big);
}

static inline uint8_t *made_metadata(made *m, unsigned kind)
{
    uint8_t *p = made_room(m, FDR_METADATA_SIZE);
    memset(p, 0xaa, FDR_METADATA_SIZE); /* unused bytes may hold anything */
    p[0] = FDR_BYTE0(kind, m->big);
    return p;
}

static inline void made_cpu(made *m, unsigned cpu, uint64_t tsc)
{
    uint8_t *p = made_metadata(m, FDR_NEW_CPU_ID);
    tl_store16(p + FDR_NEW_CPU_ID_CPU, (uint16_t)cpu, m->big);
    tl_store64(p + FDR_NEW_CPU_ID_TSC, tsc, m->big);
}

/* A buffer of version 3 or later up to its first NewCPUId; made_buffer_end() sets its extents. */
static inline void made_buffer(made *m, int32_t pid, int32_t tid, int64_t seconds, int32_t micros, uint64_t tsc)
{
    m->extents = m->n;
    made_metadata(m, FDR_BUFFER_EXTENTS);
    tl_store32(made_metadata(m, FDR_NEW_BUFFER) + FDR_NEW_BUFFER_TID, (uint32_t)tid, m->big);
    uint8_t *p = made_metadata(m, FDR_WALLTIME);
    tl_store64(p + FDR_WALLTIME_SECONDS, (uint64_t)seconds, m->big);
    tl_store32(p + FDR_WALLTIME_MICROSECONDS, (uint32_t)micros, m->big);
    tl_store32(made_metadata(m, FDR_PID) + FDR_PID_PID, (uint32_t)pid, m->big);
    made_cpu(m, 0, tsc);
}

static inline void made_buffer_end(made *m)
{
    tl_store64(m->data + m->extents + FDR_BUFFER_EXTENTS_BYTES, m->n - m->extents - FDR_METADATA_SIZE, m->big);
}

static inline void made_function(made *m, unsigned action, uint32_t id, uint32_t delta)
{
    uint8_t *p = made_room(m, FDR_FUNCTION_SIZE);
    uint32_t word =
        m->big ? action << FDR_ACTION_SHIFT_BIG | id : id << FDR_ID_SHIFT_LITTLE | action << FDR_ACTION_SHIFT_LITTLE;
    tl_store32(p + FDR_FUNCTION_WORD, word, m->big);
    tl_store32(p + FDR_FUNCTION_DELTA, delta, m->big);
}

static inline void made_argument(made *m, uint64_t value)
{
    tl_store64(made_metadata(m, FDR_CALL_ARGUMENT) + FDR_CALL_ARGUMENT_VALUE, value, m->big);
}

/* A custom event of version 5, or a typed one. */
static inline void made_event(made *m, unsigned kind, unsigned type, int32_t delta, const char *payload)
{
    uint8_t *p = made_metadata(m, kind);
    tl_store32(p + FDR_EVENT_SIZE, (uint32_t)strlen(payload), m->big);
    tl_store32(p + FDR_EVENT_DELTA, (uint32_t)delta, m->big);
    tl_store16(p + FDR_TYPED_TYPE, (uint16_t)type, m->big);
    memcpy(made_room(m, strlen(payload)), payload, strlen(payload));
}

static inline void made_basic(made *m, unsigned kind, int32_t id, uint64_t tsc, uint32_t tid, uint32_t pid)
{
    uint8_t *p = made_room(m, BASIC_RECORD_SIZE);
    p[BASIC_FUNCTION_KIND] = (uint8_t)kind;
    tl_store32(p + BASIC_FUNCTION_ID, (uint32_t)id, m->big);
    tl_store64(p + BASIC_FUNCTION_TSC, tsc, m->big);
    tl_store32(p + BASIC_FUNCTION_TID, tid, m->big);
    tl_store32(p + BASIC_FUNCTION_PID, pid, m->big);
}

static inline void made_basic_argument(made *m, int32_t id, uint32_t tid, uint32_t pid, uint64_t value)
{
    uint8_t *p = made_room(m, BASIC_RECORD_SIZE);
    tl_store16(p, BASIC_ARGUMENT, m->big);
    tl_store32(p + BASIC_ARGUMENT_ID, (uint32_t)id, m->big);
    tl_store32(p + BASIC_ARGUMENT_TID, tid, m->big);
    tl_store32(p + BASIC_ARGUMENT_PID, pid, m->big);
    tl_store64(p + BASIC_ARGUMENT_VALUE, value, m->big);
}

/* Counts the events of a source of a made file. */
static inline uint64_t made_events(tl_source *s, unsigned threads)
{
    tl_count count;
    assert_int_equal(tl_source_count(s, threads, &count, NULL), 0);
    const uint64_t n = count.events;
    tl_count_free(&count);
    return n;
}

static inline tl_source *made_open(const made *m, bool strict, tl_error *e)
{
    tl_source *s = NULL;
    const tl_open_options o = {.want = {.fields = true, .cpu = true, .strict = strict}};
    return tl_source_open_memory(&s, m->data, m->n, "made.xray", &o, e) == 0 ? s : NULL;
}

static inline tl_source *made_read(const made *m)
{
    tl_error e = {0};
    tl_source *s = made_open(m, false, &e);
    if (!s)
        fail_msg("%s", e.message);
    return s;
}

/* Opens a damaged log; expects one problem and the number of events left, with one thread and with two. */
static inline void made_damaged(const made *m, const char *rule, uint64_t offset, uint64_t events)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        tl_source *s = made_read(m);
        const tl_trace *t = tl_source_trace(s);
        assert_int_equal(tl_trace_damages(t), 1);
        assert_string_equal(tl_trace_damage(t, 0)->rule, rule);
        assert_int_equal(tl_trace_damage(t, 0)->offset, offset);
        tl_count count;
        assert_int_equal(tl_source_count(s, threads, &count, NULL), 0);
        assert_int_equal(count.events, events);
        tl_count_free(&count);
        tl_source_close(s);
    }
    tl_error e = {0};
    assert_null(made_open(m, true, &e));
    assert_int_equal(e.code, TL_EDAMAGED);
    assert_int_equal(e.offset, offset);
}

#endif
