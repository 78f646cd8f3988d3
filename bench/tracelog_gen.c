/* Makes a TraceLog of any size that looks like one recorded from a busy program, for the benchmarks.
 *
 *     tracelog_gen MEGABYTES [SEED] > big.log 2> truth
 *
 * A few hundred functions call each other from fixed call sites; the possible stacks are a tree of some ten thousand
 * places, 5 to 40 deep, in which every thread wanders: it returns from a few calls, makes a few others, prefers some,
 * and often stays where it is. Functions are compiled when they are first called, classes loaded when they are first
 * used. Threads lag behind each other by some milliseconds, so times are only nearly sorted.
 *
 * The log is valid and canonical, in the dialect of the documentation. The same size and seed give the same bytes.
 * Standard error gets "name<TAB>number" lines: how many lines of each record were written ("sam str"), and sums of what
 * is in them ("samples", "frames", "allocated", "bytes"). */
#include "gen_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 400, SITES = 5, POINTS = 3, CLASSES = 120, MODULES = 6, THREADS = 12, ROOTS = 3 };
enum { PLACES = 20000, DEPTH_MIN = 5, DEPTH_MAX = 40, YOUNG = 100 };
enum { PERIOD_MS = 5, CPU_MS = 100, GC_MS = 250, HEAP_MS = 10000, AGAIN_MS = 1500, PAUSE_MS = 60000, LAG_MS = 4 };
enum { STAYS = 14, MOVES = 8 }; /* percent: where it was; only its topmost call point changed */

enum record { PRF, PRC_CPU, THR_CPU, THR, LOADED, FUN_INF, FUN_NAM, JIT, GC, HEAP, SAM_STR, SAM_MEM, RECORDS };
static const char *const record_names[RECORDS] = {"prf",     "prc cpu", "thr cpu", "thr",     "loaded",  "fun inf",
                                                  "fun nam", "jit",     "gch gc",  "gch alt", "sam str", "sam mem"};

struct function {
    uint64_t code, id;
    uint32_t size;
    uint16_t callee[SITES];
    uint8_t class, module;
    bool known, native; /* native: no call points */
};

/* A place is a call path: its function, and through which call site of the one before it was called. */
struct place {
    uint32_t parent, child[SITES], below; /* below: how many places there are under it */
    uint16_t function;
    uint8_t children, depth, site;
};

struct thread {
    uint32_t place;
    uint64_t top_ip; /* 0: undefined */
    uint64_t now;    /* its latest timestamp */
    bool began;
};

static struct function functions[FUNCTIONS];
static struct place places[PLACES];
static struct thread threads[THREADS];
static bool class_known[CLASSES];
static uint64_t counts[RECORDS], samples, frames, allocated, bytes, state;

static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)(((next_random() >> 32) * n) >> 32);
}

static bool chance(uint32_t percent)
{
    return below(100) < percent;
}

/* Low numbers more often. */
static uint32_t skewed(uint32_t n)
{
    const uint32_t a = below(n), b = below(n);
    return a < b ? a : b;
}

static uint64_t pointer(void)
{
    return 0x00007F0000000000u | (next_random() & 0x7FFFFFFFF8u);
}

static void begin(enum record record, const char *words)
{
    if (at - buffer > BUFFER - ROOM_FOR_A_LINE)
        flush();
    counts[record]++;
    at = stpcpy(at, words);
}

/* ---- the program's parts */

static uint64_t site_of(const struct function *f, unsigned site)
{
    return f->native ? 0 : f->code + (site + 1) * (uint64_t)f->size / (SITES + 2);
}

static uint64_t point_of(const struct function *f, unsigned point)
{
    return f->native ? 0 : f->code + 3 + point * (uint64_t)f->size / (POINTS + 1);
}

static uint32_t add_place(uint32_t n, uint32_t parent)
{
    struct place *const p = &places[n], *const above = &places[parent];
    p->parent = parent;
    p->depth = (uint8_t)(above->depth + 1);
    p->site = above->children;
    p->function = functions[above->function].callee[p->site];
    above->child[above->children++] = n;
    return n + 1;
}

/* A few ways down to where threads begin, then growth at random places, more often at young ones: that makes it deep.
 */
