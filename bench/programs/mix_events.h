/* LTTng-UST tracepoints of the benchmark's program mix.c: 46 event types. Read several times by LTTng's headers. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER mix

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./mix_events.h"

#if !defined(MIX_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define MIX_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(mix, empty,
    LTTNG_UST_TP_ARGS(),
    LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT(mix, tick,
    LTTNG_UST_TP_ARGS(uint32_t, number),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, number, number)))

LTTNG_UST_TRACEPOINT_EVENT(mix, pair,
    LTTNG_UST_TP_ARGS(uint64_t, address, int64_t, delta),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_hex(uint64_t, address, address)
        lttng_ust_field_integer(int64_t, delta, delta)))

LTTNG_UST_TRACEPOINT_EVENT(mix, text,
    LTTNG_UST_TP_ARGS(const char *, message, int32_t, number),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_string(message, message)
        lttng_ust_field_integer(int32_t, number, number)))

LTTNG_UST_TRACEPOINT_ENUM(mix, state,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("IDLE", 0)
        lttng_ust_field_enum_value("BUSY", 1)
        lttng_ust_field_enum_range("WAITING", 2, 9)))

LTTNG_UST_TRACEPOINT_EVENT(mix, rich,
    LTTNG_UST_TP_ARGS(int64_t, number, const char *, name, const uint32_t *, four, const uint16_t *, list, uint8_t, length),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int8_t, small, number)
        lttng_ust_field_integer(uint16_t, middle, number)
        lttng_ust_field_integer_network(uint32_t, port, (uint32_t)number)
        lttng_ust_field_array(uint32_t, four, four, 4)
        lttng_ust_field_array_hex(uint8_t, bytes, four, 3)
        lttng_ust_field_sequence(uint16_t, list, list, uint8_t, length)
        lttng_ust_field_array_text(char, word, "gear", 5)
        lttng_ust_field_sequence_text(char, part, name, size_t, 3)
        lttng_ust_field_string(name, name)
        lttng_ust_field_float(double, real, (double)number / 8)
        lttng_ust_field_float(float, half, (float)(number & 1023) / 2)
        lttng_ust_field_enum(mix, state, int32_t, state, (int32_t)(number % 10))))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(mix, step,
    LTTNG_UST_TP_ARGS(uint32_t, value, uint8_t, kind),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint32_t, value, value)
        lttng_ust_field_integer(uint8_t, kind, kind)))
/* clang-format on */

#define MIX_STEP(name)                                                                                                 \
    LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(mix, step, mix, name, LTTNG_UST_TP_ARGS(uint32_t, value, uint8_t, kind))

MIX_STEP(step0)
MIX_STEP(step1)
MIX_STEP(step2)
MIX_STEP(step3)
MIX_STEP(step4)
MIX_STEP(step5)
MIX_STEP(step6)
MIX_STEP(step7)
MIX_STEP(step8)
MIX_STEP(step9)
MIX_STEP(step10)
MIX_STEP(step11)
MIX_STEP(step12)
MIX_STEP(step13)
MIX_STEP(step14)
MIX_STEP(step15)
MIX_STEP(step16)
MIX_STEP(step17)
MIX_STEP(step18)
MIX_STEP(step19)
MIX_STEP(step20)
MIX_STEP(step21)
MIX_STEP(step22)
MIX_STEP(step23)
MIX_STEP(step24)
MIX_STEP(step25)
MIX_STEP(step26)
MIX_STEP(step27)
MIX_STEP(step28)
MIX_STEP(step29)
MIX_STEP(step30)
MIX_STEP(step31)
MIX_STEP(step32)
MIX_STEP(step33)
MIX_STEP(step34)
MIX_STEP(step35)
MIX_STEP(step36)
MIX_STEP(step37)
MIX_STEP(step38)
MIX_STEP(step39)
MIX_STEP(step40)

#endif

#include <lttng/tracepoint-event.h>
