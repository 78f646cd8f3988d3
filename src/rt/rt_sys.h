/* System calls without libc: what hooks may use. No errno, no vector registers, no cancellation points. */
#ifndef TL_RT_SYS_H
#define TL_RT_SYS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define RT_INLINE      static inline __attribute__((always_inline))
#define RT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define RT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RT_COLD        __attribute__((cold, noinline))
#define RT_RARE        __attribute__((noinline)) /* not inlined, but not cold */
/* The compiler moves no access to memory across it, which orders stores for a signal handler, and for readers of a
 * mapping after the program was killed. It does not order what other processors see. */
#define RT_BARRIER()   __asm__ volatile("" ::: "memory")
/* Readers on other processors, such as a flush or readers of a live file, also see earlier stores before later ones.
 * x86-64 keeps stores in order by itself. */
#if defined(__aarch64__)
#define RT_PUBLISH() __asm__ volatile("dmb ishst" ::: "memory")
#else
#define RT_PUBLISH() RT_BARRIER()
#endif
/* A store that keeps its order among others of its kind: a signal handler that never returns here finds a prefix of
 * them done. Costs nothing. */
#define RT_STORE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
/* The recorder itself is never instrumented, whatever flags it is built with. */
#define RT_UNTRACED    __attribute__((no_instrument_function))

/* Up to six arguments; a negative result is -errno. */
RT_INLINE long rt_syscall(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "the recorder knows x86-64 and AArch64 only"
#endif
}

#define RT_SYS0(n)                   rt_syscall(n, 0, 0, 0, 0, 0, 0)
#define RT_SYS1(n, a)                rt_syscall(n, (long)(a), 0, 0, 0, 0, 0)
#define RT_SYS2(n, a, b)             rt_syscall(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define RT_SYS3(n, a, b, c)          rt_syscall(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define RT_SYS4(n, a, b, c, d)       rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define RT_SYS6(n, a, b, c, d, e, f) rt_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* mmap returns an address or -errno. */
#define RT_IS_ERROR(result)          ((unsigned long)(result) > -4096ul)

/* As in libc, but without vector registers. Never turned into calls of libc's (-fno-builtin). */
RT_INLINE void rt_copy(void *to, const void *from, size_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
    for (size_t i = 0; i < n; i++)
        ((volatile char *)to)[i] = ((const char *)from)[i];
#endif
}

RT_INLINE void rt_zero(void *to, size_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
#else
    volatile char *p = to;
    for (; n && ((uintptr_t)p & 7); n--)
        *p++ = 0;
    for (; n >= 8; n -= 8, p += 8)
        *(volatile uint64_t *)(void *)p = 0;
    for (; n; n--)
        *p++ = 0;
#endif
}

RT_INLINE size_t rt_length(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

/* Blocks signals around what exit() or longjmp in a handler must not leave half done. Returns the old mask. */
RT_INLINE uint64_t rt_signals_block(void)
{
    uint64_t all = UINT64_MAX, before = 0;
    RT_SYS4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &before, sizeof all);
    return before;
}

RT_INLINE void rt_signals_restore(uint64_t before)
{
    RT_SYS4(SYS_rt_sigprocmask, 2, &before, 0, sizeof before);
}

/* Does the thread run on its alternate signal stack now? */
RT_INLINE bool rt_on_signal_stack(void)
{
    stack_t s = {.ss_flags = 0};
    return RT_SYS2(SYS_sigaltstack, 0, &s) == 0 && (s.ss_flags & SS_ONSTACK);
}

/* A lock for what happens once in a thousand events or less. A signal handler never waits for the code that it
 * interrupted, because its events are put aside while the thread is inside the recorder (rt_lane.busy). */
typedef struct rt_lock {
    volatile uint32_t held; /* number of the holding thread; 0: free */
} rt_lock;

/* Set when the process ends (rt_life.c). The holder of a lock may then be code that a signal handler interrupted to
 * call exit(): it will never release the lock, and the program has to end. */
__attribute__((weak)) volatile uint32_t tl_rt_ending;
enum { RT_LOCK_YIELDS = 1000, RT_LOCK_PATIENCE_MS = 10000 };

/* False: the process ends, and the lock is held by interrupted code of this thread, or by a thread that does not
 * release it for a long time. */
RT_INLINE bool rt_lock_take(rt_lock *l)
{
    static const long ms[2] = {0, 1000000};
    uint32_t me = (uint32_t)RT_SYS0(SYS_gettid);
    for (uint32_t turn = 0;; turn++) {
        uint32_t holder = 0;
        if (__atomic_compare_exchange_n(&l->held, &holder, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        if (tl_rt_ending && (holder == me || turn >= RT_LOCK_YIELDS + RT_LOCK_PATIENCE_MS))
            return false;
        if (!tl_rt_ending || turn < RT_LOCK_YIELDS)
            RT_SYS0(SYS_sched_yield);
        else
            RT_SYS2(SYS_nanosleep, ms, 0);
    }
}

RT_INLINE void rt_lock_give(rt_lock *l)
{
    __atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#endif
