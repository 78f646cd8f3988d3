/* Programs to attach to, which notice whatever happens to them: attach_victim WHAT. Each prints one line when it is
 * ready, ends on SIGUSR1 (or when it has done its work), and prints "good" if all was as it must be.
 *
 *   busy       8 threads that compute                    malloc     one thread, always in malloc() but for moments
 *   fork       forks all the time                        registers  watches its registers, computing
 *   sleeper    the same, in system calls of its own      waits      in a system call that ends once
 *   signals    gets signals that are all counted         short      ends after a moment by itself
 *   seccomp    limits its system calls                   naps       sleeps, and is never woken too early
 *   tiny       threads with the smallest stacks          jail       a thread waits for ever in a callback of libc
 *   alone      one thread that computes
 *   vfork      waits for a child of vfork(), and cannot be stopped for ten seconds; then computes */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

uint64_t attach_registers(uint64_t rounds, uint64_t sleeps, uint64_t avx);

static volatile sig_atomic_t ended;
static volatile uint64_t signals;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void count(int number)
{
    (void)number;
    signals++;
}

__attribute__((noinline)) static uint64_t fib(uint64_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static bool compute(void)
{
    return fib(15) == 610;
}

static void *compute_until_end(void *bad)
{
    while (!ended)
        if (!compute())
            *(volatile bool *)bad = true;
    return NULL;
}

static bool threads(int n, size_t stack, void *(*run)(void *))
{
    pthread_t thread[16];
    static bool bad;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (stack)
        pthread_attr_setstacksize(&attr, stack);
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], &attr, run, &bad) != 0)
            return false;
    run(&bad);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    return !bad;
}

static bool busy(void)
{
    return threads(7, 0, compute_until_end);
}

static bool tiny(void)
{
    return threads(7, PTHREAD_STACK_MIN, compute_until_end);
}

static void *allocate(void *bad)
{
    static const size_t size[] = {16, 200, 5000, 70000, 300000};
    void *piece[64] = {NULL};
    for (unsigned i = 0; !ended; i++) {
        unsigned char **at = (unsigned char **)&piece[i % 64];
        const size_t n = size[i % 5];
        if (*at && ((*at)[0] != i % 64 || (*at)[n > 300 ? 300 : n - 1] != 7) && i % 320 >= 64)
            *(volatile bool *)bad = *(volatile bool *)bad;
        free(*at);
        *at = malloc(n);
        if (*at)
            memset(*at, (int)(i % 64), n);
        if (i % 64 == 0 && !compute())
            *(volatile bool *)bad = true;
    }
    for (unsigned i = 0; i < 64; i++)
        free(piece[i]);
    return NULL;
}

static bool allocating(void)
{
    static bool bad;
    allocate(&bad);
    return !bad;
}

static bool forking(void)
{
    bool good = true;
    for (unsigned i = 0; !ended && good; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0)
            _exit(compute() ? (int)(i % 100) : 101);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        good = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == (int)(i % 100);
    }
    return good;
}

static bool registers(bool sleeps)
{
    const bool avx = __builtin_cpu_supports("avx2");
    uint64_t wrong = 0;
    while (!ended && (wrong == 0 || wrong == 300)) /* 300: SIGUSR1 ends its sleep */
        wrong = attach_registers(sleeps ? 20 : 20000, sleeps, avx);
    if (wrong && wrong != 300)
        printf("register %llu\n", (unsigned long long)wrong);
    return wrong == 0 || wrong == 300;
}

/* What it reads must be all that was written, and nothing interrupts it. */
static bool waits(void)
{
    char text[16];
    for (;;) {
        const ssize_t n = read(STDIN_FILENO, text, sizeof text);
        if (n == 0)
            return true;
        if (n != 4 || memcmp(text, "word", 4) != 0)
            return false;
    }
}

static void *sleep_until_end(void *bad)
{
    const struct timespec moment = {0, 30000000};
    while (!ended) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        const int failed = nanosleep(&moment, NULL);
        clock_gettime(CLOCK_MONOTONIC, &to);
        const int64_t ns = (to.tv_sec - from.tv_sec) * INT64_C(1000000000) + to.tv_nsec - from.tv_nsec;
        if (!ended && (failed || ns < moment.tv_nsec))
            *(volatile bool *)bad = true;
    }
    return NULL;
}

static bool naps(void)
{
    static bool bad;
    sleep_until_end(&bad);
    return !bad;
}

/* A child sends signals that are queued; none may be lost, and each ends a pause(). */
static bool getting_signals(void)
{
    enum { SIGNALS = 3000 };
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        for (int i = 0; i < SIGNALS; i++) {
            while (sigqueue(parent, SIGRTMIN, (union sigval){i}) != 0)
                usleep(100);
            usleep(100);
        }
        _exit(0);
    }
    sigset_t only, before;
    sigemptyset(&only);
    sigaddset(&only, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &only, &before);
    while (signals < SIGNALS)
        if (sigsuspend(&before) == 0 || errno != EINTR)
            return false;
    waitpid(child, NULL, 0);
    return signals == SIGNALS;
}

static bool limited(void)
{
    struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return false;
    while (!ended)
        pause();
    return true;
}

static int wait_inside(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info, (void)size, (void)unused;
    while (!ended)
        pause();
    return 1;
}

static bool jail(void)
{
    return dl_iterate_phdr(wait_inside, NULL) == 1;
}

static bool alone(void)
{
    static bool bad;
    compute_until_end(&bad);
    return !bad;
}

static bool vforking(void)
{
    int status = -1;
    const pid_t child = vfork();
    if (child == 0) {
        const struct timespec t = {10, 0};
        nanosleep(&t, NULL);
        _exit(7);
    }
    static bool bad;
    compute_until_end(&bad);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7 && !bad;
}

static bool shortly(void)
{
    for (int i = 0; i < 4000; i++)
        if (!compute())
            return false;
    return true;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"busy", "tiny",    "malloc",  "fork", "registers", "sleeper", "waits",
                                        "naps", "signals", "seccomp", "jail", "short",     "vfork",   "alone"};
    const char *what = argc > 1 ? argv[1] : "";
    unsigned which = 0;
    bool good;
    signal(SIGUSR1, end);
    signal(SIGRTMIN, count);
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("ready");
    while (which < sizeof names / sizeof *names && strcmp(names[which], what) != 0)
        which++;
    switch (which) {
    case 0:
        good = busy();
        break;
    case 1:
        good = tiny();
        break;
    case 2:
        good = allocating();
        break;
    case 3:
        good = forking();
        break;
    case 4:
        good = registers(false);
        break;
    case 5:
        good = registers(true);
        break;
    case 6:
        good = waits();
        break;
    case 7:
        good = naps();
        break;
    case 8:
        good = getting_signals();
        break;
    case 9:
        good = limited();
        break;
    case 10:
        good = jail();
        break;
    case 11:
        good = shortly();
        break;
    case 12:
        good = vforking();
        break;
    case 13:
        good = alone();
        break;
    default:
        return 2;
    }
    puts(good ? "good" : "bad");
    return good ? 0 : 1;
}
