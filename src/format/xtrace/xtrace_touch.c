/* Tracks which bytes of memory a stream has seen. */
#include "format/xtrace/xtrace_touch.h"

#include "base/compiler.h"
#include "base/endian.h"

int xtrace_touch_init(xtrace_touch *t, xtrace_need *need, void *arg, tl_error *e)
{
    *t = (xtrace_touch){.need = need, .arg = arg};
    return tl_shadow_new(&t->touched, e);
}

void xtrace_touch_fini(xtrace_touch *t)
{
    tl_shadow_free(t->touched);
    t->touched = NULL;
}

/* Stores arbitrary bytes: only whether they are known matters. */
static int apply(xtrace_touch *t, uint64_t address, size_t n, tl_error *e)
{
    static const uint8_t zero[TL_SHADOW_PAGE];
    int r = 0;
    for (; r == 0 && n > 0;) {
        const size_t part = n < sizeof zero ? n : sizeof zero;
        r = tl_shadow_fill(t->touched, address, zero, part, e);
        address += part;
        n -= part;
    }
    return r;
}

static int apply_stores(xtrace_touch *t, tl_error *e)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < t->nstore; i++)
        r = apply(t, t->store[i].address, t->store[i].n, e);
    t->nstore = 0;
    return r;
}

int xtrace_touch_insn(xtrace_touch *t, bool has_pc, uint64_t pc, uint32_t op, tl_error *e)
{
    const int r = t->nstore > 0 ? apply_stores(t, e) : 0;
    const size_t place = (size_t)(pc >> 2) % XTRACE_TOUCH_FETCHES;
    uint8_t bytes[4];
    if (r < 0 || !has_pc || (t->fetched[place].used && t->fetched[place].pc == pc && t->fetched[place].op == op))
        return r;
    t->fetched[place].pc = pc;
    t->fetched[place].op = op;
    t->fetched[place].used = true;
    tl_store32(bytes, op, false);
    return xtrace_touch_load(t, pc, bytes, sizeof bytes, e);
}

int xtrace_touch_load(xtrace_touch *t, uint64_t address, const uint8_t *data, size_t n, tl_error *e)
{
    int r = 0;
    if (TL_LIKELY(!tl_shadow_knows_any(t->touched, address, n))) {
        r = t->need(t->arg, address, data, n, e);
    } else {
        for (size_t i = 0, from = 0; r == 0 && i <= n; i++) {
            if (i < n && !tl_shadow_knows_any(t->touched, address + i, 1))
                continue;
            if (i > from)
                r = t->need(t->arg, address + from, data + from, i - from, e);
            from = i + 1;
        }
    }
    return r < 0 ? r : apply(t, address, n, e);
}

int xtrace_touch_store(xtrace_touch *t, uint64_t address, size_t n, tl_error *e)
{
    const int r = t->nstore == XTRACE_TOUCH_STORES ? apply_stores(t, e) : 0;
    t->store[t->nstore].address = address;
    t->store[t->nstore++].n = n;
    return r;
}

void xtrace_touch_failed(xtrace_touch *t)
{
    t->nstore = 0;
}
