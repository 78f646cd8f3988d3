/* A profiler module for Mono that writes TraceLogs: a real producer for the tests of the reader. Not part of the
 * product.
 *
 *     cc -O2 -fPIC -shared $(pkg-config --cflags mono-2) mono_profiler.c -o libmono-profiler-tracelog.so
 *     LD_LIBRARY_PATH=. mono --debug --profile=tracelog:app.log app.exe
 *
 * Lines are in the spelling of the format's document. Samples are taken in a signal handler, which may neither lock nor
 * allocate: it walks the stack and puts it into the thread's ring. The thread empties its ring when it next has
 * something to write, so that the lines of a thread stay in the order of time. Allocations are summed by stack and
 * class. While a collection stops the world, a stopped thread may hold any lock: what happens then is kept in static
 * tables. */
#define _GNU_SOURCE
#include <mono/metadata/assembly.h>
#include <mono/metadata/class.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/mono-debug.h>
#include <mono/metadata/profiler.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNKNOWN     UINT32_MAX /* iid */
#define DEPTH       128        /* frames of a stack; of deeper ones the innermost */
#define SITES       16         /* stacks with allocations that are not written yet */
#define TYPES       8          /* of such a stack */
#define RING        (1u << 20) /* words */
#define FLUSH_MS    50
#define SAMPLE_MS   1
#define COLLECTIONS 32
#define LIVE        (1u << 14) /* classes with live objects */

typedef unsigned long long u64; /* as it is printed */

typedef struct frame {
    uint32_t iid;
    u64 ip; /* 0 unknown */
} frame;

typedef struct site {
    unsigned depth, ntypes;
    frame stack[DEPTH];
    struct {
        uint32_t iid, count;
        u64 bytes;
    } type[TYPES];
} site;

typedef struct thread {
    struct thread *next;
    uint32_t iid;
    u64 last, flushed, cpu_at, cpu_us; /* ms; us */
    unsigned depth, nsites, ncompiling;
    frame stack[DEPTH]; /* as the lines so far say, outermost first */
    frame here[DEPTH];  /* of an allocation */
    site site[SITES];
    MonoMethod *compiling[64];
    u64 *ring;
    _Atomic u64 head, tail;
} thread;

/* A stack as it is walked: innermost first. */
typedef struct walk {
    unsigned n;
    MonoMethod *method[DEPTH];
    u64 ip[DEPTH];
} walk;

typedef struct object { /* of the runtime, that got an iid */
    const void *at;
    uint32_t iid;
    u64 code;
} object;

typedef struct table {
    object *slot;
    uint32_t n, capacity;
} table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static bool initialized;
static u64 start_ns, process_cpu_at, process_cpu_us;
static thread *threads;
static uint32_t nthreads;
static table methods, classes;
static _Atomic u64 lost;
static __thread thread *self __attribute__((tls_model("initial-exec")));

/* What is found while the world is stopped. */
static struct {
    u64 begin, end;
    int generation;
} collection[COLLECTIONS];
static unsigned ncollections;
static bool walked;
static struct {
    MonoClass *class;
    u64 count, bytes;
} live[LIVE];

static u64 clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static u64 now(void)
{
    return (clock_ns(CLOCK_MONOTONIC) - start_ns) / 1000000;
}

static u64 ptr(const void *p)
{
    return (u64)(uintptr_t)p;
}

static uint32_t slot_of(const void *p, uint32_t capacity)
{
    return (uint32_t)((ptr(p) * 0x9e3779b97f4a7c15ULL) >> 32) & (capacity - 1);
}

/* The object's entry, new if need be (*added); never NULL: memory that runs out ends the test. */
static object *find(table *t, const void *at, bool *added)
{
    if (t->n * 2 >= t->capacity) {
        const table old = *t;
        *t = (table){calloc(old.capacity ? old.capacity * 2 : 1024, sizeof(object)), 0,
                     old.capacity ? old.capacity * 2 : 1024};
        if (!t->slot)
            abort();
        for (uint32_t i = 0; i < old.capacity; i++)
            if (old.slot[i].at)
                *find(t, old.slot[i].at, added) = old.slot[i];
        free(old.slot);
    }
    uint32_t i = slot_of(at, t->capacity);
    while (t->slot[i].at && t->slot[i].at != at)
        i = (i + 1) & (t->capacity - 1);
    *added = !t->slot[i].at;
    if (*added)
        t->slot[i] = (object){at, t->n++, 0};
    return &t->slot[i];
}

