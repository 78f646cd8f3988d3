/* Tests of folders of recordings: their files, the counts in snapshots, images, and values without a place. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "insn_fixture.h"

#include "format/xtrace/xtrace_core.h"
#include "output_check.h"

extern const tl_format tl_format_xtrace_set;

static int try_start(fixture *f, tl_error *e)
{
    insn_init(f);
    assert_int_equal(tl_output_folder_open(&f->folder, "out.xtrace", false, NULL, NULL), 0);
    return insn_create(f, &tl_format_xtrace_set, e);
}

static void start_set(fixture *f)
{
    tl_error e;
    must(try_start(f, &e), &e);
}

/* Also removes the folder. */
static void stop_set(fixture *f)
{
    fixture_fini(f);
    if (chdir("out.xtrace") == 0) {
        scratch_files(1);
        assert_int_equal(chdir(".."), 0);
        rmdir("out.xtrace");
    }
}

/* A file of the folder; free(). */
static uint8_t *file_of(const char *name, size_t *n)
{
    char path[300];
    snprintf(path, sizeof path, "out.xtrace/%s", name);
    uint8_t *bytes = (uint8_t *)scratch_read(path, n);
    if (!bytes)
        fail_msg("there is no %s", path);
    return bytes;
}

static bool has_file(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "out.xtrace/%s", name);
    return access(path, F_OK) == 0;
}

static void test_counts_begin_at_zero(void **state)
{
    fixture f;
    start_set(&f);
    f.count = 5000;
    put_snapshot(&f, 5000, 0x100, 0x7ff0);
    put_insn(&f, 0x400000, LDR, 0);
    put_mem(&f, false, 0x1000, "01234567", 8);
    put_insn(&f, 0x400004, NOP, 1);
    put_snapshot(&f, 5002, 0x200, 0x7fe0);
    put_insn(&f, 0x400008, NOP, 0);
    fixture_finish(&f);
    size_t n;
    uint8_t *p = file_of("xtrace.0.7.hint9.xinsndata.bin", &n);
    assert_int_equal(n, 13 + 17 + 5 + 5);
    free(p);
    p = file_of("xtrace.0.7.hint9.xsnapshot.bin", &n);
    assert_int_equal(n, 24 + 2 * 1424);
    static const uint64_t counts[2][4] = {{0, 0, 0, 0}, {0, 35, 1, 2}};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(tl_load64(p + 24 + 1424 * i + 8 * k, false), counts[i][k]);
    assert_int_equal(tl_load64(p + 24 + 1424 + 32, false), 0x200);
    assert_int_equal(p[18], 0);
    free(p);
    assert_int_equal(f.drops.n, 0);
    stop_set(&f);
}

static void test_image(void **state)
{
    fixture f;
    start_set(&f);
    put_snapshot(&f, 0, 0x100, 0x7ff0);
    put_insn(&f, 0x400000, LDR, 0);
    put_mem(&f, false, 0x1000, "01234567", 8);
    put_mem(&f, true, 0x2000, "stored", 6);
    put_insn(&f, 0x400004, LDR, 0);
    put_mem(&f, false, 0x2004, "ed??", 4);
    put_state(&f, XTRACE_CLASS_STXR, 1);
    fixture_finish(&f);
    tl_shadow *memory;
    tl_input *in;
    const char *what;
    uint8_t got[16];
    assert_int_equal(tl_shadow_new(&memory, NULL), 0);
    assert_int_equal(tl_input_open(&in, "out.xtrace/xtrace.0.7.hint9.xmemory.core", NULL), 0);
    assert_int_equal(xtrace_core_read(in, memory, &what, NULL), 0);
    assert_int_equal(tl_shadow_get(memory, 0x1000, got, 16), 8);
    assert_memory_equal(got, "01234567", 8);
    assert_int_equal(tl_shadow_get(memory, 0x400000, got, 16), 8);
    assert_int_equal(tl_load32(got, false), LDR);
    assert_false(tl_shadow_knows_any(memory, 0x2000, 6));
    assert_int_equal(tl_shadow_get(memory, 0x2006, got, 16), 2);
    assert_memory_equal(got, "??", 2);
    tl_input_close(in);
    tl_shadow_free(memory);
    size_t n;
    uint8_t *p = file_of("xtrace.0.7.hint9.xmemory.core", &n), *note = p + tl_load64(p + 64 + 8, false);
    assert_int_equal(tl_load64(note + 20 + 112 + 8 * 31, false), 0x7ff0);
    assert_int_equal(tl_load64(note + 20 + 112 + 8 * 32, false), 0x400000);
    assert_int_equal(tl_load64(note + 20 + 112 + 8 * 33, false), 0x400 | 0x40000); /* nzcv, daif */
    assert_int_equal(tl_load32(note + 20 + 392 + 20 + 512, false), 0x200);         /* fpsr */
    assert_int_equal(tl_load32(note + 20 + 392 + 20 + 516, false), 0x100);         /* fpcr */
    assert_int_equal(tl_load64(note + 20 + 392 + 20 + 528 + 20, false), 0x800);    /* tpidr_el0 */
    const uint16_t sizes[] = {64, 56, 3, 64, 0}; /* of the header, of segments' and how many, of sections' */
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(tl_load16(p + 52 + 2 * i, false), sizes[i]);
    free(p);
    stop_set(&f);
}

