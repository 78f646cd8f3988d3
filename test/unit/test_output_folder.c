/* Tests of base/io/output_folder.h: folders that appear whole or not at all, and many files that grow together. */
#include "base/io/output_folder.h"

#include <sys/wait.h>

#include "output_check.h"

static tl_output_folder *open_folder(const char *path, bool overwrite)
{
    tl_output_folder *f = NULL;
    tl_error e;
    must(tl_output_folder_open(&f, path, overwrite, NULL, &e), &e);
    return f;
}

static void check_refused(const char *path, bool overwrite, tl_code code, const char *message)
{
    tl_output_folder *f = NULL;
    tl_error e;
    assert_int_equal(tl_output_folder_open(&f, path, overwrite, NULL, &e), code);
    assert_string_equal(e.message, message);
    assert_null(f);
}

static void put(tl_output_folder *f, const char *name, const char *text)
{
    tl_output *o = NULL;
    assert_int_equal(tl_output_folder_file(f, name, &o, NULL), 0);
    tl_output_puts(o, text);
    check_finish(o);
}

static void finish(tl_output_folder *f)
{
    tl_error e;
    must(tl_output_folder_finish(f, &e), &e);
    tl_output_folder_close(f);
}

/* Removes a folder and its files. */
static void remove_folder(const char *path)
{
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(path), 0);
    scratch_files(1);
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_int_equal(rmdir(path), 0);
}

static void test_folder_appears_when_complete(void **state)
{
    tl_output_folder *f = open_folder("out", false);
    put(f, "metadata", "meta");
    put(f, "index/a.idx", "one");
    put(f, "index/b.idx", "two");
    assert_int_equal(access("out", F_OK), -1);
    assert_int_equal(scratch_files(0), 1);
    assert_int_equal(tl_output_folder_finish(f, NULL), 0);
    tl_output_folder_close(f);
    assert_int_equal(scratch_files(0), 1);
    check_content("out/metadata", "meta", 4);
    check_content("out/index/a.idx", "one", 3);
    check_content("out/index/b.idx", "two", 3);
    remove_folder("out/index");
    remove_folder("out");
}

