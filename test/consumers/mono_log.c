/* Lines are spelled as in the format's document. A signal handler takes samples; it may neither lock nor allocate, so
 * it puts the stack into the thread's ring. The thread empties its ring before it writes anything else, so that its
 * lines stay in the order of time. */
#define _GNU_SOURCE
#include "mono_code.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
FILE *log_file;
thread *log_threads;
table log_methods, log_classes;
__thread thread *log_self;
static uint32_t nthreads;
static u64 start_ns, process_cpu_at, process_cpu_us;

static u64 log_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

u64 log_now(void)
{
    return (log_clock(CLOCK_MONOTONIC) - start_ns) / 1000000;
}

uint32_t log_slot(const void *p, uint32_t capacity)
{
    return (uint32_t)((ptr(p) * 0x9e3779b97f4a7c15ULL) >> 32) & (capacity - 1);
}

object *log_find(table *t, const void *at, bool *added)
{
    if (t->n * 2 >= t->capacity) {
        const table old = *t;
        *t = (table){calloc(old.capacity ? old.capacity * 2 : 1024, sizeof(object)), 0,
                     old.capacity ? old.capacity * 2 : 1024};
        if (!t->slot)
            abort();
        for (uint32_t i = 0; i < old.capacity; i++)
            if (old.slot[i].at)
                *log_find(t, old.slot[i].at, added) = old.slot[i];
        free(old.slot);
    }
    uint32_t i = log_slot(at, t->capacity);
    while (t->slot[i].at && t->slot[i].at != at)
        i = (i + 1) & (t->capacity - 1);
    *added = !t->slot[i].at;
    if (*added)
        t->slot[i] = (object){at, t->n++, 0, NULL};
    return &t->slot[i];
}

const object *log_look_up(const table *t, const void *at)
{
    for (uint32_t i = t->capacity ? log_slot(at, t->capacity) : 0; t->capacity && t->slot[i].at;
         i = (i + 1) & (t->capacity - 1))
        if (t->slot[i].at == at)
            return &t->slot[i];
    return NULL;
}

/* ---- lines */

u64 log_stamp(thread *t, u64 ms)
{
    return t->last = ms > t->last ? ms : t->last;
}

static void put_ip(const frame *f)
{
    if (f->ip == 0)
        fputs(":?", log_file);
    else
        fprintf(log_file, code_wants_lines ? ":0x%llx" : ":0x%016llX", f->ip);
}

static void put_frame(const frame *f)
{
    if (f->iid == UNKNOWN)
        fputs(" ?", log_file);
    else
        fprintf(log_file, " 0x%x", f->iid);
    if (f->ip)
        put_ip(f);
}

/* Writes the stack as a difference from the one before, unless it is the same and need not be counted. */
static void put_stack(thread *t, u64 ms, unsigned count, const frame *f, unsigned n)
{
    const unsigned most = n < t->depth ? n : t->depth;
    unsigned kept = 0;
    while (kept < most && t->stack[kept].iid == f[kept].iid && t->stack[kept].ip == f[kept].ip)
        kept++;
    const bool moved = kept < most && t->stack[kept].iid == f[kept].iid;
    kept += moved;
    if (count == 0 && !moved && kept == t->depth && kept == n)
        return;
    fprintf(log_file, "sam str 0x%08X %llu %u %u:%u", t->iid, log_stamp(t, ms), count, kept, t->depth);
    if (moved)
        put_ip(&f[kept - 1]);
    for (unsigned i = kept; i < n; i++)
        put_frame(&f[i]);
    fputc('\n', log_file);
    memcpy(t->stack, f, n * sizeof *f);
    t->depth = n;
}

static frame resolve(const void *m, u64 ip)
{
    const object *o = log_look_up(&log_methods, m);
    if (code_wants_lines)
        ip = o ? code_line(o->code, ip - o->start) : 0;
    return (frame){o ? o->iid : UNKNOWN, ip};
}