/* Later registers do not count for the begin. */
static void test_image_without_registers(void **state)
{
    fixture f;
    start_set(&f);
    put_insn(&f, 0x400000, NOP, 0);
    put_snapshot(&f, 1, 0x100, 0x7ff0);
    put_insn(&f, 0x400004, NOP, 0);
    fixture_finish(&f);
    size_t n;
    uint8_t *p = file_of("xtrace.0.7.hint9.xmemory.core", &n);
    assert_memory_equal(p + tl_load64(p + 64 + 8, false) + 12, "TRACELOOM", 10);
    free(p);
    stop_set(&f);
}

static void test_tracks(void **state)
{
    fixture f;
    start_set(&f);
    put_insn(&f, 0x400000, NOP, 0);
    put_insn(&f, 0x500000, NOP, 0);
    f.batch.track[1] = 1;
    put_insn(&f, 0x400004, NOP, 0);
    put_state(&f, XTRACE_CLASS_TIME, 5);
    put_snapshot(&f, 3, 0x100, 0x7ff0);
    fixture_finish(&f);
    size_t n;
    uint8_t *p = file_of("xtrace.0.7.hint9.xinsndata.bin", &n);
    assert_int_equal(n, 13 + 5 + 9);
    free(p);
    p = file_of("xtrace.0.8.hint9.xinsndata.bin", &n);
    assert_int_equal(n, 13);
    free(p);
    p = file_of("xtrace.0.7.hint9.xsnapshot.bin", &n);
    assert_int_equal(p[18], 1); /* there is an order of accesses */
    assert_int_equal(tl_load64(p + 24 + 24, false), 2);
    free(p);
    assert_false(has_file("xtrace.0.8.hint9.xsnapshot.bin"));
    assert_true(has_file("xtrace.0.8.hint9.xmemory.core"));
    stop_set(&f);
}

/* Time and hint are from the file read; parts without a number get one. */
static void test_names(void **state)
{
    static const struct {
        const char *path, *track;
        bool has_tid;
        const char *name;
    } cases[] = {{"dir/xtrace.1700.7.hint13.xinsndata.bin", "7", true, "xtrace.1700.7.hint13.xinsndata.bin"},
                 {"dir/xtrace.1700.8.hint13.xinsndata.bin", "7", true, "xtrace.0.7.hint9.xinsndata.bin"},
                 {"in", "7", true, "xtrace.99.7.hint13.xinsndata.bin"},
                 {"other", "7", true, "xtrace.0.7.hint9.xinsndata.bin"},
                 {NULL, "thread 7", true, "xtrace.0.7.hint9.xinsndata.bin"},
                 {NULL, "main", false, "xtrace.0.0.hint9.xinsndata.bin"},
                 {NULL, "../7", false, "xtrace.0.0.hint9.xinsndata.bin"}};
    assert_int_equal(mkdir("in", 0777), 0);
    scratch_write("in/xtrace.98.6.hint9.xinsndata.bin", "", 0);
    scratch_write("in/xtrace.99.7.hint13.xinsndata.bin", "", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        start_set(&f);
        f.trace.path = cases[i].path;
        f.trace.track[0].name = cases[i].track;
        f.trace.track[0].has_tid = cases[i].has_tid;
        put_insn(&f, 0x400000, NOP, 0);
        fixture_finish(&f);
        if (!has_file(cases[i].name))
            fail_msg("case %zu: there is no %s", i, cases[i].name);
        f.trace.path = NULL;
        stop_set(&f);
    }
    assert_int_equal(chdir("in"), 0);
    scratch_files(1);
    assert_int_equal(chdir(".."), 0);
    rmdir("in");
}

