/* Tests of base/io/folder.h: files found in folders and in blocks that replace them, and opening them. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "base/endian.h"
#include "base/io/folder.h"
#include "check.h"
#include "input_inside.h"
#include "scratch.h"

static tl_folder *open_folder(const char *path)
{
    tl_folder *f = NULL;
    tl_error e = {0};
    must(tl_folder_open(&f, path, &e), &e);
    return f;
}

/* The names in one string, each followed by a blank. */
static const char *names(const tl_folder *f)
{
    static char text[4096];
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < f->n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s ", f->file[i].name);
    return text;
}

/* Content of a file, terminated, in a static buffer. */
static const char *content(const tl_folder *f, const char *name)
{
    static char text[256];
    tl_input *in = NULL;
    size_t got = 0;
    const uint32_t i = tl_folder_find(f, name);
    assert_int_not_equal(i, UINT32_MAX);
    assert_int_equal(tl_folder_input(f, i, &in, NULL), 0);
    assert_int_equal(tl_input_size(in), f->file[i].size);
    assert_int_equal(tl_input_read(in, 0, text, sizeof text - 1, &got, NULL), 0);
    text[got] = '\0';
    tl_input_close(in);
    return text;
}

static void make_tree(void)
{
    assert_int_equal(mkdir("t", 0777), 0);
    assert_int_equal(mkdir("t/b", 0777), 0);
    assert_int_equal(mkdir("t/b/c", 0777), 0);
    assert_int_equal(mkdir("t/.hidden", 0777), 0);
    assert_int_equal(mkdir("t/empty", 0777), 0);
    scratch_write("t/z", "last", 4);
    scratch_write("t/a", "", 0);
    scratch_write("t/b-", "minus", 5);
    scratch_write("t/b/x", "deep", 4);
    scratch_write("t/b/c/y", "deeper", 6);
    scratch_write("t/.dot", "no", 2);
    scratch_write("t/.hidden/in", "no", 2);
}

static void remove_tree(void)
{
    static const char *const all[] = {"t/z",          "t/a",       "t/b-",    "t/b/x", "t/b/c/y", "t/.dot",
                                      "t/.hidden/in", "t/link",    "t/way",   "t/off", "t/fifo",  "t/b/c",
                                      "t/b",          "t/.hidden", "t/empty", "t"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (unlink(all[i]) < 0)
            rmdir(all[i]);
}

static void files_at_any_depth_in_order(void **state)
{
    make_tree();
    tl_folder *f = open_folder("t");
    assert_string_equal(f->path, "t");
    assert_string_equal(names(f), "a b- b/c/y b/x z ");
    assert_int_equal(f->file[4].size, 4);
    assert_string_equal(content(f, "b/c/y"), "deeper");
    assert_string_equal(content(f, "a"), "");
    assert_int_equal(tl_folder_find(f, "b"), UINT32_MAX);
    assert_int_equal(tl_folder_find(f, ".dot"), UINT32_MAX);
    assert_int_equal(tl_folder_find(f, ""), UINT32_MAX);
    tl_folder_close(f);
    remove_tree();
}

static void slashes_at_the_end_say_nothing(void **state)
{
    make_tree();
    tl_folder *f = open_folder("t/b//");
    assert_string_equal(f->path, "t/b");
    assert_string_equal(names(f), "c/y x ");
    tl_input *in = NULL;
    assert_int_equal(tl_folder_input(f, 1, &in, NULL), 0);
    assert_string_equal(tl_input_path(in), "t/b/x");
    tl_input_close(in);
    tl_folder_close(f);
    remove_tree();
}

static void links_to_files_are_followed_and_others_not(void **state)
{
    make_tree();
    assert_int_equal(symlink("z", "t/link"), 0);
    assert_int_equal(symlink("b", "t/way"), 0);
    assert_int_equal(symlink("nothing", "t/off"), 0);
    assert_int_equal(mkfifo("t/fifo", 0666), 0);
    tl_folder *f = open_folder("t");
    assert_string_equal(names(f), "a b- b/c/y b/x link z ");
    assert_string_equal(content(f, "link"), "last");
    tl_folder_close(f);
    remove_tree();
}

static void time_of_change_is_known_to_the_nanosecond(void **state)
{
    make_tree();
    const struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 1234567890, .tv_nsec = 123456789}};
    assert_int_equal(utimensat(AT_FDCWD, "t/z", times, 0), 0);
    tl_folder *f = open_folder("t");
    assert_true(f->file[tl_folder_find(f, "z")].modified_ns == INT64_C(1234567890123456789));
    tl_folder_close(f);
    remove_tree();
}

/* Compressed files are read unchanged: readers of folders decide. */
static void content_is_not_looked_at(void **state)
{
    make_tree();
    scratch_write("t/z", "\x1f\x8b\x08\0\0\0\0\0", 8);
    tl_folder *f = open_folder("t");
    tl_input *in = NULL;
    assert_int_equal(tl_folder_input(f, tl_folder_find(f, "z"), &in, NULL), 0);
    assert_int_equal(tl_input_size(in), 8);
    assert_null(input_compression(in));
    tl_input_close(in);
    tl_folder_close(f);
    remove_tree();
}

