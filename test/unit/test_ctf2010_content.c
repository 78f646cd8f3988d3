/* Packets of the 2010 dialect: checksums, compression, encryption. */
#include "make_ctf2010.h"

typedef struct result {
    int status;
    bool skip;
    uint8_t *content;
    size_t n;
    shown problems;
} result;

/* The content of the first packet of m. */
static result content_of(const made *m, bool report)
{
    ctf_unit unit = {.schema = {.dialect = CTF_2010, .session = SESSION}};
    const ctf_file file = {.unit = &unit, .name = "one", .size = m->n, .cpu = -1};
    tl_input *in;
    tl_window window;
    tl_trace trace = {0};
    tl_error e = {0};
    result r = {.content = (uint8_t *)"unset", .n = 5};
    tl_trace_init(&trace);
    tl_input_open_memory(&in, m->data, m->n, "one", &e);
    tl_window_init(&window, in, 64, &e);
    ctf_walk w = {.file = &file, .window = &window};
    ctf_packet p;
    assert_int_equal(ctf_2010_walk_next(&w, &p, &e), 1);
    const uint64_t offset = w.offset, number = w.number;
    w.report = report ? &trace : NULL;
    r.status = ctf_2010_content(&w, &p, &r.content, &r.n, &r.skip, &e);
    assert_true(w.offset == offset && w.number == number);
    show_damage(&r.problems, trace.damage, trace.ndamage);
    show_damage(&r.problems, trace.note, trace.nnote);
    tl_trace_fini(&trace);
    tl_window_fini(&window);
    tl_input_close(in);
    return r;
}

static made *fresh(bool big)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->big = big;
    return m;
}

/* Plain content, with these problems if there is a list for them. */
static void check_plain(const made *m, const char *problems)
{
    for (int report = 0; report < 2; report++) {
        result r = content_of(m, report);
        assert_int_equal(r.status, 0);
        assert_null(r.content);
        assert_false(r.skip);
        assert_string_equal(r.problems.text, report ? problems : "");
    }
}

static void check_skipped(const made *m, const char *problems)
{
    for (int report = 0; report < 2; report++) {
        result r = content_of(m, report);
        assert_int_equal(r.status, 0);
        assert_null(r.content);
        assert_true(r.skip);
        assert_string_equal(r.problems.text, report ? problems : "");
    }
}

static void checksums(void **state)
{
    static const struct {
        uint8_t scheme;
        uint32_t le, be; /* of TEXT, as a number in the packet's byte order */
    } sum[] = {
        {CRC32, 0x32415816, 0x32415816},
        {MD5, 0x2323393c, 0x3c392323},
        {SHA1, 0xe7edfee4, 0xe4feede7},
    };
    for (int big = 0; big < 2; big++)
        for (size_t i = 0; i < sizeof sum / sizeof *sum; i++) {
            made *m = fresh(big);
            made_header h = {.checksum = big ? sum[i].be : sum[i].le, .checksum_scheme = sum[i].scheme, .padding = 10};
            made_packet(m, h, TEXT, TEXT_N);
            check_plain(m, "");
            m->n = 0;
            h.checksum ^= 0x10000;
            made_packet(m, h, TEXT, TEXT_N);
            check_plain(m, "FL ctf2010.checksum 16 48+21\n");
            m->n -= 11; /* cut content is not verified */
            check_plain(m, "");
            free(m);
        }
    made *m = fresh(false);
    made_packet(m, (made_header){.checksum = 1, .checksum_scheme = 4}, TEXT, TEXT_N);
    check_plain(m, "F ctf2010.checksum-scheme 47 47+0\n");
    m->n = 0;
    made_packet(m, (made_header){.checksum = 1, .checksum_scheme = 0}, TEXT, TEXT_N);
    check_plain(m, "");
    m->n = 0; /* of nothing */
    made_packet(m, (made_header){.checksum = 0, .checksum_scheme = CRC32}, "", 0);
    check_plain(m, "");
    free(m);
}

