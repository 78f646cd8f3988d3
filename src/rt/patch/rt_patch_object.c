/* Plans, places and switches one object. */
#include "rt/patch/rt_patch_object.h"

#include <errno.h>

#include "rt/object/rt_ids.h"
#include "rt/object/rt_wanted.h"
#include "rt/patch/rt_patch_note.h"
#include "rt/rt_say.h"

enum {
    ROUNDS = 16,     /* attempts to place an object whose code is changed by others */
    ALL_MOST = 32768 /* functions of an object that are placed whether they are wanted or not */
};

/* ---- planning ---- */

static bool make_plan(rt_patched *p)
{
    rt_patch_named room;
    patch_named named;
    uint32_t symbols = 0;
    size_t size = 0;
    patch_range *symbol = p->image.frame_header ? NULL : tl_rt_patch_symbols(p->o, &symbols, &size);
    tl_rt_patch_names(p->o, &room, &named);
    bool ok = patch_plan_make(&p->plan, &p->image, tl_rt_patch_machine(), &tl_rt_patch_memory, &named, symbol, symbols);
    if (symbol)
        tl_rt_memory_give(symbol, size);
    return ok;
}

/* Functions get numbers in the order of their addresses. False: no memory, or no more numbers. */
static bool number_functions(rt_patched *p)
{
    const patch_plan *plan = &p->plan;
    rt_object *o = p->o;
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->functions; i++)
        n += plan->function[i].why == PATCH_OK;
    const size_t each = sizeof(uint64_t) + sizeof(uint32_t) + 2;
    uint64_t *function = n ? tl_rt_memory_take(n * each) : NULL;
    uint32_t base = function ? tl_rt_ids_take(n) : UINT32_MAX;
    if (base == UINT32_MAX) {
        if (function)
            tl_rt_memory_give(function, n * each);
        if (n)
            tl_rt_say_error("no memory, or no more numbers, for the functions of", o->path, 0);
        return false;
    }
    p->planned = (uint32_t *)(function + n);
    p->chosen = (uint8_t *)(p->planned + n);
    o->wanted = p->chosen + n;
    n = 0;
    for (uint32_t i = 0; i < plan->functions; i++) {
        if (plan->function[i].why != PATCH_OK)
            continue;
        plan->function[i].number = base + 1 + n;
        p->planned[n] = i;
        function[n++] = plan->function[i].begin - o->bias;
    }
    o->function = function;
    o->base = base;
    RT_PUBLISH();
    o->count = n;
    return true;
}

/* Libraries of data have no functions. */
static void say_left_out(const rt_object *o)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "no functions are patched in '");
    tl_rt_line_text(&l, o->path);
    tl_rt_line_text(&l, "': it has neither frames nor symbols of functions, or there is no memory");
    tl_rt_say(&l, 0, false);
}

static bool plan(rt_patched *p)
{
    if (tl_rt_patch_is_sanitized(p->o)) {
        tl_rt_say_error("is built for a sanitizer, and is not patched:", p->o->path, 0);
        return false;
    }
    if (!tl_rt_patch_image(p->o, &p->image) || !make_plan(p)) {
        say_left_out(p->o);
        return false;
    }
    if (number_functions(p))
        return true;
    patch_plan_free(&p->plan);
    return false;
}

rt_patched *tl_rt_patch_object(rt_object *o)
{
    rt_patched *p = tl_rt_memory_take(sizeof *p);
    if (!p)
        return NULL;
    p->o = o;
    p->loaded = o->loaded;
    p->left_out = !plan(p);
    return p;
}

/* ---- placing ---- */

void tl_rt_patch_keep_room(rt_patched *p)
{
    const uint64_t reach = UINT64_C(1) << tl_rt_patch_machine()->reach, margin = 1 << 16, large = 16 << 20,
                   some = 1 << 20, each = 64;
    const uint64_t size = p->plan.sites * each;
    const uint64_t low = p->o->high > reach ? p->o->high - reach + margin : margin;
    if (!p->roomy)
        tl_rt_patch_space_keep(low, p->o->low + reach - margin, p->o->high, (size < large ? large : size) + some);
    p->roomy = true;
}

static void forget_code(rt_patched *p, bool used)
{
    if (p->text.on)
        tl_rt_memory_give(p->text.on, p->code.changes + p->plan.functions + 1);
    p->text.on = NULL;
    if (used) /* a thread may still be there */
        patch_code_free(&p->code);
    else
        patch_code_drop(&p->code, tl_rt_patch_space());
    p->placed = false;
}

/* A finished placing of what is wanted is checked once more, against what is in memory now. *again: a function was
 * left out. */
static bool check_code(rt_patched *p, bool *again)
{
    uint64_t where = 0;
    uint32_t changed = 0;
    *again = false;
    if (!patch_check(&p->code, &p->plan, &where)) {
        tl_rt_say_error("a fault of the recorder was found before anything was changed; not patched:", p->o->path, 0);
        return false;
    }
    p->text = (rt_patch_text){.image = &p->image,
                              .code = &p->code,
                              .functions = p->plan.functions,
                              .on = tl_rt_memory_take(p->code.changes + p->plan.functions + 1),
                              .writable = p->o->writable};
    if (!p->text.on)
        return false;
    p->text.wanted = p->text.on + p->code.changes;
    *again = !tl_rt_patch_is_same(&p->text, &changed);
    if (*again)
        p->plan.function[changed].why = PATCH_CHANGED;
    return !*again;
}

