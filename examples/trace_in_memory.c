/* A trace from scratch: events of our own as a log in memory, read back, and with errors in the library's style.
 *     cc trace_in_memory.c $(pkg-config --cflags --libs traceloom) && ./a.out CALLS */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceloom/traceloom.h>

/* The simplest binary format there is here, docs/format/xray-basic.md: header and records of 32 bytes. */
enum { RECORD = 32, ENTRY = 0, EXIT = 1, MOST = 1000 };

static void put(uint8_t *at, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void put_record(uint8_t *at, int type, int32_t function, uint64_t tick)
{
    put(at + 3, 1, (unsigned)type);
    put(at + 4, 4, (uint32_t)function);
    put(at + 8, 8, tick);
    put(at + 16, 4, 4711); /* thread */
    put(at + 20, 4, 4711); /* process */
}

/* Calls of function 7, one every 1000 ticks of 1 GHz. *out is for free(). */
static int make_log(uint8_t **out, size_t *size, long calls, tl_error *e)
{
    if (calls < 1 || calls > MOST)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%ld calls; 1 to %d can be made", calls, MOST);
    *size = RECORD * (1 + 2 * (size_t)calls);
    uint8_t *log = calloc(1, *size);
    if (!log)
        return tl_fail_errno(e, errno, "%zu bytes", *size);
    put(log, 2, 3);               /* version */
    put(log + 4, 4, 1);           /* ticks do not vary with the processor's frequency */
    put(log + 8, 8, 1000000000u); /* in a second */
    for (long i = 0; i < calls; i++) {
        put_record(log + RECORD * (1 + 2 * i), ENTRY, 7, 1000 * (uint64_t)i);
        put_record(log + RECORD * (2 + 2 * i), EXIT, 7, 1000 * (uint64_t)i + 10 * (uint64_t)(i + 1));
    }
    *out = log;
    return 0;
}

static int print_times(tl_source *source, tl_error *e)
{
    const tl_trace *t = tl_source_trace(source);
    tl_merge *merge = NULL;
    const tl_batch *batch;
    uint32_t from, to;
    int status = tl_merge_open(&merge, source, e);
    while (status >= 0 && (status = tl_merge_next(merge, &batch, &from, &to, e)) > 0)
        for (; from < to; from++)
            printf("%6" PRIu64 " %s  %s\n", tl_trace_time(t, batch->ts[from]), tl_trace_unit(t),
                   tl_trace_class(t, batch->cls[from])->name);
    tl_merge_close(merge);
    return status;
}

int main(int argc, char **argv)
{
    uint8_t *log = NULL;
    size_t size = 0;
    tl_source *source = NULL;
    tl_error error;
    int status = make_log(&log, &size, strtol(argc > 1 ? argv[1] : "2", NULL, 10), &error);
    if (status < 0)
        tl_error_context(&error, "a log of our own");
    else
        status = tl_source_open_memory(&source, log, size, "ours", NULL, &error);
    if (status == 0) {
        printf("%s: %s\n", tl_trace_path(tl_source_trace(source)), tl_trace_format(tl_source_trace(source)));
        status = print_times(source, &error);
    }
    if (status < 0)
        fprintf(stderr, "trace_in_memory: %s (%s)\n", error.message, tl_code_name(status));
    tl_source_close(source);
    free(log); /* it was borrowed until here */
    return status < 0;
}