/* Content that takes many pieces to read. */
static void long_checksum(void **state)
{
    made *m = fresh(false);
    static uint8_t content[60000];
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < sizeof content; i++) {
        content[i] = (uint8_t)(i * i >> 3);
        crc ^= content[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    made_packet(m, (made_header){.checksum = ~crc, .checksum_scheme = CRC32}, content, sizeof content);
    check_plain(m, "");
    m->data[m->n - 1] ^= 1;
    check_plain(m, "FL ctf2010.checksum 16 48+60000\n");
    free(m);
}

static void encryption(void **state)
{
    made *m = fresh(false);
    made_packet(m, (made_header){.encryption = AES, .compression = 77}, TEXT, TEXT_N);
    check_skipped(m, "N ctf2010.encrypted 0 0+0\n");
    m->n = 0; /* the checksum covers the stored bytes */
    made_packet(m, (made_header){.encryption = AES, .checksum_scheme = CRC32, .checksum = 5}, TEXT, TEXT_N);
    check_skipped(m, "FL ctf2010.checksum 16 48+21\nN ctf2010.encrypted 0 0+0\n");
    m->n = 0;
    made_packet(m, (made_header){.encryption = 2, .compression = 77}, TEXT, TEXT_N);
    check_skipped(m, "FL ctf2010.encryption 46 48+21\n");
    m->n = 0;
    made_packet(m, (made_header){.compression = 3}, TEXT, TEXT_N);
    check_skipped(m, "FL ctf2010.compression 45 48+21\n");
    free(m);
}

/* The header and TEXT, followed by zeros that may be read. */
static void check_text(const made *m)
{
    result r = content_of(m, true);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.problems.text, "");
    assert_false(r.skip);
    assert_non_null(r.content);
    assert_int_equal(r.n, CTF_2010_HEADER + TEXT_N);
    assert_memory_equal(r.content, m->data, CTF_2010_HEADER);
    assert_memory_equal(r.content + CTF_2010_HEADER, TEXT, TEXT_N);
    for (size_t i = 0; i < TL_WINDOW_SLACK; i++)
        assert_int_equal(r.content[r.n + i], 0);
    free(r.content);
}

static void compression(void **state)
{
    for (size_t i = 0; i < CODECS; i++) {
        const struct codec *c = &codec[i];
        made *m = fresh(i & 1);
        char lost[100];
        made_packet(m, (made_header){.compression = c->scheme, .padding = 5}, c->data, c->n);
        if (!c->is_built) {
            snprintf(lost, sizeof lost, "L ctf2010.compression 48 48+%zu\n", c->n);
            check_skipped(m, lost);
            free(m);
            continue;
        }
        check_text(m);
        /* Bytes after the compressed data do not matter, ... */
        m->n = 0;
        uint8_t with_tail[200] = {0};
        memcpy(with_tail, c->data, c->n);
        made_packet(m, (made_header){.compression = c->scheme}, with_tail, sizeof with_tail);
        check_text(m);
        /* ... but it must be complete. */
        for (size_t n = 0; n < c->n; n++) {
            m->n = 0;
            made_packet(m, (made_header){.compression = c->scheme, .padding = c->n - n}, c->data, n);
            snprintf(lost, sizeof lost, "FL ctf2010.compression 48 48+%zu\n", n);
            check_skipped(m, lost);
        }
        m->n = 0;
        with_tail[c->n / 2] ^= 0xff;
        made_packet(m, (made_header){.compression = c->scheme}, with_tail, sizeof with_tail);
        check_skipped(m, "FL ctf2010.compression 48 48+200\n");
        free(m);
    }
}

/* The compressed content of a cut packet is not used, even if it is complete. */
static void cut_off(void **state)
{
    for (size_t i = 0; i < CODECS; i++) {
        const struct codec *c = &codec[i];
        made *m = fresh(false);
        char lost[100];
        made_packet(m, (made_header){.compression = c->scheme, .padding = 5}, c->data, c->n);
        m->n -= 3;
        snprintf(lost, sizeof lost, "L ctf2010.compression 48 48+%zu\n", c->n);
        check_skipped(m, c->is_built ? "" : lost);
        m->n -= 3; /* one byte of content */
        snprintf(lost, sizeof lost, "%sL ctf2010.compression 48 48+%zu\n", c->is_built ? "F" : "", c->n - 1);
        check_skipped(m, lost);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums),   cmocka_unit_test(long_checksum), cmocka_unit_test(encryption),
        cmocka_unit_test(compression), cmocka_unit_test(cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
