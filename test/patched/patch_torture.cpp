// Everything that unwinders, jumps, signals, threads and coroutines do to stacks, in one program that knows its calls.
//
//   patch_torture PART     a shared object made of patch_torture_part.cpp
//
// Prints the lines of count.h, and "said ..." for what must be the same whether code is patched or not; and
// "about NAME N M": NAME was called N times, or up to M more or less, for threads that were cancelled anywhere.
#define FUNCTIONS(X)                                                                                                   \
    X(main)                                                                                                            \
    X(thrower)                                                                                                         \
    X(middle)                                                                                                          \
    X(rethrows) X(catches) X(nested) X(try_block) X(unwound) X(less) X(carried) X(virtual_call) EARLY(X) LATE(X)
#define EARLY(X)                                                                                                       \
    X(jumper)                                                                                                          \
    X(jumps)                                                                                                           \
    X(deep_jump) X(on_signal) X(on_fault) X(faults) X(on_tick) X(busy) X(leaf) X(frames) X(frame_two) X(frame_one)     \
        X(address)
#define LATE(X)                                                                                                        \
    X(cancelled)                                                                                                       \
    X(waits)                                                                                                           \
    X(leaves) X(leaver) X(cleaned) X(resumed) X(finished) X(one_step) X(early) X(late) X(at_exit) X(callback)          \
        X(worker) X(once)
#include "count.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <future>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <unwind.h>
#include <vector>
#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif

enum { TICKS = 20, TIMES = 50, THREADS = 4, CANCELS = 20, NUMBERS = 40 };

static volatile unsigned sink;
static volatile int zero;

extern "C" {
TRACED void leaf(unsigned n)
{
    CALLED(leaf);
    sink = sink + n;
}

TRACED void unwound()
{
    CALLED(unwound);
    sink = sink + 1;
}

TRACED void cleaned()
{
    CALLED(cleaned);
    sink = sink + 1;
}
}

namespace
{
struct guard {
    void (*what)();
    UNTRACED explicit guard(void (*f)()) : what(f)
    {
    }
    UNTRACED ~guard()
    {
        what();
    }
};
struct shape {
    virtual ~shape() = default;
    virtual int area(int n) = 0;
};
} // namespace

// ---- exceptions ----
extern "C" {
TRACED void thrower(int what)
{
    CALLED(thrower);
    if (what % 3 == 0)
        throw std::runtime_error(std::to_string(what));
    if (what % 3 == 1)
        throw what;
    throw std::string("text");
}

TRACED int middle(int what, int depth)
{
    CALLED(middle);
    guard g(unwound);
    std::string local(40, 'x'); // to be destroyed
    if (depth)
        middle(what, depth - 1);
    else
        thrower(what);
    NO_TAIL();
    return (int)local.size();
}

TRACED void rethrows(int what)
{
    CALLED(rethrows);
    try {
        middle(what, 5);
    } catch (const std::exception &e) {
        sink = sink + (unsigned)strlen(e.what());
        throw;
    } catch (...) {
        throw;
    }
}

TRACED int catches(int what)
{
    CALLED(catches);
    try {
        rethrows(what);
    } catch (const std::runtime_error &) {
        return 1;
    } catch (int n) {
        return n;
    } catch (const std::string &s) {
        return (int)s.size();
    }
    return -1;
}

// An exception within a handler of another, and one that is kept and thrown again.
TRACED int nested(int what)
{
    CALLED(nested);
    std::exception_ptr kept;
    try {
        middle(3, 1);
    } catch (...) {
        kept = std::current_exception();
        try {
            middle(1, 2);
        } catch (int) {
            leaf(1);
        }
    }
    try {
        std::rethrow_exception(kept);
    } catch (const std::runtime_error &e) {
        return what + e.what()[0];
    }
    return 0;
}

TRACED int try_block(int what)
try {
    CALLED(try_block);
    thrower(what);
    return 0;
} catch (int) {
    return 1;
} catch (...) {
    return 2;
}

// Called by the libraries, which the exception passes through.
TRACED bool less(int a, int b)
{
    CALLED(less);
    if (a == b)
        throw a;
    return a < b;
}

UNTRACED static int less_of_c(const void *a, const void *b)
{
    return less(*(const int *)a, *(const int *)b) ? -1 : 1;
}

TRACED int virtual_call(int n)
{
    CALLED(virtual_call);
    struct square final : shape {
        UNTRACED int area(int m) override
        {
            if (m > 3)
                thrower(m * 3 + 1);
            return m * m;
        }
    };
    std::unique_ptr<shape> s(new square);
    try {
        return s->area(n);
    } catch (int m) {
        return -m;
    }
}
}

