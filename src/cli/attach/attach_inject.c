/* Looks for a thread that can be borrowed, for some seconds. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/attach/attach.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/record/process_status.h"
#include "cli/record/record.h"

#if TL_CAN_INJECT
enum { PATIENCE_S = 15, STEP_MS = 10 };

typedef enum found { NOTHING, BORROWED, REFUSED } found;

/* Stops one thread after the other. *status: of the one that was borrowed. */
static found try_threads(tl_attach *a, int *status)
{
    char path[64];
    found result = NOTHING;
    snprintf(path, sizeof path, "/proc/%ld/task", a->pid);
    DIR *d = opendir(path);
    for (const struct dirent *entry; d && result == NOTHING && (entry = readdir(d));) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        int number;
        if (thread <= 0)
            continue;
        if (!tl_attach_interrupt(thread) || !tl_attach_stopped(thread, &number)) {
            if ((errno == EPERM || errno == EACCES) && !tl_process_has_ended(a->pid, thread)) {
                tl_attach_say_refused(a->name, EPERM);
                result = REFUSED;
            }
            continue;
        }
        if (number == 0 && tl_attach_is_safe(a, thread)) {
            *status = tl_attach_borrow(a, thread);
            result = BORROWED;
        } else {
            tl_attach_let_go(thread, number);
        }
        tl_attach_let_go_late();
    }
    if (d)
        closedir(d);
    return result;
}

static int inject(tl_attach *a)
{
    const uint64_t end = tl_record_now() + UINT64_C(1000000000) * PATIENCE_S;
    int status = TL_EXIT_RECORD;
    while (tl_record_now() < end && !tl_interrupted()) {
        const found result = try_threads(a, &status);
        if (result != NOTHING)
            return status;
        tl_attach_let_go_late();
        nanosleep(&(struct timespec){0, STEP_MS * 1000000L}, NULL);
    }
    if (tl_interrupted())
        tl_say_error(a->name, "was not attached to: interrupted");
    else
        tl_say_error(a->name,
                     "no thread was at a safe place for %d s (all are in libc or the loader, or their stacks are "
                     "unclear); try again, or start it with traceloom record",
                     (int)PATIENCE_S);
    return TL_EXIT_RECORD;
}

int tl_attach_inject(long pid, const char *library)
{
    char name[32];
    tl_attach *a = calloc(1, sizeof *a);
    if (!a) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    snprintf(name, sizeof name, "%ld", pid);
    a->name = name;
    a->library = library;
    a->memory = -1;
    int status = tl_attach_look(a, pid);
    if (status == TL_EXIT_DONE)
        status = inject(a);
    tl_attach_free(a);
    free(a);
    return status;
}

#else
int tl_attach_inject(long pid, const char *library)
{
    char name[32];
    (void)library;
    snprintf(name, sizeof name, "%ld", pid);
    tl_say_error(name, "has no recorder that takes commands, and this traceloom cannot load one into a process: that "
                       "is done on x86-64 Linux, with libdw");
    return TL_EXIT_RECORD;
}
#endif
