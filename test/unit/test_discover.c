/* Tests of op/symbols/discover.h: which files are opened because a function trace names them. */
#include <dlfcn.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/io/base_name.h"
#include "check.h"
#include "make_ctf.h"
#include "op/source_impl.h"
#include "own_symbol.h"
#include "scratch.h"
#include "traceloom/profile.h"

static const char metadata[] = MADE_CALLS_HEAD
    "stream { event.header := struct { u8 id; stamp timestamp; }; };\n"
    "event { name = \"lttng_ust_statedump:bin_info\"; id = 0;\n"
    "        fields := struct { u64 baddr; u64 memsz; string path; u8 is_pic; }; };\n" MADE_CALLS_EVENTS
    "event { name = \"lttng_ust_statedump:build_id\"; id = 3; fields := struct { u64 baddr; u8 build_id[4]; }; };\n"
    "event { name = \"lttng_ust_statedump:bin_info\"; id = 4; fields := struct { u64 baddr; u64 path; u64 memsz; }; "
    "};\n";

/* Up to its first member, a number. */
static void put_event(ctf_bytes *events, uint8_t id, uint64_t number)
{
    made_put(events, &id, 1);
    made_u64(events, id);
    made_u64(events, number);
}

static void put_module(ctf_bytes *events, uint64_t base, uint64_t size, const char *path, uint8_t is_pic)
{
    put_event(events, 0, base);
    made_u64(events, size);
    made_put(events, path, strlen(path) + 1);
    made_put(events, &is_pic, 1);
}

static void put_call(ctf_bytes *events, uint64_t function)
{
    put_event(events, 1, function);
    put_event(events, 2, function);
}

/* The profile of the events, which it frees. The source stays open after it. */
static tl_profile *profile_of(ctf_bytes *events, bool no_names, tl_source **s)
{
    ctf_bytes folder = made_trace(metadata, events);
    tl_profile *p = NULL;
    tl_error e = {0};
    const tl_open_options o = {.no_names = no_names, .no_lines = true};
    if (tl_source_open_folder_memory(s, folder.data, folder.n, "folder", &o, &e) < 0 ||
        tl_profile_from_source(&p, *s, NULL, &e) < 0)
        fail_msg("%s", e.message);
    free(folder.data);
    return p;
}

/* A trace with a call of a function of the binary at this path. Is its name found? */
static bool is_named(const char *path, uint64_t function, bool no_names)
{
    ctf_bytes v = {0};
    tl_source *s = NULL;
    put_module(&v, 0, UINT64_MAX, path, false);
    put_call(&v, function);
    tl_profile *p = profile_of(&v, no_names, &s);
    assert_int_equal(tl_profile_functions(p), 1);
    const tl_function *f = tl_profile_get_function(p, 0);
    const bool named = f->linkage_name != NULL;
    char place[64];
    snprintf(place, sizeof place, "%s+0x%llx", tl_base_name(path), (unsigned long long)function);
    if (!named && no_names)
        assert_null(f->name);
    else if (!named)
        assert_string_equal(f->name, place);
    tl_profile_free(p);
    tl_source_close(s);
    return named;
}

static void test_only_if_wanted(void **state)
{
    const uint64_t address = address_of("main");
    assert_true(is_named("/proc/self/exe", address, false));
    assert_false(is_named("/proc/self/exe", address, true));
}

/* A pipe without a writer would block, and standard input may be one. */
static void test_only_regular_files(void **state)
{
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(is_named("pipe", 4096, false));
    assert_false(is_named("-", 4096, false));
    assert_false(is_named("/dev/zero", 4096, false));
    assert_false(is_named("missing", 4096, false));
}

/* Processes load a file at different places. It is one function at any of them, also in a file reported under two
 * names; if modules overlap, it belongs to the one that begins nearest. The file is the C library. */
