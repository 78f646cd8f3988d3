/* Decides by its stack whether a stopped thread may be borrowed.
 *
 *   innermost   functions of libc, if the thread waits in a system call, and the program called one that only waits
 *               functions of the program and its libraries
 *   outermost   functions of libc that began the thread
 *
 * Nothing else: a function of libc or the loader in between may hold a lock (a callback of dl_iterate_phdr(), fork()'s
 * handlers), and so may one further in (malloc(), dlopen(), stdio). A signal handler's frame is libc's, too. A stack
 * that cannot be unwound to its end is not trusted. */
#include "cli/attach/attach.h"

#if TL_CAN_INJECT
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "base/compiler.h"
#include "base/io/base_name.h"
#include "cli/attach/attach_symbols.h"

#define FRAMES_MAX 4096 /* deeper stacks are not followed to their end: another thread or moment is chosen */

enum { WRAPPER_FRAMES = 6, SYSCALL_BYTES = 2 };

typedef enum place { ELSEWHERE, IN_PROGRAM, IN_LIBC, IN_SYSTEM } place;

typedef struct stack {
    uint64_t pc[FRAMES_MAX]; /* the outer ones within their calls, not behind */
    size_t n;
} stack;

static int see_frame(Dwfl_Frame *frame, void *arg)
{
    stack *s = arg;
    Dwarf_Addr pc;
    bool exact = false;
    if (!dwfl_frame_pc(frame, &pc, &exact) || s->n == FRAMES_MAX)
        return DWARF_CB_ABORT;
    s->pc[s->n] = pc - (s->n > 0 && !exact);
    s->n++;
    return DWARF_CB_OK;
}

/* Only the objects themselves have what is needed; nothing is searched for, or downloaded. */
static int no_debug_file(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base, const char *file,
                         const char *link, GElf_Word crc, char **out)
{
    (void)m, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)out;
    return -1;
}

static bool unwind(const tl_attach *a, pid_t thread, stack *s)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = no_debug_file};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    s->n = 0;
    const bool whole = dwfl && dwfl_linux_proc_report(dwfl, (pid_t)a->pid) == 0 &&
                       dwfl_report_end(dwfl, NULL, NULL) == 0 &&
                       dwfl_linux_proc_attach(dwfl, (pid_t)a->pid, true) == 0 &&
                       dwfl_getthread_frames(dwfl, thread, see_frame, s) == 0;
    dwfl_end(dwfl);
    return whole && s->n > 1;
}

static bool is_system(tl_attach_object *o)
{
    static const char *const names[] = {"ld-linux", "ld-2", "ld.so", "libgcc_s", "libdl"};
    if (o->system < 0) {
        o->system = o->path[0] != '/' || o->deleted;
        for (size_t i = 0; i < TL_COUNT(names); i++)
            o->system |= strncmp(tl_base_name(o->path), names[i], strlen(names[i])) == 0;
    }
    return o->system != 0;
}

static place place_of(tl_attach *a, uint64_t pc)
{
    const tl_attach_map *m = tl_attach_maps_at(&a->maps, pc);
    if (!m || !m->code || m->object == TL_ATTACH_NO_OBJECT)
        return ELSEWHERE;
    tl_attach_object *o = &a->maps.object[m->object];
    if (m->object == a->libc || strncmp(tl_base_name(o->path), "libpthread", 10) == 0)
        return IN_LIBC;
    return is_system(o) ? IN_SYSTEM : IN_PROGRAM;
}

/* Another allocator than libc's, which dlopen() would call as well. */
static bool allocates(const tl_attach *a, tl_attach_object *o)
{
    char path[PATH_MAX + 64];
    if (o->allocates < 0) {
        snprintf(path, sizeof path, "/proc/%ld/root%s", a->pid, o->path);
        o->allocates = tl_attach_symbols_allocate(path);
    }
    return o->allocates != 0;
}

/* The function of libc that only waits; NULL: it is none. */
static const tl_attach_wait *wait_at(const tl_attach *a, uint64_t pc)
{
    for (size_t i = 0; i < a->nwaits; i++)
        if (pc - a->waits[i].begin < a->waits[i].size)
            return &a->waits[i];
    return NULL;
}

/* Has the kernel stopped it in a system call? */
static bool is_in_call(const tl_attach *a, uint64_t pc, pid_t thread)
{
    static const uint8_t syscall_code[SYSCALL_BYTES] = {0x0f, 0x05};
    uint8_t code[SYSCALL_BYTES];
    struct user_regs_struct regs;
    return ptrace(PTRACE_GETREGS, thread, NULL, &regs) == 0 && (long)regs.orig_rax >= 0 &&
           tl_attach_read(a, pc - SYSCALL_BYTES, code, sizeof code) && memcmp(code, syscall_code, sizeof code) == 0;
}

/* The frames of the program: [*from, *to). False: what lies around them is not as it must be. */
static bool find_program(tl_attach *a, const stack *s, size_t *from, size_t *to)
{
    size_t low = 0, high = s->n;
    while (low < high && place_of(a, s->pc[low]) == IN_LIBC)
        low++;
    if (place_of(a, s->pc[high - 1]) == IN_PROGRAM && place_of(a, s->pc[high - 2]) == IN_LIBC)
        high--; /* the program's _start, which called libc, which called main() */
    const size_t end = high;
    while (high > low && place_of(a, s->pc[high - 1]) == IN_LIBC)
        high--;
    *from = low;
    *to = high;
    return high < end && low < high;
}

static bool is_safe(tl_attach *a, const stack *s, pid_t thread)
{
    size_t from, to;
    if (!find_program(a, s, &from, &to))
        return false;
    const tl_attach_wait *w = from > 0 ? wait_at(a, s->pc[from - 1]) : NULL;
    if (from > 0 && (from > WRAPPER_FRAMES || !w || !is_in_call(a, s->pc[0], thread)))
        return false;
    if (a->own_malloc && (!w || w->on_lock))
        return false; /* it may be in its malloc(), or wait for that */
    for (size_t i = from; i < to; i++) {
        if (place_of(a, s->pc[i]) != IN_PROGRAM)
            return false;
        tl_attach_object *o = &a->maps.object[tl_attach_maps_at(&a->maps, s->pc[i])->object];
        if (strcmp(o->path, a->program) != 0 && allocates(a, o))
            return false;
    }
    return true;
}

bool tl_attach_is_safe(tl_attach *a, pid_t thread)
{
    stack *s = malloc(sizeof *s);
    tl_attach_maps_free(&a->maps); /* libraries come and go, and stacks */
    const bool safe = s && tl_attach_maps_read(&a->maps, a->pid) && tl_attach_find_libc(a) && unwind(a, thread, s) &&
                      is_safe(a, s, thread);
    free(s);
    return safe;
}
#endif
