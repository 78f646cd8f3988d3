/* The environment variable TRACELOOM, and the names of recordings. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/rt_say.c"
#include "rt/rt_settings.c"
#include "rt/rt_words.c"
/* From here on, names that both have are the path's. */
#define add        path_add
#define add_number path_add_number
#include "rt/rt_settings_path.c"

rt_core tl_rt;

static rt_settings s;
static char error[256];

static bool read_text(const char *text)
{
    tl_rt_settings_default(&s);
    error[0] = 0;
    return tl_rt_settings_read(&s, text, error);
}

/* A wrong text, and what the message must contain. */
static void is_wrong(const char *text, const char *part)
{
    if (read_text(text))
        fail_msg("\"%s\" was taken", text);
    if (!strstr(error, part))
        fail_msg("\"%s\": \"%s\" lacks \"%s\"", text, error, part);
}

static void test_defaults(void **state)
{
    assert_true(read_text(""));
    assert_int_equal(s.modes, RT_MODE_PROFILE);
    assert_string_equal(s.out, "%e.%p");
    assert_string_equal(s.clock, "auto");
    assert_true(s.start && s.control && !s.strict && !s.quiet);
    assert_int_equal(s.ring + s.limit + s.threshold_ns + s.depth + s.nfunc + s.nnot, 0);
}

static void test_patching(void **state)
{
    assert_true(read_text(""));
    assert_true(s.patch == RT_PATCH_OFF && !s.nlibs && !s.has_exe && !s.min_size && !s.exact);
    assert_true(read_text("patch=on:libs=libz*:libs=libc.so.6:exe=65025\\:18446744073709551615:min-size=32:exact=on"));
    assert_int_equal(s.patch, RT_PATCH_ON);
    assert_int_equal(s.nlibs, 2);
    assert_string_equal(s.libs[0], "libz*");
    assert_string_equal(s.libs[1], "libc.so.6");
    assert_true(s.has_exe && s.exe_device == 65025 && s.exe_inode == UINT64_MAX);
    assert_true(s.min_size == 32 && s.exact);
    assert_true(read_text("patch=auto"));
    assert_int_equal(s.patch, RT_PATCH_AUTO);
    rt_settings copy;
    assert_true(read_text("libs=a:func=b:libs=c"));
    tl_rt_settings_copy(&copy, &s);
    assert_string_equal(copy.libs[1], "c");
    assert_true(copy.libs[1] != s.libs[1]);
    is_wrong("patch=yes", "expected off, auto or on");
    is_wrong("exe=5", "expected DEVICE:INODE");
    is_wrong("exe=5\\:", "expected DEVICE:INODE");
    is_wrong("exe=\\:5", "expected DEVICE:INODE");
    is_wrong("exe=5x\\:5", "expected DEVICE:INODE");
    is_wrong("exe=123456789012345678901234\\:5", "expected DEVICE:INODE");
    is_wrong("libs=", "expected a pattern");
    is_wrong("min-size=-1", "expected a number of bytes");
    is_wrong("min-size=8G", "expected a number of bytes");
    assert_true(read_text(""));
    for (size_t i = 0; i < 5; i++) {
        static const char *const fixed[] = {"patch=on", "libs=a", "exe=1\\:1", "min-size=1", "exact=on"};
        assert_false(tl_rt_settings_set(&s, fixed[i], error));
        assert_non_null(strstr(error, "cannot change while the program runs"));
    }
}

