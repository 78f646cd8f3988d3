/* Tests of memory images: the core file of one, its limit, and the check. */
#include "insn_fixture.h"

#include "format/xtrace/xtrace_image.h"
#include "output_check.h"

/* --- the core file --- */

static uint8_t *write_core(tl_shadow *memory, const xtrace_registers *r, size_t *n)
{
    tl_output *o;
    tl_error e;
    assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
    must(xtrace_core_write(o, memory, r, 4711, CORE_MANY, &e), &e);
    must(tl_output_finish(o, &e), &e);
    uint8_t *bytes = tl_output_take_memory(o, n);
    tl_output_close(o);
    return bytes;
}

/* 0, or 1 with the reason. */
static int read_core(const uint8_t *bytes, size_t n, tl_shadow *memory, const char **what)
{
    tl_input *in;
    tl_error e;
    assert_int_equal(tl_input_open_memory(&in, bytes, n, "core", NULL), 0);
    const int r = xtrace_core_read(in, memory, what, &e);
    must(r, &e);
    tl_input_close(in);
    return r;
}

static tl_shadow *new_memory(void)
{
    tl_shadow *s;
    assert_int_equal(tl_shadow_new(&s, NULL), 0);
    return s;
}

static void set(tl_shadow *s, uint64_t address, const char *text)
{
    assert_int_equal(tl_shadow_set(s, address, text, strlen(text), NULL), 0);
}

static void expect_bytes_at(const tl_shadow *s, uint64_t address, const char *text)
{
    char got[64];
    const size_t n = tl_shadow_get(s, address, got, sizeof got - 1);
    got[n] = '\0';
    assert_string_equal(got, text);
}

static void test_core_reads_back(void **state)
{
    tl_shadow *out = new_memory(), *in = new_memory();
    const char *what;
    size_t n;
    set(out, 0, "begin");
    set(out, 0x1ffe, "two pages");
    set(out, 0x400000, "code");
    set(out, 0x400010, "more");
    set(out, UINT64_MAX - 2, "end"); /* the highest page */
    uint8_t *bytes = write_core(out, NULL, &n);
    assert_int_equal(tl_load16(bytes + 56, false), 1 + 3); /* notes; 0 to 0x2fff, code, the end */
    assert_int_equal(read_core(bytes, n, in, &what), 0);
    expect_bytes_at(in, 0, "begin");
    expect_bytes_at(in, 0x1ffe, "two pages");
    expect_bytes_at(in, 0x400000, "code");
    assert_false(tl_shadow_knows_any(in, 0x400004, 12));
    expect_bytes_at(in, 0x400010, "more");
    expect_bytes_at(in, UINT64_MAX - 2,
                    "end"
                    "begin");
    assert_false(tl_shadow_knows_any(in, 5, 0x1ff9));
    free(bytes);
    tl_shadow_free(in);
    tl_shadow_free(out);
}

static void test_core_of_nothing(void **state)
{
    tl_shadow *out = new_memory();
    const char *what;
    size_t n;
    uint8_t *bytes = write_core(out, NULL, &n);
    assert_int_equal(tl_load16(bytes + 56, false), 1);
    assert_int_equal(read_core(bytes, n, out, &what), 0);
    assert_null(tl_shadow_next_page(out, 0));
    free(bytes);
    tl_shadow_free(out);
}

/* 65535 and more program headers do not fit into the header; here 4. */
static void test_core_of_very_many_runs(void **state)
{
    tl_shadow *out = new_memory(), *in = new_memory();
    const char *what;
    for (uint64_t most = 4; most <= 5; most++) {
        tl_output *o;
        tl_error e;
        size_t n;
        for (uint64_t i = 0; i < 3; i++)
            set(out, i * 2 * TL_SHADOW_PAGE, "x");
        assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
        must(xtrace_core_write(o, out, NULL, 1, most, &e), &e);
        must(tl_output_finish(o, &e), &e);
        uint8_t *bytes = tl_output_take_memory(o, &n);
        tl_output_close(o);
        assert_int_equal(tl_load16(bytes + 56, false), most == 4 ? 65535 : 4);
        assert_int_equal(tl_load16(bytes + 60, false), most == 4);
        if (most == 4)
            assert_int_equal(tl_load32(bytes + tl_load64(bytes + 40, false) + 44, false), 4);
        tl_shadow_clear(in);
        assert_int_equal(read_core(bytes, n, in, &what), 0);
        expect_bytes_at(in, 4 * TL_SHADOW_PAGE, "x");
        free(bytes);
    }
    tl_shadow_free(in);
    tl_shadow_free(out);
}

