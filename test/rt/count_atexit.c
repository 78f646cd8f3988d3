/* Calls before main and after it: constructors, atexit handlers that register further ones, destructors. */
#define FUNCTIONS(X) X(main) X(on_load) X(at_exit_a) X(at_exit_b) X(added_late) X(leaf) X(on_unload) X(leaver)
#include "count.h"

static volatile unsigned sink;

TRACED static void leaf(void)
{
    CALLED(leaf);
    sink++;
}

TRACED __attribute__((constructor)) static void on_load(void)
{
    CALLED(on_load);
    leaf();
    NO_TAIL();
}

/* Runs after everything else in this program, so the calls still to come are known. */
TRACED __attribute__((destructor)) static void on_unload(void)
{
    CALLED(on_unload);
    leaf();
    EXPECT(leaf, 5);
    print_calls();
    puts("open main 1\nopen leaver 1");
    puts("edge on_load leaf 1\nedge at_exit_a leaf 1\nedge at_exit_b leaf 1\nedge added_late leaf 1\nedge on_unload "
         "leaf 1");
    fflush(stdout);
}

TRACED static void added_late(void)
{
    CALLED(added_late);
    leaf();
    NO_TAIL();
}

TRACED static void at_exit_a(void)
{
    CALLED(at_exit_a);
    leaf();
    NO_TAIL();
}

TRACED static void at_exit_b(void)
{
    CALLED(at_exit_b);
    leaf();
    atexit(added_late);
    NO_TAIL();
}

TRACED static void leaver(void)
{
    CALLED(leaver);
    exit(0);
}

TRACED int main(void)
{
    CALLED(main);
    atexit(at_exit_a);
    atexit(at_exit_b);
    leaver();
    return 1;
}
