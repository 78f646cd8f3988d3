/* Very many threads, a few at a time, each with a few calls; prints its peak of memory: fault_churn THREADS */
#define FUNCTIONS(X) X(main) X(body) X(leaf)
#include "count.h"

#include <pthread.h>
#include <string.h>

enum { AT_ONCE = 4, EACH = 3 };

static volatile int sink;
TRACED static void leaf(int n)
{
    CALLED(leaf);
    sink = n;
}

TRACED static void *body(void *arg)
{
    CALLED(body);
    for (int i = 0; i < EACH; i++)
        leaf(i);
    return arg;
}

UNTRACED static void print_peak(void)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6) || !strncmp(line, "VmSize:", 7))
            printf("memory %s", line);
    if (f)
        fclose(f);
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    int threads = argc > 1 ? atoi(argv[1]) : 1000;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (int i = 0; i < threads; i += AT_ONCE) {
        pthread_t thread[AT_ONCE];
        for (int j = 0; j < AT_ONCE; j++)
            if (pthread_create(&thread[j], &attributes, body, NULL))
                return 3;
        for (int j = 0; j < AT_ONCE; j++)
            pthread_join(thread[j], NULL);
    }
    print_calls();
    print_peak();
    return 0;
}
