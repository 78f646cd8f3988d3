/* Patching changes nothing but the recording: arguments and results of every kind arrive, events keep flags and
 * registers around them, and threads run on while sleds are switched. Prints errors, and then ends with 1. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traceloom/rt.h"

#define TRACED   __attribute__((noinline, xray_always_instrument))
#define UNTRACED __attribute__((noinline, xray_never_instrument))
/* Keeps the calls and results around it in place. */
#define HERE()   __asm__ volatile("" ::: "memory")

#if defined(__x86_64__) || __clang_major__ >= 18
#define HAS_EVENTS 1
#else
#define HAS_EVENTS 0 /* clang writes them for AArch64 since 18 */
#endif

struct two {
    long a, b;
};
struct five {
    long a[5];
};
struct mixed {
    double a;
    long b;
};
typedef double vector __attribute__((vector_size(16)));

TRACED long integers(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
    HERE();
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

TRACED double doubles(double a, float b, double c, double d, double e, double f, double g, float h, double i)
{
    HERE();
    return a + 2 * (double)b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * (double)h + 9 * i;
}

TRACED double variadic(int n, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++) {
        sum += va_arg(list, double);
        sum += va_arg(list, int);
    }
    va_end(list);
    return sum;
}

TRACED struct two pair(long a)
{
    HERE();
    return (struct two){a, a + 1};
}

TRACED struct five large(long a)
{
    HERE();
    return (struct five){{a, a + 1, a + 2, a + 3, a + 4}};
}

TRACED struct mixed mix(long a)
{
    HERE();
    return (struct mixed){(double)a * 0.5, a};
}

TRACED __int128 wide(__int128 a)
{
    HERE();
    return a * 3;
}

TRACED long double extended(long double a)
{
    HERE();
    return a * 3;
}

TRACED vector vectors(vector a, vector b)
{
    HERE();
    return a + b;
}

__attribute__((noinline, xray_always_instrument, xray_log_args(1))) long argument(long a)
{
    HERE();
    return a * 2;
}

typedef long (*six)(long, long, long, long, long, long);

TRACED long sum(long a, long b, long c, long d, long e, long f)
{
    HERE();
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

static six volatile pointer = sum;

/* Uses all registers of arguments when it jumps, to an address held in another one. */
TRACED long tail(long a, long b, long c, long d, long e, long f)
{
    HERE();
    return pointer(a, b, c, d, e, f);
}

#if HAS_EVENTS
/* Arguments of events, in each order. */
TRACED long event_1(size_t n, const char *p)
{
    __xray_customevent(p, n);
    return (long)n;
}

TRACED long event_2(const char *p, size_t n)
{
    __xray_customevent(p, n);
    return (long)n;
}

TRACED long event_3(const char *p, size_t t, size_t n)
{
    __xray_typedevent(t, p, n);
    return (long)(n * 100 + t);
}

TRACED long event_4(size_t n, const char *p, size_t t)
{
    __xray_typedevent(t, p, n);
    return (long)(n * 100 + t);
}

TRACED long event_5(size_t n, size_t t, const char *p)
{
    __xray_typedevent(t, p, n);
    return (long)(n * 100 + t);
}

TRACED long event_6(size_t t, const char *p, size_t n)
{
    __xray_typedevent(t, p, n);
    return (long)(n * 100 + t);
}

/* Many values in registers, and conditions computed around the event. */
TRACED long event_7(const long *p, long n)
{
    long above = 0, all = 0;
    for (long i = 0; i < n; i++) {
        above += p[i] > 3;
        __xray_customevent("in a loop", 9);
        all += p[i] * (i + above);
    }
    return all * 100 + above;
}

UNTRACED static int events(void)
{
    static const long numbers[6] = {1, 2, 3, 4, 5, 6};
    int bad = 0;
    bad += event_1(8, "custom-1") != 8;
    bad += event_2("custom-2", 8) != 8;
    bad += event_3("typed-3", 3, 7) != 703;
    bad += event_4(7, "typed-4", 4) != 704;
    bad += event_5(7, 5, "typed-5") != 705;
    bad += event_6(6, "typed-6", 7) != 706;
    bad += event_7(numbers, 6) != 10203;
    return bad;
}
#else
UNTRACED static int events(void)
{
    return 0;
}
#endif

UNTRACED static int all(void)
{
    struct two t = pair(7);
    struct five f = large(5);
    struct mixed m = mix(9);
    vector v = vectors((vector){1, 2}, (vector){10, 20});
    int bad = 0;
    bad += integers(1, 2, 3, 4, 5, 6, 7, 8, 9) != 285;
    bad += doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) != 285;
    bad += variadic(3, 1.5, 1, 2.5, 2, 3.5, 3) != 13.5;
    bad += t.a != 7 || t.b != 8;
    bad += f.a[0] != 5 || f.a[4] != 9;
    bad += m.a != 4.5 || m.b != 9;
    bad += v[0] != 11 || v[1] != 22;
    bad += wide(((__int128)1 << 70) + 5) != ((__int128)3 << 70) + 15;
    bad += extended(2.5L) != 7.5L;
    bad += argument(21) != 42;
    bad += tail(1, 2, 3, 4, 5, 6) != 91;
    return bad;
}

static volatile int over;

UNTRACED static void *run(void *unused)
{
    size_t bad = 0;
    while (!over)
        bad += (size_t)all();
    (void)unused;
    return (void *)bad;
}

UNTRACED static int check(const char *when, int bad)
{
    if (bad)
        printf("%d wrong results %s\n", bad, when);
    return bad;
}

UNTRACED int main(int argc, char **argv)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    int turns = argc > 1 ? atoi(argv[1]) : 100, bad = check("before", all() + events());
    tl_rt_record_start();
    bad += check("while recorded", all() + events());
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < turns; i++) {
        tl_rt_record_stop();
        tl_rt_record_start();
    }
    tl_rt_record_stop();
    over = 1;
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        bad += check("of a thread", (int)(size_t)wrong);
    }
    bad += check("behind", all() + events());
    return bad != 0;
}
