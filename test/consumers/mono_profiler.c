/* A profiler module for Mono that writes TraceLogs: a real producer for the tests of the reader. Not part of the
 * product.
 *
 *     cc -O2 -fPIC -shared $(pkg-config --cflags mono-2) mono_*.c -o libmono-profiler-tracelog.so
 *     LD_LIBRARY_PATH=. mono --debug --profile=tracelog:app.log app.exe
 *     (tracelog:lines:app.log: with lines instead of addresses)
 *
 * Allocations are summed by stack and class. While a collection stops the world, a stopped thread may hold any lock, so
 * its events go to static tables. */
#define _GNU_SOURCE
#include <mono/metadata/assembly.h>
#include <mono/metadata/class.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/profiler.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mono_code.h"

#define COLLECTIONS 32
#define LIVE        (1u << 14) /* classes with live objects */

/* A stack during its walk: innermost first. */
typedef struct walk {
    unsigned n;
    MonoMethod *method[DEPTH];
    u64 ip[DEPTH];
} walk;

static bool initialized;
static _Atomic u64 lost; /* samples */

/* Objects found while the world is stopped. */
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

/* ---- code */

static char *full_name(MonoMethod *m)
{
    return initialized ? mono_method_full_name(m, false) : NULL;
}

static void jit_begin(MonoProfiler *p, MonoMethod *m)
{
    u64 ms;
    thread *t = log_begin(&ms);
    (void)p;
    if (!t)
        return;
    fprintf(log_file, "jit cms 0x%08X %llu 0x%016llX\n", t->iid, log_stamp(t, ms), ptr(m));
    if (t->ncompiling < 64)
        t->compiling[t->ncompiling++] = m;
    log_end();
}

/* Was this compiled on this thread? Forgets it and everything begun inside it that never ended. */
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
    thread *t = log_begin(&ms);
    (void)p;
    if (!t)
        return;
    if (ends_compiling(t, m))
        fprintf(log_file, "jit cmf 0x%08X %llu 0x%016llX 0x80004005\n", t->iid, log_stamp(t, ms), ptr(m));
    log_end();
}

static void jit_done(MonoProfiler *p, MonoMethod *m, MonoJitInfo *info)
{
    u64 ms;
    (void)p;
    /* Names and tables before taking the lock: the runtime may take locks of its own. */
    MonoClass *class = mono_method_get_class(m);
    MonoMethodSignature *signature = mono_method_signature(m);
    char *name = full_name(m),
         *parameters = initialized && signature ? mono_signature_get_desc(signature, false) : NULL;
    char *result = initialized && signature ? mono_type_get_name(mono_signature_get_return_type(signature)) : NULL;
    code read;
    const u64 start = ptr(mono_jit_info_get_code_start(info)), size = (u64)mono_jit_info_get_code_size(info);
    code_read(&read, m, size);
    if (name && strchr(name, '(')) /* without the parameters, unless this is "(wrapper ..." */
        for (char *at = name + 1; *at; at++)
            if (*at == '(' && at[-1] == ' ')
                at[-1] = '\0';
    thread *t = log_begin(&ms);
    if (t) {
        bool added;
        object *o = log_find(&log_methods, m, &added);
        const bool compiled = ends_compiling(t, m);
        o->start = start;
        o->code = malloc(sizeof read);
        if (!compiled)
            fprintf(log_file, "jit css 0x%08X %llu 0x%016llX\n", t->iid, log_stamp(t, ms), ptr(m));
        fprintf(log_file, "fun inf 0x%08X 0x%016llX 0x%016llX 0x%016llX 0x%08X 0x%016llX:0x%llx%s\n", o->iid, ptr(m),
                ptr(class), ptr(class ? mono_class_get_image(class) : NULL), mono_method_get_token(m), start, size,
                read.map);
        fprintf(log_file, "fun nam 0x%08X \"%s\" \"%s\" \"(%s)\"\n", o->iid, name ? name : mono_method_get_name(m),
                result ? result : "", parameters ? parameters : "");
        code_put_lines(&read, o->iid);
        if (o->code)
            memcpy(o->code, &read, sizeof read);
        fprintf(log_file, "jit %s 0x%08X %llu 0x%016llX%s\n", compiled ? "cmf" : "csf", t->iid, log_stamp(t, ms),
                ptr(m), compiled ? " 0x00000000" : "");
        log_end();
    }
    free(read.map);
    mono_free(name);
    mono_free(parameters);
    mono_free(result);
}

/* ---- what is loaded */

