/* LTTng-UST tracepoints of lttng_app.c, one for each kind of field. LTTng's headers include this several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER shop

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_app_events.h"

#if !defined(LTTNG_APP_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_APP_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(shop, tick,
    LTTNG_UST_TP_ARGS(uint32_t, number),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, number, number)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(shop, tick, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION)

LTTNG_UST_TRACEPOINT_EVENT(shop, numbers,
    LTTNG_UST_TP_ARGS(int64_t, n),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int8_t, i8, n)
        lttng_ust_field_integer(uint8_t, u8, n)
        lttng_ust_field_integer(int16_t, i16, n)
        lttng_ust_field_integer(uint16_t, u16, n)
        lttng_ust_field_integer(int32_t, i32, n)
        lttng_ust_field_integer(uint32_t, u32, n)
        lttng_ust_field_integer(int64_t, i64, n)
        lttng_ust_field_integer(uint64_t, u64, n)
        lttng_ust_field_integer_hex(uint64_t, hex, n)
        lttng_ust_field_integer_network(uint16_t, port, n)
        lttng_ust_field_float(float, half, (float)n / 2)
        lttng_ust_field_float(double, quarter, (double)n / 4)))

LTTNG_UST_TRACEPOINT_ENUM(shop, level,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("none", 0)
        lttng_ust_field_enum_value("one", 1)
        lttng_ust_field_enum_range("few", 2, 4)
        lttng_ust_field_enum_value("three", 3)))

LTTNG_UST_TRACEPOINT_EVENT(shop, texts,
    LTTNG_UST_TP_ARGS(const char *, text, size_t, length, int, level, const int16_t *, list),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_string(string, text)
        lttng_ust_field_array_text(char, fixed, text, 4)
        lttng_ust_field_sequence_text(char, part, text, uint16_t, length)
        lttng_ust_field_array(int16_t, array, list, 3)
        lttng_ust_field_array_hex(uint8_t, bytes, list, 2)
        lttng_ust_field_sequence(int16_t, sequence, list, uint32_t, length)
        lttng_ust_field_enum(shop, level, int, level, level)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
