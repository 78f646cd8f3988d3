/* Loads and unloads a traced shared object twenty times, and calls into it: count_dlopen PLUGIN */
#define FUNCTIONS(X) X(main) X(callback) X(use)
#include "count.h"

#include <dlfcn.h>

enum { TIMES = 20, CALLS_EACH = 100 };

static volatile unsigned long sum;

TRACED static void callback(unsigned n)
{
    CALLED(callback);
    sum += n;
}

TRACED static void use(const char *path)
{
    CALLED(use);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    void (*work)(unsigned, void (*)(unsigned));
    *(void **)&work = dlsym(object, "plugin_work");
    for (unsigned i = 0; i < CALLS_EACH; i++)
        work(i, callback);
    dlclose(object);
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
        fprintf(stderr, "%s was not unloaded\n", path);
        exit(3);
    }
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    if (argc < 2)
        return 2;
    for (unsigned i = 0; i < TIMES; i++)
        use(argv[1]);
    EXPECT(callback, TIMES * CALLS_EACH);
    print_calls();
    printf("call plugin_work %d\ncall plugin_leaf %d\n", TIMES * CALLS_EACH, 3 * TIMES * CALLS_EACH);
    printf("edge plugin_work plugin_leaf %d\nedge plugin_work callback %d\n", 3 * TIMES * CALLS_EACH,
           TIMES * CALLS_EACH);
    printf("edge use plugin_work %d\n", TIMES * CALLS_EACH);
    return 0;
}
