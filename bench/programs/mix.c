/* A program to be traced with LTTng-UST: two threads, each on a processor of its own, that fire 46 event types in
 * random order.
 *
 *     cc -O2 -I. mix.c -o mix -llttng-ust -ldl -pthread
 *     ./mix EVENTS_OF_EACH_THREAD        prints how many events of each class were fired
 *
 * Random order matters: a branch predictor learns a short period, and the decoder then looks faster than it is. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "mix_events.h"

enum { THREADS = 2, CHOICES = 64, CLASSES = 46 };

struct work {
    pthread_t thread;
    int cpu;
    uint64_t events, fired[CLASSES];
};

#define STEP(n)                                                                                                        \
    case 5 + (n):                                                                                                      \
        lttng_ust_tracepoint(mix, step##n, (uint32_t)value, (uint8_t)(value >> 40));                                   \
        break;
#define STEPS(t)                                                                                                       \
    STEP(t##0) STEP(t##1) STEP(t##2) STEP(t##3) STEP(t##4) STEP(t##5) STEP(t##6) STEP(t##7) STEP(t##8) STEP(t##9)

static void fire(unsigned class, uint64_t value)
{
    static const char *const words[8] = {"open", "read", "write it", "close", "a longer message", "x", "", "forty two"};
    static const uint16_t list[7] = {1, 10, 100, 1000, 10000, 65535, 7};
    const uint32_t four[4] = {(uint32_t)value, (uint32_t)(value >> 32), 3, 4};
    switch (class) {
    case 0:
        lttng_ust_tracepoint(mix, empty);
        break;
    case 1:
        lttng_ust_tracepoint(mix, tick, (uint32_t)value);
        break;
    case 2:
        lttng_ust_tracepoint(mix, pair, value, (int64_t)value >> 20);
        break;
    case 3:
        lttng_ust_tracepoint(mix, text, words[value & 7], (int32_t)value);
        break;
    case 4:
        lttng_ust_tracepoint(mix, rich, (int64_t)(value >> 8), words[value & 3], four, list, (uint8_t)(value & 7));
        break;
        STEP(0)
        STEP(1)
        STEP(2)
        STEP(3)
        STEP(4)
        STEP(5)
        STEP(6)
        STEP(7)
        STEP(8)
        STEP(9)
        STEPS(1)
        STEPS(2)
        STEPS(3)
        STEP(40)
    }
}

/* Of 64 choices: 5 empty, 8 ticks, 5 pairs, 4 texts, 1 rich, and one for each of the 41 others. */
static unsigned class_of(unsigned choice)
{
    if (choice < 41)
        return 5 + choice;
    if (choice < 46)
        return 0;
    if (choice < 54)
        return 1;
    if (choice < 59)
        return 2;
    return choice < 63 ? 3 : 4;
}

static void *worker(void *arg)
{
    struct work *w = arg;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(w->cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
        exit(1);
    uint64_t x = 0x9e3779b97f4a7c15u * (uint64_t)(w->cpu + 1);
    for (uint64_t i = 0; i < w->events; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        const unsigned class = class_of((unsigned)((x * 0xbf58476d1ce4e5b9u) >> 58));
        fire(class, x);
        w->fired[class]++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const names[5] = {"empty", "tick", "pair", "text", "rich"};
    struct work work[THREADS] = {0};
    if (argc != 2)
        return 2;
    for (int i = 0; i < THREADS; i++) {
        work[i].cpu = i;
        work[i].events = strtoull(argv[1], NULL, 10);
        if (pthread_create(&work[i].thread, NULL, worker, &work[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(work[i].thread, NULL);
    for (unsigned c = 0; c < CLASSES; c++) {
        uint64_t sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += work[i].fired[c];
        if (c < 5)
            printf("mix:%s\t%" PRIu64 "\n", names[c], sum);
        else
            printf("mix:step%u\t%" PRIu64 "\n", c - 5, sum);
    }
    return 0;
}
