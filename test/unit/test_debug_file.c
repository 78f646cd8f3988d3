/* Tests of source lines and separate debug files, through op/symbols/symbolize.h and op/symbols/debug_file.h. Needs a
 * compiler. */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "op/symbols/debug_file.h"
#include "op/symbols/symbolize.h"

/* A trace with a function for each address; ids count from 1. */
static void begin_trace(tl_trace *t, const uint64_t *address, size_t n)
{
    memset(t, 0, sizeof *t);
    tl_trace_init(t);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tl_trace_add_function(t, &(tl_function){.id = (int64_t)i + 1, .address = address[i]}, NULL),
                         0);
}

static char folder[] = "/tmp/traceloom-symbolize-XXXXXX";

static void run(const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "cd '%s' && %s", folder, command);
    if (system(line) != 0)
        fail_msg("failed: %s", command);
}

/* Makes a folder with app.c and app, or skips. */
static void compile(const char *options)
{
    if (system("command -v cc objcopy strip >/dev/null 2>&1") != 0) {
        skip_because("needs cc, objcopy and strip");
    }
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(folder));
    run("printf '%s\\n' 'static int hidden(int x);' '' '__attribute__((noinline)) static int hidden(int x)' "
        "'{ return x * 7; }' '' 'int main(int n, char **v)' '{ (void)v; return hidden(n) - 7 * n; }' > app.c");
    char command[512];
    snprintf(command, sizeof command, "cc -O0 -Wl,--build-id=%s app.c -o app",
             options); /* "none -g", "sha1 -g -gz", ... */
    run(command);
}

static void remove_folder(void)
{
    char line[1024];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    assert_int_equal(system(line), 0);
}

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

struct wanted {
    const char *name;
    uint64_t address;
};

static int find_symbol(void *arg, const tl_elf_symbol *s)
{
    struct wanted *w = arg;
    if (strcmp(s->name, w->name) == 0)
        w->address = s->value;
    return 0;
}

/* The address of a function in the unstripped copy of the binary. */
static uint64_t address_of(const char *function)
{
    struct wanted w = {.name = function};
    tl_elf *elf;
    assert_int_equal(tl_elf_open(&elf, in_folder("whole"), NULL), TL_OK);
    assert_int_equal(tl_elf_each_symbol(elf, find_symbol, &w, NULL), 0);
    tl_elf_close(elf);
    assert_true(w.address != 0);
    return w.address;
}

static char said[512]; /* by the last call */

/* Names and lines of `hidden` and `main` from a binary; both must have the name, and a line if `lines`. */
static void expect_lines(const char *binary, bool names, bool lines)
{
    tl_trace t;
    tl_elf *elf;
    begin_trace(&t, (uint64_t[]){address_of("hidden"), address_of("main"), address_of("main") + 1}, 3);
    assert_int_equal(tl_elf_open(&elf, in_folder(binary), NULL), TL_OK);
    assert_int_equal(tl_symbolize(&t, elf, true, true, NULL), TL_OK);
    tl_elf_close(elf);
    static const char *const name[] = {"hidden", "main"};
    static const unsigned line[] = {3, 6};
    for (int i = 0; i < 2; i++) {
        const tl_function *f = tl_trace_function(&t, i + 1);
        if (names)
            assert_string_equal(f->name, name[i]);
        else
            assert_null(f->name);
#ifdef TL_HAVE_LIBDW
        if (lines) {
            assert_non_null(f->file);
            assert_contains(f->file, "app.c");
            assert_int_equal(f->line, line[i]);
            continue;
        }
#else
        (void)lines;
        (void)line;
#endif
        assert_null(f->file);
        assert_int_equal(f->line, 0);
    }
    assert_null(tl_trace_function(&t, 3)->name);
    snprintf(said, sizeof said, "%s", tl_trace_notes(&t) ? tl_trace_note(&t, 0)->what : "");
    tl_trace_fini(&t);
}

