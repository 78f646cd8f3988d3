/* Uses the modes through LLVM's runtime interface: life_modes MODE OPTIONS. Records, stops, and records again. */
#define FUNCTIONS(X) X(worked) X(leaf) X(unwanted) X(with_argument)
#include "life.h"

extern int __xray_log_select_mode(const char *mode);
extern int __xray_log_init_mode(const char *mode, const char *options);
extern int __xray_log_finalize(void);
extern int __xray_log_flushLog(void);
extern int __xray_patch(void);

static volatile unsigned sink;

TRACED static void leaf(void)
{
    CALLED(leaf);
    sink++;
}

TRACED static void unwanted(void)
{
    sink++;
}

TRACED __attribute__((xray_log_args(1))) static void with_argument(long value)
{
    CALLED(with_argument);
    sink += (unsigned)value;
    leaf();
    NO_TAIL();
}

TRACED static void worked(unsigned n)
{
    CALLED(worked);
    for (unsigned i = 0; i < n; i++)
        with_argument((long)i);
    unwanted();
    __xray_customevent("once", 4);
    __xray_typedevent(7, "once", 4);
    NO_TAIL();
}

static void expect(int got, int expected, const char *what)
{
    if (got == expected)
        return;
    fprintf(stderr, "%s: %d, not %d\n", what, got, expected);
    exit(2);
}

UNTRACED int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    leaf(); /* before recording starts */
    forget_calls();
    expect(__xray_log_select_mode(argv[1]), 0, "select");
    expect(__xray_log_init_mode(argv[1], "no_such_option=1"), 0, "init with wrong options");
    expect(__xray_log_init_mode(argv[1], argv[2]), 2, "init");
    expect(__xray_patch(), 1, "patch");
    worked(100);
    expect(__xray_log_finalize(), 4, "finalize");
    expect(__xray_log_flushLog(), 2, "flush");
    unsigned long leaves = CALLS(leaf);
    leaf();
    __atomic_store_n(&calls_of_leaf, leaves, __ATOMIC_RELAXED);
    expect(__xray_log_init_mode(argv[1], ""), 2, "init again");
    worked(10);
    tell("done", "");
    return 0;
}
