/* Shared by tests of time lines: classes of a managed runtime, in a trace whose ticks are ms. */
#ifndef TL_TEST_TIMELINE_FIXTURE_H
#define TL_TEST_TIMELINE_FIXTURE_H

#include "fixture.h"

enum {
    RT_GC,
    RT_GC_END,
    RT_JIT,
    RT_JIT_END,
    RT_CODE,
    RT_CPU,
    RT_ALLOC,
    RT_LIVE,
    RT_HEAP,
    RT_SAMPLE,
    RT_NOTE,
    RT_CLASSES
};

static const tl_field rt_gc[] = {{.name = "reason", .type = TL_STRING, .role = TL_FIELD_REASON},
                                 {.name = "generations", .type = TL_STRING, .role = TL_FIELD_GENERATIONS}};
static const tl_field rt_jit[] = {{.name = "code", .type = TL_HEX, .role = TL_FIELD_CODE_ID},
                                  {.name = "status", .type = TL_HEX, .role = TL_FIELD_STATUS}};
static const tl_field rt_code[] = {{.name = "code", .type = TL_HEX, .role = TL_FIELD_CODE_ID},
                                   {.name = "function", .type = TL_HEX, .role = TL_FIELD_FUNCTION}};
static const tl_field rt_cpu[] = {{.name = "used", .type = TL_U64, .role = TL_FIELD_USED}};
static const tl_field rt_object[] = {{.name = "type", .type = TL_HEX, .role = TL_FIELD_TYPE},
                                     {.name = "count", .type = TL_U64, .role = TL_FIELD_COUNT},
                                     {.name = "bytes", .type = TL_U64, .role = TL_FIELD_BYTES}};
static const tl_field rt_objects[] = {{.name = "", .type = TL_STRUCT, .member = rt_object, .nmember = 3}};
static const tl_field rt_items[] = {
    {.name = "items", .type = TL_LIST, .member = rt_objects, .nmember = 1, .role = TL_FIELD_ITEMS}};
static const tl_field rt_generation[] = {{.name = "name", .type = TL_STRING, .role = TL_FIELD_NAME},
                                         {.name = "used", .type = TL_U64, .role = TL_FIELD_BYTES},
                                         {.name = "reserved", .type = TL_U64, .role = TL_FIELD_RESERVED}};
static const tl_field rt_generations[] = {{.name = "", .type = TL_STRUCT, .member = rt_generation, .nmember = 3}};
static const tl_field rt_heap[] = {
    {.name = "generations", .type = TL_LIST, .member = rt_generations, .nmember = 1, .role = TL_FIELD_ITEMS}};
static const tl_field rt_frame[] = {
    {.name = "function", .type = TL_STRING}, {.name = "number", .type = TL_HEX}, {.name = "ip", .type = TL_HEX}};
static const tl_field rt_sample[] = {
    {.name = "count", .type = TL_U64, .role = TL_FIELD_COUNT},
    {.name = "frames", .type = TL_STACK, .member = rt_frame, .nmember = 3, .role = TL_FIELD_STACK}};
static const tl_field rt_note[] = {{.name = "text", .type = TL_STRING}};

static const tl_class rt_classes[RT_CLASSES] = {
    [RT_GC] = {.kind = TL_BEGIN,
               .key = TL_KEY_PAIR,
               .name = "gc.begin",
               .title = "GC",
               .pair = RT_GC_END,
               .role = TL_ROLE_COLLECTION,
               .field = rt_gc,
               .nfield = 2},
    [RT_GC_END] = {.kind = TL_END,
                   .key = TL_KEY_PAIR,
                   .name = "gc.end",
                   .title = "GC",
                   .pair = RT_GC,
                   .role = TL_ROLE_COLLECTION},
    [RT_JIT] = {.kind = TL_BEGIN,
                .key = TL_KEY_PAIR,
                .name = "jit.begin",
                .title = "JIT",
                .pair = RT_JIT_END,
                .role = TL_ROLE_COMPILATION,
                .field = rt_jit,
                .nfield = 1},
    [RT_JIT_END] = {.kind = TL_END,
                    .key = TL_KEY_PAIR,
                    .name = "jit.end",
                    .title = "JIT",
                    .pair = RT_JIT,
                    .role = TL_ROLE_COMPILATION,
                    .field = rt_jit,
                    .nfield = 2},
    [RT_CODE] = {.kind = TL_INSTANT, .name = "code", .role = TL_ROLE_CODE, .field = rt_code, .nfield = 2},
    [RT_CPU] =
        {.kind = TL_INSTANT, .key = TL_KEY_SINCE, .name = "cpu", .role = TL_ROLE_CPU, .field = rt_cpu, .nfield = 1},
    [RT_ALLOC] = {.kind = TL_INSTANT,
                  .key = TL_KEY_WEIGHT,
                  .name = "alloc",
                  .role = TL_ROLE_ALLOCATION,
                  .field = rt_items,
                  .nfield = 1},
    [RT_LIVE] = {.kind = TL_INSTANT, .name = "live", .role = TL_ROLE_LIVE_OBJECTS, .field = rt_items, .nfield = 1},
    [RT_HEAP] = {.kind = TL_INSTANT, .name = "heap", .role = TL_ROLE_HEAP_SIZES, .field = rt_heap, .nfield = 1},
    [RT_SAMPLE] = {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "sample", .field = rt_sample, .nfield = 2},
    [RT_NOTE] = {.kind = TL_INSTANT, .name = "note", .field = rt_note, .nfield = 1},
};

