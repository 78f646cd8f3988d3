/* Tests of base/io/content_id.h: the number follows the bytes, not the path. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/content_id.h"
#include "base/io/folder_tree.h"
#include "check.h"

static char folder[] = "/tmp/tl-content-XXXXXX";

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int64_t number_of(const char *path)
{
    tl_content_id id;
    assert_int_equal(tl_content_id_of(&id, path, NULL), 0);
    return id.number;
}

static void of_files(void **state)
{
    tl_content_id id;
    tl_content_state now;
    write_file("a", "abc");
    write_file("b", "abc");
    /* The first 63 bits of the SHA-256 of "abc". */
    assert_true(number_of("a") == (int64_t)(UINT64_C(0xba7816bf8f01cfea) >> 1));
    assert_true(number_of("b") == number_of("a"));
    assert_int_equal(tl_content_id_of(&id, "a", NULL), 0);
    assert_int_equal(tl_content_look(&now, "a", NULL), 0);
    assert_true(now.changed == id.state.changed && now.bytes == 3);
    write_file("a", "abcd");
    assert_int_equal(tl_content_look(&now, "a", NULL), 0);
    assert_true(now.changed != id.state.changed && now.bytes == 4);
    assert_true(number_of("a") != number_of("b"));
    assert_int_equal(tl_content_id_of(&id, "absent", NULL), TL_EIO);
    assert_int_equal(tl_content_id_of(&id, "/dev/null", NULL), TL_EUNSUPPORTED);
}

static void of_folders(void **state)
{
    assert_int_equal(mkdir("x", 0777), 0);
    assert_int_equal(mkdir("y", 0777), 0);
    write_file("x/one", "1");
    write_file("y/one", "1");
    assert_true(number_of("x") == number_of("y"));
    write_file("y/two", "");
    assert_true(number_of("x") != number_of("y"));
    write_file("x/three", "");
    assert_true(number_of("x") != number_of("y")); /* another name */
    tl_content_state before, after;
    assert_int_equal(tl_content_look(&before, "x", NULL), 0);
    write_file("x/three", "12");
    assert_int_equal(tl_content_look(&after, "x", NULL), 0);
    assert_true(before.changed != after.changed && before.bytes == 1 && after.bytes == 3);
    write_file("x/new", "12");
    assert_int_equal(rename("x/new", "x/three"), 0); /* a name and a size as before */
    assert_int_equal(tl_content_look(&before, "x", NULL), 0);
    assert_true(before.changed != after.changed && before.bytes == 3);
}

static int begin(void **state)
{
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    tl_remove_tree(folder, 2);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_files), cmocka_unit_test(of_folders)};
    return cmocka_run_group_tests(tests, begin, end);
}