static bool place(rt_patched *p, bool alone)
{
    patch_stubs stubs;
    const patch_order order = {
        .stubs = &stubs, .alone = alone, .exact = tl_rt.set.exact, .shadow = tl_rt_patch_shadow()};
    p->exact = tl_rt.set.exact;
    tl_rt_patch_stubs(&stubs);
    for (unsigned i = 0; i < ROUNDS; i++) {
        bool again = false;
        if (tl_rt_patch_space_look() != 0 || !patch_place(&p->code, &p->plan, tl_rt_patch_space(), &order))
            return false;
        p->placed = check_code(p, &again);
        if (p->placed)
            break;
        forget_code(p, false);
        if (!again)
            return false;
    }
    if (!p->placed)
        return false;
    int error = tl_rt_patch_space_seal();
    if (error) {
        tl_rt_say_error("pages cannot be made executable, so its functions are not patched:", p->o->path, -error);
        forget_code(p, false);
        return false;
    }
    tl_rt_patch_note_counts(p->o, &p->code.counts);
    return true;
}

static bool is_on(const rt_patched *p)
{
    for (uint32_t i = 0; p->placed && i < p->code.changes; i++)
        if (p->text.on[i])
            return true;
    return false;
}

/* Were all functions that are wanted now placed, and is the code as it was then? */
static bool is_current(const rt_patched *p)
{
    uint32_t changed;
    bool same = p->placed && p->exact == tl_rt.set.exact;
    for (uint32_t i = 0; i < p->o->count && same; i++)
        same = p->chosen[i] || !p->o->wanted[i];
    return same && tl_rt_patch_is_same(&p->text, &changed);
}

/* What is placed cannot be placed anew once a thread was there. So if other patterns may come, all functions are. */
static void choose(rt_patched *p)
{
    const bool all = tl_rt.set.control && p->o->count <= ALL_MOST;
    for (uint32_t i = 0; i < p->o->count; i++) {
        patch_function *f = &p->plan.function[p->planned[i]];
        p->chosen[i] = (all || p->o->wanted[i]) && f->size >= tl_rt.set.min_size;
        if (f->why != PATCH_CHANGED)
            f->why = p->chosen[i] ? PATCH_OK : PATCH_NOT_WANTED;
    }
}

/* What is to be recorded of what was placed. */
static uint32_t set_wanted(rt_patched *p, enum rt_patch_when when)
{
    const rt_object *o = p->o;
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        const uint32_t f = p->planned[i];
        p->text.wanted[f] = p->chosen[i] && o->wanted[i] && p->plan.function[f].why == PATCH_OK;
        n += p->text.wanted[f];
    }
    uint8_t *other = tl_rt_memory_take(p->plan.functions + 1);
    if (other && tl_rt_patch_others(&p->text, when, other))
        for (uint32_t i = 0; i < o->count; i++)
            tl_rt_patch_mute(o->base + 1 + i, other[p->planned[i]]);
    if (other)
        tl_rt_memory_give(other, p->plan.functions + 1);
    return n;
}

uint32_t tl_rt_patch_select(rt_patched *p, enum rt_patch_when when)
{
    rt_object *o = p->o;
    if (!o->patched)
        o->patched = p->patched;
    tl_rt_select(o);
    for (uint32_t i = 0; i < o->count; i++)
        if (p->plan.function[p->planned[i]].size < tl_rt.set.min_size)
            o->wanted[i] = 0;
    const bool current = is_current(p), on = is_on(p);
    if (!current && on && tl_rt.state != RT_ON && !p->refused) {
        tl_rt_say_error("some of its functions stay patched, so which ones are patched cannot change:", o->path, 0);
        p->refused = true;
    }
    if (!current && !on) {
        if (p->placed)
            forget_code(p, true);
        choose(p);
        if (!place(p, when == RT_PATCH_LOADING))
            return 0;
    }
    return set_wanted(p, when);
}

void tl_rt_patch_drop(rt_patched *p, enum rt_patch_when when)
{
    rt_object *o = p->o;
    if (p->left_out)
        return;
    for (uint32_t i = 0; i < o->count; i++)
        o->wanted[i] = 0;
    if (o->patched)
        p->patched = o->patched;
    o->patched = NULL;
    if (p->placed)
        set_wanted(p, when);
}

void tl_rt_patch_again(rt_patched *p)
{
    p->loaded = p->o->loaded;
    for (uint32_t i = 0; p->placed && i < p->code.changes; i++)
        p->text.on[i] = 0;
    p->closed = false;
}

void tl_rt_patch_change(rt_patched *p, bool on, enum rt_patch_when when)
{
    if (!p->placed)
        return;
    int error = when == RT_PATCH_RUNNING ? -ECANCELED : tl_rt_patch_write(&p->text, on, when);
    if (error == -ECANCELED) /* or what is left of it */
        error = tl_rt_patch_switch(&p->text, on);
    p->error = on ? error : 0;
}

void tl_rt_patch_told(rt_patched *p)
{
    if (!p->placed)
        return;
    if (p->error)
        tl_rt_say_error("cannot change code, so functions are not recorded:", p->o->path, -p->error);
    tl_rt_object_note(p->o);
}