static void make_places(void)
{
    uint32_t n = 0;
    for (uint32_t root = 0; root < ROOTS; root++) {
        places[n].depth = 1;
        places[n].function = (uint16_t)(root * 7);
        places[n].parent = n;
        n++;
        for (int depth = 1; depth < DEPTH_MIN; depth++)
            n = add_place(n, n - 1);
    }
    while (n < PLACES) {
        const uint32_t parent = chance(60) ? n - 1 - below(n < YOUNG ? n : YOUNG) : below(n);
        if (places[parent].depth >= DEPTH_MIN && places[parent].depth < DEPTH_MAX && places[parent].children < SITES)
            n = add_place(n, parent);
    }
    while (n-- > 0)
        if (places[n].parent != n)
            places[places[n].parent].below += places[n].below + 1;
}

static void make_functions(void)
{
    for (uint32_t k = 0; k < FUNCTIONS; k++) {
        struct function *const f = &functions[k];
        f->code = 0x00007F5100000000u + k * 0x4000u + below(64) * 16;
        f->size = 0x80 + below(0x1800);
        f->id = pointer();
        f->class = (uint8_t)below(CLASSES);
        f->module = (uint8_t)below(MODULES);
        f->native = k > 20 && chance(6);
        for (unsigned site = 0; site < SITES; site++)
            f->callee[site] = (uint16_t)(skewed(FUNCTIONS));
    }
}

/* ---- records that come once for each object */

static unsigned long long module_id(unsigned module)
{
    return 0x00007F4C10004000u + module * 0x11000u;
}

static unsigned long long class_id(unsigned class)
{
    return 0x00007F4C20000000u + class * 0x148u;
}

static void load_class(unsigned class)
{
    static const char *const names[] = {"System.String",  "System.Byte[]",  "System.Collections.Generic.Dictionary`2",
                                        "App.Model.Node", "App.Json.Token", "System.Int32[]"};
    class_known[class] = true;
    begin(LOADED, "cls ldf");
    put(" 0x%016llX 0x%08X 0x%016llX 0x%08X 0x00000000\n", class_id(class), class, module_id(class % MODULES),
        0x02000002u + class);
    begin(LOADED, "cls nam");
    put(" 0x%08X \"%s_%u\"\n", class, names[class % 6], class);
}

static void function_info(uint32_t k)
{
    const struct function *const f = &functions[k];
    begin(FUN_INF, "fun inf");
    put(" 0x%08X 0x%016llX 0x%016llX 0x%016llX 0x%08X 0x%016llX:0x%x", k, (unsigned long long)f->id, class_id(f->class),
        module_id(f->module), 0x06000001u + k, (unsigned long long)f->code, f->size);
    for (uint32_t native = 0; native < f->size; native += 0x80)
        put(" 0x%x:0x%x:0x%x", native == 0 ? 0xfffffffe : native / 18, native,
            native + 0x80 < f->size ? native + 0x80 : f->size);
    put("\n");
}

static void function_name(uint32_t k)
{
    static const char *const verbs[] = {"Read", "Write", "Parse", "Find", "Run", "Visit", "Add", "Next"};
    static const char *const types[] = {"System.Void", "System.Int32", "System.Boolean", "System.String"};
    begin(FUN_NAM, "fun nam");
    put(" 0x%08X \"App.Part%u:%s_%u\" \"%s\" \"%s\"\n", k, functions[k].class, verbs[k % 8], k, types[k % 4],
        k % 3 ? "(System.Int32, System.String)" : "()");
}

/* The thread's time advances, and never goes back. */
static void on_thread(enum record record, const char *words, struct thread *t, uint64_t ms)
{
    t->now = ms > t->now ? ms : t->now;
    begin(record, words);
    padded(' ', (uint64_t)(t - threads), 8);
    decimal(' ', t->now);
}

static void compile(uint32_t k, struct thread *t, uint64_t ms)
{
    struct function *const f = &functions[k];
    if (!f->known && !class_known[f->class])
        load_class(f->class);
    on_thread(JIT, "jit cms", t, ms);
    put(" 0x%016llX\n", (unsigned long long)f->id);
    on_thread(JIT, "jit cmf", t, ms + below(2));
    put(" 0x%016llX 0x00000000\n", (unsigned long long)f->id);
    function_info(k);
    if (!f->known)
        function_name(k);
    f->known = true;
}

/* ---- samples */

/* The more there is under it, the more often. */
static uint32_t some_child(const struct place *p)
{
    uint32_t which = below(p->below);
    unsigned i = 0;
    for (; which > places[p->child[i]].below; i++)
        which -= places[p->child[i]].below + 1;
    return p->child[i];
}

