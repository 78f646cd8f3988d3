/* Functions whose calls are not recorded although they are patched: other functions count on their bytes, or they
 * cannot be taken back while threads run. Only while there are such functions, handlers look for them. */
#include "rt/object/rt_ids.h"
#include "rt/patch/rt_patch_object.h"
#include "rt/rt_sys.h"

enum { BYTES = RT_ID_MAX / 8 + 1 };

static uint8_t *muted; /* a bit for each number */
static uint32_t count;
static rt_handlers of_mode;

RT_INLINE bool is_muted(uint32_t id)
{
    return muted[id / 8] >> id % 8 & 1;
}

static void mute_enter(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    if (!is_muted(id))
        of_mode.enter(id, sp, keep);
}

static void mute_exit(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    if (!is_muted(id))
        of_mode.exit(id, sp, keep);
}

static void mute_tail(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    if (!is_muted(id))
        of_mode.tail(id, sp, keep);
}

static const rt_handlers *filter(const rt_handlers *h)
{
    static rt_handlers with;
    of_mode = with = *h;
    if (count) {
        with.enter = mute_enter;
        with.exit = mute_exit;
        with.tail = mute_tail;
    }
    return &with;
}

void tl_rt_patch_mute(uint32_t id, bool mute)
{
    if (!muted && mute)
        muted = tl_rt_memory_take(BYTES);
    if (!muted || is_muted(id) == mute)
        return;
    muted[id / 8] ^= (uint8_t)(1u << id % 8);
    count += mute ? 1u : UINT32_MAX;
    tl_rt_handlers_filter = filter;
    if (mute && count == 1) /* a library that is opened while recording */
        tl_rt_handlers_again();
}
