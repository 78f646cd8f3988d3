/* Tests of op/discover.h: which files are opened because a function trace names them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/elf_file.h"
#include "base/endian.h"
#include "op/source_impl.h"
#include "scratch.h"
#include "skip.h"
#include "traceloom/profile.h"

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; } := u8;\n"
    "typealias integer { size = 64; align = 8; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; };\n"
    "clock { name = mono; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.mono.value; } := stamp;\n"
    "stream { event.header := struct { u8 id; stamp timestamp; }; };\n"
    "event { name = \"lttng_ust_statedump:bin_info\"; id = 0;\n"
    "        fields := struct { u64 baddr; u64 memsz; string path; u8 is_pic; }; };\n"
    "event { name = \"lttng_ust_cyg_profile:func_entry\"; id = 1; fields := struct { u64 addr; }; };\n"
    "event { name = \"lttng_ust_cyg_profile:func_exit\"; id = 2; fields := struct { u64 addr; }; };\n";

static size_t put_event(uint8_t *p, uint8_t id, uint64_t number)
{
    p[0] = id;
    tl_store64(p + 1, id, false);
    tl_store64(p + 9, number, false);
    return 17;
}

static size_t put_file(uint8_t *p, const char *name, const void *data, size_t n)
{
    const size_t at = strlen(name) + 1;
    memcpy(p, name, at);
    tl_store32(p + at, (uint32_t)n, false);
    memcpy(p + at + 4, data, n);
    return at + 4 + n;
}

/* A trace in which a function is called that lies in the binary of this path. Is its name found? */
static bool is_named(const char *path, uint64_t function, bool no_names)
{
    uint8_t events[1024], packed[4096];
    size_t n = put_event(events, 0, 0);
    tl_store64(events + n, UINT64_MAX, false);
    n += 8;
    memcpy(events + n, path, strlen(path) + 1);
    n += strlen(path) + 1;
    events[n++] = 0; /* its addresses are those of the file */
    n += put_event(events + n, 1, function);
    n += put_event(events + n, 2, function);
    size_t size = put_file(packed, "metadata", metadata, sizeof metadata - 1);
    size += put_file(packed + size, "stream", events, n);

    tl_source *s = NULL;
    tl_profile *p = NULL;
    tl_error e = {0};
    const tl_open_options o = {.no_names = no_names, .no_lines = true};
    if (tl_source_open_folder_memory(&s, packed, size, "folder", &o, &e) < 0 ||
        tl_profile_from_source(&p, s, NULL, &e) < 0)
        fail_msg("%s", e.message);
    assert_int_equal(tl_profile_functions(p), 1);
    const bool named = tl_profile_get_function(p, 0)->name != NULL;
    tl_profile_free(p);
    tl_source_close(s);
    return named;
}

static int find_main(void *arg, const tl_elf_symbol *s)
{
    uint64_t *address = arg;
    if (strcmp(s->name, "main") == 0)
        *address = s->value;
    return 0;
}

static void test_only_if_wanted(void **state)
{
    (void)state;
    tl_elf *elf = NULL;
    uint64_t address = 0;
    const int status = tl_elf_open(&elf, "/proc/self/exe", NULL);
    if (status == TL_EUNSUPPORTED)
        skip_because("this program is no 64-bit ELF file");
    assert_int_equal(status, 0);
    assert_int_equal(tl_elf_each_symbol(elf, find_main, &address, NULL), 0);
    tl_elf_close(elf);
    assert_true(address > 0);
    assert_true(is_named("/proc/self/exe", address, false));
    assert_false(is_named("/proc/self/exe", address, true));
}

/* A pipe without a writer would be waited for, and standard input may be one. */
static void test_only_regular_files(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(is_named("pipe", 4096, false));
    assert_false(is_named("-", 4096, false));
    assert_false(is_named("/dev/zero", 4096, false));
    assert_false(is_named("missing", 4096, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_if_wanted),
        cmocka_unit_test_setup_teardown(test_only_regular_files, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