static void test_mode_is_that_of_mkdir(void **state)
{
    struct stat st;
    mode_t before = umask(027);
    finish(open_folder("out", false));
    umask(before);
    assert_int_equal(stat("out", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_int_equal(rmdir("out"), 0);
}

static void test_without_finish_nothing_stays(void **state)
{
    tl_output_folder *f = open_folder("out", false);
    uint32_t file;
    put(f, "metadata", "meta");
    put(f, "index/a.idx", "one");
    assert_int_equal(tl_output_folder_add(f, "stream", &file, NULL), 0);
    assert_int_equal(tl_output_folder_append(f, file, "x", 1, NULL), 0);
    tl_output_folder_close(f);
    assert_int_equal(scratch_files(0), 0);
    tl_output_folder_close(NULL);
}

static void test_files_can_be_patched(void **state)
{
    tl_output_folder *f = open_folder("out", false);
    tl_output *o = NULL;
    assert_int_equal(tl_output_folder_file(f, "a", &o, NULL), 0);
    tl_output_puts(o, "0123456789");
    assert_true(tl_output_can_patch(o));
    assert_int_equal(tl_output_patch(o, 3, "xyz", 3, NULL), 0);
    check_finish(o);
    finish(f);
    check_content("out/a", "012xyz6789", 10);
    remove_folder("out");
}

static void test_slashes_at_the_end(void **state)
{
    finish(open_folder("out//", false));
    assert_int_equal(access("out", F_OK), 0);
    assert_int_equal(scratch_files(0), 1);
    check_refused("out/", false, TL_EEXIST, "out/: the folder exists");
    assert_int_equal(rmdir("out"), 0);
}

static void test_what_is_there_is_kept(void **state)
{
    assert_int_equal(mkdir("out", 0777), 0);
    scratch_write("file", "x", 1);
    check_refused("out", false, TL_EEXIST, "out: the folder exists");
    check_refused("file", false, TL_EEXIST, "file: exists and is not a folder");
    check_refused("file", true, TL_EEXIST, "file: exists and is not a folder");
    check_refused("", true, TL_EINVAL, "the name of an output folder is empty");
    check_refused("no/such", false, TL_EIO,
                  "no/such: cannot create a folder in no, where it is written until it is complete: "
                  "No such file or directory");
    assert_int_equal(symlink("nowhere", "link"), 0);
    check_refused("link", true, TL_EEXIST, "link: exists and is not a folder");
    assert_int_equal(scratch_files(0), 3);
    assert_int_equal(rmdir("out"), 0);
}

static void test_only_folders_like_ours_are_replaced(void **state)
{
    static const char refused[] = "out: the folder exists and holds other files: it is not replaced";
    assert_int_equal(mkdir("out", 0777), 0);
    scratch_write("out/letter.txt", "x", 1); /* no metadata: the user's own files */
    check_refused("out", true, TL_EEXIST, refused);
    scratch_write("out/metadata", "x", 1);
    tl_output_folder_close(open_folder("out", true));
    check_content("out/letter.txt", "x", 1); /* given up: all stays */
    assert_int_equal(mkdir("out/other", 0777), 0);
    check_refused("out", true, TL_EEXIST, refused);
    assert_int_equal(rmdir("out/other"), 0);
    assert_int_equal(symlink("nowhere", "out/link"), 0);
    check_refused("out", true, TL_EEXIST, refused);
    assert_int_equal(unlink("out/link"), 0);
    assert_int_equal(mkdir("out/index", 0777), 0);
    assert_int_equal(mkdir("out/index/deep", 0777), 0);
    check_refused("out", true, TL_EEXIST, refused);
    assert_int_equal(rmdir("out/index/deep"), 0);
    remove_folder("out/index");
    remove_folder("out");
}

static void test_folders_of_known_names_are_replaced(void **state)
{
    tl_output_folder *f = NULL;
    tl_error e;
    assert_int_equal(mkdir("out", 0777), 0);
    scratch_write("out/part.1.bin", "x", 1);
    scratch_write("out/part.2.bin", "x", 1);
    assert_int_equal(tl_output_folder_open(&f, "out", true, NULL, &e), TL_EEXIST);
    assert_int_equal(tl_output_folder_open(&f, "out", true, "part.*.bin", &e), 0);
    tl_output_folder_close(f);
    f = NULL;
    scratch_write("out/letter.txt", "x", 1);
    assert_int_equal(tl_output_folder_open(&f, "out", true, "part.*.bin", &e), TL_EEXIST);
    assert_null(f);
    remove_folder("out");
}

static void test_overwriting_replaces_all(void **state)
{
    tl_output_folder *f = open_folder("out", false);
    put(f, "metadata", "old");
    put(f, "gone", "old");
    put(f, "index/gone.idx", "old");
    finish(f);
    f = open_folder("out", true);
    put(f, "metadata", "new");
    check_content("out/metadata", "old", 3);
    finish(f);
    check_content("out/metadata", "new", 3);
    assert_int_equal(access("out/gone", F_OK), -1);
    assert_int_equal(access("out/index", F_OK), -1);
    assert_int_equal(scratch_files(0), 1);
    remove_folder("out");
}

static void test_an_empty_folder_is_replaced(void **state)
{
    assert_int_equal(mkdir("out", 0777), 0);
    tl_output_folder *f = open_folder("out", true);
    put(f, "a", "x");
    finish(f);
    check_content("out/a", "x", 1);
    assert_int_equal(scratch_files(0), 1);
    remove_folder("out");
}

static void test_a_link_to_a_folder_stays(void **state)
{
    struct stat st;
    assert_int_equal(mkdir("real", 0777), 0);
    assert_int_equal(symlink("real", "link"), 0);
    tl_output_folder *f = open_folder("link", true);
    put(f, "a", "x");
    finish(f);
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    check_content("real/a", "x", 1);
    assert_int_equal(scratch_files(0), 2);
    remove_folder("real");
}

static void test_somebody_was_faster(void **state)
{
    tl_output_folder *f = open_folder("out", false);
    tl_error e;
    put(f, "a", "x");
    assert_int_equal(mkdir("out", 0777), 0);
    assert_int_equal(tl_output_folder_finish(f, &e), TL_EEXIST);
    assert_string_equal(e.message, "out: the folder exists");
    tl_output_folder_close(f);
    assert_int_equal(scratch_files(0), 1); /* the user's */
    assert_int_equal(rmdir("out"), 0);
}

static void test_files_grow_together(void **state)
{
    enum { FILES = 3 * TL_OUTPUT_FOLDER_OPEN, ROUNDS = 3 };
    tl_output_folder *f = open_folder("out", false);
    uint32_t file[FILES];
    char name[32], text[32], expected[64];
    for (uint32_t i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "stream_%u", (unsigned)i);
        assert_int_equal(tl_output_folder_add(f, name, &file[i], NULL), 0);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < FILES; i++) {
            int n = snprintf(text, sizeof text, "%d:%u ", round, (unsigned)i);
            assert_int_equal(tl_output_folder_append(f, file[i], text, (size_t)n, NULL), 0);
            assert_int_equal(tl_output_folder_append(f, file[i / 2], "", 0, NULL), 0);
        }
    int descriptors = 0;
    for (int fd = 0; fd < 4096; fd++)
        descriptors += fcntl(fd, F_GETFD) >= 0;
    assert_true(descriptors < (int)TL_OUTPUT_FOLDER_OPEN + 32);
    finish(f);
    for (uint32_t i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "out/stream_%u", (unsigned)i);
        int n = snprintf(expected, sizeof expected, "0:%u 1:%u 2:%u ", (unsigned)i, (unsigned)i, (unsigned)i);
        check_content(name, expected, (size_t)n);
    }
    remove_folder("out");
}

