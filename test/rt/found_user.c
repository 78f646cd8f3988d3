/* A program without sleds that is linked with a library that has some, count_plugin.c. */
#include <stdio.h>

enum { TIMES = 50 };

void plugin_work(unsigned n, void (*callback)(unsigned));

static volatile unsigned long sum;

static void callback(unsigned n)
{
    sum += n;
}

int main(void)
{
    for (unsigned i = 0; i < TIMES; i++)
        plugin_work(i, callback);
    printf("call plugin_work %d\ncall plugin_leaf %d\n", TIMES, 3 * TIMES);
    return 0;
}