/* A thread may have the number 0. */
static void test_number_0(void **state)
{
    fixture f;
    start_set(&f);
    const tl_track before = f.trace.track[1];
    f.trace.track[1].name = "idle";
    f.trace.track[1].has_tid = true;
    f.trace.track[1].tid = 0;
    put_insn(&f, 0x500000, NOP, 0);
    f.batch.track[0] = 1;
    fixture_finish(&f);
    assert_true(has_file("xtrace.0.0.hint9.xinsndata.bin"));
    f.trace.track[1] = before;
    stop_set(&f);
}

/* A processor is named by its number, and the header of its snapshots marks it as a processor, unlike a thread. */
static void test_processor(void **state)
{
    fixture f;
    size_t n;
    start_set(&f);
    const tl_track before = f.trace.track[1];
    f.trace.track[1] = (tl_track){.name = "cpu 0", .tid = 0, .is_cpu = true};
    for (uint32_t track = 0; track < 2; track++) {
        put_snapshot(&f, 0, 0x100, 0x7ff0);
        put_insn(&f, 0x400000, NOP, 0);
        f.batch.track[2 * track] = f.batch.track[2 * track + 1] = track;
    }
    fixture_finish(&f);
    static const char *const name[] = {"xtrace.0.7.hint9.xsnapshot.bin", "xtrace.0.0.hint9.xsnapshot.bin"};
    for (uint8_t track = 0; track < 2; track++) {
        uint8_t *shots = file_of(name[track], &n);
        assert_int_equal(shots[17], track); /* stream of: 1 a processor */
        free(shots);
    }
    assert_true(has_file("xtrace.0.0.hint9.xinsndata.bin"));
    f.trace.track[1] = before;
    stop_set(&f);
}

static void test_two_tracks_of_one_name(void **state)
{
    fixture f;
    tl_error e;
    start_set(&f);
    f.trace.track[1].name = "7";
    put_insn(&f, 0x400000, NOP, 0);
    put_insn(&f, 0x500000, NOP, 0);
    f.batch.track[1] = 1;
    assert_int_equal(fixture_write(&f, &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "xtrace-set: two tracks have the number 7: choose one with -t or --cpu");
    f.trace.track[1].name = "8";
    stop_set(&f);
    assert_int_equal(access("out.xtrace", F_OK), -1);
}

static void test_what_has_no_place(void **state)
{
    static const tl_class call = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"};
    fixture f;
    tl_error e;
    start_set(&f);
    assert_int_equal(tl_format_xtrace_set.event_writer->accept(f.writer, &call), TL_ACCEPT_DROP);
    put_snapshot(&f, 7, 0x100, 0x7ff0); /* of no instruction */
    put_snapshot(&f, 8, 0x100, 0x7ff0);
    f.batch.v[f.batch.nval - 1].as.u = 256;
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "snapshots of another shape"), 1);
    assert_int_equal(fixture_dropped(&f, "counts of tracks"), 1);
    assert_false(has_file("xtrace.0.7.hint9.xmemory.core"));
    stop_set(&f);

    insn_init(&f);
    assert_int_equal(tl_trace_set_classes(&f.trace, &call, 1, NULL), 0);
    assert_int_equal(tl_output_folder_open(&f.folder, "out.xtrace", false, NULL, NULL), 0);
    assert_int_equal(insn_create(&f, &tl_format_xtrace_set, &e), TL_EUNSUPPORTED);
    stop_set(&f);
}

static unsigned open_files(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Giving up leaves nothing open. */
static void test_given_up(void **state)
{
    fixture f;
    tl_error e;
    const unsigned before = open_files();
    start_set(&f);
    put_snapshot(&f, 0, 0x100, 0x7ff0);
    put_insn(&f, 0x400000, LDR, 0);
    must(fixture_write(&f, &e), &e);
    assert_true(open_files() > before + 1);
    stop_set(&f);
    assert_int_equal(open_files(), before);
    assert_true(access("out.xtrace", F_OK) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_counts_begin_at_zero, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_image, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_image_without_registers, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_tracks, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_names, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_number_0, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_processor, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_two_tracks_of_one_name, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_given_up, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_what_has_no_place, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
