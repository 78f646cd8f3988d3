/* Counts the events of a part of the time with several threads, each with cursors of its own:
 *     cc count_in_threads.c $(pkg-config --cflags --libs traceloom) -pthread && ./a.out TRACE */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

enum { THREADS = 2 };

typedef struct worker {
    tl_source *source;
    uint32_t first; /* every THREADS-th stream, from this one on */
    uint64_t middle, before;
    int status;
    tl_error error; /* one a thread */
} worker;

static int count_stream(worker *w, uint32_t stream)
{
    tl_cursor *cursor = NULL;
    const tl_batch *batch;
    int status = tl_cursor_open(&cursor, w->source, stream, &w->error);
    if (status == 0)
        status = tl_cursor_limit(cursor, 0, w->middle, &w->error); /* a hint: later events may come, too */
    while (status >= 0 && (status = tl_cursor_next(cursor, &batch, &w->error)) > 0)
        for (uint32_t i = 0; i < batch->n; i++)
            w->before += batch->ts[i] < w->middle;
    tl_cursor_close(cursor);
    return status;
}

static void *work(void *arg)
{
    worker *w = arg;
    for (uint32_t i = w->first; w->status == 0 && i < tl_source_streams(w->source); i += THREADS)
        w->status = count_stream(w, i);
    return NULL;
}

int main(int argc, char **argv)
{
    tl_source *source = NULL;
    tl_error error;
    uint64_t begin = 0, end = 0;
    if (tl_source_open(&source, argc > 1 ? argv[1] : "-", NULL, &error) < 0) {
        fprintf(stderr, "count_in_threads: %s\n", error.message);
        return 1;
    }
    tl_trace_range(tl_source_trace(source), &begin, &end);
    worker w[THREADS] = {{NULL, 0, 0, 0, 0, {TL_OK, 0, 0, ""}}};
    pthread_t thread[THREADS];
    uint64_t before = 0;
    int status = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        w[i] = (worker){.source = source, .first = i, .middle = begin + (end - begin) / 2};
        if (pthread_create(&thread[i], NULL, work, &w[i]) != 0)
            return 1;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        before += w[i].before;
        if (w[i].status < 0) {
            fprintf(stderr, "count_in_threads: %s\n", w[i].error.message);
            status = 1;
        }
    }
    printf("%" PRIu64 " events in the first half of the time\n", before);
    tl_source_close(source);
    return status;
}
