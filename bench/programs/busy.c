/* A program to be traced: some equally busy threads that call small functions, recorded by XRay's runtime.
 *
 *     clang -O2 -fxray-instrument -fxray-instruction-threshold=1 -pthread busy.c -o busy
 *     ./busy xray-fdr|xray-basic THREADS ROUNDS [BUFFERS [BUFFER_SIZE]]      the runtime prints the name of the log
 *
 * A round is about 150 calls in a tree of depth 8, a few of them with an argument logged. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* XRay's header is for C++ only; these are the functions we use. */
struct xray_mode;
extern int __xray_log_select_mode(const char *mode);
extern int __xray_log_init_mode(const char *mode, const char *config);
extern int __xray_log_finalize(void);
extern int __xray_log_flushLog(void);
extern int __xray_patch(void);
extern int __xray_unpatch(void);

enum { LOG_INITIALIZED = 2, LOG_FINALIZED = 4, LOG_FLUSHED = 2 };

#define TRACED __attribute__((noinline, xray_always_instrument))

static volatile uint64_t sink;

TRACED static uint64_t mix(uint64_t x)
{
    x ^= x >> 29;
    return x * 0xbf58476d1ce4e5b9u;
}

TRACED static uint64_t checksum(uint64_t x)
{
    for (int i = 0; i < 4; i++)
        x = mix(x + (uint64_t)i);
    return x;
}

TRACED static uint64_t walk(uint64_t x, int depth)
{
    if (depth == 0)
        return checksum(x);
    return walk(x, depth - 1) + walk(x + 1, depth - 1);
}

TRACED static uint64_t lookup(uint64_t key)
{
    uint64_t found = 0;
    for (int i = 0; i < 8; i++)
        found ^= mix(key + (uint64_t)i);
    return found;
}

__attribute__((noinline, xray_always_instrument, xray_log_args(1))) static uint64_t request(uint64_t number)
{
    return walk(number, 4) + lookup(number);
}

struct work {
    pthread_t thread;
    uint64_t rounds;
};

static void *worker(void *argument)
{
    const struct work *work = argument;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < work->rounds; i++)
        sum += request(i);
    sink = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: busy xray-fdr|xray-basic THREADS ROUNDS [BUFFERS [BUFFER_SIZE]]\n");
        return 2;
    }
    const char *const mode = argv[1];
    const size_t threads = strtoul(argv[2], NULL, 10);
    const uint64_t rounds = strtoull(argv[3], NULL, 10);
    char config[200] = "func_duration_threshold_us=0";
    if (strcmp(mode, "xray-fdr") == 0)
        snprintf(config, sizeof(config),
                 "func_duration_threshold_us=0:buffer_max=%s:buffer_size=%s:grace_period_ms=100",
                 argc > 4 ? argv[4] : "1000", argc > 5 ? argv[5] : "16384");
    struct work *work = calloc(threads, sizeof(*work));
    if (work == NULL || threads == 0)
        return 2;
    if (__xray_log_select_mode(mode) != 0 || __xray_log_init_mode(mode, config) != LOG_INITIALIZED) {
        fprintf(stderr, "busy: XRay cannot record\n");
        return 1;
    }
    __xray_patch();
    for (size_t i = 0; i < threads; i++) {
        work[i].rounds = rounds;
        if (pthread_create(&work[i].thread, NULL, worker, &work[i]) != 0)
            return 1;
    }
    for (size_t i = 0; i < threads; i++)
        pthread_join(work[i].thread, NULL);
    __xray_unpatch();
    if (__xray_log_finalize() != LOG_FINALIZED || __xray_log_flushLog() != LOG_FLUSHED) {
        fprintf(stderr, "busy: XRay cannot write its log\n");
        return 1;
    }
    free(work);
    return 0;
}
