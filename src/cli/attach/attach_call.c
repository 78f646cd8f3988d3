/* Has a stopped thread call functions, and go on where it was.
 *
 *   its own stack    ... | red zone | frame |    what it needs to go on, as the kernel makes it for a signal handler
 *   memory of ours       | page of code |   stack ->  | frame | path |
 *
 * First it maps the memory, with calls on its own stack that need a few words of it; the others run on ours, so that
 * small stacks, too, are large enough. Each call returns to the frame's end of a signal handler. There, before that
 * system call is carried out, we have the thread again, and it makes the next call, or we put all registers back.
 * Meanwhile it takes no signals: they wait, or go to other threads. */
#include "cli/attach/attach.h"

#if TL_CAN_INJECT
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "cli/attach/attach_frame.h"
#include "cli/message.h"

enum {
    CODE_SIZE = 4096,
    MEMORY_SIZE = CODE_SIZE + (256 << 10),
    TEXT_SIZE = 4096,    /* at the end of it, for the path */
    PATIENCE_MS = 20000, /* for a call */
    SPINS = 200,         /* looks before sleeping between them */
    ARGUMENTS = 6,
    SYSCALL_TRAP = SIGTRAP | 0x80
};

/* How a call ended. FAILED: it was not made, and errno says why. */
typedef enum end { CALLED, GONE, CRASHED, SILENT, FAILED } end;

typedef struct borrowed {
    const tl_attach *a;
    pid_t thread;
    tl_attach_state before;
    uint64_t memory; /* ours, in the process; 0: none */
    uint64_t back;   /* it stands behind this code, before the system call that ends it, after a call of ours; 0: not */
    bool muted;      /* its signals are blocked */
    int number;      /* CRASHED: the signal */
} borrowed;

/* mov %rax,%rdi; mov $15,%eax; syscall: as the end of a signal handler, and keeps the result where we see it. */
static const uint8_t return_code[] = {0x48, 0x89, 0xc7, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* Waits for its next stop. */
static bool wait_for_stop(pid_t thread, int *status)
{
    for (long turn = 0; turn < SPINS + PATIENCE_MS; turn++) {
        const pid_t got = waitpid(thread, status, __WALL | WNOHANG);
        if (got == thread)
            return true;
        if (got < 0 && errno != EINTR) {
            *status = 0;
            return true;
        }
        nanosleep(&(struct timespec){0, turn < SPINS ? 10000 : 1000000}, NULL);
    }
    return false;
}

/* Lets it run to where a system call begins or ends. */
static end run_to_call(borrowed *b)
{
    int status;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, b->thread, NULL, NULL) != 0)
            return errno == ESRCH ? GONE : SILENT;
        do {
            if (!wait_for_stop(b->thread, &status))
                return SILENT;
            if (!WIFSTOPPED(status))
                return GONE;
            if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
                ptrace(PTRACE_LISTEN, b->thread, NULL, NULL); /* the process was stopped; it will go on */
        } while (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP);
        if (WSTOPSIG(status) == SYSCALL_TRAP)
            return CALLED;
        if (status >> 16 == 0) {
            b->number = WSTOPSIG(status);
            return CRASHED; /* others are blocked */
        }
    }
}

/* What failed in ptrace(). */
static end failed(void)
{
    return errno == ESRCH ? GONE : FAILED;
}

/* The system call at whose begin it stands is not carried out: it stands before its code then, and still goes on by
 * itself if we end. */
static end skip_call(borrowed *b)
{
    struct user_regs_struct r;
    if (!b->back)
        return CALLED;
    if (ptrace(PTRACE_GETREGS, b->thread, NULL, &r) != 0)
        return failed();
    r.rip = b->back;
    r.orig_rax = (unsigned long long)-1;
    if (ptrace(PTRACE_SETREGS, b->thread, NULL, &r) != 0)
        return failed();
    b->back = 0;
    return run_to_call(b);
}

