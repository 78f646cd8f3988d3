/* System calls: arguments, buffers, results. */
#include <sys/uio.h>
#include <unistd.h>

#include "format/xtrace/xtrace_layout.h"
#include "qemu/insn_thread.h"

enum { BUFFERS_MOST = 1024 /* no system call takes more */, BUFFER = 16 /* bytes of an iovec */ };

/* Numbers of AArch64. */
enum {
    CALL_READV = 65,
    CALL_WRITEV = 66,
    CALL_PREADV = 69,
    CALL_PWRITEV = 70,
    CALL_VMSPLICE = 75,
    CALL_RT_SIGRETURN = 139,
    CALL_SENDMSG = 211,
    CALL_RECVMSG = 212,
    CALL_CLONE = 220,
    CALL_EXECVE = 221,
    CALL_EXECVEAT = 281,
    CALL_PREADV2 = 286,
    CALL_PWRITEV2 = 287,
    CALL_CLONE3 = 435
};

/* The program may pass any address. */
bool insn_read_guest(uint64_t address, void *out, size_t n)
{
    const struct iovec to = {out, n}, from = {(void *)(guest_base + address), n}; // NOLINT
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n;
}

bool insn_read_frame(const insn_thread *t, uint64_t frame[INSN_FRAME_WORDS])
{
    enum { BEFORE_X0 = 312 };
    return insn_read_guest(t->x[QEMU_SP] + BEFORE_X0, frame, INSN_FRAME_WORDS * sizeof *frame);
}

/* Where the call finds its buffers, and how many there are. */
static bool find_buffers(int64_t number, uint64_t second, uint64_t third, uint64_t out[2])
{
    switch (number) {
    case CALL_READV:
    case CALL_WRITEV:
    case CALL_PREADV:
    case CALL_PWRITEV:
    case CALL_VMSPLICE:
    case CALL_PREADV2:
    case CALL_PWRITEV2:
        out[0] = second;
        out[1] = third;
        return true;
    case CALL_SENDMSG: /* in struct msghdr, behind the address */
    case CALL_RECVMSG:
        return insn_read_guest(second + 16, out, 2 * sizeof *out);
    default:
        return false;
    }
}

static uint8_t *put_buffers(uint8_t *at, const uint64_t where[2])
{
    uint8_t *const begin = at;
    if (where[1] > BUFFERS_MOST)
        return at;
    insn_put64(&at, XTRACE_VEC, where[1]);
    if (where[1] && !insn_read_guest(where[0], at, where[1] * BUFFER))
        return begin;
    return at + where[1] * BUFFER;
}

/* Threads that are not recorded change memory, too: the accesses of a slice have an order to say so. */
static void watch_threads(int64_t number, uint64_t flags)
{
    enum { THREAD = 0x10000 };
    if (insn_how.slice && (number == CALL_CLONE3 || (number == CALL_CLONE && flags & THREAD)))
        insn_how.times = true;
}

void insn_on_syscall(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a0, uint64_t a1, uint64_t a2,
                     uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7)
{
    const uint64_t arguments[7] = {(uint64_t)number, a0, a1, a2, a3, a4, a5};
    insn_thread *const t = insn_me;
    uint64_t buffers[2], frame[INSN_FRAME_WORDS];
    (void)id, (void)cpu, (void)a6, (void)a7;
    if (number == CALL_EXECVE || number == CALL_EXECVEAT)
        __atomic_fetch_add(&insn_memory->execs, 1, __ATOMIC_RELAXED);
    watch_threads(number, a0);
    insn_slice_maps(number, a4, a5);
    if (!t || !t->stream || !t->any)
        return;
    uint8_t *at = t->at;
    for (int i = 0; i < 7; i++)
        insn_put64(&at, XTRACE_SVC_ARG, arguments[i]);
    if (find_buffers(number, a1, a2, buffers))
        at = put_buffers(at, buffers);
    if (number == CALL_RT_SIGRETURN && insn_read_frame(t, frame)) /* another signal may come before its first insn */
        insn_put64(&at, XTRACE_TARGET, frame[INSN_FRAME_PC]);
    t->stream->calls++;
    insn_commit(t, at);
}

void insn_on_result(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result)
{
    insn_thread *const t = insn_me;
    (void)id, (void)cpu;
    insn_slice_mapped(result);
    if (!t || !t->stream || !t->any || number == CALL_RT_SIGRETURN) /* its result is the emulator's */
        return;
    uint8_t *at = t->at;
    insn_put64(&at, XTRACE_SVC_RET, (uint64_t)result);
    insn_commit(t, at);
}
