/* Names of recordings, taken apart. */
#include "base/compiler.h"
#include "check.h"
#include "format/xtrace/xtrace_name.h"

static void test_kinds(void **state)
{
    static const struct {
        const char *path;
        xtrace_kind kind;
        bool is_file, complete;
    } one[] = {
        {"d/xtrace.1.42.hint9.xinsndata.bin", XTRACE_STREAM, true, true},
        {"xtrace.1.42.hint13.xsnapshot.bin.zst", XTRACE_SNAPSHOTS, true, true},
        {"xtrace.1.42.hint9.xinsndata.bin.gz", XTRACE_STREAM, true, true},
        {"xtrace.1.42.hint9.xinsndata.bin.bz2", XTRACE_STREAM, true, true},
        {"a.xinsndata.bin", XTRACE_STREAM, false, false},
        {"xinsndata", XTRACE_STREAM, false, false},
        {"xinsndata.7", XTRACE_STREAM, false, false},
        {"xsnapshot.bin.bz2", XTRACE_SNAPSHOTS, false, false},
        /* Of files about these: */
        {"xtrace.1.42.hint9.xinsndata.bin.info.json", XTRACE_NO_KIND, false, true},
        {"xtrace.1.42.hint9.xsnapshot.bin.json", XTRACE_NO_KIND, false, true},
        {"a.xinsndata.bin.zst.json", XTRACE_NO_KIND, false, false},
        {"a.xinsndata.bin~", XTRACE_NO_KIND, false, false},
        {"xinsndata/a", XTRACE_NO_KIND, false, false},
        {"a.bin", XTRACE_NO_KIND, false, false},
        {"xtrace.1.42.hint10.xinsndata.bin", XTRACE_STREAM, false, false},
        {"xtrace.1.x.hint9.xinsndata.bin", XTRACE_STREAM, false, false},
        {"xtrace..42.hint9.xinsndata.bin", XTRACE_STREAM, false, false},
        {"xtrace.1.99999999999999999999.hint9.xinsndata.bin", XTRACE_STREAM, false, false},
        {"xtrace.0.xtrace.1.42.hint9.xinsndata.bin", XTRACE_STREAM, true, true},
    };
    for (size_t i = 0; i < TL_COUNT(one); i++) {
        xtrace_name n;
        xtrace_name_parse(&n, one[i].path);
        assert_int_equal(n.kind, one[i].kind);
        assert_int_equal(n.is_file, one[i].is_file);
        assert_int_equal(n.complete, one[i].complete);
        assert_string_equal(n.who, one[i].complete ? "42" : "0");
        assert_int_equal(n.hint, strstr(one[i].path, "hint13") ? 13 : 9);
    }
}

static void test_partners(void **state)
{
    char *p = xtrace_name_partner("xinsndata/xtrace.1.42.hint9.xinsndata.bin.gz");
    assert_string_equal(p, "xinsndata/xtrace.1.42.hint9.xsnapshot.bin.gz");
    free(p);
    p = xtrace_name_partner("a.xsnapshot.bin");
    assert_string_equal(p, "a.xinsndata.bin");
    free(p);
    assert_null(xtrace_name_partner("xinsndata/a.bin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_partners)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