UNTRACED static void exceptions()
{
    int sum = 0, twice[2] = {7, 7};
    for (int i = 0; i < TIMES; i++)
        sum += catches(i) + nested(i) + try_block(i) + virtual_call(i % 6);
    for (int i = 0; i < 3; i++) {
        try {
            qsort(twice, 2, sizeof twice[0], less_of_c);
        } catch (int n) {
            sum += n;
        }
        try {
            std::sort(twice, twice + 2, less);
        } catch (int n) {
            sum += n;
        }
    }
    printf("said exceptions %d\n", sum);
}

// ---- jumps and signals ----
static sigjmp_buf back;
extern "C" {
TRACED void jumper(int depth)
{
    CALLED(jumper);
    if (depth)
        jumper(depth - 1);
    else
        siglongjmp(back, 1);
    NO_TAIL();
}

TRACED void jumps()
{
    CALLED(jumps);
    if (sigsetjmp(back, 1) == 0)
        jumper(7);
    leaf(2);
    NO_TAIL();
}

TRACED void deep_jump(int depth)
{
    CALLED(deep_jump);
    if (depth == 100)
        siglongjmp(back, 1);
    if (depth == 50 && sigsetjmp(back, 0)) {
        leaf(3);
        return;
    }
    deep_jump(depth + 1);
    NO_TAIL();
}

TRACED void on_signal(int)
{
    CALLED(on_signal);
    leaf(4);
    NO_TAIL();
}

TRACED void on_fault(int)
{
    CALLED(on_fault);
    siglongjmp(back, 2);
}

TRACED void faults(int n)
{
    CALLED(faults);
    if (n)
        faults(n - 1);
    else
        *(volatile int *)(intptr_t)zero = 1;
    NO_TAIL();
}

TRACED void on_tick(int)
{
    CALLED(on_tick);
    sink = sink + 1;
}

TRACED unsigned busy(unsigned n)
{
    CALLED(busy);
    unsigned r = n;
    if (n >= 2)
        r = busy(n - 1) + busy(n - 2);
    NO_TAIL();
    return r;
}
}

UNTRACED static void handle(int number, void (*f)(int), int flags)
{
    struct sigaction action = {};
    action.sa_handler = f;
    action.sa_flags = flags;
    sigaction(number, &action, nullptr);
}

static unsigned long rounds;
UNTRACED static void signals()
{
    static char alternate[65536];
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
    sigaltstack(&stack, nullptr);
    for (int i = 0; i < TIMES; i++) {
        jumps();
        deep_jump(0);
    }
    handle(SIGUSR1, on_signal, 0);
    handle(SIGUSR2, on_signal, SA_ONSTACK);
    for (int i = 0; i < TIMES; i++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
    }
    handle(SIGSEGV, on_fault, SA_ONSTACK | SA_NODEFER);
    volatile int caught = 0;
    static int turn; // siglongjmp() keeps it
    for (turn = 0; turn < TIMES; turn++) {
        if (sigsetjmp(back, 1) == 0)
            faults(3);
        else
            caught = caught + 1;
    }
    handle(SIGALRM, on_tick, SA_RESTART | SA_ONSTACK);
    struct itimerval every = {{0, 300}, {0, 300}}, none = {};
    setitimer(ITIMER_REAL, &every, nullptr);
    unsigned wrong = 0;
    for (; CALLS(on_tick) < TICKS; rounds++)
        wrong += busy(12) != 144;
    setitimer(ITIMER_REAL, &none, nullptr);
    printf("said signals %d %u\n", (int)caught, wrong);
}

// ---- stacks that are looked at ----
static int counted;
static uintptr_t seen[64];
UNTRACED static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *)
{
    if (counted < 64)
        seen[counted] = _Unwind_GetIP(context);
    counted++;
    return _URC_NO_REASON;
}