void log_drain(thread *t, u64 until)
{
    frame f[DEPTH];
    while (t->tail < atomic_load_explicit(&t->head, memory_order_acquire)) {
        const u64 word = t->ring[t->tail % RING], ms = word >> 8;
        const unsigned n = word & 0xff;
        if (ms > until)
            return;
        for (unsigned i = 0; i < n; i++) {
            const u64 *at = t->ring;
            const void *m = (const void *)(uintptr_t)at[(t->tail + 1 + 2 * i) % RING];
            f[n - 1 - i] = resolve(m, at[(t->tail + 2 + 2 * i) % RING]);
        }
        put_stack(t, ms, 1, f, n);
        atomic_store_explicit(&t->tail, t->tail + 1 + 2 * n, memory_order_release);
    }
}

void log_flush(thread *t, u64 ms)
{
    for (site *s = t->site; s < t->site + t->nsites; s++) {
        put_stack(t, ms, 0, s->stack, s->depth);
        fprintf(log_file, "sam mem 0x%08X %llu", t->iid, log_stamp(t, ms));
        for (unsigned i = 0; i < s->ntypes; i++)
            fprintf(log_file, " 0x%x:%u:%llu", s->type[i].iid, s->type[i].count, s->type[i].bytes);
        fputc('\n', log_file);
    }
    t->nsites = 0;
    t->flushed = ms;
}

static void put_cpu(thread *t, u64 ms)
{
    const u64 us = log_clock(CLOCK_THREAD_CPUTIME_ID) / 1000, all = log_clock(CLOCK_PROCESS_CPUTIME_ID) / 1000;
    if (ms >= t->cpu_at + FLUSH_MS) {
        fprintf(log_file, "thr cpu 0x%08X %llu %llu\n", t->iid, log_stamp(t, ms), us - t->cpu_us);
        t->cpu_at = ms;
        t->cpu_us = us;
    }
    if (ms >= process_cpu_at + FLUSH_MS) {
        fprintf(log_file, "prc cpu %llu %llu\n", ms, all - process_cpu_us);
        process_cpu_at = ms;
        process_cpu_us = all;
    }
}

thread *log_register(void)
{
    thread *t = calloc(1, sizeof *t);
    void *ring = mmap(NULL, RING * sizeof(u64), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!t || ring == MAP_FAILED)
        abort();
    t->ring = ring;
    t->iid = nthreads++;
    t->next = log_threads;
    t->last = t->cpu_at = log_now();
    log_threads = t;
    fprintf(log_file, "thr crt 0x%016llX 0x%08X\nthr aos 0x%08X %ld\n", (u64)pthread_self(), t->iid, t->iid,
            (long)syscall(SYS_gettid));
    return t;
}

thread *log_begin(u64 *ms)
{
    pthread_mutex_lock(&log_mutex);
    if (!log_file) {
        pthread_mutex_unlock(&log_mutex);
        return NULL;
    }
    if (!log_self)
        log_self = log_register();
    *ms = log_now();
    log_drain(log_self, *ms);
    put_cpu(log_self, *ms);
    return log_self;
}

void log_end(void)
{
    pthread_mutex_unlock(&log_mutex);
}

bool log_open(const char *path)
{
    const time_t seconds = time(NULL);
    char text[32];
    struct tm parts;
    log_file = fopen(path, "w");
    if (!log_file)
        return false;
    setvbuf(log_file, NULL, _IOFBF, 1 << 20);
    start_ns = log_clock(CLOCK_MONOTONIC);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &parts));
    fprintf(log_file, "prf stm %s.000\nprf cfg CollectionMethod Sampling\nprf cfg SamplingTimeoutMs %d\n", text,
            SAMPLE_MS);
    fprintf(log_file, "prf cfg CpuTraceTimeoutMs %d\nprf cfg StackTrackingEnabled T\n", FLUSH_MS);
    return true;
}