static void test_all_keys(void **state)
{
    assert_true(read_text("mode=fdr:out=app.xray:ring=64M:limit=1G:threshold=5us:func=net_*:func=b:not=*_get:depth=9:"
                          "start=off:control=off:clock=monotonic:strict=on:quiet=on:"));
    assert_int_equal(s.modes, RT_MODE_FDR);
    assert_string_equal(s.out, "app.xray");
    assert_int_equal(s.ring, 64 << 20);
    assert_int_equal(s.limit, 1 << 30);
    assert_int_equal(s.threshold_ns, 5000);
    assert_int_equal(s.nfunc, 2);
    assert_string_equal(s.func[0], "net_*");
    assert_string_equal(s.func[1], "b");
    assert_int_equal(s.nnot, 1);
    assert_string_equal(s.not_func[0], "*_get");
    assert_int_equal(s.depth, 9);
    assert_string_equal(s.clock, "monotonic");
    assert_true(!s.start && !s.control && s.strict && s.quiet);
    assert_true(read_text("mode=profile,fdr:ring=all"));
    assert_int_equal(s.modes, RT_MODE_FDR | RT_MODE_PROFILE);
    assert_int_equal(s.ring, 0);
    assert_true(read_text(":mode=ctf:")); /* a stray colon is not a pair */
    assert_int_equal(s.modes, RT_MODE_CTF);
}

static void test_later_pairs_win(void **state)
{
    assert_true(read_text("mode=ctf:out=a:mode=fdr:out=b:threshold=1us:threshold=2us"));
    assert_int_equal(s.modes, RT_MODE_FDR);
    assert_string_equal(s.out, "b");
    assert_int_equal(s.threshold_ns, 2000);
}

static void test_colons_and_backslashes(void **state)
{
    assert_true(read_text("out=C\\:\\\\x:func=net::Reader::*:not=a\\:\\:b"));
    assert_string_equal(s.out, "C:\\x");
    assert_int_equal(s.nfunc, 1);
    assert_string_equal(s.func[0], "net::Reader::*");
    assert_string_equal(s.not_func[0], "a::b");
    assert_true(read_text("out=a=b")); /* only the first '=' ends the key */
    assert_string_equal(s.out, "a=b");
}

static void test_what_is_wrong(void **state)
{
    is_wrong("mode=foo", "mode=foo: expected fdr, profile, ctf or fdr,profile");
    is_wrong("mode=none", "expected fdr");
    is_wrong("thresh=5us", "thresh=5us: unknown; there are mode, ");
    is_wrong("mode", "mode: expected KEY=VALUE");
    is_wrong("=", "unknown");
    is_wrong("mode=fdr:threshold=5u", "threshold=5u: expected a time such as 5us");
    is_wrong("mode=fdr:ring=1k", "ring=1k: expected a size from 64K on");
    is_wrong("ring=64M", "ring: is for mode=fdr");
    is_wrong("mode=ctf:threshold=5us", "threshold: is for mode=fdr");
    is_wrong("limit=12", "limit=12: expected a size");
    is_wrong("depth=x", "depth=x: expected a number");
    is_wrong("start=yes", "start=yes: expected on or off");
    is_wrong("clock=sundial", "expected auto, tsc or monotonic");
    is_wrong("func=", "expected a pattern");
    is_wrong("out=", "expected a path");
}

static void test_long_texts(void **state)
{
    static char text[3 * RT_TEXT];
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "out=", 4);
    is_wrong(text, "long");
    memcpy(text, "abc=", 4);
    is_wrong(text, "abc=xxx");
    memset(text + 4, ':', sizeof text - 5); /* two colons are two characters of a value */
    is_wrong(text, "abc=:::");
    memset(text, 'x', sizeof text - 1);
    is_wrong(text, "too long");
    memcpy(text, "func=", 5); /* not a shorter pattern */
    text[RT_PATH] = 0;
    is_wrong(text, "too long");
    size_t n = 0;
    for (unsigned i = 0; i < RT_GLOBS + 1; i++)
        n += (size_t)sprintf(text + n, "func=f%u:", i);
    is_wrong(text, "too many patterns");
    assert_int_equal(s.nfunc, RT_GLOBS);
    assert_string_equal(s.func[RT_GLOBS - 1], "f63");
    n = 0; /* few, but long ones */
    for (unsigned i = 0; i < 10; i++)
        n += (size_t)sprintf(text + n, "func=%01000u:", i);
    is_wrong(text, "the settings are too long");
}

