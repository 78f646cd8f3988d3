/* Pages for jumps and blocks: which ranges are free, and which pages of our chunks. */
#include "rt/patch/rt_patch_space.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "rt/hook/rt_sled.h"
#include "rt/object/rt_maps.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { CHUNK = 1 << 20, CHUNK_PAGES = CHUNK / PATCH_PAGE, CHUNKS_MAX = 16384, KEPT = 512 };
#define LOWEST     UINT64_C(0x10000)
#define LOW_END    (UINT64_C(1) << 32)
#define TOP        (UINT64_C(1) << 47)
#define HEAP_ROOM  (UINT64_C(64) << 20)
#define STACK_ROOM (UINT64_C(128) << 20)
#define STACK_MOST (UINT64_C(64) << 30)

typedef struct range {
    uint64_t from, to;
} range;

/* Mapped by us, within one aligned MiB. */
typedef struct chunk {
    uint64_t from;
    uint32_t pages;
    bool open, sealed;               /* writable pages may be there; executable ones */
    uint64_t used[CHUNK_PAGES / 64]; /* a bit for each page */
} chunk;

static struct {
    range *free; /* by address */
    size_t frees, free_room;
    chunk *chunk; /* by address */
    size_t chunks, chunk_room;
    range kept[KEPT]; /* for blocks of objects that are placed later; not in `free` */
    unsigned nkept;
    uint64_t low; /* nothing is taken below */
    bool stale;   /* something is mapped that we have not seen */
} s;

/* ---- arrays ---- */

static void *grown(void *p, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return p;
    size_t more = *room ? *room * 2 : 1024;
    void *q = *room ? tl_rt_memory_grow(p, *room * size, more * size) : tl_rt_memory_take(more * size);
    if (q)
        *room = more;
    return q;
}

/* Makes room for an element at index i of n; words, from the end. */
static void shift(void *array, size_t i, size_t n, size_t size)
{
    volatile uint64_t *p = array;
    const size_t words = size / sizeof *p;
    for (size_t k = n * words; k > i * words; k--)
        p[k - 1 + words] = p[k - 1];
}

/* ---- what is free ---- */

static bool add_free(size_t i, range r)
{
    range *p = grown(s.free, s.frees, &s.free_room, sizeof *p);
    if (!p)
        return false;
    s.free = p;
    shift(p, i, s.frees, sizeof *p);
    p[i] = r;
    s.frees++;
    return true;
}

/* The first free range that ends above the address. */
static size_t free_after(uint64_t address)
{
    size_t low = 0, high = s.frees;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s.free[middle].to > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* [from, to) is in use from now on; it lies within free range i. */
static bool carve(size_t i, uint64_t from, uint64_t to)
{
    range r = s.free[i];
    if (r.from < from && to < r.to) {
        if (!add_free(i + 1, (range){to, r.to}))
            return false;
        s.free[i].to = from;
    } else if (r.from < from) {
        s.free[i].to = from;
    } else if (to < r.to) {
        s.free[i].from = to;
    } else {
        for (size_t k = i; k + 1 < s.frees; k++)
            s.free[k] = s.free[k + 1];
        s.frees--;
    }
    return true;
}

/* Takes [from, to) out of whatever is free there. */
static bool exclude(uint64_t from, uint64_t to)
{
    for (size_t i = free_after(from); i < s.frees && s.free[i].from < to;) {
        range r = s.free[i];
        uint64_t a = r.from > from ? r.from : from, b = r.to < to ? r.to : to;
        if (!carve(i, a, b))
            return false;
        i = free_after(from);
    }
    return true;
}

/* Settings of the kernel are a number and a line feed. */
static uint64_t lowest_allowed(void)
{
    char text[32];
    uint64_t least = 0;
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, "/proc/sys/vm/mmap_min_addr", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return LOWEST;
    long n = RT_SYS3(SYS_read, fd, text, sizeof text - 1);
    RT_SYS1(SYS_close, fd);
    text[n > 0 ? n - 1 : 0] = '\0';
    if (!tl_rt_read_number(text, &least) || least < LOWEST)
        return LOWEST;
    return (least + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1);
}

typedef struct look {
    uint64_t last, stack; /* end of the latest mapping; begin of the stack */
    bool failed;
} look;

static bool see(void *arg, const rt_mapping *m)
{
    look *l = arg;
    if (m->from > l->last && !l->failed)
        l->failed = !add_free(s.frees, (range){l->last, m->from});
    if (m->to > l->last)
        l->last = m->to;
    if (tl_rt_same(m->path, "[stack]"))
        l->stack = m->from;
    return !l->failed;
}

/* An emulator of AArch64 puts the stack anywhere. */
#if defined(__x86_64__)
enum { STACK_ON_TOP = 1 };
#else
enum { STACK_ON_TOP = 0 };
#endif

/* How far the stack may grow. */
static uint64_t stack_room(void)
{
    uint64_t most[2] = {0, 0};
    RT_SYS4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, most);
    return most[0] < STACK_ROOM ? STACK_ROOM : most[0] > STACK_MOST ? STACK_MOST : most[0];
}

