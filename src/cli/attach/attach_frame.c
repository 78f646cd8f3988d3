/* The state of a thread, taken and put back. */
#include "cli/attach/attach_frame.h"
#include "base/compiler.h"

#if TL_CAN_INJECT
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

/* struct rt_sigframe of the kernel, from its return address on. */
enum {
    CONTEXT_AT = 8,
    EXTENDED_AT = CONTEXT_AT + 448, /* behind context and siginfo, at a multiple of 64 */
    FRAME_ALIGN = 64,
    KERNEL_MASK_SIZE = 8,
    STATE_ROOM = 1 << 16, /* for extended state; the largest processor's is 11 KiB */
    TILES_AT = 2752,      /* of it; the kernel takes no frame with room for them from threads that use none */
    TILES_BITS = 3 << 17
};

/* struct _fpx_sw_bytes, within the part that FXSAVE leaves to the kernel; and the header of XSAVE. */
enum {
    FX_STATUS_AT = 0,
    FX_MXCSR_AT = 24,
    FX_CONTROL = 0x37f,
    FX_MXCSR = 0x1f80,
    SOFTWARE_AT = 464,
    HEADER_AT = 512,
    HEADER_SIZE = 64,
    FEATURES_AT = SOFTWARE_AT, /* of a register set of ptrace: what the system keeps */
    MAGIC_1 = 0x46505853,
    MAGIC_2 = 0x46505845,
    FLAG_XSTATE = 1,
    FLAGS_SS = 2 | 4
};

bool tl_attach_state_take(pid_t thread, tl_attach_state *s)
{
    *s = (tl_attach_state){.extended = malloc(STATE_ROOM)};
    struct iovec part = {s->extended, STATE_ROOM};
    if (s->extended && ptrace(PTRACE_GETREGS, thread, NULL, &s->regs) == 0 &&
        ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &part) == 0 &&
        ptrace(PTRACE_GETSIGMASK, thread, (void *)sizeof s->mask, &s->mask) == 0) {
        s->extended_size = part.iov_len;
        return true;
    }
    tl_attach_state_free(s);
    return false;
}

bool tl_attach_state_mute(pid_t thread)
{
    /* Signals of faults are not blocked: the kernel would forget their handlers. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    uint64_t all = UINT64_MAX;
    for (size_t i = 0; i < TL_COUNT(faults); i++)
        all &= ~(UINT64_C(1) << (faults[i] - 1));
    return ptrace(PTRACE_SETSIGMASK, thread, (void *)sizeof all, (void *)&all) == 0;
}

void tl_attach_state_put(pid_t thread, const tl_attach_state *s)
{
    struct iovec part = {s->extended, s->extended_size};
    ptrace(PTRACE_SETSIGMASK, thread, (void *)sizeof s->mask, (void *)&s->mask);
    ptrace(PTRACE_SETREGSET, thread, (void *)NT_X86_XSTATE, &part);
    ptrace(PTRACE_SETREGS, thread, NULL, (void *)&s->regs); /* last: until then its frame has all of it, too */
}

void tl_attach_state_free(tl_attach_state *s)
{
    const int kept = errno;
    free(s->extended);
    s->extended = NULL;
    errno = kept;
}

static void put16(uint8_t *at, uint16_t v)
{
    memcpy(at, &v, sizeof v);
}

static void put32(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, sizeof v);
}