static void test_set_while_running(void **state)
{
    assert_true(read_text("mode=fdr:func=a*:func=b*:not=c"));
    assert_true(tl_rt_settings_set(&s, "threshold=7us:depth=3", error));
    assert_int_equal(s.threshold_ns, 7000);
    assert_int_equal(s.depth, 3);
    assert_int_equal(s.nfunc, 2); /* as before */
    assert_true(tl_rt_settings_set(&s, "func=d*:func=net::e*", error));
    assert_int_equal(s.nfunc, 2); /* replacing those before */
    assert_string_equal(s.func[0], "d*");
    assert_string_equal(s.func[1], "net::e*");
    assert_int_equal(s.nnot, 1);
    assert_true(tl_rt_settings_set(&s, "not=", error));
    assert_int_equal(s.nnot, 0);
    assert_int_equal(s.nfunc, 2);
    for (unsigned i = 0; i < 10000; i++) /* the room for strings does not run out */
        assert_true(tl_rt_settings_set(&s, "func=some_longer_pattern_*:not=x", error));
    assert_string_equal(s.func[0], "some_longer_pattern_*");
}

static void test_set_refuses(void **state)
{
    static const char *const refused[] = {"mode=ctf",  "out=x",     "ring=64M", "limit=1G",
                                          "start=off", "strict=on", "clock=tsc"};
    assert_true(read_text("mode=profile:func=a"));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_false(tl_rt_settings_set(&s, refused[i], error));
        assert_contains(error, "cannot change while the program runs");
    }
    assert_false(tl_rt_settings_set(&s, "", error));
    assert_false(tl_rt_settings_set(&s, "func=b:threshold=1us", error));
    assert_string_equal(error, "threshold: is for mode=fdr");
    assert_int_equal(s.nfunc, 1); /* nothing of it was taken */
    assert_string_equal(s.func[0], "a");
}

static void test_copies_are_whole(void **state)
{
    static rt_settings copy;
    assert_true(read_text("out=here:func=a:not=b:not=c"));
    tl_rt_settings_copy(&copy, &s);
    memset(&s, 'x', sizeof s);
    assert_string_equal(copy.out, "here");
    assert_string_equal(copy.clock, "auto");
    assert_string_equal(copy.func[0], "a");
    assert_string_equal(copy.not_func[1], "c");
    assert_int_equal(copy.nnot, 2);
}

/* Bytes beyond its texts take no room in a copy. */
static void test_full_settings_are_copied(void **state)
{
    enum { PARTS = 4, PART = RT_TEXT / PARTS };
    char text[PARTS * (PART + 8)], *p = text;
    for (unsigned i = 0; i < PARTS; i++) {
        p += sprintf(p, ":func=");
        memset(p, 'a' + (int)i, PART - 1); /* and its last byte */
        p += PART - 1;
    }
    *p = 0;
    assert_true(read_text(text));
    assert_true(tl_rt_settings_set(&s, "depth=5", error));
    assert_int_equal(s.depth, 5);
    assert_string_equal(s.out, "%e.%p");
    assert_string_equal(s.clock, "auto");
    assert_int_equal(s.nfunc, PARTS);
    for (unsigned i = 0; i < PARTS; i++) {
        assert_int_equal(strlen(s.func[i]), PART - 1);
        assert_int_equal(s.func[i][PART - 2], 'a' + i);
    }
    assert_false(tl_rt_settings_set(&s, "not=b", error));
    assert_string_equal(error, "not=b: the settings are too long");
}

static void test_modes_by_name(void **state)
{
    assert_string_equal(tl_rt_settings_mode(RT_MODE_FDR), "fdr");
    assert_string_equal(tl_rt_settings_mode(RT_MODE_FDR | RT_MODE_PROFILE), "fdr,profile");
    assert_string_equal(tl_rt_settings_mode(0), "none");
    assert_string_equal(tl_rt_settings_mode(99), "none");
}

/* A folder of our own as the current one, and its name. */
static char folder[256];