static const object *look_up(const table *t, const void *at)
{
    for (uint32_t i = t->capacity ? slot_of(at, t->capacity) : 0; t->capacity && t->slot[i].at;
         i = (i + 1) & (t->capacity - 1))
        if (t->slot[i].at == at)
            return &t->slot[i];
    return NULL;
}

/* ---- lines; all below the lock */

static u64 stamp(thread *t, u64 ms)
{
    return t->last = ms > t->last ? ms : t->last;
}

static void put_frame(const frame *f)
{
    if (f->iid == UNKNOWN)
        fputs(" ?", out);
    else
        fprintf(out, " 0x%x", f->iid);
    if (f->ip)
        fprintf(out, ":0x%016llX", f->ip);
}

/* The stack as a difference from the one before, if it is another one or to be counted. */
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
    fprintf(out, "sam str 0x%08X %llu %u %u:%u", t->iid, stamp(t, ms), count, kept, t->depth);
    if (moved)
        fprintf(out, f[kept - 1].ip ? ":0x%016llX" : ":?", f[kept - 1].ip);
    for (unsigned i = kept; i < n; i++)
        put_frame(&f[i]);
    fputc('\n', out);
    memcpy(t->stack, f, n * sizeof *f);
    t->depth = n;
}

static uint32_t iid_of_method(const MonoMethod *m)
{
    const object *o = look_up(&methods, m);
    return o ? o->iid : UNKNOWN;
}

/* The samples of the ring, up to a time. */
static void drain(thread *t, u64 until)
{
    frame f[DEPTH];
    while (t->tail < atomic_load_explicit(&t->head, memory_order_acquire)) {
        const u64 word = t->ring[t->tail % RING], ms = word >> 8;
        const unsigned n = word & 0xff;
        if (ms > until)
            return;
        for (unsigned i = 0; i < n; i++) {
            const u64 *at = t->ring;
            const MonoMethod *m = (const MonoMethod *)(uintptr_t)at[(t->tail + 1 + 2 * i) % RING];
            f[n - 1 - i] = (frame){iid_of_method(m), at[(t->tail + 2 + 2 * i) % RING]};
        }
        put_stack(t, ms, 1, f, n);
        atomic_store_explicit(&t->tail, t->tail + 1 + 2 * n, memory_order_release);
    }
}

static void flush(thread *t, u64 ms)
{
    for (site *s = t->site; s < t->site + t->nsites; s++) {
        put_stack(t, ms, 0, s->stack, s->depth);
        fprintf(out, "sam mem 0x%08X %llu", t->iid, stamp(t, ms));
        for (unsigned i = 0; i < s->ntypes; i++)
            fprintf(out, " 0x%x:%u:%llu", s->type[i].iid, s->type[i].count, s->type[i].bytes);
        fputc('\n', out);
    }
    t->nsites = 0;
    t->flushed = ms;
}

static void put_cpu(thread *t, u64 ms)
{
    const u64 us = clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000, all = clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000;
    if (ms >= t->cpu_at + FLUSH_MS) {
        fprintf(out, "thr cpu 0x%08X %llu %llu\n", t->iid, stamp(t, ms), (us - t->cpu_us));
        t->cpu_at = ms;
        t->cpu_us = us;
    }
    if (ms >= process_cpu_at + FLUSH_MS) {
        fprintf(out, "prc cpu %llu %llu\n", ms, (all - process_cpu_us));
        process_cpu_at = ms;
        process_cpu_us = all;
    }
}

static thread *register_thread(void)
{
    thread *t = calloc(1, sizeof *t);
    void *ring = mmap(NULL, RING * sizeof(u64), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!t || ring == MAP_FAILED)
        abort();
    t->ring = ring;
    t->iid = nthreads++;
    t->next = threads;
    t->last = t->cpu_at = now();
    threads = t;
    fprintf(out, "thr crt 0x%016llX 0x%08X\nthr aos 0x%08X %ld\n", pthread_self(), t->iid, t->iid,
            (long)syscall(SYS_gettid));
    return t;
}