static void put64(uint8_t *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

bool tl_attach_state_clean(pid_t thread, const tl_attach_state *s)
{
    if (s->extended_size < HEADER_AT + HEADER_SIZE) {
        errno = ENODEV; /* a processor without XSAVE */
        return false;
    }
    uint8_t *fresh = calloc(1, s->extended_size);
    if (!fresh)
        return false;
    put16(fresh + FX_STATUS_AT, FX_CONTROL);
    put32(fresh + FX_MXCSR_AT, FX_MXCSR);
    struct iovec part = {fresh, s->extended_size}; /* its header says that no part is in use */
    const bool good = ptrace(PTRACE_SETREGSET, thread, (void *)NT_X86_XSTATE, &part) == 0;
    free(fresh);
    return good;
}

/* What the kernel would do with an interrupted system call, where no signal handler runs. */
static void begin_again(struct user_regs_struct *r)
{
    enum { RESTART_SYS = 512, RESTART_NO_INTR = 513, RESTART_NO_HANDLER = 514, RESTART_BLOCK = 516, LENGTH = 2 };
    const int64_t result = (int64_t)r->rax;
    if ((int64_t)r->orig_rax < 0 || (result != -RESTART_SYS && result != -RESTART_NO_INTR &&
                                     result != -RESTART_NO_HANDLER && result != -RESTART_BLOCK))
        return;
    r->rax = result == -RESTART_BLOCK ? SYS_restart_syscall : r->orig_rax;
    r->rip -= LENGTH;
}

static void fill_context(ucontext_t *c, const tl_attach_state *s, uint64_t extended)
{
    struct user_regs_struct r = s->regs;
    begin_again(&r);
    const uint64_t value[NGREG] = {[REG_R8] = r.r8,
                                   [REG_R9] = r.r9,
                                   [REG_R10] = r.r10,
                                   [REG_R11] = r.r11,
                                   [REG_R12] = r.r12,
                                   [REG_R13] = r.r13,
                                   [REG_R14] = r.r14,
                                   [REG_R15] = r.r15,
                                   [REG_RDI] = r.rdi,
                                   [REG_RSI] = r.rsi,
                                   [REG_RBP] = r.rbp,
                                   [REG_RBX] = r.rbx,
                                   [REG_RDX] = r.rdx,
                                   [REG_RAX] = r.rax,
                                   [REG_RCX] = r.rcx,
                                   [REG_RSP] = r.rsp,
                                   [REG_RIP] = r.rip,
                                   [REG_EFL] = r.eflags,
                                   [REG_CSGSFS] = (r.cs & 0xffff) | (r.ss & 0xffff) << 48};
    memset(c, 0, sizeof *c);
    c->uc_flags = FLAG_XSTATE | FLAGS_SS;
    for (size_t i = 0; i < NGREG; i++)
        c->uc_mcontext.gregs[i] = (greg_t)value[i];
    memcpy(&c->uc_mcontext.fpregs, &extended, sizeof extended);
    memcpy(&c->uc_sigmask, &s->mask, KERNEL_MASK_SIZE);
}

uint64_t tl_attach_frame_write(const tl_attach *a, const tl_attach_state *s, uint64_t top, uint64_t back)
{
    /* Its second word lies at a multiple of 64, so it is as a return address: 8 above a multiple of 16. */
    const size_t size = s->extended_size > TILES_AT ? TILES_AT : s->extended_size;
    const size_t n = EXTENDED_AT + size + sizeof(uint32_t);
    const uint64_t at = ((top - n - FRAME_ALIGN) & ~(uint64_t)(FRAME_ALIGN - 1)) + FRAME_ALIGN - CONTEXT_AT;
    uint8_t *bytes = calloc(1, n);
    ucontext_t c;
    if (!bytes)
        return 0;
    fill_context(&c, s, at + EXTENDED_AT);
    put64(bytes, back);
    memcpy(bytes + CONTEXT_AT, &c, offsetof(ucontext_t, uc_sigmask) + KERNEL_MASK_SIZE);
    uint8_t *extended = bytes + EXTENDED_AT;
    memcpy(extended, s->extended, size);
    uint64_t features;
    memcpy(&features, extended + FEATURES_AT, sizeof features);
    features &= ~(uint64_t)TILES_BITS;
    put32(extended + SOFTWARE_AT, MAGIC_1);
    put32(extended + SOFTWARE_AT + 4, (uint32_t)(size + sizeof(uint32_t)));
    put64(extended + SOFTWARE_AT + 8, features);
    put32(extended + SOFTWARE_AT + 16, (uint32_t)size);
    put32(extended + size, MAGIC_2);
    const bool good = tl_attach_write(a, at, bytes, n);
    free(bytes);
    return good ? at : 0;
}
#endif
