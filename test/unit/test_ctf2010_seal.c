/* Tests of compressed packets of 2010 with checksums: available options, and contents of headers. roundtrip.ctf.sealed
 * tests reading them with other libraries. */
#include "base/crc32.h"
#include "base/digest.h"
#include "base/io/pack.h"
#include "check.h"
#include "ctf_write_fixture.h"
#include "format/ctf/ctf2010_packet.h"
#include "traceloom/sink.h"

/* The writer's answer to these options. */
static int refusal(const char *version, const char *compress, const char *checksum, char message[sizeof(tl_error)])
{
    fixture w = {0};
    tl_error e = {0};
    fixture_init(&w);
    w.options.compress = compress;
    w.options.checksum = checksum;
    const int r = folder_create(&w, version, &e);
    memcpy(message, e.message, strlen(e.message) + 1);
    folder_fini(&w);
    return r;
}

static void test_options(void **state)
{
    static const struct {
        const char *version, *compress, *checksum, *message;
    } cases[] = {
        {"2", "gzip", NULL,
         "ctf: compression: packets of version 2 have none, only those of version 1.1 "
         "(--format-version 1.1)"},
        {"1.8", NULL, "crc32",
         "ctf: checksums: packets of version 1.8 have none, only those of version 1.1 "
         "(--format-version 1.1)"},
        {"1.1", "zstd", NULL, "ctf: packets cannot be compressed by \"zstd\", only by gzip and bzip2"},
        {"1.1", "gzip2", NULL, "ctf: packets cannot be compressed by \"gzip2\", only by gzip and bzip2"},
        {"1.1", NULL, "crc", "ctf: there is no checksum \"crc\", only crc32, md5 and sha1"},
        {"1.1", NULL, "", "ctf: there is no checksum \"\", only crc32, md5 and sha1"},
    };
    char message[sizeof(tl_error)];
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        assert_int_equal(refusal(cases[i].version, cases[i].compress, cases[i].checksum, message), TL_EINVAL);
        assert_string_equal(message, cases[i].message);
    }
    assert_int_equal(refusal("1.1", NULL, "crc32", message), 0);
}

/* What a build lacks is reported before anything is written. */
static void test_libraries(void **state)
{
    static const struct {
        const char *name;
        tl_codec codec;
    } compressions[] = {{"gzip", TL_CODEC_GZIP}, {"bzip2", TL_CODEC_BZIP2}};
    char message[sizeof(tl_error)], wanted[100];
    for (int i = 0; i < 2; i++) {
        const bool can = tl_can_pack(compressions[i].codec);
        snprintf(wanted, sizeof wanted, "ctf: this build has no %s support", compressions[i].name);
        assert_int_equal(refusal("1.1", compressions[i].name, NULL, message), can ? 0 : TL_EUNSUPPORTED);
        assert_string_equal(message, can ? "" : wanted);
    }
}

/* The packets of a stream whose content is 6 + `n` * 7 zeros and the like. */
static uint8_t *sealed(const char *compress, const char *checksum, unsigned n, size_t *size)
{
    const tl_class classes[] = {ctf_packet_class, number_class};
    fixture w = {0};
    fixture_init(&w);
    folder_classes(&w, classes, 2);
    w.options.compress = compress;
    w.options.checksum = checksum;
    folder_start(&w, "1.1");
    for (unsigned i = 0; i < n; i++)
        put_number(&w, 0, -1, 1000, 7);
    fixture_finish(&w);
    const ctf_writer *writer = w.writer;
    uint64_t bytes = 0;
    for (uint32_t i = writer->nstream; i-- > 1; bytes += *size) /* the first one is returned */
        free(folder_file(writer->stream[i].name, size));
    uint8_t *p = folder_file(writer->stream[0].name, size);
    assert_int_equal(ctf_written(writer), bytes + *size);
    folder_fini(&w);
    return p;
}

static void test_checksum(void **state)
{
    size_t n;
    uint8_t *p = sealed(NULL, "crc32", 5, &n);
    const size_t content = tl_load32(p + CTF_2010_CONTENT_SIZE, false);
    assert_int_equal(n, CTF_WRITE_PAGE);
    assert_int_equal(p[CTF_2010_CHECKSUM_SCHEME], CTF2010_CRC32);
    assert_int_equal(p[CTF_2010_COMPRESSION], CTF2010_NOT_COMPRESSED);
    assert_int_equal(tl_load32(p + CTF_2010_CHECKSUM, false),
                     tl_crc32(0, p + CTF_2010_HEADER, content - CTF_2010_HEADER));
    free(p);
    p = sealed(NULL, NULL, 5, &n);
    assert_int_equal(tl_load32(p + CTF_2010_CONTENT_SIZE, false), content);
    assert_int_equal(p[CTF_2010_CHECKSUM_SCHEME], CTF2010_NO_CHECKSUM);
    assert_int_equal(tl_load32(p + CTF_2010_CHECKSUM, false), 0);
    free(p);
}

/* A packet is compressed only if that makes it smaller. */
static void test_compression(void **state)
{
    if (!tl_can_pack(TL_CODEC_GZIP))
        skip_because("this build has no zlib");
    bool plain = false, packed = false;
    for (unsigned events = 1; events < 100; events += 3) {
        size_t n;
        uint8_t *p = sealed(NULL, NULL, events, &n);
        const size_t all = tl_load32(p + CTF_2010_CONTENT_SIZE, false);
        free(p);
        p = sealed("gzip", NULL, events, &n);
        const size_t stored = tl_load32(p + CTF_2010_CONTENT_SIZE, false);
        assert_int_equal(tl_load32(p + CTF_2010_PACKET_SIZE, false), n);
        if (p[CTF_2010_COMPRESSION] == CTF2010_GZIP) {
            assert_true(stored < all);
            assert_int_equal(tl_load32(p + CTF_2010_HEADER, true) >> 16, 0x1f8b);
            packed = true;
        } else {
            assert_int_equal(p[CTF_2010_COMPRESSION], CTF2010_NOT_COMPRESSED);
            assert_int_equal(stored, all);
            plain = true;
        }
        free(p);
    }
    assert_true(plain && packed);
}

/* Other formats refuse options that they cannot use. */
static void test_other_formats(void **state)
{
    fixture f;
    tl_sink *s;
    tl_error e;
    fixture_init(&f);
    const tl_write_options compress = {.to = "jsonl", .compress = "gzip"}, sum = {.to = "jsonl", .checksum = "md5"};
    assert_int_equal(tl_sink_open(&s, "x.jsonl", &f.trace, &compress, &e), TL_EINVAL);
    assert_string_equal(e.message, "format jsonl has no packets with compression");
    assert_int_equal(tl_sink_open(&s, "x.jsonl", &f.trace, &sum, &e), TL_EINVAL);
    assert_string_equal(e.message, "format jsonl has no packets with checksums");
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_options, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_libraries, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_checksum, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_compression, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_other_formats, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
