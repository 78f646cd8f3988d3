/* Calls a library that it is linked with, a count_plugin.so, until its input ends, for a test that records it again and
 * again with other settings. */
#include <pthread.h>
#include <stdio.h>

void plugin_work(unsigned n, void (*callback)(unsigned));

static volatile int over;
static volatile unsigned long called;

__attribute__((noipa)) static void callback(unsigned n)
{
    called += n;
}

/* Larger than all others. */
__attribute__((noipa)) static void large(unsigned n)
{
    static volatile unsigned long sum[8];
    for (unsigned i = 0; i < 8; i++) {
        sum[i] += n;
        sum[i] ^= sum[(i + 1) % 8] * 3;
        sum[(i + n) % 8] += sum[(i + 3) % 8] / 7;
    }
}

__attribute__((noipa)) static void turn(unsigned n)
{
    plugin_work(n, callback);
    large(n);
    __asm__ volatile("" ::: "memory");
}

static void *run(void *unused)
{
    (void)unused;
    for (unsigned n = 0; !over; n++)
        turn(n);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL))
        return 2;
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    over = 1;
    pthread_join(thread, NULL);
    return 0;
}
