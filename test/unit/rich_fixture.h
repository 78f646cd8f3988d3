/* Shared by tests of event writers, about rich fields: classes with contexts, enumerations, flags, variants, optional
 * members, and events with all of them. */
#ifndef TL_TEST_RICH_FIXTURE_H
#define TL_TEST_RICH_FIXTURE_H

#include "writer_fixture.h"

enum {
    RICH_OPEN,
    RICH_PACKET,
    RICH_EMPTY,
    RICH_BARE,
    RICH_TIMELESS,
    RICH_ENTRY,
    RICH_CALL,
    RICH_FRAMING,
    RICH_CLASSES
};

#define RICH_STREAM    (TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM)
#define RICH_EVENT     (TL_SCOPE_PAYLOAD - TL_SCOPE_EVENT)
#define RICH_IN_PACKET (TL_SCOPE_PAYLOAD - TL_SCOPE_PACKET)

static const tl_mapping rich_mode[] = {
    {"READ", 0, 3}, {"B \"?", 2, 5}, {"READ", 5, 5}, {"none", 9, 8}, {"TOP", 200, UINT64_MAX}};
static const tl_mapping rich_signed[] = {{"neg", (uint64_t)-5, (uint64_t)-1}, {"all", (uint64_t)-100, 100}};
static const tl_mapping rich_bits[] = {{"A", 0, 0}, {"B", 1, 2}, {"C", 63, 70}, {"never", 64, 70}};
static const tl_mapping rich_range[] = {{NULL, 0, 7}};
static const tl_field rich_point[] = {{.name = "x", .type = TL_I64, .bits = 8, .base = 16},
                                      {.name = "gone", .type = TL_U64, .flags = TL_FIELD_OPTIONAL},
                                      {.name = "y", .type = TL_BOOL}};
static const tl_field rich_option[] = {{.name = "number", .type = TL_U64, .mapping = rich_range, .nmapping = 1},
                                       {.name = "point", .type = TL_STRUCT, .member = rich_point, .nmember = 3}};
static const tl_field rich_element[] = {{.name = "", .type = TL_U64, .base = 16, .bits = 16}};
static const tl_field rich_open[] = {
    {.name = "pid", .type = TL_I64, .context = RICH_STREAM, .flags = TL_FIELD_CLASH},
    {.name = "pid", .type = TL_U64, .context = RICH_EVENT, .flags = TL_FIELD_CLASH},
    {.name = "ip", .type = TL_U64, .base = 16, .context = RICH_EVENT, .flags = TL_FIELD_OPTIONAL},
    {.name = "mode", .type = TL_U64, .bits = 8, .mapping = rich_mode, .nmapping = 5},
    {.name = "level", .type = TL_I64, .bits = 8, .base = 8, .mapping = rich_signed, .nmapping = 2},
    {.name = "bits", .type = TL_U64, .flags = TL_FIELD_FLAGS, .mapping = rich_bits, .nmapping = 4},
    {.name = "maybe", .type = TL_STRING, .flags = TL_FIELD_OPTIONAL},
    {.name = "either", .type = TL_VARIANT, .member = rich_option, .nmember = 2},
    {.name = "list", .type = TL_LIST, .member = rich_element, .nmember = 1},
    {.name = "real", .type = TL_F64, .bits = 32},
};
static const tl_field rich_packet[] = {
    {.name = "cpu_id", .type = TL_U64, .context = RICH_IN_PACKET},
    {.name = "pid", .type = TL_I64, .context = RICH_STREAM},
    {.name = "text", .type = TL_STRING},
};
static const tl_field rich_entry[] = {{.name = "addr", .type = TL_U64, .base = 16}};
static const tl_field rich_framing[] = {{.name = "begin", .type = TL_U64}};

