/* Tests of what is mapped in a process (cli/attach/attach_maps.h), with this process as the example. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "cli/attach/attach_maps.h"

static void own_code_and_data(void **state)
{
    static int data = 1;
    char exe[4096];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    tl_attach_maps m;
    if (!tl_attach_maps_read(&m, (long)getpid()))
        skip_because("the system has no /proc/PID/maps");
    exe[n < 0 ? 0 : n] = 0;
    const tl_attach_map *code = tl_attach_maps_at(&m, (uint64_t)(uintptr_t)&own_code_and_data);
    const tl_attach_map *other = tl_attach_maps_at(&m, (uint64_t)(uintptr_t)&data);
    assert_non_null(code);
    assert_non_null(other);
    assert_true(code->code);
    assert_false(other->code);
    assert_string_equal(m.object[code->object].path, exe);
    assert_true(m.object[code->object].is_code);
    assert_null(tl_attach_maps_at(&m, 0));
    assert_null(tl_attach_maps_at(&m, UINT64_MAX));
    for (size_t i = 0; i < m.n; i++) { /* each is found by its first and last byte */
        assert_ptr_equal(tl_attach_maps_at(&m, m.map[i].begin), &m.map[i]);
        assert_ptr_equal(tl_attach_maps_at(&m, m.map[i].end - 1), &m.map[i]);
    }
    tl_attach_maps_free(&m);
    assert_int_equal(m.n, 0);
}

/* A file with spaces in its name, which is removed while it is mapped. */
static void removed_file(void **state)
{
    char folder[] = "/tmp/traceloom-maps-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a mapped file.so", folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(ftruncate(fd, 8192), 0);
    void *p = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    tl_attach_maps m;
    const bool read = p != MAP_FAILED && tl_attach_maps_read(&m, (long)getpid());
    close(fd);
    if (!read) {
        unlink(path);
        rmdir(folder);
        skip_because("the system has no /proc/PID/maps, or maps no code from /tmp");
    }
    const uint32_t before = tl_attach_maps_find(&m, "a mapped");
    assert_int_not_equal(before, TL_ATTACH_NO_OBJECT);
    assert_string_equal(m.object[before].path, path);
    assert_false(m.object[before].deleted);
    assert_int_equal(tl_attach_maps_find(&m, "mapped"), TL_ATTACH_NO_OBJECT);
    tl_attach_maps_free(&m);
    unlink(path);
    rmdir(folder);
    assert_true(tl_attach_maps_read(&m, (long)getpid()));
    const tl_attach_map *at = tl_attach_maps_at(&m, (uint64_t)(uintptr_t)p);
    assert_non_null(at);
    assert_string_equal(m.object[at->object].path, path);
    assert_true(m.object[at->object].deleted);
    tl_attach_maps_free(&m);
    munmap(p, 8192);
}

static void no_process(void **state)
{
    tl_attach_maps m;
    assert_false(tl_attach_maps_read(&m, 0x7fffffff));
    assert_int_equal(errno, ENOENT);
    tl_attach_maps_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_code_and_data),
        cmocka_unit_test(removed_file),
        cmocka_unit_test(no_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
