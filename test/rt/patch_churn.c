/* Opens and closes a library all the time in one thread, and calls into it, for a test that switches patching on and
 * off meanwhile: patch_churn LIBRARY, a count_plugin.so. Runs until its input ends. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int over;
static volatile unsigned long called;

__attribute__((noipa)) static void callback(unsigned n)
{
    called += n;
}

static void *churn(void *path)
{
    unsigned long turns = 0;
    for (; !over; turns++) {
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!object)
            abort();
        void (*work)(unsigned, void (*)(unsigned));
        *(void **)&work = dlsym(object, "plugin_work");
        for (unsigned i = 0; i < 10; i++)
            work(i, callback);
        dlclose(object);
    }
    printf("turns %lu\n", turns);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int c;
    if (argc < 2 || pthread_create(&thread, NULL, churn, argv[1]))
        return 2;
    puts("ready");
    fflush(stdout);
    while ((c = getchar()) != EOF)
        ;
    over = 1;
    pthread_join(thread, NULL);
    return 0;
}