static void test_lines_of_the_binary(void **state)
{
    static const char *const options[] = {
        "sha1 -g", "none -g -gdwarf-4", "sha1 -g -gz=zlib", "sha1 -g -gsplit-dwarf", "sha1 -g -static-pie", "sha1 -g1"};
    for (size_t i = 0; i < TL_COUNT(options); i++) {
        compile(options[i]);
        run("cp app whole");
        expect_lines("app", true, true);
        run("strip -g app"); /* names without lines */
        expect_lines("app", true, false);
        run("strip app");
        expect_lines("app", false, false);
        remove_folder();
    }
}

/* The maker of a binary decides which files its units were split into. If those are bad, lines come from the line table
 * alone, in which a function may begin where its body does. */
static void test_bad_split_files(void **state)
{
    static const char *const spoil[] = {"rm *.dwo",
                                        "f=$(echo *.dwo) && rm $f && mkfifo $f", /* must not be waited for */
                                        "printf x > text && objcopy --update-section .debug_str.dwo=text *.dwo",
                                        "echo nonsense > *.dwo", "mkfifo app.dwp"};
    for (size_t i = 0; i < TL_COUNT(spoil); i++) {
        tl_trace t;
        tl_elf *elf;
        compile("sha1 -g -gsplit-dwarf");
        run("cp app whole");
        run(spoil[i]);
        begin_trace(&t, (uint64_t[]){address_of("main")}, 1);
        assert_int_equal(tl_elf_open(&elf, in_folder("app"), NULL), TL_OK);
        assert_int_equal(tl_symbolize(&t, elf, true, true, NULL), TL_OK);
        tl_elf_close(elf);
        assert_string_equal(tl_trace_function(&t, 1)->name, "main");
#ifdef TL_HAVE_LIBDW
        assert_non_null(tl_trace_function(&t, 1)->file);
        assert_contains(tl_trace_function(&t, 1)->file, "app.c");
        assert_in_range(tl_trace_function(&t, 1)->line, 6, 7);
#endif
        tl_trace_fini(&t);
        remove_folder();
    }
}

/* The same for the file that debug files share, and its build-id. */
static void test_shared_file(void **state)
{
    compile("sha1 -g");
    run("cp app whole && mkfifo shared && printf 'shared\\0\\1\\2\\3\\4' > link");
    run("objcopy --add-section .gnu_debugaltlink=link app");
    expect_lines("app", true, false);
    run("rm shared");
    expect_lines("app", true, true);
    run("{ printf 'shared\\0'; head -c 64 /dev/zero; } > link && objcopy --update-section .gnu_debugaltlink=link app");
    expect_lines("app", true, true);
    run("printf x >> link && objcopy --update-section .gnu_debugaltlink=link app"); /* too long for a build-id */
    expect_lines("app", true, false);
    remove_folder();
}

/* Assembly declares nothing: the line is that of the first instruction. */
static void test_lines_of_the_line_table(void **state)
{
    compile("sha1 -g");
    run("printf '%s\\n' '.globl bare' '.type bare, %function' 'bare:' ' nop' ' nop' ' nop' '.size bare, .-bare' "
        "'.section .note.GNU-stack,\"\",%progbits' > bare.s");
    run("cc -g app.c bare.s -o app && cp app whole");
    tl_trace t;
    tl_elf *elf;
    begin_trace(&t, (uint64_t[]){address_of("bare"), address_of("main")}, 2);
    assert_int_equal(tl_elf_open(&elf, in_folder("app"), NULL), TL_OK);
    assert_int_equal(tl_symbolize(&t, elf, true, true, NULL), TL_OK);
    tl_elf_close(elf);
    assert_string_equal(tl_trace_function(&t, 1)->name, "bare");
#ifdef TL_HAVE_LIBDW
    assert_non_null(tl_trace_function(&t, 1)->file);
    assert_contains(tl_trace_function(&t, 1)->file, "bare.s");
    assert_int_equal(tl_trace_function(&t, 1)->line, 4);
    assert_int_equal(tl_trace_function(&t, 2)->line, 6);
#endif
    tl_trace_fini(&t);
    remove_folder();
}

/* Two pieces of code, each with lines of its own; those of the first end where those of the second begin. Then code of
 * line 0, which nobody wrote; and code after both, within the same unit, without any row. */
