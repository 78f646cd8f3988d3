/* The hook "sleds": functions compiled with -fxray-instrument, recorded by our own runtime. */
#include "rt/hook/rt_sled.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_objects.h"
#include "rt/object/rt_wanted.h"

rt_lock tl_rt_sleds_lock, tl_rt_found_lock;
static bool on; /* between start and stop; with the lock */

enum { PATIENCE_MS = 1000 };
volatile bool tl_rt_sleds_removing;

void tl_rt_sleds_lock_calmly(void)
{
    static const long ms[2] = {0, 1000000};
    for (unsigned turn = 0;; turn++) {
        rt_lock_take(&tl_rt_sleds_lock);
        if (!tl_rt_sleds_removing || turn == PATIENCE_MS)
            return;
        rt_lock_give(&tl_rt_sleds_lock);
        RT_SYS2(SYS_nanosleep, ms, 0);
    }
}

static rt_object *live(uint32_t index)
{
    rt_object *o = (rt_object *)tl_rt_object(index);
    return o->map && !o->gone ? o : NULL;
}

static uint32_t functions(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (live(i))
            n += live(i)->count;
    return n;
}

static uint32_t select_all(void)
{
    uint32_t n = 0;
    rt_lock_take(&tl_rt_sleds_lock);
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (live(i))
            n += tl_rt_select(live(i));
    rt_lock_give(&tl_rt_sleds_lock);
    return n;
}

static void patch_all(bool to)
{
    tl_rt_sleds_lock_calmly();
    on = to;
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (live(i))
            tl_rt_patch(live(i), to);
    rt_lock_give(&tl_rt_sleds_lock);
}

static void start(void)
{
    tl_rt_objects_note_new();
    patch_all(true);
}

static void stop(void)
{
    patch_all(false);
}

static rt_hook hook = {.name = "sleds", .functions = functions, .select = select_all, .start = start, .stop = stop};

void tl_rt_sleds_begin(void)
{
    static bool added;
    if (!added) {
        tl_rt_hook_add(&hook);
        on = tl_rt.state == RT_ON; /* too late to be started */
        added = true;
    }
}

/* The first object registers before the recorder has begun, which then selects and starts. Later ones are loaded while
 * the program runs. */
void tl_rt_sleds_add(rt_object *o)
{
    tl_rt_sleds_begin();
    if (tl_rt.state == RT_OFF || tl_rt.state == RT_OVER)
        return;
    tl_rt_select(o);
    if (on)
        tl_rt_patch(o, true);
}
