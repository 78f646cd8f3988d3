/* Opens a shared object with sleds twice, and calls into it once its sleds are on: count_later PLUGIN. The recorder may
 * need a second to see it. Exit status 4: it never did. */
#define FUNCTIONS(X) X(main) X(callback) X(use)
#include "count.h"

#include <dlfcn.h>
#include <string.h>
#include <time.h>

enum { TIMES = 2, CALLS_EACH = 100, PATIENCE_MS = 60000, LOOK_MS = 5, CODE = 4 };

static volatile unsigned long sum;

TRACED static void callback(unsigned n)
{
    CALLED(callback);
    sum += n;
}

/* The code of the function as its file has it begins with a jump, or a branch, over the rest of the sled. */
UNTRACED static void wait_for_change(const void *function)
{
#if defined(__x86_64__)
    static const unsigned char off[] = {0xeb, 0x09};
#else
    static const unsigned char off[] = {0x08, 0x00, 0x00, 0x14};
#endif
    for (int i = 0; memcmp(function, off, sizeof off) == 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
        if (i >= PATIENCE_MS / LOOK_MS) {
            fprintf(stderr, "the sleds were not switched on\n");
            exit(4);
        }
    }
    nanosleep(&(struct timespec){.tv_nsec = 4 * LOOK_MS * 1000000}, NULL); /* the others are, too */
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
    wait_for_change(*(void **)&work);
    wait_for_change(dlsym(object, "plugin_leaf"));
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
