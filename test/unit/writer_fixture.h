/* Shared by tests of event writers, about calls: a trace made by hand with the classes of XRay. */
#ifndef TL_TEST_WRITER_FIXTURE_H
#define TL_TEST_WRITER_FIXTURE_H

#include "fixture.h"

/* The classes of the trace: those of XRay, and one of every kind that it lacks. */
enum { ENTER, EXIT, TAIL_EXIT, ENTER_ARGS, CUSTOM, TYPED, COUNTER, LOSS, FRAMING, INSN, STRUCTURED, CLASSES };

static const tl_field fixture_args[] = {{.name = "args", .type = TL_LIST}};
static const tl_field fixture_data[] = {{.name = "data", .type = TL_BYTES}};
static const tl_field fixture_typed[] = {{.name = "type", .type = TL_U64}, {.name = "data", .type = TL_BYTES}};
static const tl_field fixture_counter[] = {
    {.name = "heap", .type = TL_U64}, {.name = "what", .type = TL_STRING}, {.name = "load", .type = TL_F64}};
static const tl_field fixture_insn[] = {{.name = "opcode", .type = TL_HEX}};
static const tl_field fixture_point[] = {{.name = "x", .type = TL_I64}, {.name = "ok", .type = TL_BOOL}};
static const tl_field fixture_structured[] = {
    {.name = "point", .type = TL_STRUCT, .member = fixture_point, .nmember = 2},
    {.name = "text", .type = TL_STRING},
    {.name = "none", .type = TL_NULL}};

static const tl_class fixture_classes[CLASSES] = {
    [ENTER] = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "xray.enter"},
    [EXIT] = {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "xray.exit"},
    [TAIL_EXIT] = {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "xray.tail_exit"},
    [ENTER_ARGS] =
        {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "xray.enter_args", .field = fixture_args, .nfield = 1},
    [CUSTOM] = {.kind = TL_INSTANT, .name = "xray.custom", .field = fixture_data, .nfield = 1},
    [TYPED] = {.kind = TL_INSTANT, .name = "xray.typed", .field = fixture_typed, .nfield = 2},
    [COUNTER] = {.kind = TL_COUNTER, .name = "memory", .field = fixture_counter, .nfield = 3},
    [LOSS] = {.kind = TL_LOSS, .name = "lost"},
    [FRAMING] = {.kind = TL_FORMAT, .name = "buffer"},
    [INSN] = {.kind = TL_INSN, .key = TL_KEY_PC, .name = "insn", .field = fixture_insn, .nfield = 1},
    [STRUCTURED] = {.kind = TL_INSTANT, .name = "structured", .field = fixture_structured, .nfield = 3},
};

/* A trace of 1 GHz (a tick is one ns) with threads 7 and 8 of process 5, and functions 1 "main" and 2 "fib". */
static inline void fixture_init(fixture *f)
{
    fixture_trace(f, "dir/app.xray", "tsc", 1000000000, fixture_classes, CLASSES);
    for (int64_t tid = 7; tid <= 8; tid++)
        fixture_track(
            f, &(tl_track){
                   .name = tid == 7 ? "thread 7" : "thread 8", .pid = 5, .tid = tid, .has_pid = true, .has_tid = true});
    fixture_function(f, &(tl_function){.id = 1, .name = "main"});
    fixture_function(f, &(tl_function){.id = 2, .name = "fib"});
    fixture_batch(f, true);
}

static inline void fixture_call(fixture *f, uint32_t cls, uint32_t track, uint64_t ts, uint64_t function)
{
    fixture_event(f, cls, track, 0, ts, function, NULL, 0);
}

/* An xray.custom event; the payload must live until the next flush. */
static inline void fixture_custom(fixture *f, uint32_t track, int32_t cpu, uint64_t ts, const void *data, uint32_t n)
{
    tl_value v = {.type = TL_BYTES, .n = n, .as.p = data};
    fixture_event(f, CUSTOM, track, cpu, ts, 0, &v, 1);
}

static inline void fixture_typed_event(fixture *f, uint32_t track, int32_t cpu, uint64_t ts, uint64_t type,
                                       const void *data, uint32_t n)
{
    tl_value v[2] = {{.type = TL_U64, .as.u = type}, {.type = TL_BYTES, .n = n, .as.p = data}};
    fixture_event(f, TYPED, track, cpu, ts, 0, v, 2);
}

#endif
