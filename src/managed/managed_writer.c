/* Empties the rings into the log: every 25 ms, and at the end.
 *
 * What is a fact of its own (names, modules) precedes the events that may name it: the heads of all rings are read
 * first, then the facts are written, then the events up to these heads. */
#include "managed/managed_writer.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "managed/managed_control.h"
#include "managed/managed_names.h"
#include "managed/managed_sites.h"

enum { TURN_MS = 25, CPU_MS = 100, CHECK_MS = 1000 };

static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the writer's life */
static pthread_cond_t wake;
static bool running, stopping;
static managed_resolve *resolve;
static void (*when_left)(void);
static uint64_t cpu_at, process_us;                    /* ms; us */
static uint64_t lost_samples, lost_events, cut_stacks; /* of threads that are gone */
static managed_frame frames[MANAGED_DEPTH];
static struct {
    uint64_t samples, empty, counted, used_us;
    bool done;
} check; /* of samples, after a while */

static uint64_t stamp(managed_thread *t, uint64_t ns)
{
    const uint64_t ms = ns / 1000000;
    return t->last_ms = ms > t->last_ms ? ms : t->last_ms;
}

static void put(uint64_t v, const char *before)
{
    managed_text(before);
    managed_number(v);
}

static void put_iid(uint32_t iid, const char *before)
{
    managed_text(before);
    managed_hex(iid, 8);
}

/* "jit cms 0x00000001 17": what begins many lines. */
static void put_head(const char *words, managed_thread *t, uint64_t ns)
{
    put_iid(t->iid, words);
    put(stamp(t, ns), " ");
}

/* ---- stacks ---- */

static void put_ip(const managed_frame *f)
{
    if (f->ip == 0) {
        managed_text(":?");
    } else {
        managed_text(":");
        managed_item(f->ip);
    }
}

/* Writes a stack as a difference from the one before, unless it is the same and need not be counted. */
static void put_stack(managed_thread *t, uint64_t ns, uint32_t count, const managed_frame *f, uint32_t n)
{
    const uint32_t most = n < t->depth ? n : t->depth;
    uint32_t kept = 0;
    while (kept < most && t->stack[kept].iid == f[kept].iid && t->stack[kept].ip == f[kept].ip)
        kept++;
    const bool moved = kept < most && t->stack[kept].iid == f[kept].iid;
    kept += moved;
    if (count == 0 && !moved && kept == t->depth && kept == n)
        return;
    put_head("sam str ", t, ns);
    put(count, " ");
    put(kept, " ");
    put(t->depth, ":");
    if (moved)
        put_ip(&f[kept - 1]);
    for (uint32_t i = kept; i < n; i++) {
        managed_text(" ");
        if (f[i].iid == MANAGED_UNKNOWN)
            managed_text("?");
        else
            managed_item(f[i].iid);
        if (f[i].ip)
            put_ip(&f[i]);
    }
    managed_line_end();
    if (moved)
        t->stack[kept - 1] = f[kept - 1];
    memcpy(t->stack + kept, f + kept, (n - kept) * sizeof *f);
    t->depth = n;
}

/* ---- events ---- */

static uint64_t word_of(const managed_ring *r, uint64_t at)
{
    return r->word[at & r->mask];
}

/* The frames of an event at `at`, in `frames`, outermost first; how many there are. */
static uint32_t take_frames(const managed_ring *r, uint64_t at, uint32_t n)
{
    uint32_t taken = 0;
    for (uint32_t i = n; i-- > 0;) {
        frames[taken] = resolve((const void *)(uintptr_t)word_of(r, at + 2 * i), word_of(r, at + 2 * i + 1));
        taken += frames[taken].iid != MANAGED_NO_FRAME;
    }
    return taken;
}

static void put_allocations(managed_thread *t, const managed_ring *r, uint64_t ns, uint64_t at, uint32_t nclass)
{
    put_head("sam mem ", t, ns);
    for (uint32_t i = 0; i < nclass; i++, at += 3) {
        const uint32_t iid = managed_class_find((const void *)(uintptr_t)word_of(r, at));
        managed_text(" ");
        if (iid == MANAGED_UNKNOWN)
            managed_text("?");
        else
            managed_item(iid);
        put(word_of(r, at + 1), ":");
        put(word_of(r, at + 2), ":");
    }
    managed_line_end();
}