/* The registers first: then it can go on by itself, with whatever else has changed. */
static end enter(borrowed *b, uint64_t function, const uint64_t *argument, uint64_t frame)
{
    struct user_regs_struct r = b->before.regs;
    r.rip = function;
    r.rsp = frame;
    r.rdi = argument[0], r.rsi = argument[1], r.rdx = argument[2];
    r.rcx = argument[3], r.r8 = argument[4], r.r9 = argument[5];
    r.rax = r.rbp = 0;
    r.orig_rax = (unsigned long long)-1;
    r.eflags &= ~(uint64_t)0xd00; /* trap, direction, overflow */
    if (ptrace(PTRACE_SETREGS, b->thread, NULL, &r) != 0)
        return failed();
    if (!tl_attach_state_clean(b->thread, &b->before))
        return failed();
    b->muted = b->muted || tl_attach_state_mute(b->thread);
    return b->muted ? CALLED : failed();
}

/* Calls a function with its frame at `at`, below which the stack is free, and `back` the code that it returns to, the
 * last two bytes of which are its system call. *result: what it returned if that code keeps it, and otherwise the
 * result of its last system call. */
static end call(borrowed *b, uint64_t function, const uint64_t *argument, uint64_t at, uint64_t back, size_t back_size,
                uint64_t *result)
{
    struct user_regs_struct r;
    uint64_t frame = tl_attach_frame_write(b->a, &b->before, at, back);
    if (!frame)
        return FAILED;
    end e = skip_call(b);
    if (e == CALLED)
        e = enter(b, function, argument, frame);
    if (e != CALLED)
        return e;
    for (bool begins = true;; begins = !begins) {
        if ((e = run_to_call(b)) != CALLED)
            return e;
        if (ptrace(PTRACE_GETREGS, b->thread, NULL, &r) != 0)
            return GONE;
        if (begins && r.orig_rax == SYS_rt_sigreturn && r.rip == back + back_size)
            break;
        if (!begins)
            *result = r.rax;
    }
    b->back = back;
    if (back != b->a->sigreturn)
        *result = r.rdi;
    return CALLED;
}

/* On the thread's own stack: only such functions of libc that do nothing but one system call. */
static end call_small(borrowed *b, tl_attach_function f, const uint64_t *argument, uint64_t *result)
{
    return call(b, b->a->function[f], argument, b->before.regs.rsp - TL_ATTACH_RED_ZONE, b->a->sigreturn, 9, result);
}

static end call_large(borrowed *b, uint64_t function, uint64_t first, uint64_t second, uint64_t *result)
{
    const uint64_t argument[ARGUMENTS] = {first, second};
    return call(b, function, argument, b->memory + MEMORY_SIZE - TEXT_SIZE, b->memory, sizeof return_code, result);
}

static end take_memory(borrowed *b)
{
    uint64_t done = 0;
    const uint64_t map[ARGUMENTS] = {0, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1};
    end e = call_small(b, TL_ATTACH_MMAP, map, &done);
    if (e != CALLED)
        return e;
    if (done > (uint64_t)-4096 || done == 0) {
        errno = (int)-done;
        return FAILED;
    }
    b->memory = done;
    const uint64_t protect[ARGUMENTS] = {b->memory, CODE_SIZE, PROT_READ | PROT_EXEC};
    if (!tl_attach_write(b->a, b->memory, return_code, sizeof return_code))
        return FAILED;
    e = call_small(b, TL_ATTACH_MPROTECT, protect, &done);
    if (e == CALLED && done != 0) {
        errno = (int)-done;
        return FAILED;
    }
    return e;
}

static void give_memory(borrowed *b)
{
    uint64_t done;
    const uint64_t unmap[ARGUMENTS] = {b->memory, MEMORY_SIZE};
    if (b->memory)
        call_small(b, TL_ATTACH_MUNMAP, unmap, &done);
}

/* It goes on where it was; a system call that was interrupted begins again, as the kernel does it, because the thread
 * is made to stop in that place of the kernel once more. */
