/* The cost of a function call with any recorder: built many times by rt.py.
 *
 *   rt_call leaf|tree|clock N REPEATS [THREADS [wait]]
 *
 * leaf: N calls of a function that does nothing, in a loop. tree: calls of fib, about N of them. clock: two reads of
 * the processor's counter, N times. Prints ns for each call, of the best of REPEATS repetitions; of several threads at
 * once, the slowest counts. With `wait` it begins when its input ends. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__clang__)
#define TRACED   __attribute__((noinline, xray_always_instrument, aligned(64)))
#define UNTRACED __attribute__((noinline, xray_never_instrument, no_instrument_function, aligned(64)))
#else
#define TRACED   __attribute__((noipa, aligned(64)))
#define UNTRACED __attribute__((noipa, no_instrument_function, aligned(64)))
#endif

#if defined(LLVM_MODE)
/* The program controls LLVM's runtime. */
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *options);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);
int __xray_unpatch(void);

UNTRACED static void llvm_begin(void)
{
    __xray_log_select_mode(LLVM_MODE);
    if (__xray_log_init_mode(LLVM_MODE, LLVM_OPTIONS) != 2)
        exit(3);
    __xray_patch();
}

UNTRACED static void llvm_end(void)
{
    __xray_unpatch();
    __xray_log_finalize();
    __xray_log_flushLog();
}
#else
#define llvm_begin() ((void)0)
#define llvm_end()   ((void)0)
#endif

#if defined(EMPTY_HOOKS)
void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);
UNTRACED void __cyg_profile_func_enter(void *function, void *from)
{
    (void)function, (void)from;
    __asm__ volatile("");
}

UNTRACED void __cyg_profile_func_exit(void *function, void *from)
{
    (void)function, (void)from;
    __asm__ volatile("");
}
#endif

enum { MOST = 64 };
static unsigned long count;
static int repeats, threads = 1;
static pthread_barrier_t barrier;
static void (*what)(unsigned long);

TRACED static void leaf(unsigned long n)
{
    __asm__ volatile("" ::"r"(n));
}

TRACED static unsigned fib(unsigned n)
{
    if (n < 2)
        return n;
    unsigned r = fib(n - 1) + fib(n - 2);
    __asm__ volatile("" ::: "memory"); /* or the second call becomes a loop */
    return r;
}

UNTRACED static void leaves(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        leaf(i);
}

/* fib(k) is called 2 fib(k + 1) - 1 times. */
UNTRACED static unsigned tree_of(unsigned long n, unsigned long *calls)
{
    unsigned long a = 0, b = 1;
    unsigned k = 0;
    for (; 2 * (a + b) - 1 <= n; k++) {
        unsigned long next = a + b;
        a = b;
        b = next;
    }
    *calls = 2 * b - 1;
    return k;
}

UNTRACED static void tree(unsigned long n)
{
    unsigned long calls;
    volatile unsigned sum = fib(tree_of(n, &calls));
    (void)sum;
}

UNTRACED static void clock_reads(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
#if defined(__x86_64__)
        uint64_t a = __builtin_ia32_rdtsc(), b = __builtin_ia32_rdtsc();
#else
        uint64_t a, b;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(a));
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(b));
#endif
        __asm__ volatile("" ::"r"(a), "r"(b));
    }
}

UNTRACED static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Each thread measures itself, between two barriers. */
static double took[MOST];
UNTRACED static void *run(void *mine)
{
    double *own = mine;
    *own = 1e30;
    for (int i = 0; i < repeats; i++) {
        pthread_barrier_wait(&barrier);
        double begin = now();
        what(count);
        double t = now() - begin;
        *own = t < *own ? t : *own;
    }
    return NULL;
}

UNTRACED int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    unsigned long calls = count = strtoul(argv[2], NULL, 10);
    repeats = atoi(argv[3]);
    threads = argc > 4 ? atoi(argv[4]) : 1;
    what = !strcmp(argv[1], "leaf") ? leaves : !strcmp(argv[1], "tree") ? tree : clock_reads;
    if (what == tree)
        tree_of(count, &calls);
    if (threads < 1 || threads > MOST)
        return 2;
    while (argc > 5 && getchar() != EOF)
        ;
    llvm_begin();
    pthread_t thread[MOST];
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run, &took[i]))
            return 3;
    run(&took[0]);
    double worst = took[0];
    for (int i = 1; i < threads; i++) {
        pthread_join(thread[i], NULL);
        worst = took[i] > worst ? took[i] : worst;
    }
    llvm_end();
    printf("%.4f\n", worst / (double)calls);
    return 0;
}