static void what_cannot_be_opened_is_named(void **state)
{
    make_tree();
    tl_folder *f = NULL;
    tl_error e = {0};
    assert_int_equal(tl_folder_open(&f, "t/nothing", &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_contains(e.message, "t/nothing");
    assert_int_equal(tl_folder_open(&f, "t/z", &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOTDIR);
    assert_null(f);

    f = open_folder("t");
    const uint32_t z = tl_folder_find(f, "z"), x = tl_folder_find(f, "b/x");
    tl_input *in = NULL;
    assert_int_equal(unlink("t/z"), 0);
    assert_int_equal(tl_folder_input(f, z, &in, &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_contains(e.message, "t/z");
    /* A pipe at its place neither blocks nor is read. */
    assert_int_equal(unlink("t/b/x"), 0);
    assert_int_equal(mkfifo("t/b/x", 0666), 0);
    assert_int_equal(tl_folder_input(f, x, &in, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "t/b/x: is not a regular file");
    assert_null(in);
    tl_folder_close(f);
    remove_tree();
}

static void too_many_levels_are_refused(void **state)
{
    char path[256] = "t";
    tl_folder *f = NULL;
    tl_error e = {0};
    assert_int_equal(mkdir("t", 0777), 0);
    for (unsigned i = 0; i < TL_FOLDER_DEPTH_MAX; i++) {
        strcat(path, "/d");
        assert_int_equal(mkdir(path, 0777), 0);
    }
    f = open_folder("t");
    assert_int_equal(f->n, 0);
    tl_folder_close(f);
    f = NULL;
    strcat(path, "/d");
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(tl_folder_open(&f, "t", &e), TL_EUNSUPPORTED);
    assert_null(f);
    for (; strlen(path) > 1; path[strlen(path) - 2] = '\0')
        assert_int_equal(rmdir(path), 0);
    remove_tree();
}

/* ---- in memory ---- */

static size_t pack(char *to, const char *name, const char *data, uint32_t size)
{
    const size_t n = strlen(name) + 1;
    memcpy(to, name, n);
    tl_store32(to + n, size, false);
    memcpy(to + n + 4, data, strlen(data));
    return n + 4 + strlen(data);
}

static void a_block_stands_for_a_folder(void **state)
{
    char block[256];
    size_t n = pack(block, "b/x", "one", 3);
    n += pack(block + n, "a", "", 0);
    n += pack(block + n, "rest", "to the end", 4000000000u);
    tl_folder *f = NULL;
    assert_int_equal(tl_folder_open_memory(&f, block, n, "memory", NULL), 0);
    assert_int_equal(f->fd, -1);
    assert_string_equal(names(f), "a b/x rest ");
    assert_string_equal(content(f, "b/x"), "one");
    assert_string_equal(content(f, "a"), "");
    assert_string_equal(content(f, "rest"), "to the end");
    assert_int_equal(f->file[0].modified_ns, 0);
    tl_folder_close(f);
}

static void names_in_blocks_are_not_trusted(void **state)
{
    static const char *const bad[] = {"", ".", "..", "../x", "/x", "a/../x", "a//x", "a/.x"};
    char block[512];
    size_t n = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        n += pack(block + n, bad[i], "no", 2);
    n += pack(block + n, "twice", "first", 5);
    n += pack(block + n, "good", "yes", 3);
    n += pack(block + n, "twice", "second", 6);
    tl_folder *f = NULL;
    assert_int_equal(tl_folder_open_memory(&f, block, n, "memory", NULL), 0);
    assert_string_equal(names(f), "good twice ");
    assert_string_equal(content(f, "twice"), "first");
    tl_folder_close(f);
}

/* Every cut leaves a folder of the files before it, and one with the rest of the last. */
static void cut_blocks_end_early(void **state)
{
    char block[64];
    size_t n = pack(block, "one", "1111", 4), first = n;
    n += pack(block + n, "two", "2222", 4);
    for (size_t cut = 0; cut <= n; cut++) {
        char *copy = malloc(cut + 1); /* to detect reading beyond it */
        memcpy(copy, block, cut);
        char *exact = realloc(copy, cut ? cut : 1);
        tl_folder *f = NULL;
        assert_int_equal(tl_folder_open_memory(&f, exact, cut, "memory", NULL), 0);
        const uint32_t files = cut < 8 ? 0 : cut < first + 8 ? 1 : 2;
        assert_int_equal(f->n, files);
        if (files == 1)
            assert_int_equal(f->file[0].size, cut < first ? cut - 8 : 4);
        if (files == 2)
            assert_int_equal(f->file[1].size, cut - first - 8);
        tl_folder_close(f);
        free(exact);
    }
}

static void too_many_files_are_refused(void **state)
{
    char *block = malloc((size_t)(TL_FOLDER_FILES_MAX + 1) * 16), *p = block;
    tl_folder *f = NULL;
    tl_error e = {0};
    assert_non_null(block);
    for (uint32_t i = 0; i < TL_FOLDER_FILES_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "%06u", i);
        p += pack(p, name, "", 0);
    }
    assert_int_equal(tl_folder_open_memory(&f, block, (size_t)(p - block), "memory", &e), 0);
    assert_int_equal(f->n, TL_FOLDER_FILES_MAX);
    assert_int_equal(tl_folder_find(f, "012345"), 12345);
    tl_folder_close(f);
    f = NULL;
    p += pack(p, "x", "", 0);
    assert_int_equal(tl_folder_open_memory(&f, block, (size_t)(p - block), "memory", &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "more than 100000 files");
    assert_int_equal(tl_folder_open_memory(&f, block, (size_t)(p - block), "memory", NULL), TL_EUNSUPPORTED);
    assert_null(f);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_at_any_depth_in_order, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(slashes_at_the_end_say_nothing, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(links_to_files_are_followed_and_others_not, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(time_of_change_is_known_to_the_nanosecond, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(content_is_not_looked_at, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(what_cannot_be_opened_is_named, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(too_many_levels_are_refused, scratch_enter, scratch_leave),
        cmocka_unit_test(a_block_stands_for_a_folder),
        cmocka_unit_test(names_in_blocks_are_not_trusted),
        cmocka_unit_test(cut_blocks_end_early),
        cmocka_unit_test(too_many_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
