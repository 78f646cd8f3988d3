/* One stack that is deeper than the recorder follows; then the thread forks, and the child calls down() three times. */
#define FUNCTIONS(X) X(main) X(beyond_thread) X(down)
#include "count.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = (1 << 20) + 5000, OF_CHILD = 3, STACK = 256 << 20 };

TRACED static unsigned down(unsigned n)
{
    CALLED(down);
    unsigned r = n > 1 ? down(n - 1) + 1 : 1;
    NO_TAIL();
    return r;
}

TRACED static void *beyond_thread(void *unused)
{
    CALLED(beyond_thread);
    (void)unused;
    if (down(DEPTH) != DEPTH)
        exit(3);
    pid_t child = fork();
    if (child == 0)
        exit(down(OF_CHILD) == OF_CHILD ? 0 : 3);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        exit(3);
    return NULL;
}

TRACED int main(void)
{
    CALLED(main);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, STACK) || pthread_create(&thread, &attributes, beyond_thread, NULL) ||
        pthread_join(thread, NULL))
        exit(3);
    EXPECT(down, DEPTH);
    print_calls();
    return 0;
}
