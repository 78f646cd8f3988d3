/* The walk over /proc/self/maps. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt/object/rt_maps.c"

static bool no_memory;

void *tl_rt_memory_take(size_t n)
{
    return no_memory ? NULL : calloc(1, n);
}

void tl_rt_memory_give(void *p, size_t n)
{
    (void)n;
    free(p);
}

bool tl_rt_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

struct seen {
    uintptr_t last, stack, page;
    unsigned found, wrong, visits, most;
};

static bool see_mapping(void *arg, const rt_mapping *m)
{
    struct seen *seen = arg;
    seen->wrong += m->from < seen->last || m->to <= m->from;
    seen->last = m->to;
    seen->found += seen->stack - m->from < m->to - m->from;
    seen->found += strncmp(m->path, "/memfd:odd\\012name", 18) == 0 && m->from == seen->page && m->readable;
    return ++seen->visits != seen->most;
}

static void test_all_mappings(void **state)
{
    int fd = memfd_create("odd\nname", MFD_CLOEXEC);
    assert_true(fd >= 0);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(page != MAP_FAILED);
    struct seen seen = {.stack = (uintptr_t)&seen, .page = (uintptr_t)page};
    assert_int_equal(tl_rt_maps_each(see_mapping, &seen), 0);
    assert_int_equal(seen.found, 2);
    assert_int_equal(seen.wrong, 0);
    assert_true(seen.visits > 2);
    munmap(page, 4096);
    close(fd);
}

static void test_some_mappings(void **state)
{
    struct seen seen = {.most = 3};
    assert_int_equal(tl_rt_maps_each(see_mapping, &seen), 0);
    assert_int_equal(seen.visits, 3);
    no_memory = true;
    assert_int_equal(tl_rt_maps_each(see_mapping, &seen), -ENOMEM);
    no_memory = false;
}
#else
RT_SKIPPED(test_all_mappings)
RT_SKIPPED(test_some_mappings)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_mappings), cmocka_unit_test(test_some_mappings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
