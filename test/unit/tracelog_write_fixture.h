/* Shared by tests of the TraceLog writer: logs that are read and written again, and events made by hand. */
#ifndef TL_TEST_TRACELOG_WRITE_FIXTURE_H
#define TL_TEST_TRACELOG_WRITE_FIXTURE_H

#include "fixture.h"

#include "format/tracelog/tracelog_write.h"
#include "traceloom/source.h"

static const tl_format tracelog_door = {
    .name = "tracelog",
    .event_writer = &(const tl_event_writer){.size = sizeof(tracelog_writer),
                                             .create = tracelog_create,
                                             .accept = tracelog_accept,
                                             .write = tracelog_write,
                                             .finish = tracelog_finish,
                                             .discard = tracelog_discard},
    .profile_writer = &(const tl_profile_writer){.write = tracelog_write_profile},
};

/* Which events are copied; NULL: all. */
typedef bool log_choose(const tl_batch *b, uint32_t i);

/* Reads a log and writes it in a dialect (NULL: its own); f->bytes is the result until fixture_fini(). */
static inline void log_copy(fixture *f, const char *log, const char *dialect, log_choose *choose)
{
    static const tl_open_options options = {.from = "tracelog", .want = {.fields = true}};
    tl_source *s = NULL;
    const tl_batch *b;
    tl_error e = {0};
    memset(f, 0, sizeof *f);
    tl_trace_init(&f->trace);
    must(tl_source_open_memory(&s, log, strlen(log), "test.log", &options, &e), &e);
    const tl_trace *t = tl_source_trace(s);
    f->options.version = dialect;
    must(fixture_create_for(f, &tracelog_door, t, &e), &e);
    for (uint32_t i = 0; i < t->ncls; i++)
        assert_int_equal(tracelog_accept(f->writer, &t->cls[i]), TL_ACCEPT_KEEP);
    while (tl_source_next(s, &b, NULL) > 0)
        for (uint32_t i = 0, from; i < b->n; i++) {
            for (from = i; i < b->n && (!choose || choose(b, i));)
                i++;
            if (i > from)
                assert_int_equal(tracelog_write(f->writer, b, from, i, NULL), 0);
        }
    fixture_finish(f);
    tl_source_close(s);
}

static inline void assert_copy(const char *log, const char *dialect, const char *expected)
{
    fixture f;
    log_copy(&f, log, dialect, NULL);
    assert_string_equal((const char *)f.bytes, expected);
    fixture_fini(&f);
}

/* A trace like a TraceLog of two threads, for events made by hand. */
static inline void log_init(fixture *f)
{
    fixture_trace(f, "dir/test.log", "milliseconds", 1000, NULL, 0);
    f->trace.format = "tracelog";
    assert_int_equal(tracelog_set_classes(&f->trace, false, NULL), 0);
    for (int i = 0; i < 3; i++) {
        static const char *const name[] = {"process", "thread 0x1", "thread 0x2"};
        fixture_track(f, &(tl_track){.name = name[i]});
    }
    fixture_batch(f, true);
}

/* A sample of thread 1; kept UINT64_MAX: unknown. */
static inline void log_sample(fixture *f, uint64_t ms, uint64_t count, uint64_t kept, const tl_frame *top)
{
    const tl_value v[] = {{.type = TL_HEX, .flags = 8, .as.u = 1},
                          {.type = TL_U64, .as.u = ms},
                          {.type = TL_U64, .as.u = count},
                          {.type = kept == UINT64_MAX ? TL_NULL : TL_U64, .as.u = kept},
                          {.type = TL_STACK, .n = top ? top->depth : 0, .as.p = top}};
    fixture_event(f, tracelog_sam_str, 1, 0, ms, 10, v, 5);
}

static inline tl_frame frame_on(const tl_frame *caller, uint64_t function)
{
    return (tl_frame){
        .caller = caller, .function = function, .depth = caller ? caller->depth + 1 : 1, .flags = TL_FRAME_FUNCTION};
}

static inline tl_frame frame_at(const tl_frame *caller, uint64_t function, uint64_t ip)
{
    tl_frame frame = frame_on(caller, function);
    frame.ip = ip;
    frame.flags |= TL_FRAME_IP;
    return frame;
}

#endif