static const char pieces[] = ".file 1 \"bare.s\"\n"
                             ".section .text.za,\"ax\",%progbits\n"
                             ".globl first\n"
                             ".type first,%function\n"
                             "first:\n"
                             ".loc 1 3\n"
                             "nop\n"
                             ".size first,.-first\n"
                             ".globl zero\n"
                             ".type zero,%function\n"
                             "zero:\n"
                             ".loc 1 0\n"
                             "nop\n"
                             ".size zero,.-zero\n"
                             ".section .text.zb,\"ax\",%progbits\n"
                             ".globl second\n"
                             ".type second,%function\n"
                             "second:\n"
                             ".loc 1 7\n"
                             "nop\n"
                             ".size second,.-second\n"
                             ".section .text.zc,\"ax\",%progbits\n"
                             ".globl silent\n"
                             ".type silent,%function\n"
                             "silent:\n"
                             "nop\n"
                             ".size silent,.-silent\n"
                             ".globl later\n"
                             ".type later,%function\n"
                             "later:\n"
                             "nop\n"
                             ".size later,.-later\n"
                             ".Lend:\n"
                             ".section .debug_abbrev,\"\",%progbits\n"
                             ".byte 1,0x11,0,0x10,0x17,0x11,1,0x12,1,3,8,0,0,0\n"
                             ".section .debug_info,\"\",%progbits\n"
                             ".4byte 2f-1f\n"
                             "1: .2byte 4\n"
                             ".4byte .debug_abbrev\n"
                             ".byte 8,1\n"
                             ".4byte .debug_line\n"
                             ".8byte first\n"
                             ".8byte .Lend\n"
                             ".asciz \"bare.s\"\n"
                             "2:\n"
                             ".section .debug_line,\"\",%progbits\n"
                             ".section .note.GNU-stack,\"\",%progbits\n";

static void test_ends_of_lines(void **state)
{
    static const char *const name[] = {"first", "zero", "second", "silent", "later"};
    uint64_t address[5];
    tl_trace t;
    tl_elf *elf;
    compile("sha1 -g");
    FILE *file = fopen(in_folder("bare.s"), "w");
    assert_true(file && fputs(pieces, file) >= 0 && fclose(file) == 0);
    run("cc -g app.c bare.s -o app && cp app whole");
    for (int i = 0; i < 5; i++)
        address[i] = address_of(name[i]);
    begin_trace(&t, address, 5);
    assert_int_equal(tl_elf_open(&elf, in_folder("app"), NULL), TL_OK);
    assert_int_equal(tl_symbolize(&t, elf, true, true, NULL), TL_OK);
    tl_elf_close(elf);
#ifdef TL_HAVE_LIBDW
    static const unsigned line[] = {3, 3, 7, 0, 0};
    for (int i = 0; i < 5; i++) {
        const tl_function *f = tl_trace_function(&t, i + 1);
        assert_int_equal(f->line, line[i]);
        assert_int_equal(f->file != NULL, line[i] > 0);
    }
#endif
    tl_trace_fini(&t);
    remove_folder();
}

static void test_lines_are_not_asked_for(void **state)
{
    compile("sha1 -g");
    run("cp app whole");
    tl_trace t;
    tl_elf *elf;
    begin_trace(&t, (uint64_t[]){address_of("main")}, 1);
    assert_int_equal(tl_elf_open(&elf, in_folder("app"), NULL), TL_OK);
    assert_int_equal(tl_symbolize(&t, elf, true, false, NULL), TL_OK);
    tl_elf_close(elf);
    assert_string_equal(tl_trace_function(&t, 1)->name, "main");
    assert_null(tl_trace_function(&t, 1)->file);
    tl_trace_fini(&t);
    remove_folder();
}