/* Which place the thread goes to, and how many of the frames it had stay. */
static uint32_t wander(const struct thread *t, unsigned *kept)
{
    uint32_t place = t->place;
    unsigned pops = chance(50) ? 1 + below(3) : 1 + below(9);
    while (pops-- > 0 && places[place].depth > DEPTH_MIN)
        place = places[place].parent;
    *kept = places[place].depth;
    for (unsigned pushes = 1 + below(9); pushes > 0 && places[place].children > 0; pushes--)
        place = some_child(&places[place]);
    return place;
}

static uint32_t begin_thread(struct thread *t)
{
    t->began = true;
    return (uint32_t)((t - threads) % ROOTS * DEPTH_MIN + DEPTH_MIN - 1);
}

static void call_point(uint64_t ip)
{
    if (ip != 0)
        padded(':', ip, 16);
}

/* What is on the stack from the top down to the frames that stay; returns the highest of these, if any. */
static uint32_t pushed_path(struct thread *t, uint32_t target, unsigned kept, uint32_t path[DEPTH_MAX], unsigned *n)
{
    uint32_t down = target;
    for (*n = 0; places[down].depth > kept; down = places[down].parent) {
        path[(*n)++] = down;
        if (!functions[places[down].function].known)
            compile(places[down].function, t, t->now);
        if (places[down].depth == 1)
            break;
    }
    return down;
}

/* The call point that the last frame that stays had, of `had` frames. */
static uint64_t point_before(const struct thread *t, unsigned kept, unsigned had)
{
    uint32_t above = t->place;
    if (kept == had)
        return t->top_ip;
    while (places[above].depth > kept + 1)
        above = places[above].parent;
    return site_of(&functions[places[places[above].parent].function], places[above].site);
}

static void sample(struct thread *t, uint64_t ms, uint32_t count)
{
    const unsigned had = t->began ? places[t->place].depth : 0;
    const uint32_t what = below(100);
    unsigned kept = had, pushed;
    uint32_t target = t->place, path[DEPTH_MAX];
    if (!t->began)
        target = begin_thread(t);
    else if (what >= STAYS + MOVES)
        target = wander(t, &kept);
    const struct function *const f = &functions[places[target].function];
    const uint64_t top = what < STAYS && had > 0 ? t->top_ip : point_of(f, below(POINTS));
    const uint32_t under = pushed_path(t, target, kept, path, &pushed);

    on_thread(SAM_STR, "sam str", t, ms);
    decimal(' ', count);
    decimal(' ', kept);
    decimal(':', had);
    if (kept > 0) {
        const struct function *const g = &functions[places[under].function];
        const uint64_t is = pushed > 0 ? site_of(g, places[path[pushed - 1]].site) : top;
        if (is != point_before(t, kept, had))
            call_point(is);
    }
    for (unsigned i = pushed; i-- > 0;) {
        const struct function *const g = &functions[places[path[i]].function];
        hex(' ', (uint64_t)(g - functions));
        call_point(i > 0 ? site_of(g, places[path[i - 1]].site) : top);
    }
    *at++ = '\n';
    t->place = target;
    t->top_ip = top;
    samples += count;
    frames += pushed;
}

static void allocations(struct thread *t)
{
    const unsigned n = 1 + skewed(5);
    unsigned class[5];
    for (unsigned i = 0; i < n; i++) {
        class[i] = skewed(CLASSES);
        if (!class_known[class[i]])
            load_class(class[i]);
    }
    on_thread(SAM_MEM, "sam mem", t, t->now);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t count = 1 + skewed(40), size = 8 * (2 + class[i] % 9) * count;
        hex(' ', class[i]);
        decimal(':', count);
        decimal(':', size);
        call_point(chance(50) ? t->top_ip : 0);
        allocated += count;
        bytes += size;
    }
    *at++ = '\n';
}

/* ---- the rest */

