/* Loads two traced shared objects in turn, each at the place of the other: count_reload FIRST SECOND
 *
 * They have the same code under other names (count_reload_part.c). Exit status 4: one was loaded elsewhere. */
#define _GNU_SOURCE  /* for dlinfo */
#define FUNCTIONS(X) X(main) X(use)
#include "count.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 6, CALLS_EACH = 5, LEAVES = 3 };

static const struct part {
    const char *name, *work;
    unsigned calls; /* in one turn */
} part[] = {{"first", "first_work", CALLS_EACH}, {"second", "second_work", 2 * CALLS_EACH}};

UNTRACED static void *opened(const char *path)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return object;
}

/* Does nothing between the end of one and the begin of the other: another mapping might take its place. */
TRACED static void use(void *object, const struct part *p)
{
    CALLED(use);
    void (*work)(unsigned);
    *(void **)&work = dlsym(object, p->work);
    for (unsigned i = 0; i < p->calls; i++)
        work(i);
}

UNTRACED static ElfW(Addr) place_of(void *object)
{
    struct link_map *map = NULL;
    dlinfo(object, RTLD_DI_LINKMAP, &map);
    return map->l_addr;
}

/* A child records to its own file, which also has the names of the unloaded libraries. */
UNTRACED static int child_status(void)
{
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0)
        exit(0);
    waitpid(pid, &status, 0);
    return status;
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    if (argc < 3)
        return 2;
    void *object = opened(argv[1]);
    const ElfW(Addr) place = place_of(object);
    for (unsigned i = 0; i < 2 * TURNS; i++) {
        use(object, &part[i % 2]);
        dlclose(object);
        if (dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_NOLOAD)) {
            fprintf(stderr, "%s was not unloaded\n", argv[1 + i % 2]);
            exit(3);
        }
        object = opened(argv[1 + (i + 1) % 2]);
        if (place_of(object) != place) {
            fprintf(stderr, "not where the other one was\n");
            return 4;
        }
    }
    EXPECT(use, 2 * TURNS);
    print_calls();
    dlclose(object);
    if (child_status() != 0) {
        fprintf(stderr, "the child, which has neither of them, did not end as it should\n");
        return 5;
    }
    for (unsigned i = 0; i < 2; i++) {
        const unsigned calls = TURNS * part[i].calls, unloaded = TURNS + (i == 0);
        const char *name = part[i].name;
        printf("call %s_work %u\ncall %s_span %u\ncall %s_leaf %u\n", name, calls, name, calls, name, LEAVES * calls);
        printf("call %s_early %u\ncall %s_late %u\n", name, unloaded, name, unloaded);
        printf("edge use %s_work %u\nedge %s_work %s_span %u\n", name, calls, name, name, calls);
        printf("edge %s_span %s_leaf %u\n", name, name, LEAVES * calls);
    }
    return 0;
}