static void test_registers_of_a_core(void **state)
{
    xtrace_registers r = {
        .sp = 0x7ff0, .pc = 0x400000, .pstate = 0x40000000, .tpidr = 0x1234, .fpsr = 0x10, .fpcr = 0x1000000};
    tl_shadow *out = new_memory();
    size_t n;
    for (size_t i = 0; i < 31; i++)
        r.x[i] = 0x100 + i;
    for (size_t i = 0; i < 32; i++)
        memset(r.v[i], (int)i, 16);
    uint8_t *bytes = write_core(out, &r, &n), *p = bytes + tl_load64(bytes + 64 + 8, false);
    assert_memory_equal(p, "\5\0\0\0\x88\1\0\0\1\0\0\0CORE\0\0\0\0", 20);
    p += 20;
    assert_int_equal(tl_load32(p + 32, false), 4711);
    for (size_t i = 0; i < 31; i++)
        assert_int_equal(tl_load64(p + 112 + 8 * i, false), 0x100 + i);
    assert_int_equal(tl_load64(p + 112 + 8 * 31, false), 0x7ff0);
    assert_int_equal(tl_load64(p + 112 + 8 * 32, false), 0x400000);
    assert_int_equal(tl_load64(p + 112 + 8 * 33, false), 0x40000000);
    p += 392;
    assert_memory_equal(p, "\5\0\0\0\x10\2\0\0\2\0\0\0CORE\0\0\0\0", 20);
    p += 20;
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(p[16 * i + 15], i);
    assert_int_equal(tl_load32(p + 512, false), 0x10);
    assert_int_equal(tl_load32(p + 516, false), 0x1000000);
    p += 528;
    assert_memory_equal(p, "\6\0\0\0\x08\0\0\0\1\4\0\0LINUX\0\0\0", 20);
    assert_int_equal(tl_load64(p + 20, false), 0x1234);
    free(bytes);
    tl_shadow_free(out);
}

/* Another program's core file: no note tells what is known. */
static void test_core_of_others(void **state)
{
    tl_shadow *out = new_memory(), *in = new_memory();
    const char *what;
    size_t n;
    set(out, 0x1000, "x");
    uint8_t *bytes = write_core(out, NULL, &n);
    bytes[tl_load64(bytes + 64 + 8, false) + 8] ^= 1; /* another type of note */
    assert_int_equal(read_core(bytes, n, in, &what), 0);
    assert_true(tl_shadow_knows_any(in, 0x1fff, 1));
    free(bytes);
    tl_shadow_free(in);
    tl_shadow_free(out);
}