static const tl_class rich_classes[RICH_CLASSES] = {
    [RICH_OPEN] = {.kind = TL_INSTANT, .name = "open", .field = rich_open, .nfield = 10, .ncontext = 3},
    [RICH_PACKET] = {.kind = TL_INSTANT, .name = "packed", .field = rich_packet, .nfield = 3, .ncontext = 2},
    [RICH_EMPTY] = {.kind = TL_INSTANT, .name = "empty", .scopes = 1 << TL_SCOPE_EVENT | 1 << TL_SCOPE_PAYLOAD},
    [RICH_BARE] = {.kind = TL_INSTANT, .name = "bare"},
    [RICH_TIMELESS] = {.kind = TL_INSTANT, .name = "timeless", .flags = TL_CLASS_TIMELESS},
    [RICH_ENTRY] = {.kind = TL_ENTER,
                    .key = TL_KEY_FUNCTION,
                    .flags = TL_CLASS_KEY_IS_FIELD,
                    .name = "func_entry",
                    .field = rich_entry,
                    .nfield = 1},
    [RICH_CALL] = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "call"},
    [RICH_FRAMING] = {.kind = TL_FORMAT, .name = "packet", .field = rich_framing, .nfield = 1},
};

/* Values of a class RICH_OPEN event, as many as RICH_OPEN_SLOTS. */
#define RICH_OPEN_SLOTS 13u
static inline void rich_open_values(tl_value v[static RICH_OPEN_SLOTS])
{
    const tl_value all[RICH_OPEN_SLOTS] = {{.type = TL_I64, .as.i = -1},
                                           {.type = TL_U64, .as.u = 7},
                                           {.type = TL_U64, .as.u = 0xbeef},
                                           {.type = TL_U64, .as.u = 2},
                                           {.type = TL_I64, .as.i = -3},
                                           {.type = TL_U64, .as.u = 0x5},
                                           {.type = TL_ABSENT},
                                           {.type = TL_VARIANT, .n = 1, .variant = 0},
                                           {.type = TL_U64, .as.u = 5},
                                           {.type = TL_LIST, .n = 2},
                                           {.type = TL_U64, .as.u = 1},
                                           {.type = TL_U64, .as.u = 0xab},
                                           {.type = TL_F64, .as.f = (double)0.1f}};
    memcpy(v, all, sizeof all);
}

/* As fixture_init(), with these classes. */
static inline void rich_init(fixture *f)
{
    fixture_init(f);
    assert_int_equal(tl_trace_set_classes(&f->trace, rich_classes, RICH_CLASSES, NULL), 0);
}

static inline void rich_open_event(fixture *f, uint64_t ts)
{
    tl_value v[RICH_OPEN_SLOTS];
    rich_open_values(v);
    fixture_event(f, RICH_OPEN, 0, 1, ts, 0, v, RICH_OPEN_SLOTS);
}

/* The same with another option, other labels, and without optional values. */
static inline void rich_other_event(fixture *f, uint64_t ts)
{
    const tl_value v[] = {{.type = TL_ABSENT},
                          {.type = TL_ABSENT},
                          {.type = TL_ABSENT},
                          {.type = TL_U64, .as.u = 100},
                          {.type = TL_I64, .as.i = -128},
                          {.type = TL_U64, .as.u = 0x8000000000000000},
                          {.type = TL_STRING, .n = 2, .as.p = "?\x1b"},
                          {.type = TL_VARIANT, .n = 1, .variant = 1},
                          {.type = TL_STRUCT, .n = 3},
                          {.type = TL_I64, .as.i = -1},
                          {.type = TL_ABSENT},
                          {.type = TL_BOOL, .as.u = 1},
                          {.type = TL_LIST},
                          {.type = TL_F64, .as.f = 3}};
    fixture_event(f, RICH_OPEN, 1, -1, ts, 0, v, (uint32_t)TL_COUNT(v));
}

static inline void rich_packed_event(fixture *f, uint64_t ts)
{
    const tl_value v[] = {
        {.type = TL_U64, .as.u = 2}, {.type = TL_I64, .as.i = 9}, {.type = TL_STRING, .n = 1, .as.p = "x"}};
    fixture_event(f, RICH_PACKET, 0, 2, ts, 0, v, 3);
}

static inline void rich_entry_event(fixture *f, uint64_t ts, uint64_t addr)
{
    const tl_value v = {.type = TL_U64, .as.u = addr};
    fixture_event(f, RICH_ENTRY, 0, -1, ts, addr, &v, 1);
}

/* Variants nested n deep, then a number; later values must still be read at their places. */
static inline uint32_t rich_deep(tl_value *v, uint32_t n, tl_type type)
{
    for (uint32_t i = 0; i < n; i++)
        v[i] = (tl_value){.type = (uint8_t)type, .n = 1};
    v[n] = (tl_value){.type = TL_U64, .as.u = 42};
    return n + 1;
}

#endif