/* The lock, and this thread with all its samples written; NULL, without the lock, after the end. */
static thread *begin(u64 *ms)
{
    pthread_mutex_lock(&lock);
    if (!out) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    if (!self)
        self = register_thread();
    *ms = now();
    drain(self, *ms);
    put_cpu(self, *ms);
    return self;
}

static void end(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- code */

static char *full_name(MonoMethod *m)
{
    return initialized ? mono_method_full_name(m, false) : NULL;
}

static void jit_begin(MonoProfiler *p, MonoMethod *m)
{
    u64 ms;
    thread *t = begin(&ms);
    (void)p;
    if (!t)
        return;
    fprintf(out, "jit cms 0x%08X %llu 0x%016llX\n", t->iid, stamp(t, ms), ptr(m));
    if (t->ncompiling < 64)
        t->compiling[t->ncompiling++] = m;
    end();
}

/* Was this compiled on this thread? Forgets it, and what was begun inside of it and never ended. */
static bool ends_compiling(thread *t, MonoMethod *m)
{
    for (unsigned i = t->ncompiling; i-- > 0;)
        if (t->compiling[i] == m) {
            t->ncompiling = i;
            return true;
        }
    return false;
}

static void jit_failed(MonoProfiler *p, MonoMethod *m)
{
    u64 ms;
    thread *t = begin(&ms);
    (void)p;
    if (!t)
        return;
    if (ends_compiling(t, m))
        fprintf(out, "jit cmf 0x%08X %llu 0x%016llX 0x80004005\n", t->iid, stamp(t, ms), ptr(m));
    end();
}

static void put_il_map(MonoMethod *m, u64 size, FILE *to)
{
    /* The header does not say what is in an entry: the offsets in intermediate and in native code. */
    const struct pair {
        uint32_t il, native;
    } * line;
    MonoDebugMethodJitInfo *d = mono_debug_enabled() ? mono_debug_find_method(m, mono_domain_get()) : NULL;
    if (!d)
        return;
    line = (const struct pair *)(const void *)d->line_numbers;
    for (uint32_t i = 0; i < d->num_line_numbers; i++) {
        const u64 until = i + 1 < d->num_line_numbers ? line[i + 1].native : size;
        if (until > line[i].native)
            fprintf(to, " 0x%x:0x%x:0x%llx", line[i].il, line[i].native, until);
    }
    mono_debug_free_method_jit_info(d);
}

static void jit_done(MonoProfiler *p, MonoMethod *m, MonoJitInfo *info)
{
    u64 ms;
    (void)p;
    /* Names and tables before the lock: the runtime may take locks of its own. */
    MonoClass *class = mono_method_get_class(m);
    MonoMethodSignature *signature = mono_method_signature(m);
    char *name = full_name(m),
         *parameters = initialized && signature ? mono_signature_get_desc(signature, false) : NULL;
    char *result = initialized && signature ? mono_type_get_name(mono_signature_get_return_type(signature)) : NULL;
    char *map = NULL;
    size_t map_size = 0;
    const u64 code = ptr(mono_jit_info_get_code_start(info)), size = (u64)mono_jit_info_get_code_size(info);
    FILE *to = open_memstream(&map, &map_size);
    if (!to)
        abort();
    put_il_map(m, size, to);
    fclose(to);
    if (name && strchr(name, '(')) /* without the parameters, unless this is "(wrapper ..." */
        for (char *at = name + 1; *at; at++)
            if (*at == '(' && at[-1] == ' ')
                at[-1] = '\0';
    thread *t = begin(&ms);
    if (t) {
        bool added;
        object *o = find(&methods, m, &added);
        const bool compiled = ends_compiling(t, m);
        o->code = code;
        if (!compiled)
            fprintf(out, "jit css 0x%08X %llu 0x%016llX\n", t->iid, stamp(t, ms), ptr(m));
        fprintf(out, "fun inf 0x%08X 0x%016llX 0x%016llX 0x%016llX 0x%08X 0x%016llX:0x%llx%s\n", o->iid, ptr(m),
                ptr(class), ptr(class ? mono_class_get_image(class) : NULL), mono_method_get_token(m), code, size, map);
        fprintf(out, "fun nam 0x%08X \"%s\" \"%s\" \"(%s)\"\n", o->iid, name ? name : mono_method_get_name(m),
                result ? result : "", parameters ? parameters : "");
        fprintf(out, "jit %s 0x%08X %llu 0x%016llX%s\n", compiled ? "cmf" : "csf", t->iid, stamp(t, ms), ptr(m),
                compiled ? " 0x00000000" : "");
        end();
    }
    free(map);
    mono_free(name);
    mono_free(parameters);
    mono_free(result);
}

/* ---- what is loaded */

static void name_class(MonoClass *c)
{
    char *name = initialized ? mono_type_get_name(mono_class_get_type(c)) : NULL; /* too early it crashes */
    u64 ms;
    thread *t = begin(&ms);
    if (t) {
        bool added;
        const uint32_t iid = find(&classes, c, &added)->iid;
        if (added) {
            const char *space = mono_class_get_namespace(c);
            fprintf(out, "cls ldf 0x%016llX 0x%08X 0x%016llX 0x%08X 0x00000000\n", ptr(c), iid,
                    ptr(mono_class_get_image(c)), mono_class_get_type_token(c));
            if (name)
                fprintf(out, "cls nam 0x%08X \"%s\"\n", iid, name);
            else
                fprintf(out, "cls nam 0x%08X \"%s%s%s\"\n", iid, space, *space ? "." : "", mono_class_get_name(c));
        }
        end();
    }
    mono_free(name);
}

static void class_loaded(MonoProfiler *p, MonoClass *c)
{
    (void)p;
    name_class(c);
}

static void image_loaded(MonoProfiler *p, MonoImage *i)
{
    u64 ms;
    (void)p;
    if (!begin(&ms))
        return;
    const char *path = mono_image_get_filename(i);
    fprintf(out, "mod ldf 0x%016llX 0x%016llX 0x%016llX 0x00000000 \"%s\"\n", ptr(i), 0ULL, 0ULL, path ? path : "");
    end();
}

static void assembly_loaded(MonoProfiler *p, MonoAssembly *a)
{
    u64 ms;
    (void)p;
    if (!begin(&ms))
        return;
    const unsigned long long image = ptr(mono_assembly_get_image(a));
    fprintf(out, "mod ata 0x%016llX 0x%016llX\nasm ldf 0x%016llX 0x%016llX 0x%016llX 0x00000000 \"%s\"\n", image,
            ptr(a), ptr(a), ptr(mono_domain_get()), image, mono_image_get_name(mono_assembly_get_image(a)));
    end();
}

static void domain_named(MonoProfiler *p, MonoDomain *d, const char *name)
{
    u64 ms;
    (void)p;
    if (!begin(&ms))
        return;
    fprintf(out, "apd crf 0x%016llX 0x%x 0x00000000 \"%s\"\n", ptr(d), (unsigned)getpid(), name);
    end();
}

/* ---- stacks */

static mono_bool add_frame(walk *w, MonoMethod *m, u64 ip)
{
    if (m && w->n < DEPTH) {
        w->method[w->n] = m;
        w->ip[w->n++] = ip;
    }
    return w->n == DEPTH;
}

static mono_bool walk_sample(MonoMethod *m, MonoDomain *d, void *base, int offset, void *data)
{
    (void)d;
    return add_frame(data, m, ptr(base) + (u64)(int64_t)offset);
}

static mono_bool walk_allocation(MonoMethod *m, int32_t native, int32_t il, mono_bool managed, void *data)
{
    (void)il;
    (void)managed;
    return add_frame(data, m, (u64)(int64_t)native); /* its code is added later */
}

static void sample_hit(MonoProfiler *p, const mono_byte *ip, const void *context)
{
    thread *t = self;
    walk w;
    (void)p;
    (void)ip;
    if (!t)
        return;
    w.n = 0;
    mono_stack_walk_async_safe(walk_sample, (void *)(uintptr_t)context, &w);
    const u64 head = atomic_load_explicit(&t->head, memory_order_relaxed);
    if (head + 1 + 2 * w.n - atomic_load_explicit(&t->tail, memory_order_acquire) > RING) {
        lost++;
        return;
    }
    t->ring[head % RING] = now() << 8 | w.n;
    for (unsigned i = 0; i < w.n; i++) {
        t->ring[(head + 1 + 2 * i) % RING] = ptr(w.method[i]);
        t->ring[(head + 2 + 2 * i) % RING] = w.ip[i];
    }
    atomic_store_explicit(&t->head, head + 1 + 2 * w.n, memory_order_release);
}

/* The site with this stack and room for a class, or NULL. */
static site *find_site(thread *t, const frame *f, unsigned n, uint32_t class)
{
    for (site *s = t->site; s < t->site + t->nsites; s++)
        if (s->depth == n && memcmp(s->stack, f, n * sizeof *f) == 0) {
            for (unsigned i = 0; i < s->ntypes; i++)
                if (s->type[i].iid == class)
                    return s;
            return s->ntypes < TYPES ? s : NULL;
        }
    if (t->nsites == SITES)
        return NULL;
    site *s = &t->site[t->nsites++];
    memset(s, 0, sizeof *s);
    s->depth = n;
    memcpy(s->stack, f, n * sizeof *f);
    return s;
}

static void allocated(MonoProfiler *p, MonoObject *o)
{
    MonoClass *class = mono_object_get_class(o);
    const u64 bytes = mono_object_get_size(o);
    walk w;
    u64 ms;
    (void)p;
    pthread_mutex_lock(&lock);
    const bool known = look_up(&classes, class);
    pthread_mutex_unlock(&lock);
    if (!known)
        name_class(class);
    w.n = 0;
    mono_stack_walk_no_il(walk_allocation, &w);
    thread *t = begin(&ms);
    if (!t)
        return;
    frame *f = t->here;
    memset(f, 0, w.n * sizeof *f); /* padding, too: stacks are compared as bytes */
    for (unsigned i = 0; i < w.n; i++) {
        const object *m = look_up(&methods, w.method[i]);
        f[w.n - 1 - i].iid = m ? m->iid : UNKNOWN;
        f[w.n - 1 - i].ip = m && m->code ? m->code + w.ip[i] : 0;
    }
    if (ms >= t->flushed + FLUSH_MS)
        flush(t, ms);
    const uint32_t iid = look_up(&classes, class)->iid;
    site *s = find_site(t, f, w.n, iid);
    if (!s) {
        flush(t, ms);
        s = find_site(t, f, w.n, iid);
    }
    unsigned i = 0;
    while (i < s->ntypes && s->type[i].iid != iid)
        i++;
    s->ntypes += i == s->ntypes;
    s->type[i].iid = iid;
    s->type[i].count++;
    s->type[i].bytes += bytes;
    end();
}

/* ---- collections */

static int count_live(MonoObject *o, MonoClass *class, uintptr_t size, uintptr_t n, MonoObject **refs,
                      uintptr_t *offsets, void *data)
{
    (void)o;
    (void)n;
    (void)refs;
    (void)offsets;
    (void)data;
    uint32_t i = slot_of(class, LIVE), looked = 0;
    while (live[i].class && live[i].class != class && looked++ < LIVE)
        i = (i + 1) & (LIVE - 1);
    if (size && looked < LIVE) { /* 0: more of an object that was told of */
        live[i].class = class;
        live[i].count++;
        live[i].bytes += size;
    }
    return 0;
}

static void put_collections(void)
{
    for (unsigned i = 0; i < LIVE && walked; i++)
        if (live[i].class)
            name_class(live[i].class);
    u64 ms;
    pthread_mutex_lock(&lock);
    if (out && !self)
        self = register_thread();
    for (unsigned i = 0; out && i < ncollections; i++) {
        drain(self, collection[i].begin);
        fprintf(out, "gch gcs 0x%08X %llu ? %s\n", self->iid, stamp(self, collection[i].begin),
                collection[i].generation ? "ttft" : "tfff");
        drain(self, collection[i].end);
        fprintf(out, "gch gcf 0x%08X %llu\n", self->iid, stamp(self, collection[i].end));
    }
    ms = ncollections ? collection[ncollections - 1].end : 0;
    if (out && walked) {
        fprintf(out, "gch alt %llu", ms);
        for (unsigned i = 0; i < LIVE; i++)
            if (live[i].class)
                fprintf(out, " 0x%x:%llu:%llu", look_up(&classes, live[i].class)->iid, live[i].count, live[i].bytes);
        fputc('\n', out);
    }
    end();
}

static void gc_event(MonoProfiler *p, MonoProfilerGCEvent event, uint32_t generation, mono_bool serial)
{
    static int major;
    (void)p;
    (void)serial;
    switch (event) {
    case MONO_GC_EVENT_POST_STOP_WORLD:
        ncollections = 0;
        major = 0;
        walked = false;
        return;
    case MONO_GC_EVENT_START:
        if (ncollections < COLLECTIONS)
            collection[ncollections].begin = now();
        return;
    case MONO_GC_EVENT_END:
        major |= generation > 0;
        if (ncollections < COLLECTIONS) {
            collection[ncollections].end = now();
            collection[ncollections++].generation = (int)generation;
        }
        return;
    case MONO_GC_EVENT_PRE_START_WORLD:
        if (major) {
            memset(live, 0, sizeof live);
            mono_gc_walk_heap(0, count_live, NULL);
            walked = true;
        }
        return;
    case MONO_GC_EVENT_POST_START_WORLD_UNLOCKED:
        put_collections();
        return;
    default:
        return;
    }
}

/* ---- begin and end */

static void thread_started(MonoProfiler *p, uintptr_t tid)
{
    u64 ms;
    (void)p;
    (void)tid;
    if (begin(&ms))
        end();
}

static void thread_stopped(MonoProfiler *p, uintptr_t tid)
{
    u64 ms;
    thread *t = self ? begin(&ms) : NULL;
    (void)p;
    (void)tid;
    if (!t)
        return;
    flush(t, ms);
    fprintf(out, "thr dst 0x%08X\n", t->iid);
    self = NULL;
    end();
}

static void runtime_initialized(MonoProfiler *p)
{
    (void)p;
    initialized = true;
}

static void finish(MonoProfiler *p)
{
    (void)p;
    pthread_mutex_lock(&lock);
    for (thread *t = threads; out && t; t = t->next) {
        drain(t, UINT64_MAX);
        flush(t, now());
    }
    if (out) {
        fprintf(out, "prf cfg LostSamples %llu\n", lost);
        fclose(out);
    }
    out = NULL;
    pthread_mutex_unlock(&lock);
}

void mono_profiler_init_tracelog(const char *desc);
void mono_profiler_init_tracelog(const char *desc)
{
    const char *path = strchr(desc, ':');
    const time_t seconds = time(NULL);
    char text[32];
    struct tm parts;
    out = fopen(path ? path + 1 : "mono.log", "w");
    if (!out) {
        perror("mono_profiler");
        exit(2);
    }
    setvbuf(out, NULL, _IOFBF, 1 << 20);
    start_ns = clock_ns(CLOCK_MONOTONIC);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &parts));
    fprintf(out, "prf stm %s.000\nprf cfg CollectionMethod Sampling\nprf cfg SamplingTimeoutMs %d\n", text, SAMPLE_MS);
    fprintf(out, "prf cfg CpuTraceTimeoutMs %d\nprf cfg StackTrackingEnabled T\n", FLUSH_MS);

    MonoProfilerHandle h = mono_profiler_create(NULL);
    if (!mono_profiler_enable_sampling(h) ||
        !mono_profiler_set_sample_mode(h, MONO_PROFILER_SAMPLE_MODE_REAL, 1000 / SAMPLE_MS) ||
        !mono_profiler_enable_allocations())
        fputs("mono_profiler: no samples or no allocations\n", stderr);
    mono_profiler_set_runtime_initialized_callback(h, runtime_initialized);
    mono_profiler_set_runtime_shutdown_begin_callback(h, finish);
    mono_profiler_set_jit_begin_callback(h, jit_begin);
    mono_profiler_set_jit_done_callback(h, jit_done);
    mono_profiler_set_jit_failed_callback(h, jit_failed);
    mono_profiler_set_class_loaded_callback(h, class_loaded);
    mono_profiler_set_image_loaded_callback(h, image_loaded);
    mono_profiler_set_assembly_loaded_callback(h, assembly_loaded);
    mono_profiler_set_domain_name_callback(h, domain_named);
    mono_profiler_set_thread_started_callback(h, thread_started);
    mono_profiler_set_thread_stopped_callback(h, thread_stopped);
    mono_profiler_set_sample_hit_callback(h, sample_hit);
    mono_profiler_set_gc_allocation_callback(h, allocated);
    mono_profiler_set_gc_event_callback(h, gc_event);
}
