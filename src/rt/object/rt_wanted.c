/* Patterns for functions. Each object has a sorted table of the addresses that have names, and for each whether the
 * patterns leave it. */
#include "rt/object/rt_wanted.h"

#include "patch/patch_select.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

enum {
    TABLES = 512, /* objects; of later ones all functions are recorded */
    PLAIN = 1024, /* bytes of a C++ name that are considered */
    PLACE = PATCH_OBJECT_NAME + 20,
};

typedef struct rt_table {
    uint32_t object;
    uint32_t n, wanted; /* of these */
    bool unread;        /* there are no names */
    uint64_t *address;  /* [n] in the file, times two; plus one if it is wanted */
    size_t size;        /* of the allocation */
} rt_table;

static rt_table tables[TABLES];
static uint32_t ntable;
static rt_lock lock;

/* What a pattern may match. */
typedef struct names {
    const char *object;       /* file name */
    const char *name, *plain; /* plain: or NULL */
} names;

/* ---- patterns ---- */

static bool any_matches(const char *const *pattern, unsigned npattern, const names *n)
{
    for (unsigned i = 0; i < npattern; i++)
        if (patch_selects_function(pattern[i], n->object, n->name, n->plain, tl_rt_glob))
            return true;
    return false;
}

/* Do the patterns leave a function of that name? */
static bool is_wanted(const char *object, const char *name)
{
    char room[PLAIN];
    const rt_settings *s = &tl_rt.set;
    const names n = {object, name, tl_rt_symbols_plain(name, room, sizeof room) ? room : NULL};
    return (!s->nfunc || any_matches(s->func, s->nfunc, &n)) && !any_matches(s->not_func, s->nnot, &n);
}

bool tl_rt_wanted_patterns(void)
{
    return tl_rt.set.nfunc || tl_rt.set.nnot;
}

/* The name of a function without a symbol. */
static void place_of(char out[static PLACE], const char *object, uint64_t address)
{
    size_t n = 0;
    while (n < PATCH_OBJECT_NAME && object[n])
        n++;
    rt_copy(out, object, n);
    out[n++] = '+';
    out[n++] = '0';
    out[n++] = 'x';
    unsigned shift = 60;
    while (shift && !(address >> shift))
        shift -= 4;
    for (;; shift -= 4) {
        out[n++] = "0123456789abcdef"[address >> shift & 15];
        if (!shift)
            break;
    }
    out[n] = '\0';
}

/* ---- tables ---- */

/* One of several names may be wanted by func=, and none may be left out by not=. */
static void read_names(rt_table *t, const rt_object *o)
{
    rt_symbols *s = tl_rt_symbols_open(o);
    const char *object = tl_rt_base(o->path);
    const bool all = !tl_rt_wanted_patterns(), named = tl_rt.set.nfunc != 0;
    const size_t n = s ? tl_rt_symbols_count(s) : 0;
    uint64_t address, before = 0;
    t->unread = !s;
    t->size = n * sizeof *t->address;
    t->address = n ? tl_rt_memory_take(t->size) : NULL;
    for (size_t i = 0; t->address && i < n; i++) {
        const bool wanted = all || is_wanted(object, tl_rt_symbols_get(s, i, &address));
        if (all)
            tl_rt_symbols_get(s, i, &address);
        if (t->n == 0 || address != before)
            t->address[t->n++] = address << 1 | wanted;
        else if (wanted == named)
            t->address[t->n - 1] = address << 1 | wanted;
        before = address;
    }
    for (uint32_t i = 0; i < t->n; i++)
        t->wanted += t->address[i] & 1;
    if (s)
        tl_rt_symbols_close(s);
}

/* The table of an object, made if needed; NULL: too many. With the lock. */
static const rt_table *table_of(const rt_object *o)
{
    for (uint32_t i = 0; i < ntable; i++)
        if (tables[i].object == o->id)
            return &tables[i];
    if (ntable == TABLES)
        return NULL;
    rt_table *t = &tables[ntable++];
    rt_zero(t, sizeof *t);
    t->object = o->id;
    read_names(t, o);
    return t;
}

/* Is the function at an address of the file wanted? */
static bool wants(const rt_table *t, const rt_object *o, uint64_t address)
{
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->address[middle] >> 1 < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < t->n && t->address[low] >> 1 == address)
        return t->address[low] & 1;
    char place[PLACE];
    place_of(place, tl_rt_base(o->path), address);
    return is_wanted(tl_rt_base(o->path), place);
}

bool tl_rt_wanted(const rt_object *o, uintptr_t address)
{
    if (!tl_rt_wanted_patterns())
        return true;
    if (!o)
        return tl_rt.set.nfunc == 0;
    rt_lock_take(&lock);
    const rt_table *t = table_of(o);
    bool wanted = !t || wants(t, o, address - o->bias);
    rt_lock_give(&lock);
    return wanted;
}

void tl_rt_wanted_add(rt_wanted_count *c, const rt_object *o)
{
    rt_lock_take(&lock);
    const rt_table *t = table_of(o);
    if (t) {
        c->known += t->n;
        c->wanted += t->wanted;
    }
    rt_lock_give(&lock);
}

uint32_t tl_rt_select(const rt_object *o)
{
    uint32_t n = 0;
    const bool all = !tl_rt_wanted_patterns();
    rt_lock_take(&lock);
    const rt_table *t = all ? NULL : table_of(o);
    for (uint32_t i = 0; i < o->count; i++) {
        o->wanted[i] = !t || wants(t, o, o->function[i]);
        n += o->wanted[i];
    }
    const bool unread = t && t->unread;
    rt_lock_give(&lock);
    if (unread && o->map)
        tl_rt_say_error("cannot read the names of functions, so patterns see their addresses only:", o->path, 0);
    return n;
}

void tl_rt_wanted_forget(void)
{
    rt_lock_take(&lock);
    for (uint32_t i = 0; i < ntable; i++)
        if (tables[i].address)
            tl_rt_memory_give(tables[i].address, tables[i].size);
    ntable = 0;
    rt_lock_give(&lock);
}

void tl_rt_wanted_child(void)
{
    lock = (rt_lock){.held = 0};
}