/* Two threads of process 5, one without a tid, and functions 1 "main" and 2 "fib". */
static inline void rt_init(fixture *f)
{
    fixture_trace(f, "app.log", "milliseconds", 1000, rt_classes, RT_CLASSES);
    const tl_track track[] = {{.name = "thread 0x0", .pid = 5, .tid = 7, .has_pid = true, .has_tid = true},
                              {.name = "thread 0x1", .pid = 5, .has_pid = true}};
    const tl_function function[] = {{.id = 1, .name = "main", .flags = TL_FUNCTION_HEX_ID},
                                    {.id = 2, .name = "fib", .flags = TL_FUNCTION_HEX_ID},
                                    {.id = 3, .flags = TL_FUNCTION_HEX_ID}};
    for (size_t i = 0; i < 2; i++)
        fixture_track(f, &track[i]);
    for (size_t i = 0; i < 3; i++)
        fixture_function(f, &function[i]);
    fixture_batch(f, false);
}

static inline tl_value rt_text(const char *s)
{
    return (tl_value){.type = TL_STRING, .n = (uint32_t)strlen(s), .as.p = s};
}

static inline void rt_event(fixture *f, uint32_t cls, uint32_t track, uint64_t ts, uint64_t key, const tl_value *v,
                            uint32_t n)
{
    fixture_event(f, cls, track, -1, ts, key, v, n);
}

static inline void rt_gc_begin(fixture *f, uint32_t track, uint64_t ts)
{
    const tl_value v[] = {rt_text("induced"), rt_text("tfff")};
    rt_event(f, RT_GC, track, ts, 0, v, 2);
}

static inline void rt_gc_end(fixture *f, uint32_t track, uint64_t ts)
{
    rt_event(f, RT_GC_END, track, ts, 0, NULL, 0);
}

static inline void rt_jit_begin(fixture *f, uint32_t track, uint64_t ts, uint64_t code)
{
    const tl_value v = {.type = TL_HEX, .as.u = code};
    rt_event(f, RT_JIT, track, ts, code, &v, 1);
}

static inline void rt_jit_end(fixture *f, uint32_t track, uint64_t ts, uint64_t code)
{
    const tl_value v[] = {{.type = TL_HEX, .as.u = code}, {.type = TL_HEX, .as.u = 0}};
    rt_event(f, RT_JIT_END, track, ts, code, v, 2);
}

static inline void rt_got_code(fixture *f, uint64_t ts, uint64_t code, uint64_t function)
{
    const tl_value v[] = {{.type = TL_HEX, .as.u = code}, {.type = TL_HEX, .as.u = function}};
    rt_event(f, RT_CODE, 0, ts, 0, v, 2);
}

static inline void rt_cpu_used(fixture *f, uint32_t track, uint64_t since, uint64_t ts, uint64_t us)
{
    const tl_value v = {.type = TL_U64, .as.u = us};
    rt_event(f, RT_CPU, track, ts, since, &v, 1);
}

/* Two items: of a bytes and b bytes, one and two objects. */
static inline void rt_two_items(fixture *f, uint32_t cls, uint32_t track, uint64_t ts, uint64_t key, uint64_t a,
                                uint64_t b)
{
    const tl_value v[] = {{.type = TL_LIST, .n = 2},   {.type = TL_STRUCT, .n = 3}, {.type = TL_HEX, .as.u = 1},
                          {.type = TL_U64, .as.u = 1}, {.type = TL_U64, .as.u = a}, {.type = TL_STRUCT, .n = 3},
                          {.type = TL_NULL},           {.type = TL_U64, .as.u = 2}, {.type = TL_U64, .as.u = b}};
    rt_event(f, cls, track, ts, key, v, 9);
}

/* A sample of `count` (UINT64_MAX: unknown) with a stack that ends in *innermost. */
static inline void rt_sampled(fixture *f, uint32_t track, uint64_t ts, uint64_t weight, uint64_t count,
                              const tl_frame *innermost)
{
    const tl_value v[] = {{.type = count == UINT64_MAX ? TL_NULL : TL_U64, .as.u = count},
                          {.type = TL_STACK, .n = innermost ? innermost->depth : 0, .as.p = innermost}};
    rt_event(f, RT_SAMPLE, track, ts, weight, v, 2);
}

#define RT_FRAME(number, text, by, at)                                                                                 \
    {                                                                                                                  \
        .caller = (by), .function = (number), .name = (text), .depth = (at), .flags = TL_FRAME_FUNCTION                \
    }

#endif
