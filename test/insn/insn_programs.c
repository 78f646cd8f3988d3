/* What is hard to record of a program: insn_programs PART [N]. Prints results that do not depend on time.
 *
 *     signals   an interval timer every millisecond, N times; faults that are left by siglongjmp
 *     forks     children, of children, and by vfork
 *     threads   N threads at a time, with atomic operations of all kinds
 *     code      a function that is written again 300 times
 *     sums      N rounds of arithmetic; prints nothing before the end
 *     lines     the same, and a line for each round
 *     exec      runs itself with `sums`, if the system runs programs of AArch64 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MOST = 512, ROUNDS = 300 };

static volatile sig_atomic_t ticks, faults;
static volatile double last;
static sigjmp_buf back;

static void on_tick(int number)
{
    double x = number;
    ticks++;
    for (int i = 0; i < 10; i++)
        x = x * 1.5 + i; /* vectors, which the end of the handler restores */
    last = x;
}

static void on_fault(int number)
{
    (void)number;
    faults++;
    siglongjmp(back, 1);
}

__attribute__((noinline)) static uint64_t work(uint64_t n)
{
    char text[512];
    double d = 1;
    uint64_t h = n;
    for (uint64_t i = 0; i < n; i++) {
        memset(text, (int)h, sizeof text);
        for (size_t k = 0; k < sizeof text; k++)
            h = h * 31 + (uint8_t)text[k] + (h % 3 ? i : k);
        d = d * 1.0001 + (double)(h % 7);
    }
    return h + (uint64_t)d;
}

static int signals(int n)
{
    static char stack[65536];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction tick = {.sa_handler = on_tick}, fault = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    sigaltstack(&other, NULL);
    sigaction(SIGALRM, &tick, NULL);
    sigaction(SIGSEGV, &fault, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    while (ticks < n)
        work(3);
    setitimer(ITIMER_REAL, &never, NULL);
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(back, 1) == 0)
            *(volatile int *)(uintptr_t)(8 + i * 8) = 1;
    raise(SIGALRM);
    return printf("%d faults, %s\n", (int)faults, ticks > n ? "all ticks" : "few ticks") < 0;
}

static int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static int forks(void)
{
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        if (child == 0) {
            const uint64_t h = work(2 * (uint64_t)i + 1);
            if (i == 1) {
                const pid_t second = fork();
                if (second == 0)
                    _exit((int)(work(2) % 7));
                _exit(status_of(second));
            }
            _exit((int)(h % 5));
        }
        printf("child %d\n", status_of(child));
    }
    fflush(stdout);
    const pid_t child = vfork();
    if (child == 0)
        _exit(7);
    return printf("vfork %d\n", status_of(child)) < 0;
}

static _Atomic long counter;
static _Atomic unsigned char byte;
static long guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *rounds)
{
    for (long i = 0; i < (long)(intptr_t)rounds; i++) {
        long e = atomic_fetch_add(&counter, i);
        atomic_fetch_or(&byte, (unsigned char)i);
        atomic_fetch_xor(&counter, i);
        atomic_compare_exchange_weak(&counter, &e, e + 1);
        atomic_exchange(&byte, 3);
        pthread_mutex_lock(&lock);
        guarded += i;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int threads(int n)
{
    pthread_t thread[THREADS_MOST];
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n; i++)
            if (pthread_create(&thread[i], NULL, run, (void *)(intptr_t)100))
                return 1;
        for (int i = 0; i < n; i++)
            pthread_join(thread[i], NULL);
    }
    return printf("%ld\n", guarded) < 0;
}

static int code(void)
{
    uint32_t *const p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;
    if (p == MAP_FAILED)
        return 1;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        p[0] = 0xd2800000 | i << 5; /* mov x0, #i */
        p[1] = 0xd65f03c0;          /* ret */
        __builtin___clear_cache((char *)p, (char *)(p + 2));
        sum += ((long (*)(void))p)();
    }
    return printf("%ld\n", sum) < 0;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    const int n = argc > 2 ? atoi(argv[2]) : 1;
    if (strcmp(part, "signals") == 0)
        return signals(n);
    if (strcmp(part, "forks") == 0)
        return forks();
    if (strcmp(part, "threads") == 0 && n <= THREADS_MOST)
        return threads(n);
    if (strcmp(part, "code") == 0)
        return code();
    if (strcmp(part, "sums") == 0)
        return printf("%llu\n", (unsigned long long)work((uint64_t)n)) < 0;
    for (int i = 0; i < n && strcmp(part, "lines") == 0; i++) {
        printf("%llu\n", (unsigned long long)work((uint64_t)i % 9));
        fflush(stdout);
    }
    if (strcmp(part, "exec") == 0 && execl(argv[0], argv[0], "sums", "1", (char *)NULL))
        return puts("not run") < 0;
    return strcmp(part, "lines") != 0;
}