static void name_class(MonoClass *c)
{
    char *name = initialized ? mono_type_get_name(mono_class_get_type(c)) : NULL; /* if called too early, it crashes */
    u64 ms;
    thread *t = log_begin(&ms);
    if (t) {
        bool added;
        const uint32_t iid = log_find(&log_classes, c, &added)->iid;
        if (added) {
            const char *space = mono_class_get_namespace(c);
            fprintf(log_file, "cls ldf 0x%016llX 0x%08X 0x%016llX 0x%08X 0x00000000\n", ptr(c), iid,
                    ptr(mono_class_get_image(c)), mono_class_get_type_token(c));
            if (name)
                fprintf(log_file, "cls nam 0x%08X \"%s\"\n", iid, name);
            else
                fprintf(log_file, "cls nam 0x%08X \"%s%s%s\"\n", iid, space, *space ? "." : "", mono_class_get_name(c));
        }
        log_end();
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
    if (!log_begin(&ms))
        return;
    const char *path = mono_image_get_filename(i);
    fprintf(log_file, "mod ldf 0x%016llX 0x%016llX 0x%016llX 0x00000000 \"%s\"\n", ptr(i), 0ULL, 0ULL,
            path ? path : "");
    log_end();
}

static void assembly_loaded(MonoProfiler *p, MonoAssembly *a)
{
    u64 ms;
    (void)p;
    if (!log_begin(&ms))
        return;
    const unsigned long long image = ptr(mono_assembly_get_image(a));
    fprintf(log_file, "mod ata 0x%016llX 0x%016llX\nasm ldf 0x%016llX 0x%016llX 0x%016llX 0x00000000 \"%s\"\n", image,
            ptr(a), ptr(a), ptr(mono_domain_get()), image, mono_image_get_name(mono_assembly_get_image(a)));
    log_end();
}

static void domain_named(MonoProfiler *p, MonoDomain *d, const char *name)
{
    u64 ms;
    (void)p;
    if (!log_begin(&ms))
        return;
    fprintf(log_file, "apd crf 0x%016llX %d 0x00000000 \"%s\"\n", ptr(d), (int)getpid(), name);
    log_end();
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
    return add_frame(data, m, (u64)(int64_t)native); /* its code is added later, when known */
}

static void sample_hit(MonoProfiler *p, const mono_byte *ip, const void *context)
{
    thread *t = log_self;
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
    t->ring[head % RING] = log_now() << 8 | w.n;
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
    pthread_mutex_lock(&log_mutex);
    const bool known = log_look_up(&log_classes, class);
    pthread_mutex_unlock(&log_mutex);
    if (!known)
        name_class(class);
    w.n = 0;
    mono_stack_walk_no_il(walk_allocation, &w);
    thread *t = log_begin(&ms);
    if (!t)
        return;
    frame *f = t->here;
    memset(f, 0, w.n * sizeof *f); /* padding, too: stacks are compared as bytes */
    for (unsigned i = 0; i < w.n; i++) {
        const object *m = log_look_up(&log_methods, w.method[i]);
        f[w.n - 1 - i].iid = m ? m->iid : UNKNOWN;
        f[w.n - 1 - i].ip = code_wants_lines ? m ? code_line(m->code, w.ip[i]) : 0 : m ? m->start + w.ip[i] : 0;
    }
    if (ms >= t->flushed + FLUSH_MS)
        log_flush(t, ms);
    const uint32_t iid = log_look_up(&log_classes, class)->iid;
    site *s = find_site(t, f, w.n, iid);
    if (!s) {
        log_flush(t, ms);
        s = find_site(t, f, w.n, iid);
    }
    unsigned i = 0;
    while (i < s->ntypes && s->type[i].iid != iid)
        i++;
    s->ntypes += i == s->ntypes;
    s->type[i].iid = iid;
    s->type[i].count++;
    s->type[i].bytes += bytes;
    log_end();
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
    uint32_t i = log_slot(class, LIVE), looked = 0;
    while (live[i].class && live[i].class != class && looked++ < LIVE)
        i = (i + 1) & (LIVE - 1);
    if (size && looked < LIVE) { /* 0: another part of the object before */
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
    pthread_mutex_lock(&log_mutex);
    if (log_file && !log_self)
        log_self = log_register();
    for (unsigned i = 0; log_file && i < ncollections; i++) {
        log_drain(log_self, collection[i].begin);
        fprintf(log_file, "gch gcs 0x%08X %llu ? %s\n", log_self->iid, log_stamp(log_self, collection[i].begin),
                collection[i].generation ? "ttft" : "tfff");
        log_drain(log_self, collection[i].end);
        fprintf(log_file, "gch gcf 0x%08X %llu\n", log_self->iid, log_stamp(log_self, collection[i].end));
    }
    ms = ncollections ? collection[ncollections - 1].end : 0;
    if (log_file && walked) {
        fprintf(log_file, "gch alt %llu", ms);
        for (unsigned i = 0; i < LIVE; i++)
            if (live[i].class)
                fprintf(log_file, " 0x%x:%llu:%llu", log_look_up(&log_classes, live[i].class)->iid, live[i].count,
                        live[i].bytes);
        fputc('\n', log_file);
    }
    log_end();
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
            collection[ncollections].begin = log_now();
        return;
    case MONO_GC_EVENT_END:
        major |= generation > 0;
        if (ncollections < COLLECTIONS) {
            collection[ncollections].end = log_now();
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
    if (log_begin(&ms))
        log_end();
}

static void thread_stopped(MonoProfiler *p, uintptr_t tid)
{
    u64 ms;
    thread *t = log_self ? log_begin(&ms) : NULL;
    (void)p;
    (void)tid;
    if (!t)
        return;
    log_flush(t, ms);
    fprintf(log_file, "thr dst 0x%08X\n", t->iid);
    log_self = NULL;
    log_end();
}

static void runtime_initialized(MonoProfiler *p)
{
    (void)p;
    initialized = true;
}

static void finish(MonoProfiler *p)
{
    (void)p;
    pthread_mutex_lock(&log_mutex);
    for (thread *t = log_threads; log_file && t; t = t->next) {
        log_drain(t, UINT64_MAX);
        log_flush(t, log_now());
    }
    if (log_file) {
        fprintf(log_file, "prf cfg LostSamples %llu\n", lost);
        fclose(log_file);
    }
    log_file = NULL;
    pthread_mutex_unlock(&log_mutex);
}

void mono_profiler_init_tracelog(const char *desc);
void mono_profiler_init_tracelog(const char *desc)
{
    const char *path = strchr(desc, ':');
    code_wants_lines = path && strncmp(path, ":lines:", 7) == 0;
    if (!log_open(!path ? "mono.log" : code_wants_lines ? path + 7 : path + 1)) {
        perror("mono_profiler");
        exit(2);
    }
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