static void put_jit(managed_thread *t, uint64_t ns, const char *words, uint64_t method, const char *status)
{
    put_head(words, t, ns);
    managed_text(" ");
    managed_hex(method, 16);
    managed_text(status);
    managed_line_end();
}

static void put_collection(managed_thread *t, uint64_t ns, uint64_t which)
{
    put_head("gch gcs ", t, ns);
    managed_text(which & 0x100 ? " induced " : " ? ");
    for (unsigned i = 0; i < 4; i++)
        managed_text(which >> i & 1 ? "t" : "f");
    managed_line_end();
}

/* The last line of a thread. */
static void put_end(managed_thread *t)
{
    put_iid(t->iid, "thr dst ");
    managed_line_end();
}

/* Writes the event at the ring's tail. True: the thread is over. */
static bool put_event(managed_thread *t, managed_ring *r)
{
    uint64_t at = atomic_load_explicit(&r->tail, memory_order_relaxed);
    const uint64_t ns = word_of(r, at), word = word_of(r, at + 1), first = word_of(r, at + 2);
    const uint32_t n = MANAGED_FRAMES(word), count = MANAGED_COUNT(word);
    const managed_kind kind = MANAGED_KIND(word);
    at += 2;
    if (kind <= MANAGED_ALLOCATED) {
        const uint32_t found = take_frames(r, at, n);
        put_stack(t, ns, kind == MANAGED_SAMPLE ? count : 0, frames, found);
        at += 2 * (uint64_t)n;
        check.empty += kind == MANAGED_SAMPLE && found == 0;
    }
    switch (kind) {
    case MANAGED_SAMPLE:
        check.samples++;
        check.counted += count;
        break;
    case MANAGED_ALLOCATED:
        put_allocations(t, r, ns, at, count);
        at += 3 * (uint64_t)count;
        break;
    case MANAGED_JIT_BEGIN:
        put_jit(t, ns, "jit cms ", first, "");
        break;
    case MANAGED_JIT_END:
        put_jit(t, ns, "jit cmf ", first, " 0x00000000");
        break;
    case MANAGED_JIT_FAILED:
        put_jit(t, ns, "jit cmf ", first, " 0x80004005");
        break;
    case MANAGED_FOUND:
        put_jit(t, ns, "jit css ", first, "");
        put_jit(t, ns, "jit csf ", first, "");
        break;
    case MANAGED_GC_BEGIN:
        put_collection(t, ns, first);
        break;
    case MANAGED_GC_END:
        put_head("gch gcf ", t, ns);
        managed_line_end();
        break;
    case MANAGED_THREAD_END:
        break;
    }
    at += kind > MANAGED_ALLOCATED;
    atomic_store_explicit(&r->tail, at, memory_order_release);
    return kind == MANAGED_THREAD_END;
}

/* Empties both rings of a thread up to these heads, in the order of time. True: the thread is over. */
static bool drain(managed_thread *t, uint64_t samples, uint64_t events)
{
    bool over = false;
    for (;;) {
        const bool has_sample = t->samples.tail < samples, has_event = t->events.tail < events;
        if (!has_sample && !has_event)
            return over;
        const bool sample =
            has_sample && (!has_event || word_of(&t->samples, t->samples.tail) <= word_of(&t->events, t->events.tail));
        over = put_event(t, sample ? &t->samples : &t->events) || over;
    }
}

/* ---- processor time ---- */

static void put_process_cpu(uint64_t ns)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const uint64_t us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
    put(ns / 1000000, "prc cpu ");
    put(us - process_us, " ");
    managed_line_end();
    process_us = us;
}

static void put_thread_cpu(managed_thread *t, uint64_t ns)
{
    uint64_t used;
    if (!managed_thread_cpu(t->tid, &used) || used / 1000 < t->cpu_us)
        return;
    put_head("thr cpu ", t, ns);
    put(used / 1000 - t->cpu_us, " ");
    managed_line_end();
    check.used_us += used / 1000 - t->cpu_us;
    t->cpu_us = used / 1000;
}