static void give_back(borrowed *b)
{
    int status;
    if (skip_call(b) != CALLED)
        return;
    ptrace(PTRACE_INTERRUPT, b->thread, NULL, NULL);
    ptrace(PTRACE_CONT, b->thread, NULL, NULL);
    if (!wait_for_stop(b->thread, &status) || !WIFSTOPPED(status))
        return;
    tl_attach_state_put(b->thread, &b->before);
    tl_attach_let_go(b->thread, 0);
}

/* A text of the process, such as that of dlerror(). */
static char *text_at(const tl_attach *a, uint64_t address, char *out, size_t size)
{
    size_t n = 0;
    while (n < size - 1 && tl_attach_read(a, address + n, out + n, 1) && out[n])
        n++;
    out[n] = 0;
    return out;
}

static int say_end(const borrowed *b, end e)
{
    if (e == GONE)
        tl_say_error(b->a->name, "ended while it was attached to");
    else if (e == CRASHED)
        tl_say_error(b->a->name, "cannot be attached to: a call in it failed (%s), and was undone",
                     strsignal(b->number));
    else if (e == FAILED)
        tl_say_error(b->a->name, "cannot be attached to: a call in it could not be made: %s", strerror(errno));
    else
        tl_say_error(b->a->name, "cannot be attached to: a call in it did not return for %d s", PATIENCE_MS / 1000);
    return TL_EXIT_RECORD;
}

/* Loads the recorder, and enters it. */
static end load(borrowed *b, int *status)
{
    const tl_attach *a = b->a;
    const uint64_t path = b->memory + MEMORY_SIZE - TEXT_SIZE, name = path + TEXT_SIZE / 2;
    uint64_t handle = 0, entrance = 0, result = 0;
    char why[512];
    *status = TL_EXIT_RECORD;
    if (!tl_attach_write(a, path, a->library, strlen(a->library) + 1) ||
        !tl_attach_write(a, name, "tl_rt_attach", sizeof "tl_rt_attach"))
        return FAILED;
    end e = call_large(b, a->function[TL_ATTACH_DLOPEN], path, RTLD_NOW, &handle);
    if (e == CALLED && handle)
        e = call_large(b, a->function[TL_ATTACH_DLSYM], handle, name, &entrance);
    if (e == CALLED && !entrance) {
        e = call_large(b, a->function[TL_ATTACH_DLERROR], 0, 0, &result);
        if (e == CALLED)
            tl_say_error(a->name, "cannot be attached to: %s", text_at(a, result, why, sizeof why));
        return e;
    }
    if (e == CALLED)
        e = call_large(b, entrance, 0, 0, &result);
    if (e == CALLED && (int32_t)result < 0)
        tl_say_error(a->name, "cannot be attached to: its recorder does not begin: %s", strerror(-(int32_t)result));
    else if (e == CALLED)
        *status = TL_EXIT_DONE;
    return e;
}

int tl_attach_borrow(tl_attach *a, pid_t thread)
{
    borrowed b = {.a = a, .thread = thread};
    int status = TL_EXIT_RECORD;
    if (strlen(a->library) >= TEXT_SIZE / 2) {
        tl_say_error(a->library, "the path is too long");
        tl_attach_let_go(thread, 0);
        return TL_EXIT_RECORD;
    }
    if (!tl_attach_state_take(thread, &b.before)) {
        tl_attach_say_refused(a->name, errno);
        tl_attach_let_go(thread, 0);
        return TL_EXIT_RECORD;
    }
    end e = take_memory(&b);
    if (e == CALLED)
        e = load(&b, &status);
    const int why = errno;
    if (e == CALLED || e == FAILED) /* what crashed may be referred to on its stack, and what is silent runs there */
        give_memory(&b);
    if (e == CALLED || e == CRASHED || e == FAILED)
        give_back(&b);
    errno = why;
    if (e == SILENT) /* by itself: see above */
        tl_attach_let_go(thread, 0);
    if (e != CALLED)
        status = say_end(&b, e);
    tl_attach_state_free(&b.before);
    return status;
}
#endif