static int enter_folder(void **state)
{
    char here[256];
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rt_settings.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0 || !getcwd(here, sizeof here))
        return -1;
    memcpy(folder, here, sizeof here);
    return 0;
}

static int leave_folder(void **state)
{
    static const char *const made[] = {"app.tlp", "app.1.tlp.live", "app.2.tlp", "there.xray"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        unlink(made[i]);
    rmdir("dir.ctf");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void make_file(const char *name)
{
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void is_path(const char *out, unsigned mode, const char *expected)
{
    char path[RT_PATH], whole[512];
    s.out = out;
    tl_rt_settings_path(&s, mode, "/usr/bin/app", 4711, path);
    snprintf(whole, sizeof whole, "%s%s%s", expected[0] == '/' ? "" : folder, expected[0] == '/' ? "" : "/", expected);
    assert_string_equal(path, whole);
}

static void test_path_of_the_pattern(void **state)
{
    tl_rt_settings_default(&s);
    is_path("%e.%p", RT_MODE_PROFILE, "app.4711.tlp");
    is_path("%e%%%q", RT_MODE_FDR, "app%%q.xray");
    is_path("/no/such/x", RT_MODE_CTF, "/no/such/x.ctf");
    is_path("x.xray", RT_MODE_FDR, "x.xray");
    is_path("x.xray", RT_MODE_PROFILE, "x.tlp");
    is_path("x.tlp", RT_MODE_CTF, "x.ctf");
    is_path("x.txt", RT_MODE_FDR, "x.txt.xray");
    is_path("d/.tlp", RT_MODE_PROFILE, "d/.tlp.tlp"); /* no suffix, a name */
}

static void test_path_is_free(void **state)
{
    tl_rt_settings_default(&s);
    make_file("app.tlp");
    make_file("app.1.tlp.live");
    make_file("app.2.tlp");
    assert_int_equal(symlink("nowhere", "there.xray"), 0);
    assert_int_equal(mkdir("dir.ctf", 0700), 0);
    is_path("app.tlp", RT_MODE_PROFILE, "app.3.tlp");
    is_path("app.tlp", RT_MODE_FDR, "app.xray");
    is_path("there", RT_MODE_FDR, "there.1.xray");
    is_path("dir", RT_MODE_CTF, "dir.1.ctf");
}

static void test_long_paths_are_cut(void **state)
{
    static char out[RT_PATH - 100];
    char path[RT_PATH];
    memset(out, 'x', sizeof out - 1);
    tl_rt_settings_default(&s);
    s.out = out;
    tl_rt_settings_path(&s, RT_MODE_FDR, "app", 1, path);
    assert_true(strlen(path) < RT_PATH - 8);
    assert_string_equal(path + strlen(path) - 5, ".xray");
}
#else
RT_SKIPPED(test_defaults)
RT_SKIPPED(test_all_keys)
RT_SKIPPED(test_patching)
RT_SKIPPED(test_later_pairs_win)
RT_SKIPPED(test_colons_and_backslashes)
RT_SKIPPED(test_what_is_wrong)
RT_SKIPPED(test_long_texts)
RT_SKIPPED(test_set_while_running)
RT_SKIPPED(test_set_refuses)
RT_SKIPPED(test_copies_are_whole)
RT_SKIPPED(test_full_settings_are_copied)
RT_SKIPPED(test_modes_by_name)
RT_SKIPPED(test_path_of_the_pattern)
RT_SKIPPED(test_path_is_free)
RT_SKIPPED(test_long_paths_are_cut)
#define enter_folder NULL
#define leave_folder NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_patching),
        cmocka_unit_test(test_later_pairs_win),
        cmocka_unit_test(test_colons_and_backslashes),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_set_while_running),
        cmocka_unit_test(test_set_refuses),
        cmocka_unit_test(test_copies_are_whole),
        cmocka_unit_test(test_full_settings_are_copied),
        cmocka_unit_test(test_modes_by_name),
        cmocka_unit_test_setup_teardown(test_path_of_the_pattern, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_path_is_free, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_long_paths_are_cut, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