/* After a second: do samples arrive, and do they show methods? Otherwise nobody would know why tables are empty. */
static void check_samples(uint64_t ns)
{
    enum { FEW = 20, ENOUGH = 100 };
    if (check.done || ns < CHECK_MS * UINT64_C(1000000))
        return;
    const uint64_t due = check.used_us / 1000 / managed_set.period_ms;
    const bool fair = managed_set.clock == MANAGED_CPU && !managed_paused && managed_pauses == 0;
    check.done = true;
    const char *found = !fair                                                                        ? NULL
                        : due >= FEW && check.counted < due / 4                                      ? "missing"
                        : check.samples >= ENOUGH && check.empty > check.samples - check.samples / 2 ? "empty"
                                                                                                     : NULL;
    if (!found)
        return;
    managed_text("prf cfg SampleCheck ");
    managed_text(found);
    managed_line_end();
    managed_say(*found == 'm'
                    ? "most samples do not arrive: the program blocks signals that it does not know"
                    : "most samples show no method: the program is in native code that keeps no frame pointers",
                NULL, 0);
}

/* ---- turns ---- */

static void introduce(managed_thread *t)
{
    managed_text("thr crt ");
    managed_hex(t->id, 16);
    put_iid(t->iid, " ");
    managed_line_end();
    put_iid(t->iid, "thr aos ");
    put(t->tid, " ");
    managed_line_end();
    t->known = true;
}

static void turn(void)
{
    const uint64_t now = managed_now();
    const bool cpu = !managed_paused && now / 1000000 - cpu_at >= CPU_MS;
    uint64_t lost = lost_samples + lost_events;
    uint32_t threads = 0;
    /* Heads that are read before the facts are written. */
    for (managed_thread *t = managed_threads; t; t = t->next) {
        t->samples_to = atomic_load_explicit(&t->samples.head, memory_order_acquire);
        t->events_to = atomic_load_explicit(&t->events.head, memory_order_acquire);
        lost += t->samples.lost + t->events.lost;
        threads++;
    }
    managed_facts_write();
    if (cpu)
        put_process_cpu(now);
    managed_thread *next;
    for (managed_thread *t = managed_threads; t; t = next) {
        next = t->next;
        if (!t->known)
            introduce(t);
        if (drain(t, t->samples_to, t->events_to)) {
            managed_sites_flush(t); /* what had no room */
            drain(t, t->samples.head, t->events.head);
            put_end(t);
            lost_samples += t->samples.lost;
            lost_events += t->events.lost;
            cut_stacks += t->cut;
            managed_sites_free(t);
            managed_thread_free(t);
        } else if (cpu) {
            put_thread_cpu(t, now);
        }
    }
    if (cpu)
        cpu_at = now / 1000000;
    check_samples(now);
    managed_control_look(threads, lost);
    managed_log_flush();
}

/* ---- life ---- */

static void put_total(const char *name, uint64_t v)
{
    managed_text("prf cfg ");
    managed_text(name);
    put(v, " ");
    managed_line_end();
}

/* Writes what is left. Nobody else writes any more. */
static void finish(void)
{
    turn(); /* for room in the rings */
    for (managed_thread *t = managed_threads; t; t = t->next)
        managed_sites_flush(t);
    managed_on = false;
    turn();
    for (managed_thread *t = managed_threads; t; t = t->next) {
        lost_samples += t->samples.lost;
        lost_events += t->events.lost;
        cut_stacks += t->cut;
    }
    managed_control_end();
    put_total("LostSamples", lost_samples);
    put_total("LostEvents", lost_events);
    put_total("CutStacks", cut_stacks);
    managed_log_close();
}

static void *run(void *unused)
{
    struct timespec until;
    (void)unused;
    pthread_setname_np(pthread_self(), "traceloom");
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&lock);
    while (!stopping && !managed_log_is_left()) {
        until.tv_nsec += TURN_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&wake, &lock, &until);
        pthread_mutex_unlock(&lock);
        turn();
        clock_gettime(CLOCK_MONOTONIC, &until);
        pthread_mutex_lock(&lock);
    }
    const bool left = !stopping;
    running = running && !left;
    pthread_mutex_unlock(&lock);
    if (left) {
        pthread_detach(pthread_self());
        when_left();
        finish();
    }
    return NULL;
}

void managed_writer_when_left(void (*f)(void))
{
    when_left = f;
}

bool managed_writer_begin(managed_resolve *of_runtime)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    struct timespec used;
    resolve = of_runtime;
    managed_control_begin();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    process_us = (uint64_t)used.tv_sec * 1000000u + (uint64_t)used.tv_nsec / 1000;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are for the program's threads */
    running = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return running;
}

void managed_writer_end(void)
{
    if (!managed_on) /* also in a child of fork, where nobody may have the lock */
        return;
    pthread_mutex_lock(&lock);
    const bool was = running;
    running = false;
    stopping = true;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    if (!was)
        return;
    pthread_join(thread, NULL);
    finish();
}