void tl_rt_patch_space_begin(uintptr_t program)
{
    uint64_t least = lowest_allowed();
    s.low = program < LOW_END ? least : LOW_END;
}

int tl_rt_patch_space_look(void)
{
    look l = {.last = s.low, .failed = false};
    s.frees = 0;
    int error = tl_rt_maps_each(see, &l);
    if (error)
        return error;
    uint64_t heap = (uint64_t)RT_SYS1(SYS_brk, 0);
    bool ok = !l.failed && exclude(heap & ~(uint64_t)(PATCH_PAGE - 1), heap + HEAP_ROOM);
    ok = ok && exclude(l.stack ? l.stack - stack_room() : TOP, l.stack && !STACK_ON_TOP ? l.stack + 1 : UINT64_MAX);
    for (unsigned i = 0; i < s.nkept; i++)
        ok = ok && exclude(s.kept[i].from, s.kept[i].to);
    if (!ok)
        s.frees = 0;
    return ok ? 0 : -ENOMEM;
}

/* ---- chunks ---- */

/* The first chunk that ends above the address. */
static size_t chunk_after(uint64_t address)
{
    size_t low = 0, high = s.chunks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const chunk *c = &s.chunk[middle];
        if (c->from + (uint64_t)c->pages * PATCH_PAGE > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static chunk *chunk_at(uint64_t address)
{
    size_t i = chunk_after(address);
    return i < s.chunks && s.chunk[i].from <= address ? &s.chunk[i] : NULL;
}

static unsigned page_of(const chunk *c, uint64_t address)
{
    return (unsigned)((address - c->from) / PATCH_PAGE);
}

static bool is_used(const chunk *c, unsigned page)
{
    return c->used[page / 64] >> page % 64 & 1;
}

int tl_rt_patch_space_map(uint64_t from, uint64_t to)
{
    enum { HOW = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE };
    long p = RT_SYS6(SYS_mmap, from, to - from, PROT_READ | PROT_WRITE, HOW, -1, 0);
    if (RT_IS_ERROR(p))
        return (int)p;
    if ((uint64_t)p == from)
        return 0;
    RT_SYS2(SYS_munmap, p, to - from); /* older kernels take the address as a wish */
    return -EEXIST;
}

/* A chunk around a free page, or of that page alone. */
static bool add_chunk(uint64_t page)
{
    size_t i = free_after(page);
    if (s.chunks == CHUNKS_MAX || i == s.frees || s.free[i].from > page)
        return false;
    chunk *p = grown(s.chunk, s.chunks, &s.chunk_room, sizeof *p);
    if (!p)
        return false;
    s.chunk = p;
    const range r = s.free[i];
    uint64_t from = page & ~(uint64_t)(CHUNK - 1), to = from + CHUNK;
    from = from > r.from ? from : r.from;
    to = to < r.to ? to : r.to;
    int error = tl_rt_patch_space_map(from, to);
    if (error && error != -EEXIST) { /* a limit of memory */
        from = page;
        to = page + PATCH_PAGE;
        error = tl_rt_patch_space_map(from, to);
    }
    if (error == -EEXIST)
        s.stale = true; /* something was mapped since we looked */
    if (error)
        return false;
    if (!carve(i, from, to)) {
        RT_SYS2(SYS_munmap, from, to - from);
        return false;
    }
    i = chunk_after(from);
    shift(s.chunk, i, s.chunks, sizeof *p);
    s.chunk[i] = (chunk){.from = from, .pages = (uint32_t)((to - from) / PATCH_PAGE), .open = true};
    s.chunks++;
    return true;
}

/* ---- the space ---- */

static void set_used(uint64_t from, uint64_t to, bool used)
{
    for (uint64_t a = from; a < to; a += PATCH_PAGE) {
        chunk *c = chunk_at(a);
        const unsigned page = page_of(c, a);
        const uint64_t bit = UINT64_C(1) << page % 64;
        c->used[page / 64] = used ? c->used[page / 64] | bit : c->used[page / 64] & ~bit;
    }
}

/* Pages of a sealed chunk that nobody uses are made writable again. */
static bool open_pages(uint64_t from, uint64_t to)
{
    for (uint64_t a = from; a < to; a += PATCH_PAGE) {
        chunk *c = chunk_at(a);
        if (c->sealed && RT_SYS3(SYS_mprotect, a, PATCH_PAGE, PROT_READ | PROT_WRITE) != 0)
            return false;
        c->open = true;
    }
    return true;
}

/* After a chunk could not be mapped. */
static bool look_again(uint64_t page)
{
    const bool again = s.stale;
    s.stale = false;
    return again && tl_rt_patch_space_look() == 0 && add_chunk(page);
}

/* [from, to) is wanted now, and lies in what was kept. */
static bool release(uint64_t from, uint64_t to)
{
    for (unsigned i = 0; i < s.nkept; i++) {
        range *r = &s.kept[i];
        if (from != r->from || to > r->to)
            continue;
        r->from = to;
        return add_free(free_after(from), (range){from, to});
    }
    return false;
}

static uint8_t *take(patch_space *space, uint64_t address, uint64_t size)
{
    const uint64_t end = address + size;
    (void)space;
    if (size == 0 || end < address || (address | size) % PATCH_PAGE)
        return NULL;
    release(address, end);
    for (uint64_t a = address; a < end; a += PATCH_PAGE) {
        const chunk *c = chunk_at(a);
        const size_t i = c ? 0 : free_after(a);
        if (c ? is_used(c, page_of(c, a)) : i == s.frees || s.free[i].from > a)
            return NULL;
    }
    for (uint64_t a = address; a < end; a += PATCH_PAGE)
        if (!chunk_at(a) && !add_chunk(a) && !look_again(a))
            return NULL;
    if (!open_pages(address, end))
        return NULL;
    set_used(address, end, true);
    return (uint8_t *)(uintptr_t)address;
}

/* The pages stay mapped, for others, and are zero again. */
static void give(patch_space *space, uint64_t address, uint64_t size)
{
    (void)space;
    RT_SYS3(SYS_madvise, address, size, MADV_DONTNEED);
    set_used(address, address + size, false);
}

/* The place of `size` bytes in a free range that is nearest to a wish; 0: none within the limits. */
static uint64_t place_in(range r, range limits, uint64_t near, uint64_t size)
{
    uint64_t from = r.from > limits.from ? r.from : limits.from, to = r.to < limits.to ? r.to : limits.to;
    from = (from + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1);
    if (from >= to || to - from < size)
        return 0;
    const uint64_t last = (to - size) & ~(uint64_t)(PATCH_PAGE - 1);
    near &= ~(uint64_t)(PATCH_PAGE - 1);
    return last < from ? 0 : near < from ? from : near > last ? last : near;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t nearer(uint64_t a, uint64_t b, uint64_t near)
{
    return !a || (b && distance(b, near) < distance(a, near)) ? b : a;
}

static uint64_t find_in_chunks(range limits, uint64_t near, uint64_t size)
{
    uint64_t best = 0;
    for (size_t i = chunk_after(limits.from); i < s.chunks && s.chunk[i].from < limits.to; i++) {
        const chunk *c = &s.chunk[i];
        for (unsigned from = 0, to; from < c->pages; from = to) {
            to = from + 1;
            if (is_used(c, from))
                continue;
            while (to < c->pages && !is_used(c, to))
                to++;
            const range r = {c->from + (uint64_t)from * PATCH_PAGE, c->from + (uint64_t)to * PATCH_PAGE};
            best = nearer(best, place_in(r, limits, near, size), near);
        }
    }
    return best;
}

static uint64_t find(patch_space *space, uint64_t low, uint64_t high, uint64_t near, uint64_t size)
{
    const range limits = {low, high < UINT64_MAX ? high + 1 : high};
    (void)space;
    uint64_t best = find_in_chunks(limits, near, size);
    for (unsigned i = 0; i < s.nkept && size > CHUNK / 2; i++)
        if (s.kept[i].from >= low && s.kept[i].to - s.kept[i].from >= size && s.kept[i].from + size <= limits.to)
            return s.kept[i].from;
    const bool ours = best != 0;
    for (size_t i = free_after(low); !ours && i < s.frees && s.free[i].from < limits.to; i++)
        best = nearer(best, place_in(s.free[i], limits, near, size), near);
    return best;
}

void tl_rt_patch_space_keep(uint64_t low, uint64_t high, uint64_t near, uint64_t size)
{
    uint64_t at = 0;
    size = (size + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1);
    for (size_t i = free_after(low); i < s.frees && s.free[i].from < high; i++)
        at = nearer(at, place_in(s.free[i], (range){low, high}, near, size), near);
    if (!at || s.nkept == KEPT || !exclude(at, at + size))
        return;
    s.kept[s.nkept++] = (range){at, at + size};
}

patch_space *tl_rt_patch_space(void)
{
    static patch_space space = {.take = take, .give = give, .find = find};
    return &space;
}

int tl_rt_patch_space_seal(void)
{
    for (size_t i = 0; i < s.chunks;) {
        size_t k = i;
        uint64_t from = s.chunk[i].from, to = from;
        while (k < s.chunks && s.chunk[k].open && s.chunk[k].from == to)
            to += (uint64_t)s.chunk[k++].pages * PATCH_PAGE;
        if (k == i) {
            i++;
            continue;
        }
        long error = RT_SYS3(SYS_mprotect, from, to - from, PROT_READ | PROT_EXEC);
        if (error)
            return (int)error;
        tl_rt_sled_sync(from, to);
        for (; i < k; i++) {
            s.chunk[i].open = false;
            s.chunk[i].sealed = true;
        }
    }
    return 0;
}
