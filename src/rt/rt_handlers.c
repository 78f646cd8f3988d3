/* Exchanges what hooks call: the handlers of the mode, perhaps behind a filter, or those that do nothing. */
#include "rt/rt_core.h"
#include "rt/rt_record.h"
#include "rt/rt_sys.h"

rt_handlers_filter *tl_rt_handlers_filter;

static rt_lock lock; /* steps of life exchange them, and so does the filter when it changes its mind */
static bool recording;

static void install(bool on)
{
    const rt_handlers *h = tl_rt_record_handlers(on, tl_rt.set.modes, tl_rt.threshold > 0);
    if (on && tl_rt_handlers_filter)
        h = tl_rt_handlers_filter(h);
    volatile rt_handlers *to = &tl_rt_handlers;
    to->enter = h->enter;
    to->exit = h->exit;
    to->tail = h->tail;
    to->argument = h->argument;
    to->custom = h->custom;
    to->typed = h->typed;
}

/* `again`: only if they are on already. */
static void exchange(bool on, bool again)
{
    const uint64_t mask = rt_signals_block();
    const bool held = rt_lock_take(&lock);
    if (!again || recording)
        install(on);
    recording = again ? recording : on;
    if (held)
        rt_lock_give(&lock);
    rt_signals_restore(mask);
}

void tl_rt_handlers_set(bool on)
{
    exchange(on, false);
}

void tl_rt_handlers_again(void)
{
    exchange(true, true);
}

void tl_rt_handlers_child(void)
{
    lock = (rt_lock){.held = 0};
}