extern "C" {
TRACED int frame_one(void **place)
{
    CALLED(frame_one);
    const int n = backtrace(place, 64);
    counted = 0;
    _Unwind_Backtrace(count_frame, nullptr);
    return n;
}

TRACED int frame_two(void **place)
{
    CALLED(frame_two);
    const int n = frame_one(place);
    NO_TAIL();
    return n;
}

TRACED int frames(void **place, int depth)
{
    CALLED(frames);
    const int n = depth ? frames(place, depth - 1) : frame_two(place);
    NO_TAIL();
    return n;
}

TRACED void *address()
{
    CALLED(address);
    return __builtin_return_address(0);
}
}

UNTRACED static void stacks()
{
    void *place[64];
    const int n = frames(place, 9);
    // Those of the program, as distances.
    printf("said frames %d %d", n, counted);
    for (int i = 1; i < 12; i++)
        printf(" %ld", (long)((char *)place[i] - (char *)(void *)frames));
    for (int i = 2; i < 12; i++)
        printf(" %ld", (long)(seen[i] - (uintptr_t)place[i - 1]));
    printf(" %ld\n", (long)((char *)address() - (char *)(void *)frames));
}

// ---- threads ----
static pthread_barrier_t begun;
extern "C" {
TRACED void *cancelled(void *how)
{
    CALLED(cancelled);
    int old; // nothing to be destroyed: the compilers' tables have only calls as places where that may begin
    pthread_barrier_wait(&begun);
    if (how)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;)
        leaf(5);
}

TRACED void *waits(void *)
{
    CALLED(waits);
    guard g(cleaned);
    pthread_barrier_wait(&begun);
    for (;;)
        pause();
}

TRACED void leaver(int depth)
{
    CALLED(leaver);
    guard g(cleaned);
    if (depth)
        leaver(depth - 1);
    else
        pthread_exit(nullptr);
    NO_TAIL();
}

TRACED void *leaves(void *)
{
    CALLED(leaves);
    leaver(4);
    return nullptr;
}

TRACED void *worker(void *)
{
    CALLED(worker);
    unsigned long sum = 0;
    for (int i = 0; i < TIMES; i++)
        sum += (unsigned)catches(i) + busy(8);
    return (void *)sum;
}

TRACED int carried(int n)
{
    CALLED(carried);
    thrower(3 * n + 1);
    return 0;
}

TRACED void once(int n)
{
    CALLED(once);
    if (n < 2)
        throw n;
}
}

UNTRACED static void run_cancelled(void *(*f)(void *), void *how)
{
    pthread_t thread;
    void *result;
    pthread_barrier_init(&begun, nullptr, 2);
    pthread_create(&thread, nullptr, f, how);
    pthread_barrier_wait(&begun);
    usleep(300);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED)
        puts("said not cancelled");
    pthread_barrier_destroy(&begun);
}

UNTRACED static void threads()
{
    pthread_t thread[THREADS];
    unsigned long sum = 0;
    void *result;
    for (auto &t : thread)
        pthread_create(&t, nullptr, worker, nullptr);
    for (auto &t : thread) {
        pthread_join(t, &result);
        sum += (unsigned long)result;
    }
    for (int i = 0; i < CANCELS; i++) {
        run_cancelled(waits, nullptr);
        pthread_create(&thread[0], nullptr, leaves, nullptr);
        pthread_join(thread[0], nullptr);
    }
    for (int i = 0; i < CANCELS; i++)
        run_cancelled(cancelled, &sum);
    for (int i = 1; i <= 3; i++) {
        auto later = std::async(std::launch::async, carried, i);
        try {
            later.get();
        } catch (int n) {
            sum += (unsigned)n;
        }
    }
    std::once_flag flag;
    for (int i = 0; i < 5; i++) {
        try {
            std::call_once(flag, once, i);
        } catch (int n) {
            sum += (unsigned)n;
        }
    }
    printf("said threads %lu\n", sum);
}

// ---- coroutines ----
extern "C" {
TRACED void resumed(int n)
{
    CALLED(resumed);
    sink = sink + (unsigned)n;
}

TRACED void finished()
{
    CALLED(finished);
}

TRACED int one_step(int n)
{
    CALLED(one_step);
    if (n == NUMBERS / 2)
        throw n;
    return n * n;
}
}

