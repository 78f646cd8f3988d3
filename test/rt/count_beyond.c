/* A stack deeper than the recorder follows. The thread then forks, and main does when the thread has ended; each child
 * calls down() three times. */
#define FUNCTIONS(X) X(main) X(beyond_thread) X(down)
#include "count.h"
#include "deep.h"

#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = (1 << 20) + 5000, OF_CHILD = 3 };

DOWN(down, down)

UNTRACED static void run_child(void)
{
    pid_t child = fork();
    if (child == 0)
        exit(down(OF_CHILD) == OF_CHILD ? 0 : 3);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        exit(3);
}

TRACED static void *beyond_thread(void *unused)
{
    CALLED(beyond_thread);
    if (down(DEPTH) != DEPTH)
        exit(3);
    run_child();
    return unused;
}

TRACED int main(void)
{
    CALLED(main);
    run_deep(beyond_thread);
    run_child();
    EXPECT(down, DEPTH);
    print_calls();
    return 0;
}