/* Each change makes it unreadable, or is reported; none crashes. */
static void test_damaged_cores(void **state)
{
    tl_shadow *out = new_memory();
    const char *what = NULL;
    size_t n;
    set(out, 0x1000, "x");
    set(out, 0x8000, "y");
    uint8_t *bytes = write_core(out, NULL, &n);
    const size_t note_at = (size_t)tl_load64(bytes + 64 + 8, false);
    const struct {
        size_t at;
        uint64_t value;
        const char *what;
    } cases[] = {{0, 0, "not an AArch64 core file"},
                 {16, 0x0000000100b70002, "not an AArch64 core file"},
                 {32, UINT64_MAX - 7, "more program headers"},
                 {52, 0xfffe00380040, "more program headers"},
                 {64 + 8, UINT64_MAX - 7, "notes are beyond"},
                 {64 + 32, UINT64_MAX - 7, "notes are beyond"},
                 {64 + 32, n - note_at + 1, "notes are beyond"},
                 {64 + 56 + 8, UINT64_MAX - 7, "truncated"},
                 {64 + 56 + 16, 0x3000, "of other pages"},
                 {64 + 56 + 32, 0x1001, "not in the note"},
                 {64 + 56 + 32, 0x2000, "of other pages"},
                 {note_at, 0xffffffff0000000a, "a note is beyond"},
                 {note_at, 0x00000010ffffffff, "a note is beyond"},
                 {note_at + 24, 2, "unknown kind"},
                 {note_at + 32, UINT64_MAX, "unknown kind"},
                 {note_at + 32, 1, "unknown kind"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_shadow *in = new_memory();
        uint8_t *copy = malloc(n);
        memcpy(copy, bytes, n);
        tl_store64(copy + cases[i].at, cases[i].value, false);
        if (read_core(copy, n, in, &what) != 1 || !strstr(what, cases[i].what))
            fail_msg("case %zu: %s", i, what ? what : "read");
        free(copy);
        tl_shadow_free(in);
    }
    for (size_t cut = 0; cut < n; cut += cut < 1000 ? 1 : 97) {
        tl_shadow *in = new_memory();
        assert_int_equal(read_core(bytes, cut, in, &what), 1);
        tl_shadow_free(in);
    }
    free(bytes);
    tl_shadow_free(out);
}

/* Every touched page costs memory. */
static void test_images_have_a_limit(void **state)
{
    fixture f;
    xtrace_image m;
    insn_init(&f);
    xtrace_how *how = xtrace_hows(&f.trace);
    assert_int_equal(xtrace_image_init(&m, NULL), 0);
    m.most = 10;
    put_insn(&f, 0x400000, STR, 0);
    for (uint64_t i = 1; i < 10; i++)
        put_mem(&f, true, i << 12, "x", 1);
    put_insn(&f, 0x400004, STR, 0);
    assert_int_equal(xtrace_image_add(&m, how, &f.batch, 0, f.batch.n, NULL), 0);
    assert_false(m.too_large);
    assert_int_equal(xtrace_image_pages(&m), 11);
    put_mem(&f, true, 10 << 12, "x", 1);
    put_insn(&f, 0x400008, STR, 0);
    assert_int_equal(xtrace_image_add(&m, how, &f.batch, f.batch.n - 2, f.batch.n, NULL), 0);
    assert_true(m.too_large);
    assert_int_equal(xtrace_image_pages(&m), 0);
    assert_int_equal(xtrace_image_add(&m, how, &f.batch, 0, f.batch.n, NULL), 0); /* it is no longer checked */
    xtrace_image_fini(&m);
    free(how);
    fixture_fini(&f);
}

/* --- the check --- */

typedef struct checked {
    tl_trace trace;
    uint8_t stream[256];
    size_t n;
    tl_shadow *memory;
} checked;

static void check_init(checked *c)
{
    memset(c, 0, sizeof *c);
    tl_trace_init(&c->trace);
    c->memory = new_memory();
}

static void put_bytes(checked *c, const void *bytes, size_t n)
{
    memcpy(c->stream + c->n, bytes, n);
    c->n += n;
}

static size_t put_token(checked *c, unsigned token, uint64_t value, const char *rest)
{
    uint8_t head[9] = {(uint8_t)token};
    const size_t at = c->n;
    tl_store64(head + 1, value, false);
    put_bytes(c, head, sizeof head);
    put_bytes(c, rest, strlen(rest));
    return at;
}

static void run_check(checked *c)
{
    size_t n;
    tl_input *stream, *image;
    tl_error e;
    uint8_t *core = write_core(c->memory, NULL, &n);
    assert_int_equal(tl_input_open_memory(&stream, c->stream, c->n, "stream", NULL), 0);
    assert_int_equal(tl_input_open_memory(&image, core, n, "image", NULL), 0);
    must(xtrace_image_check(stream, "stream", image, "image", &c->trace, &e), &e);
    tl_input_close(stream);
    tl_input_close(image);
    free(core);
}

static void check_fini(checked *c)
{
    tl_shadow_free(c->memory);
    tl_trace_fini(&c->trace);
}

static void expect_problem(const checked *c, uint32_t i, size_t at, const char *what)
{
    const tl_damage *d = tl_trace_damage(&c->trace, i);
    assert_non_null(d);
    assert_string_equal(d->rule, "xtrace.image");
    assert_string_equal(d->file, "stream");
    assert_int_equal(d->at, at);
    assert_string_equal(d->what, what);
}

static void test_check(void **state)
{
    checked c;
    check_init(&c);
    set(c.memory, 0x400000, "abcdefgh");
    set(c.memory, 0x1000, "01234567");
    put_token(&c, 0x09, 0x400000, "abcd");                 /* as in the image */
    put_token(&c, 0x32, 0x1000, "01234567");               /* as well */
    const size_t changed = put_token(&c, 0x01, 0, "") + 0; /* an INST: 4 bytes of opcode ... */
    c.n -= 8;
    put_bytes(&c, "efgX", 4);
    put_token(&c, 0x3a, 0x2000, "stored!!");
    put_bytes(&c,
              "\x01"
              "ijkl",
              5); /* the image lacks this one */
    const size_t missing = c.n - 5;
    put_token(&c, 0x32, 0x2000, "stored!!");
    const size_t two = put_token(&c, 0x22, 0x0ffe, "??01"); /* one problem each token */
    run_check(&c);
    assert_int_equal(tl_trace_damage_count(&c.trace), 3);
    expect_problem(&c, 0, changed, "the byte at 0x400007 is 0x58 here, 0x68 in the memory image");
    expect_problem(&c, 1, missing, "the memory image does not know the byte at 0x400008");
    expect_problem(&c, 2, two, "the memory image does not know the byte at 0xffe");
    check_fini(&c);
}

static void test_check_of_exclusive_stores(void **state)
{
    checked c;
    check_init(&c);
    put_bytes(&c, "\x01nop!", 5);
    put_token(&c, 0x2a, 0x1000, "stor");
    put_token(&c, 0x03, 0, ""); /* it did store */
    put_bytes(&c, "\x01nop!", 5);
    put_token(&c, 0x22, 0x1000, "stor");
    put_token(&c, 0x2a, 0x2000, "stor");
    put_token(&c, 0x03, 1, ""); /* it did not */
    put_bytes(&c, "\x01nop!", 5);
    const size_t at = put_token(&c, 0x22, 0x2000, "else");
    run_check(&c);
    assert_int_equal(tl_trace_damage_count(&c.trace), 1);
    expect_problem(&c, 0, at, "the memory image does not know the byte at 0x2000");
    check_fini(&c);
}

/* Other checks report the damage of a stream. */
static void test_check_ends_at_damage(void **state)
{
    checked c;
    check_init(&c);
    put_bytes(&c, "\x05", 1);
    put_token(&c, 0x22, 0x2000, "else");
    run_check(&c);
    assert_int_equal(tl_trace_damage_count(&c.trace), 0);
    c.n = 0;
    put_token(&c, 0x22, 0x2000, "els");
    run_check(&c);
    assert_int_equal(tl_trace_damage_count(&c.trace), 0);
    check_fini(&c);
}

static void test_names(void **state)
{
    char *name = xtrace_image_name("a/xtrace.1.2.hint9.xinsndata.bin");
    assert_string_equal(name, "a/xtrace.1.2.hint9.xmemory.core");
    free(name);
    assert_null(xtrace_image_name("xtrace.1.2.hint9.xsnapshot.bin"));
    assert_null(xtrace_image_name("xtrace.1.2.hint9.xinsndata.bin.zst"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_reads_back),
        cmocka_unit_test(test_core_of_nothing),
        cmocka_unit_test(test_core_of_very_many_runs),
        cmocka_unit_test(test_registers_of_a_core),
        cmocka_unit_test(test_core_of_others),
        cmocka_unit_test(test_damaged_cores),
        cmocka_unit_test(test_images_have_a_limit),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_of_exclusive_stores),
        cmocka_unit_test(test_check_ends_at_damage),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
