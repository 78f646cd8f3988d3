/* Commands to a recorder that may want all other threads of its process stopped: see CONTROL_WORLD. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "cli/attach/attach.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/record/process_status.h"
#include "rt/control/control_layout.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

enum {
    ROUNDS = 1000,
    STEP_NS = 5000000,
    PATIENCE = 120 * (1000000000 / STEP_NS),
    LOOK = 100,
    GRACE = 2 * (1000000000 / STEP_NS)
};

typedef struct stopped {
    pid_t thread;
    int number; /* the signal that it was about to get */
} stopped;

typedef struct world {
    tl_control *p;
    pid_t control; /* the recorder's thread */
    stopped *one;
    size_t n, room;
} world;

static void let_all_go(world *w)
{
    for (size_t i = 0; i < w->n; i++)
        tl_attach_let_go(w->one[i].thread, w->one[i].number);
    w->n = 0;
}

static bool has(const world *w, pid_t thread)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->one[i].thread == thread)
            return true;
    return thread == w->control;
}

/* Until those from `first` on have stopped; the others of them are forgotten. False: some do not stop. */
static bool wait_for(world *w, size_t first)
{
    bool good = true;
    size_t kept = first;
    for (size_t i = first; i < w->n; i++)
        if (tl_attach_stopped(w->one[i].thread, &w->one[i].number))
            w->one[kept++] = w->one[i];
        else
            good &= errno == ESRCH;
    w->n = kept;
    return good;
}

/* Stops all that are not stopped yet. *any: there were some. */
static bool stop_round(world *w, bool *any)
{
    char path[64];
    bool good = true;
    const size_t before = w->n;
    snprintf(path, sizeof path, "/proc/%ld/task", w->p->pid);
    DIR *d = opendir(path);
    for (const struct dirent *entry; d && good && (entry = readdir(d));) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread <= 0 || has(w, thread))
            continue;
        if (!TL_GROW(w->one, w->n, 1, w->room))
            good = false;
        else if (tl_attach_interrupt(thread))
            w->one[w->n++] = (stopped){.thread = thread};
        else
            good = errno == ESRCH || tl_process_has_ended(w->p->pid, thread);
    }
    if (d)
        closedir(d);
    *any = w->n > before;
    return wait_for(w, before) && d && good;
}

/* Until no new one is found. */
static bool stop_all(world *w)
{
    bool any = true;
    for (int round = 0; any && round < ROUNDS; round++)
        if (!stop_round(w, &any))
            return false;
    return !any;
}

/* The recorder's thread, which knows its own number as the process's container counts. 0: not found. */
static pid_t find_control(const tl_control *p)
{
    char path[64];
    const long wanted = (long)*tl_control_word(p, CONTROL_THREAD);
    pid_t found = 0;
    if (wanted && tl_process_inner(p->pid, wanted) == wanted) /* as it is without containers */
        return (pid_t)wanted;
    snprintf(path, sizeof path, "/proc/%ld/task", p->pid);
    DIR *d = wanted ? opendir(path) : NULL;
    for (const struct dirent *entry; d && !found && (entry = readdir(d));) {
        const long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0 && tl_process_inner(p->pid, thread) == wanted)
            found = (pid_t)thread;
    }
    if (d)
        closedir(d);
    return found;
}

bool tl_attach_is_served(const tl_control *p)
{
    return !tl_process_has_ended(p->pid, 0) && find_control(p) != 0;
}

/* Has the kernel mark the word STOPPER however this process ends: it does that before the threads go on that we have
 * stopped, so that the recorder knows. Not the list of libc, which has none of our locks. */
typedef struct promise {
    struct robust_list_head head, *before;
    struct robust_list entry;
    size_t size;
} promise;