#if defined(__cpp_impl_coroutine)
namespace
{
struct numbers {
    struct promise_type {
        int value;
        std::exception_ptr fault;
        UNTRACED numbers get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        UNTRACED std::suspend_always initial_suspend()
        {
            return {};
        }
        UNTRACED std::suspend_always final_suspend() noexcept
        {
            finished();
            return {};
        }
        UNTRACED std::suspend_always yield_value(int v)
        {
            value = v;
            return {};
        }
        UNTRACED void return_void()
        {
        }
        UNTRACED void unhandled_exception()
        {
            fault = std::current_exception();
        }
    };
    std::coroutine_handle<promise_type> handle;
};
} // namespace

static numbers count_up(int to)
{
    for (int i = 0; i < to; i++) {
        resumed(i);
        co_yield one_step(i);
    }
}

UNTRACED static void coroutines()
{
    int sum = 0, thrown = 0;
    for (int to = 1; to < NUMBERS; to++) {
        numbers n = count_up(to);
        for (n.handle.resume(); !n.handle.done(); n.handle.resume())
            sum += n.handle.promise().value;
        try {
            if (n.handle.promise().fault)
                std::rethrow_exception(n.handle.promise().fault);
        } catch (int) {
            thrown++;
        }
        n.handle.destroy();
    }
    // One that is never finished, but destroyed.
    numbers n = count_up(3);
    n.handle.resume();
    n.handle.destroy();
    printf("said coroutines %d %d\n", sum, thrown);
}
#else
UNTRACED static void coroutines()
{
    puts("said coroutines none");
}
#endif

// ---- begin, end, libraries, other programs ----
extern "C" {
TRACED void early()
{
    CALLED(early);
    leaf(6);
    NO_TAIL();
}

TRACED void late()
{
    CALLED(late);
    leaf(7);
    NO_TAIL();
}

TRACED void at_exit()
{
    CALLED(at_exit);
    leaf(8);
    NO_TAIL();
}

TRACED void callback(int n)
{
    CALLED(callback);
    if (n % 2)
        throw n;
}
}

namespace
{
struct whole_life {
    UNTRACED whole_life()
    {
        early();
    }
    UNTRACED ~whole_life()
    {
        late();
        print_calls();
        printf("about leaf %lu %d\n", CALLS(leaf), CANCELS);
        printf("open cancelled %d\nopen waits %d\n", CANCELS, CANCELS);
        printf("open main 1\nopen leaves %d\nopen leaver %d\n", CANCELS, 5 * CANCELS); // main: if its end has no room
    }
} life;
} // namespace

UNTRACED static void libraries(const char *path)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        void *object = dlopen(path, RTLD_NOW);
        if (!object) {
            printf("said %s\n", dlerror());
            return;
        }
        int (*part_calls)(void (*)(int), int);
        *(void **)&part_calls = dlsym(object, "part_calls");
        for (int j = 0; j < 4; j++) {
            try {
                sum += part_calls(callback, j);
            } catch (int n) {
                sum += 100 * n;
            }
        }
        dlclose(object);
    }
    printf("said libraries %d\ncall part_calls 20\ncall part_inner 20\n", sum);
}

extern char **environ;
UNTRACED static void programs()
{
    char name[] = "/bin/true", *const words[] = {name, nullptr};
    pid_t pid;
    int status = -1;
    if (posix_spawn(&pid, name, nullptr, nullptr, words, environ) == 0)
        waitpid(pid, &status, 0);
    printf("said programs %d %d\n", status, system("exit 3"));
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    if (argc < 2)
        return 2;
    atexit(at_exit);
    exceptions();
    signals();
    stacks();
    threads();
    coroutines();
    libraries(argv[1]);
    programs();
    EXPECT(faults, 4 * TIMES);
    EXPECT(jumper, 8 * TIMES);
    EXPECT(on_signal, 2 * TIMES);
    EXPECT(catches, TIMES * (THREADS + 1));
    EXPECT(cleaned, CANCELS * 6);
    EXPECT(busy, rounds * 465 + TIMES * THREADS * 67);
    fflush(stdout);
    return 0;
}