static void header(void)
{
    static const char *const config[] = {"CollectionMethod Sampling", "SamplingTimeoutMs 5",
                                         "HighGranularityEnabled T",  "TracingSuspendedOnStart F",
                                         "CpuTraceTimeoutMs 100",     "MemoryTraceEnabled T"};
    const unsigned long long domain = 0x00007F4C00001000, assemblies = 0x00007F4C08000000, zero = 0;
    begin(PRF, "prf stm 2018-06-25 07:24:28.049\n");
    for (unsigned i = 0; i < sizeof(config) / sizeof(config[0]); i++) {
        begin(PRF, "prf cfg");
        put(" %s\n", config[i]);
    }
    begin(LOADED, "apd crf");
    put(" 0x%016llX 4711 0x00000000 \"DefaultDomain\"\n", domain);
    for (unsigned m = 0; m < MODULES; m++) {
        const unsigned long long module = module_id(m), base = 0x00007F4D00000000u + m * 0x1000000u;
        begin(LOADED, "mod ldf");
        put(" 0x%016llX 0x%016llX 0x%016llX 0x00000000 \"/opt/app/Part%u.dll\"\n", module, base, zero, m);
        begin(LOADED, "mod ata");
        put(" 0x%016llX 0x%016llX\n", module, assemblies + m * 0x100u);
        begin(LOADED, "asm ldf");
        put(" 0x%016llX 0x%016llX 0x%016llX 0x00000000 \"Part%u\"\n", assemblies + m * 0x100u, domain, module, m);
    }
    for (unsigned k = 0; k < THREADS; k++) {
        begin(THR, "thr crt");
        put(" 0x%016llX 0x%08X\n", 0x00007F4C30000000u + k * 0x1000ull, k);
        begin(THR, "thr aos");
        put(" 0x%08X %u\n", k, 4711 + k);
    }
}

static void cpu(uint64_t ms)
{
    uint64_t all = 0;
    for (unsigned k = 0; k < THREADS; k++) {
        const uint64_t used = skewed(CPU_MS * 1000);
        all += used;
        on_thread(THR_CPU, "thr cpu", &threads[k], ms);
        put(" %" PRIu64 "\n", used);
    }
    begin(PRC_CPU, "prc cpu");
    put(" %" PRIu64 " %" PRIu64 "\n", ms, all);
}

static void collection(uint64_t ms)
{
    static const char *const generations[] = {" ? tfff\n", " ? tfff\n", " ? ttff\n", " induced tttt\n"};
    struct thread *const t = &threads[below(THREADS)];
    on_thread(GC, "gch gcs", t, ms);
    put("%s", generations[below(4)]);
    on_thread(GC, "gch gcf", t, ms + below(PERIOD_MS));
    put("\n");
}

static void heap(uint64_t ms)
{
    begin(HEAP, "gch alt");
    put(" %" PRIu64, ms);
    for (unsigned class = 0; class < CLASSES; class ++)
        if (class_known[class]) {
            const uint32_t count = 1 + below(5000);
            put(" 0x%x:%u:%u", class, count, count * (2 + class % 9) * 8);
        }
    put("\n");
}

/* Nothing is sampled for a second. */
static uint64_t pause_for_a_second(uint64_t ms)
{
    begin(PRF, "prf tps");
    put(" %" PRIu64 "\n", ms);
    begin(PRF, "prf trs");
    put(" %" PRIu64 "\n", ms + 1000);
    return ms + 1000;
}

static void round_of_samples(uint64_t ms)
{
    const uint32_t first = below(THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *const t = &threads[(first + i) % THREADS];
        const bool allocates = chance(15), memory_only = allocates && chance(40);
        if (chance(4))
            continue; /* it had nothing to say; its next line stands for more */
        sample(t, ms + below(LAG_MS), memory_only ? 0 : chance(95) ? 1 : 2 + below(3));
        if (allocates)
            allocations(t);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: tracelog_gen MEGABYTES [SEED] > LOG 2> TRUTH\n");
        return 2;
    }
    const uint64_t target = (uint64_t)(strtod(argv[1], NULL) * 1e6);
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    make_functions();
    make_places();
    header();
    for (uint64_t ms = PERIOD_MS; flushed + (uint64_t)(at - buffer) < target; ms += PERIOD_MS) {
        round_of_samples(ms);
        if (ms % CPU_MS == 0)
            cpu(ms);
        if (ms % GC_MS == 0)
            collection(ms);
        if (ms % HEAP_MS == 0)
            heap(ms);
        if (ms % AGAIN_MS == 0)
            compile(skewed(FUNCTIONS), &threads[below(THREADS)], ms);
        if (ms % PAUSE_MS == 0)
            ms = pause_for_a_second(ms);
    }
    for (unsigned k = 0; k < THREADS; k++) {
        begin(THR, "thr dst");
        put(" 0x%08X\n", k);
    }
    flush();
    for (int r = 0; r < RECORDS; r++)
        fprintf(stderr, "%s\t%" PRIu64 "\n", record_names[r], counts[r]);
    fprintf(stderr, "samples\t%" PRIu64 "\nframes\t%" PRIu64 "\nallocated\t%" PRIu64 "\nbytes\t%" PRIu64 "\n", samples,
            frames, allocated, bytes);
    return 0;
}
