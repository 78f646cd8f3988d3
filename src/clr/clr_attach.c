/* A process that runs already: `traceloom record -p` has the runtime load this library, with the settings, and locks
 * the file as long as it wants the recording. Nothing is written to the process's own output. */
#include <errno.h>
#include <string.h>

#include "clr/clr_door.h"
#include "clr/clr_info.h"
#include "clr/clr_stack.h"
#include "managed/managed_layout.h"
#include "managed/managed_writer.h"

static clr_callback_function **callbacks;

/* Nobody wants the recording any more: no timers, and nothing is told. */
static void left(void)
{
    for (managed_thread *t = managed_threads; t; t = t->next)
        clr_samples_thread_end(t);
    clr_info_tell(0, 0, false);
}

static clr_status attach(void *self, clr_object *unknown, const void *data, uint32_t size)
{
    char text[MANAGED_SETTINGS_MOST + 1], error[256];
    (void)self;
    managed_set.attached = true; /* no messages */
    if (size > MANAGED_SETTINGS_MOST || !clr_info_take(unknown))
        return CLR_FAILED;
    memcpy(text, data, size);
    text[size] = 0;
    if (!managed_settings_read(&managed_set, text, error) || !managed_set.attached)
        return CLR_FAILED;
    errno = 0;
    if (!clr_log_open())
        return errno ? (clr_status)(MANAGED_FAILED_BY | (uint32_t)errno) : CLR_FAILED;
    managed_fact("prf cfg Attached T\n");
    /* Collections only if they may still run beside the program. */
    const uint32_t events = clr_events_begin(callbacks);
    const bool good =
        clr_samples_begin() && (clr_info_tell(events, CLR_TELL_GC_ONLY, false) || clr_info_tell(events, 0, false));
    managed_on = managed_on && good;
    return good ? CLR_OK : CLR_FAILED;
}

static clr_status attached(void *self)
{
    (void)self;
    clr_stack_look_around();
    clr_events_catch_up();
    managed_writer_when_left(left);
    if (!managed_writer_begin(clr_frame)) {
        left();
        managed_on = false;
    }
    return CLR_OK;
}

void clr_attach_offer(clr_callback_function **table)
{
    callbacks = table;
    table[CLR_ON_ATTACH] = CLR_CALLBACK(attach);
    table[CLR_ON_ATTACHED] = CLR_CALLBACK(attached);
}