static void test_one_file_at_many_places(void **state)
{
    const uint64_t far = UINT64_C(1) << 40, apart = UINT64_C(1) << 30;
    Dl_info info;
    const void *function = dlsym(RTLD_DEFAULT, "div");
    if (!function || !dladdr(function, &info) || info.dli_fname[0] != '/' || !info.dli_sname)
        skip_because("no function of a shared object that has a name");
    const uint64_t address = (uint64_t)((const char *)function - (const char *)info.dli_fbase);
    char other[PATH_MAX];
    snprintf(other, sizeof other, "/.%s", info.dli_fname);
    ctf_bytes v = {0};
    tl_source *s = NULL;
    put_module(&v, far - 4096, UINT64_C(1) << 50, "missing", true);
    for (uint64_t i = 0; i < 100; i++)
        put_module(&v, far + i * apart, apart, i % 2 ? other : info.dli_fname, true);
    for (uint64_t i = 0; i < 100; i++)
        put_call(&v, far + i * apart + address);
    put_call(&v, far - 1);
    tl_profile *p = profile_of(&v, false, &s);
    uint64_t named = 0, nameless = 0;
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        *(tl_profile_get_function(p, i)->linkage_name ? &named : &nameless) += stat.calls;
    }
    assert_int_equal(named, 100);
    assert_int_equal(nameless, 1);
    tl_profile_free(p);
    tl_source_close(s);
}

/* Incomplete modules: a build-id without a path, or a path that is not text. */
static void test_modules_in_part(void **state)
{
    ctf_bytes v = {0};
    tl_source *s = NULL;
    put_event(&v, 3, 4096);
    made_put(&v, "\x12\x34\xab\xcd", 4);
    put_event(&v, 4, 8192);
    made_u64(&v, 4096);
    made_u64(&v, 4096);
    put_call(&v, 5000);
    tl_profile *p = profile_of(&v, false, &s);
    assert_int_equal(tl_profile_functions(p), 1);
    assert_null(tl_profile_get_function(p, 0)->name);
    tl_profile_free(p);
    tl_source_close(s);
}

/* It replaces nothing known of a module. */
static void test_a_path_that_is_no_text(void **state)
{
    ctf_bytes v = {0};
    tl_source *s = NULL;
    const uint64_t address = address_of("main");
    put_module(&v, 0, UINT64_MAX, "/proc/self/exe", false);
    put_event(&v, 4, 0);
    made_u64(&v, 1);
    made_u64(&v, UINT64_MAX);
    put_call(&v, address);
    tl_profile *p = profile_of(&v, false, &s);
    assert_string_equal(tl_profile_get_function(p, 0)->name, "main");
    tl_profile_free(p);
    tl_source_close(s);
}

static bool has_note(const tl_source *s, const char *rule)
{
    const tl_trace *t = tl_source_trace(s);
    for (uint32_t i = 0; i < tl_trace_notes(t); i++)
        if (strcmp(tl_trace_note(t, i)->rule, rule) == 0)
            return true;
    return false;
}

static void test_modules_have_a_limit(void **state)
{
    enum { MOST = 65536 };
    for (unsigned n = MOST; n <= MOST + 1; n++) {
        ctf_bytes v = {0};
        tl_source *s = NULL;
        for (unsigned i = 0; i < n; i++)
            put_module(&v, (i + 1) * 4096, 4096, "missing", true);
        put_call(&v, 5000);
        tl_profile *p = profile_of(&v, false, &s);
        assert_int_equal(tl_profile_functions(p), 1);
        assert_int_equal(has_note(s, "symbols.many-modules"), n > MOST);
        tl_profile_free(p);
        tl_source_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_if_wanted),
        cmocka_unit_test(test_one_file_at_many_places),
        cmocka_unit_test(test_modules_in_part),
        cmocka_unit_test(test_a_path_that_is_no_text),
        cmocka_unit_test(test_modules_have_a_limit),
        cmocka_unit_test_setup_teardown(test_only_regular_files, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
