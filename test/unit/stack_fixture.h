/* Shared by tests of event writers, about samples: classes with stacks, begins and ends, and values that are null. */
#ifndef TL_TEST_STACK_FIXTURE_H
#define TL_TEST_STACK_FIXTURE_H

#include "model/stack_frames.h"
#include "writer_fixture.h"

enum { STACK_SAMPLE, STACK_BEGIN, STACK_END, STACK_CPU, STACK_CLASSES };

static const tl_field stack_members[] = {
    {.name = "function", .type = TL_STRING}, {.name = "iid", .type = TL_HEX}, {.name = "ip", .type = TL_HEX}};
static const tl_field stack_sample[] = {
    {.name = "thread", .type = TL_HEX, .flags = TL_FIELD_NULLABLE},
    {.name = "count", .type = TL_U64, .role = TL_FIELD_COUNT, .flags = TL_FIELD_NULLABLE},
    {.name = "frames", .type = TL_STACK, .member = stack_members, .nmember = 3, .role = TL_FIELD_STACK}};
static const tl_field stack_begin[] = {
    {.name = "reason", .type = TL_STRING, .role = TL_FIELD_REASON, .flags = TL_FIELD_NULLABLE}};
static const tl_field stack_cpu[] = {{.name = "usage", .type = TL_U64, .role = TL_FIELD_USED}};

static const tl_class stack_classes[STACK_CLASSES] = {
    [STACK_SAMPLE] = {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "sample", .field = stack_sample, .nfield = 3},
    [STACK_BEGIN] = {.kind = TL_BEGIN,
                     .key = TL_KEY_PAIR,
                     .name = "gc.begin",
                     .title = "GC\x1b",
                     .pair = STACK_END,
                     .role = TL_ROLE_COLLECTION,
                     .field = stack_begin,
                     .nfield = 1},
    [STACK_END] = {.kind = TL_END,
                   .key = TL_KEY_PAIR,
                   .name = "gc.end",
                   .title = "GC\x1b",
                   .pair = STACK_BEGIN,
                   .role = TL_ROLE_COLLECTION},
    [STACK_CPU] =
        {.kind = TL_INSTANT, .key = TL_KEY_SINCE, .name = "cpu", .role = TL_ROLE_CPU, .field = stack_cpu, .nfield = 1},
};

/* main, a function without a name, and an unknown one; only the second has a place in the source. */
static const tl_frame stack_main = {.function = 5, .name = "Work:Main \"x\"", .depth = 1, .flags = TL_FRAME_FUNCTION};
static const tl_frame stack_unnamed = {
    .caller = &stack_main, .function = 0x1f, .ip = 0x7f00, .depth = 2, .flags = TL_FRAME_FUNCTION | TL_FRAME_IP};
static const tl_frame stack_unknown = {.caller = &stack_unnamed, .depth = 3};
static const tl_frame stack_fib = {.caller = &stack_main,
                                   .function = 6,
                                   .ip = 0xabc,
                                   .name = "Fib",
                                   .depth = 2,
                                   .flags = TL_FRAME_FUNCTION | TL_FRAME_IP};

/* The deepest possible stack, of functions 0 .. n-1 named "f"; free(). */
#define STACK_DEEP 65536u
static inline tl_frame *stack_deep(uint32_t n, const char *name)
{
    tl_frame *f = calloc(n, sizeof *f);
    assert_non_null(f);
    for (uint32_t i = 0; i < n; i++)
        f[i] = (tl_frame){
            .caller = i ? &f[i - 1] : NULL, .function = i, .name = name, .depth = i + 1, .flags = TL_FRAME_FUNCTION};
    return f;
}

static inline tl_value stack_value(const tl_frame *innermost)
{
    return (tl_value){.type = TL_STACK, .n = innermost ? innermost->depth : 0, .as.p = innermost};
}

/* As fixture_init(), with these classes. */
static inline void stack_init(fixture *f)
{
    fixture_init(f);
    assert_int_equal(tl_trace_set_classes(&f->trace, stack_classes, STACK_CLASSES, NULL), 0);
}

static inline void stack_event(fixture *f, uint64_t ts, const tl_frame *innermost)
{
    const tl_value v[] = {{.type = TL_HEX, .as.u = 2}, {.type = TL_U64, .as.u = 1}, stack_value(innermost)};
    fixture_event(f, STACK_SAMPLE, 0, -1, ts, 10, v, 3);
}

/* Two samples, the second one entirely unknown, and one event of each other class. */
static inline void stack_events(fixture *f)
{
    static const tl_value null[] = {{.type = TL_NULL}, {.type = TL_NULL}, {.type = TL_STACK}};
    static const tl_value usage = {.type = TL_U64, .as.u = 9500};
    stack_event(f, 1, &stack_unknown);
    fixture_event(f, STACK_SAMPLE, 1, -1, 2, 0, null, 3);
    fixture_event(f, STACK_BEGIN, 0, -1, 3, 77, null, 1);
    fixture_event(f, STACK_END, 0, -1, 4, 77, NULL, 0);
    fixture_event(f, STACK_CPU, 0, -1, 5, TL_SINCE_UNKNOWN, &usage, 1);
}

#endif