static void test_debuglink(void **state)
{
    static const char *const options[] = {"none -g", "sha1 -g"};
    for (size_t i = 0; i < TL_COUNT(options); i++) {
        compile(options[i]);
        run("cp app whole && objcopy --only-keep-debug app app.debug && strip app");
        run("objcopy --add-gnu-debuglink=app.debug app");
        expect_lines("app", true, true);
        run("mkdir .debug && mv app.debug .debug");
        expect_lines("app", true, true);
        run("ln -s ../app .debug/link"); /* found from the real place of the binary */
        expect_lines(".debug/link", true, true);
        assert_string_equal(said, "");
        run("printf x >> .debug/app.debug"); /* the sum is wrong; the build-id, if any, still fits */
        expect_lines("app", i == 1, i == 1);
        run("cc -g -Wl,--build-id=uuid app.c -o .debug/app.debug");
        expect_lines("app", false, false);
        assert_contains(said, "/.debug/app.debug is a debug file of another build, and is not used");
        run("cp .debug/app.debug . && cp whole .debug/app.debug && objcopy --only-keep-debug .debug/app.debug");
        expect_lines("app", true, true); /* the first one is bad, the next one is good: nothing to say */
        assert_string_equal(said, "");
        run("rm app.debug && echo nonsense > .debug/app.debug");
        expect_lines("app", false, false);
        run("rm .debug/app.debug && mkfifo .debug/app.debug"); /* must not be waited for */
        expect_lines("app", false, false);
        assert_string_equal(said, "");
        remove_folder();
    }
}

/* A binary that names itself as its debug file. */
static void test_debuglink_to_itself(void **state)
{
    compile("sha1 -g");
    run("cp app whole && cp app link.tmp && strip app && mv app stripped && cp stripped app");
    run("objcopy --add-gnu-debuglink=app stripped self && mv self app");
    expect_lines("app", false, false);
    remove_folder();
}

static void test_build_id(void **state)
{
    compile("0xabcdef0123 -g");
    run("cp app whole && mkdir -p store/.build-id/ab && strip app -o stripped");
    run("objcopy --only-keep-debug app store/.build-id/ab/cdef0123.debug");
    tl_elf *elf, *debug = NULL;
    char *refused = NULL;
    assert_int_equal(tl_elf_open(&elf, in_folder("stripped"), NULL), TL_OK);
    assert_string_equal(tl_elf_build_id(elf), "abcdef0123");
    assert_int_equal(tl_debug_file_open(&debug, elf, in_folder("nothing"), NULL, NULL), 0);
    assert_null(debug);
    assert_int_equal(tl_debug_file_open(&debug, elf, in_folder("store"), &refused, NULL), 1);
    assert_contains(tl_elf_path(debug), "/store/.build-id/ab/cdef0123.debug");
    assert_string_equal(tl_elf_build_id(debug), "abcdef0123");
    tl_elf_close(debug);
    debug = NULL;
    run("cc -g -Wl,--build-id=0xabcdef9999 app.c -o store/.build-id/ab/cdef0123.debug");
    assert_int_equal(tl_debug_file_open(&debug, elf, in_folder("store"), &refused, NULL), 0);
    assert_null(debug);
    assert_string_equal(refused, in_folder("store/.build-id/ab/cdef0123.debug"));
    free(refused);
    tl_elf_close(elf);
    remove_folder();
}

static void test_debuglink_under_the_root(void **state)
{
    compile("none -g");
    run("objcopy --only-keep-debug app app.debug && strip app && objcopy --add-gnu-debuglink=app.debug app");
    run("mkdir -p \"store$PWD\" && mv app.debug \"store$PWD\"");
    tl_elf *elf, *debug = NULL;
    char *refused = NULL;
    assert_int_equal(tl_elf_open(&elf, in_folder("app"), NULL), TL_OK);
    assert_int_equal(tl_debug_file_open(&debug, elf, in_folder("store"), &refused, NULL), 1);
    tl_elf_close(debug);
    tl_elf_close(elf);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_the_binary),
        cmocka_unit_test(test_bad_split_files),
        cmocka_unit_test(test_shared_file),
        cmocka_unit_test(test_lines_of_the_line_table),
        cmocka_unit_test(test_ends_of_lines),
        cmocka_unit_test(test_lines_are_not_asked_for),
        cmocka_unit_test(test_debuglink),
        cmocka_unit_test(test_debuglink_to_itself),
        cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_debuglink_under_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