static void test_a_file_that_fails_fails_the_folder(void **state)
{
    tl_output_folder *f = open_folder("out", false);
    tl_output *o = NULL;
    uint32_t file;
    tl_error e;
    assert_int_equal(tl_output_folder_file(f, "a/b/c", &o, &e), TL_EIO); /* only one '/' */
    assert_null(o);
    assert_int_equal(tl_output_folder_finish(f, &e), TL_EIO);
    assert_string_equal(e.message, "out: a file of it could not be written");
    tl_output_folder_close(f);

    f = open_folder("out", false);
    assert_int_equal(tl_output_folder_add(f, "no/such/file", &file, NULL), 0);
    assert_int_equal(tl_output_folder_append(f, file, "x", 1, &e), TL_EIO);
    assert_string_equal(e.message, "out/no/such/file: No such file or directory");
    assert_int_equal(tl_output_folder_finish(f, NULL), TL_EIO);
    tl_output_folder_close(f);
    assert_int_equal(scratch_files(0), 0);
}

static void test_a_full_disk_is_told(void **state)
{
    tl_output_folder *f = open_folder("out", false);
    struct rlimit before, small;
    uint32_t file;
    tl_error e;
    char data[8192] = {0};
    assert_int_equal(tl_output_folder_add(f, "stream", &file, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int first = tl_output_folder_append(f, file, data, sizeof data, NULL);
    const int second = tl_output_folder_append(f, file, data, sizeof data, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(first, 0);
    assert_int_equal(second, TL_EIO);
    assert_int_equal(e.sys_errno, EFBIG);
    assert_string_equal(e.message, "out/stream: File too large");
    assert_int_equal(tl_output_folder_finish(f, NULL), TL_EIO);
    tl_output_folder_close(f);
    assert_int_equal(scratch_files(0), 0);
}

/* Other threads cannot continue after that: so in a process of its own. */
static void test_abandoned_folders_are_removed(void **state)
{
    const pid_t child = fork();
    if (child == 0) {
        static const char *const name[] = {"stream", "index/stream.idx"};
        tl_output_folder *f[3];
        for (int i = 0; i < 3; i++) {
            char path[] = "out0";
            uint32_t file;
            path[3] = (char)('0' + i);
            f[i] = open_folder(path, false);
            for (int k = 0; k < 2; k++) {
                assert_int_equal(tl_output_folder_add(f[i], name[k], &file, NULL), 0);
                assert_int_equal(tl_output_folder_append(f[i], file, "x", 1, NULL), 0);
            }
        }
        finish(f[1]);
        tl_output_folders_abandon();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access("out1/stream", F_OK), 0);
    assert_int_equal(unlink("out1/index/stream.idx") | rmdir("out1/index"), 0);
    remove_folder("out1");
    assert_int_equal(scratch_files(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_folder_appears_when_complete, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_mode_is_that_of_mkdir, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_without_finish_nothing_stays, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_files_can_be_patched, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_slashes_at_the_end, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_what_is_there_is_kept, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_only_folders_like_ours_are_replaced, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_folders_of_known_names_are_replaced, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_overwriting_replaces_all, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_an_empty_folder_is_replaced, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_link_to_a_folder_stays, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_somebody_was_faster, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_files_grow_together, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_file_that_fails_fails_the_folder, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_full_disk_is_told, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_abandoned_folders_are_removed, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