/* False: there is nothing of that kind here. */
static bool promise_make(promise *m, const tl_control *p)
{
    uint32_t *stopper = tl_control_word(p, CONTROL_STOPPER);
    *m = (promise){.head.list.next = &m->head.list,
                   .head.futex_offset = (long)((intptr_t)stopper - (intptr_t)&m->entry),
                   .head.list_op_pending = &m->entry};
    if (syscall(SYS_get_robust_list, 0, &m->before, &m->size) != 0 ||
        syscall(SYS_set_robust_list, &m->head, sizeof m->head) != 0)
        return false;
    __atomic_store_n(tl_control_word(p, CONTROL_WORLD), CONTROL_WORLD_RUNS, __ATOMIC_SEQ_CST); /* not one who died */
    __atomic_store_n(stopper, (uint32_t)gettid(), __ATOMIC_SEQ_CST);
    return true;
}

static void promise_end(const promise *m, const tl_control *p)
{
    __atomic_store_n(tl_control_word(p, CONTROL_STOPPER), 0, __ATOMIC_SEQ_CST);
    syscall(SYS_set_robust_list, m->before, m->size);
}

static void set_world(world *w, uint32_t from, uint32_t to)
{
    uint32_t *state = tl_control_word(w->p, CONTROL_WORLD);
    __atomic_compare_exchange_n(state, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* What the recorder wants at this moment; otherwise waits for a moment. */
static void serve(world *w)
{
    uint32_t *state = tl_control_word(w->p, CONTROL_WORLD);
    const uint32_t now = __atomic_load_n(state, __ATOMIC_SEQ_CST);
    if (now == CONTROL_WORLD_WANTED) {
        const bool good = stop_all(w);
        if (!good)
            let_all_go(w);
        set_world(w, CONTROL_WORLD_WANTED, good ? CONTROL_WORLD_STOPPED : CONTROL_WORLD_RUNS);
    } else if (now != CONTROL_WORLD_STOPPED && w->n > 0) { /* done; or the recorder did not wait for us */
        let_all_go(w);
        set_world(w, CONTROL_WORLD_OVER, CONTROL_WORLD_SERVED);
    } else {
        const struct timespec step = {0, STEP_NS};
        syscall(SYS_futex, state, FUTEX_WAIT, now, &step, NULL, 0);
    }
    tl_attach_let_go_late();
}

/* Until it is answered: many pages may have to be made. Or there is no hope, but not while code is changed. */
static void serve_until(world *w, uint32_t request)
{
    const bool before = tl_interrupted();
    long last = PATIENCE;
    for (long turn = 1; !tl_control_is_answered(w->p, request); turn++) {
        const bool look = turn % LOOK == 0;
        serve(w);
        if (!before && tl_interrupted() && last - turn > GRACE)
            last = turn + GRACE;
        if (look && !tl_attach_is_served(w->p))
            break;
        if ((turn >= last || (look && tl_control_is_stopped(w->p->pid))) &&
            __atomic_load_n(tl_control_word(w->p, CONTROL_WORLD), __ATOMIC_SEQ_CST) != CONTROL_WORLD_STOPPED)
            break;
    }
    let_all_go(w);
}

int tl_attach_ask(tl_control *p, const char *command, char answer[static TL_CONTROL_RESULT])
{
    promise made;
    world w = {.p = p, .control = find_control(p)};
    answer[0] = 0;
    if (!tl_control_take(p))
        return TL_EXIT_DAMAGED;
    const bool serves = w.control && promise_make(&made, p); /* otherwise it does what can be done while threads run */
    if (serves)
        __atomic_store_n(tl_control_word(p, CONTROL_WORLD), CONTROL_WORLD_SERVED, __ATOMIC_SEQ_CST);
    const uint32_t request = tl_control_send(p, command);
    if (serves) {
        serve_until(&w, request);
        __atomic_store_n(tl_control_word(p, CONTROL_WORLD), CONTROL_WORLD_RUNS, __ATOMIC_SEQ_CST);
        promise_end(&made, p);
    }
    free(w.one);
    return tl_control_receive(p, request, answer);
}

#else
bool tl_attach_is_served(const tl_control *p)
{
    return !tl_process_has_ended(p->pid, 0);
}

int tl_attach_ask(tl_control *p, const char *command, char answer[static TL_CONTROL_RESULT])
{
    return tl_control_ask(p, command, answer);
}
#endif
