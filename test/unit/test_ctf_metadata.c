/* Tests of metadata files: every container, its errors, and places of errors in the file; and, if the corpus is there,
 * that each of its traces that metadata alone decides is judged as expected. */
#include "base/compiler.h"
#include "base/endian.h"
#include "check.h"
#include "format/ctf/ctf_layout.h"
#include "json_schema.h"

#include <inttypes.h>

enum { ROOM = 1 << 16 };

/* A file under construction. */
static struct {
    char bytes[ROOM];
    size_t n;
} file;

static int start(void **state)
{
    file.n = 0;
    return 0;
}

static void put(const void *bytes, size_t n)
{
    assert_true(n <= ROOM - file.n);
    memcpy(file.bytes + file.n, bytes, n);
    file.n += n;
}

/* Text in the notation of json_schema.h. */
static void put_text(const char *text)
{
    char *copy = json_text(text);
    put(copy, strlen(text));
    free(copy);
}

static void put_zeros(size_t n)
{
    assert_true(n <= ROOM - file.n);
    memset(file.bytes + file.n, 0, n);
    file.n += n;
}

static const uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* A packet with n bytes of content and some padding; returns its header, for spoiling. */
static char *put_packet(bool big, unsigned header, unsigned major, unsigned minor, const char *content, size_t n,
                        size_t padding)
{
    char *begin = file.bytes + file.n;
    put_zeros(header);
    tl_store32(begin, CTF_MAGIC_METADATA, big);
    memcpy(begin + CTF_META_UUID, uuid, sizeof uuid);
    tl_store32(begin + CTF_META_CHECKSUM, 0xdeadbeef, big); /* ignored without a scheme */
    tl_store32(begin + CTF_META_CONTENT_SIZE, (uint32_t)(header + n) * 8, big);
    tl_store32(begin + CTF_META_PACKET_SIZE, (uint32_t)(header + n + padding) * 8, big);
    begin[CTF_META_MAJOR] = (char)major;
    begin[CTF_META_MINOR] = (char)minor;
    if (header >= CTF_META_LONG_SIZE)
        tl_store32(begin + CTF_META_HEADER_SIZE, header * 8, big);
    put(content, n);
    put_zeros(padding);
    return begin;
}

/* Reads the file; the schema stays until the next call. */
static int read_metadata(tl_error *e)
{
    static const char name[] = "metadata";
    char *packed = malloc(sizeof name + 4 + file.n);
    tl_folder *folder = NULL;
    assert_non_null(packed);
    memcpy(packed, name, sizeof name);
    tl_store32(packed + sizeof name, (uint32_t)file.n, false);
    memcpy(packed + sizeof name + 4, file.bytes, file.n);
    assert_int_equal(tl_folder_open_memory(&folder, packed, sizeof name + 4 + file.n, "trace", NULL), 0);
    tl_arena_fini(&schema.arena);
    schema = (ctf_schema){0};
    int rc = ctf_metadata_read(&schema, folder, tl_folder_find(folder, name), e);
    tl_folder_close(folder);
    free(packed); /* the schema must not point there */
    return rc;
}

static const ctf_schema *read_well(void)
{
    tl_error e = {0};
    must(read_metadata(&e), &e);
    return &schema;
}

static void read_badly(int code, uint64_t offset, const char *message)
{
    tl_error e = {0};
    int rc = read_metadata(&e);
    if (rc != code || e.offset != offset || !strstr(e.message, message))
        fail_msg("%d at %" PRIu64 ": %s; expected %s", rc, e.offset, e.message, message);
    assert_int_equal(read_metadata(NULL), code);
}

/* ---- text ---- */

static void test_json_text(void **state)
{
    put_text(PREAMBLE STREAM);
    const ctf_schema *s = read_well();
    assert_int_equal(s->dialect, CTF_2);
    assert_int_equal(s->nstream, 1);
    assert_false(s->has_uuid);
    assert_int_equal(s->ntext, file.n);
    assert_memory_equal(s->text, file.bytes, file.n);
    put_zeros(100);
    assert_int_equal(read_well()->ntext, file.n - 100);
    file.n = 0;
    put_text("\xef\xbb\xbf \n" PREAMBLE STREAM);
    assert_int_equal(read_well()->nstream, 1);
    put_text("@{'type':'x'}");
    read_badly(TL_EUNSUPPORTED, file.n - 4, "line 3, column 10: no fragment of the type \"x\" is known");
}

static void test_tsdl_text(void **state)
{
    static const char *const heads[] = {"/* CTF 1.8 */", "\xef\xbb\xbf/* CTF 1.8 */\n", " // x\r\n/* y *//**/\t", ""};
    for (size_t i = 0; i < TL_COUNT(heads); i++) {
        file.n = 0;
        put_text(heads[i]);
        put_text("trace { major = 1; minor = 8; byte_order = le; };\n");
        assert_int_equal(read_well()->dialect, CTF_1_8);
    }
}

static void test_no_metadata(void **state)
{
    read_badly(TL_EDAMAGED, 0, "the metadata is empty");
    put_zeros(40);
    read_badly(TL_EDAMAGED, 0, "the metadata is empty");
    file.n = 0;
    put_text("{'type':'preamble','version':2}");
    read_badly(TL_EDAMAGED, 0, "'{' without a record separator (the byte 0x1e) before it");
    file.n = 0;
    put_text("\xef\xbb\xbf /* x */ [");
    read_badly(TL_EDAMAGED, 12, "line 1, column 10: not metadata of CTF 2 or 1.8");
    file.n = 0;
    put("\x7f"
        "ELF",
        4);
    read_badly(TL_EDAMAGED, 0, "not metadata of CTF 2 or 1.8");
}

/* ---- packets ---- */

static const char text_2[] = "\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"data-stream-class\"}\n";

/* All three headers, both byte orders, and content cut anywhere. */
static void test_packets(void **state)
{
    const size_t n = sizeof text_2 - 1;
    for (size_t cut = 0; cut <= n; cut++) {
        for (unsigned form = 0; form < 4; form++) {
            const unsigned header = form & 1 ? CTF_META_LONG_SIZE : CTF_META_SIZE;
            file.n = 0;
            put_packet(form & 2, header, 2, 0, text_2, cut, cut % 3 ? 16 : 0);
            put_packet(form & 2, header, 2, 0, text_2 + cut, n - cut, 5);
            put_packet(form & 2, header, 2, 0, "", 0, cut % 5 ? 0 : 80);
            put_zeros(cut % 50);
            const ctf_schema *s = read_well();
            assert_int_equal(s->dialect, CTF_2);
            assert_int_equal(s->nstream, 1);
            assert_int_equal(s->ntext, n);
            assert_memory_equal(s->text, text_2, n);
            assert_true(s->has_uuid);
            assert_memory_equal(s->uuid, uuid, 16);
        }
    }
    /* A header may grow. */
    file.n = 0;
    put_packet(true, 60, 2, 0, text_2, n, 0);
    assert_int_equal(read_well()->nstream, 1);
    /* Cut padding is no loss. */
    file.n = 0;
    put_packet(false, CTF_META_SIZE, 2, 0, text_2, n, 100);
    file.n -= 60;
    assert_int_equal(read_well()->nstream, 1);
    /* CTF 1.8 */
    static const char tsdl[] = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = be; };";
    file.n = 0;
    put_packet(true, CTF_META_SIZE, 1, 8, tsdl, 30, 7);
    put_packet(true, CTF_META_SIZE, 1, 8, tsdl + 30, sizeof tsdl - 1 - 30, 0);
    assert_int_equal(read_well()->dialect, CTF_1_8);
}

static void test_uuids(void **state)
{
    /* The text has priority over the packets; zeros mean nothing. */
    static const char own[] = "\x1e{\"type\":\"preamble\",\"version\":2,\"uuid\":[9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9]}\n";
    put_packet(false, CTF_META_SIZE, 2, 0, own, sizeof own - 1, 0);
    assert_int_equal(read_well()->uuid[3], 9);
    file.n = 0;
    char *header = put_packet(false, CTF_META_SIZE, 2, 0, text_2, sizeof text_2 - 1, 0);
    memset(header + CTF_META_UUID, 0, 16);
    assert_false(read_well()->has_uuid);
    /* All packets have the same one. */
    file.n = 0;
    put_packet(false, CTF_META_SIZE, 2, 0, text_2, sizeof text_2 - 1, 0);
    const size_t second = file.n;
    header = put_packet(false, CTF_META_SIZE, 2, 0, "\n", 1, 0);
    header[CTF_META_UUID + 15] = 0;
    read_badly(TL_EDAMAGED, second + CTF_META_UUID, "metadata packet 1: another uuid than the packets before");
}

static void test_bad_packets(void **state)
{
    static const struct {
        unsigned field;
        uint32_t value;
        unsigned bytes;
        int code;
        unsigned offset;
        const char *message;
    } cases[] = {
        {CTF_META_COMPRESSION, 1, 1, TL_EUNSUPPORTED, CTF_META_COMPRESSION, "packet 1: compression scheme 1"},
        {CTF_META_ENCRYPTION, 2, 1, TL_EUNSUPPORTED, CTF_META_ENCRYPTION, "packet 1: encryption scheme 2"},
        {CTF_META_CHECKSUM_SCHEME, 3, 1, TL_EUNSUPPORTED, CTF_META_CHECKSUM_SCHEME, "packet 1: checksum scheme 3"},
        {CTF_META_MAJOR, 3, 1, TL_EUNSUPPORTED, CTF_META_MAJOR, "packet 1: version 3.0, expected 1.8 or 2.0"},
        {CTF_META_MINOR, 1, 1, TL_EUNSUPPORTED, CTF_META_MAJOR, "packet 1: version 2.1, expected 1.8 or 2.0"},
        {CTF_META_MAJOR, 0x0801, 2, TL_EDAMAGED, CTF_META_MAJOR, "packet 1: version 1.8 after packets of 2.0"},
        {CTF_META_CONTENT_SIZE, 36 * 8, 4, TL_EDAMAGED, CTF_META_CONTENT_SIZE, "packet 1: content_size is 288 bits"},
        {CTF_META_CONTENT_SIZE, 50 * 8 + 1, 4, TL_EDAMAGED, CTF_META_CONTENT_SIZE, "content_size is 401 bits"},
        {CTF_META_CONTENT_SIZE, 0, 4, TL_EDAMAGED, CTF_META_CONTENT_SIZE, "content_size is 0 bits"},
        {CTF_META_PACKET_SIZE, 60 * 8, 4, TL_EDAMAGED, CTF_META_PACKET_SIZE, "packet_size is 480 bits"},
        {CTF_META_PACKET_SIZE, 200 * 8 + 4, 4, TL_EDAMAGED, CTF_META_PACKET_SIZE, "packet_size is 1604 bits"},
        {CTF_META_HEADER_SIZE, 43 * 8, 4, TL_EDAMAGED, CTF_META_HEADER_SIZE, "header_size is 344 bits, expected 352"},
        {CTF_META_HEADER_SIZE, 353, 4, TL_EDAMAGED, CTF_META_HEADER_SIZE, "header_size is 353 bits"},
        {CTF_META_HEADER_SIZE, UINT32_MAX - 7, 4, TL_EDAMAGED, CTF_META_CONTENT_SIZE, "the header of 4294967288"},
        {0, 0x12345678, 4, TL_EDAMAGED, 0, "packet 1: expected the magic number 0x75d11d57"},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        file.n = 0;
        put_packet(false, CTF_META_LONG_SIZE, 2, 0, text_2, sizeof text_2 - 1, 3);
        const size_t second = file.n;
        char *header = put_packet(false, CTF_META_LONG_SIZE, 2, 0, "\n                   ", 20, 3);
        for (unsigned b = 0; b < cases[i].bytes; b++)
            header[cases[i].field + b] = (char)(cases[i].value >> 8 * b);
        read_badly(cases[i].code, second + cases[i].offset, cases[i].message);
    }
}

/* Cut anywhere: before the end of the content it is an error, at the byte where the packet begins. */
static void test_cut(void **state)
{
    put_packet(true, CTF_META_SIZE, 2, 0, text_2, sizeof text_2 - 1, 0);
    const size_t second = file.n;
    put_packet(true, CTF_META_SIZE, 2, 0, "\n\n\n\n", 4, 9);
    const size_t whole = file.n;
    for (file.n = second + 1; file.n < whole; file.n++) {
        const size_t there = file.n - second;
        if (there < 4)
            read_badly(TL_EDAMAGED, second, "packet 1: expected the magic number");
        else if (there < CTF_META_SIZE)
            read_badly(TL_EDAMAGED, second, "packet 1: the file ends in its header");
        else if (there < CTF_META_SIZE + 4)
            read_badly(TL_EDAMAGED, second, "packet 1: 41 bytes of content, but the file ends after");
        else
            read_well();
    }
    file.n = second;
    put_zeros(500);
    read_well();
    file.bytes[file.n - 1] = 1;
    read_badly(TL_EDAMAGED, second, "packet 1: expected the magic number");
}

/* Errors in the text are located in the file, whichever packet they are in. */
static void test_places(void **state)
{
    static const char bad[] = "\x1e{\"type\":\"preamble\",\n\"version\":3}";
    const size_t n = sizeof bad - 1, at = n - 2;
    for (size_t cut = 0; cut <= n; cut++) {
        file.n = 0;
        put_packet(false, CTF_META_SIZE, 2, 0, bad, cut, 10);
        const size_t second = file.n;
        put_packet(false, CTF_META_SIZE, 2, 0, bad + cut, n - cut, 10);
        const size_t place = at < cut ? CTF_META_SIZE + at : second + CTF_META_SIZE + at - cut;
        read_badly(TL_EUNSUPPORTED, place, "line 2, column 11: \"version\": expected 2");
    }
    /* The same for positions kept in the schema. */
    file.n = 0;
    put_packet(false, CTF_META_SIZE, 2, 0, text_2, 40, 10);
    put_packet(false, CTF_META_SIZE, 2, 0, "", 0, 10);
    put_packet(false, CTF_META_SIZE, 2, 0, text_2 + 40, sizeof text_2 - 1 - 40, 10);
    const ctf_schema *s = read_well();
    assert_int_equal(ctf_metadata_offset(s, 0), 37);
    assert_int_equal(ctf_metadata_offset(s, 39), 37 + 39);
    assert_int_equal(ctf_metadata_offset(s, 40), 37 + 50 + 37 + 10 + 37);
    assert_int_equal(ctf_metadata_offset(s, 50), 37 + 50 + 37 + 10 + 37 + 10);
}

static void test_too_large(void **state)
{
    const size_t size = (size_t)CTF_METADATA_MAX + 1;
    char *packed = malloc(10 + size);
    tl_folder *folder = NULL;
    tl_error e = {0};
    assert_non_null(packed);
    memcpy(packed, "m\0\xff\xff\xff\xff\x1e ", 8);
    memset(packed + 8, ' ', size + 2);
    assert_int_equal(tl_folder_open_memory(&folder, packed, 6 + size, "trace", &e), 0);
    tl_arena_fini(&schema.arena);
    schema = (ctf_schema){0};
    assert_int_equal(ctf_metadata_read(&schema, folder, 0, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "bytes of metadata; expected at most");
    assert_int_equal(schema.arena.total, 0);
    tl_folder_close(folder);
    free(packed);
}

/* ---- the corpus ---- */

/* Whether metadata alone must refuse a trace that readers refuse. Errors of other traces are in their data, or appear
 * only when lengths and selectors are looked up. */
static bool metadata_refuses(const char *trace)
{
    static const char *const traces[] = {
        "bt2/fail/lttng-modules-2.0-pre1",         "bt2/fail/packet-based-metadata",
        "actf/CTF2-PMETA-1.0_bad_major_nok",       "actf/CTF2-PMETA-1.0_bad_total_sz_nok",
        "actf/CTF2-PMETA-1.0-be_partial_data_nok", "actf/fxd_len_int_unsupported_len_nok",
        "actf/variant_invalid_selector_rng_nok",
    };
    for (size_t i = 0; i < TL_COUNT(traces); i++)
        if (strcmp(trace, traces[i]) == 0)
            return true;
    return false;
}

/* 1: the metadata of a trace is CTF 2, or in packets; 0: it is something else. */
static bool is_ours(const char *path)
{
    char name[1200];
    unsigned char head[4] = {0};
    snprintf(name, sizeof name, "%s/metadata", path);
    FILE *f = fopen(name, "rb");
    if (!f)
        return false;
    const size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n == sizeof head && (head[0] == 0x1e || tl_load32(head, true) == CTF_MAGIC_METADATA ||
                                tl_load32(head, false) == CTF_MAGIC_METADATA);
}

static int read_trace(const char *path, tl_error *e)
{
    tl_folder *folder = NULL;
    int rc = tl_folder_open(&folder, path, e);
    if (rc < 0)
        fail_msg("%s: %s", path, e->message);
    tl_arena_fini(&schema.arena);
    schema = (ctf_schema){0};
    rc = ctf_metadata_read(&schema, folder, tl_folder_find(folder, "metadata"), e);
    tl_folder_close(folder);
    return rc;
}

static void test_corpus(void **state)
{
    const char *shared = getenv("TL_SHARED");
    char path[1100], line[400], trace[300], bar[16];
    snprintf(path, sizeof path, "%s/corpus/ctf/results/bars.tsv", shared ? shared : "");
    FILE *bars = shared ? fopen(path, "r") : NULL;
    if (!bars) {
        skip_because("needs TL_SHARED with corpus/ctf");
    }
    unsigned read = 0, refused = 0;
    while (fgets(line, sizeof line, bars)) {
        if (sscanf(line, "%299[^\t]\t%15[^\t]", trace, bar) != 2)
            continue;
        snprintf(path, sizeof path, "%s/corpus/ctf/%s", shared, trace);
        if ((strcmp(bar, "pass") != 0 && strcmp(bar, "fail") != 0) || !is_ours(path))
            continue;
        tl_error e = {0};
        const int rc = read_trace(path, &e);
        if ((rc < 0) != metadata_refuses(trace))
            fail_msg("%s: %d: %s", trace, rc, e.message);
        if (rc < 0)
            assert_true(e.offset != TL_NO_OFFSET);
        read += rc >= 0;
        refused += rc < 0;
    }
    fclose(bars);
    print_message("%u read, %u refused\n", read, refused);
    assert_int_equal(refused, 7);
    assert_true(read >= 155);
}

/* The recordings with LTTng 2.15's metadata, once as text and once in packets. */
static void test_recordings(void **state)
{
    const char *shared = getenv("TL_SHARED");
    static const char *const traces[] = {"ctf2-small", "ctf2-snap-packetized"};
    if (!shared) {
        skip_because("needs TL_SHARED with corpus/ctf");
    }
    for (size_t i = 0; i < TL_COUNT(traces); i++) {
        char path[1100];
        tl_error e = {0};
        snprintf(path, sizeof path, "%s/corpus/ctf/lttng/%s", shared, traces[i]);
        if (read_trace(path, &e) < 0)
            fail_msg("%s: %s", traces[i], e.message);
        assert_int_equal(schema.dialect, CTF_2);
        assert_true(schema.has_uuid);
        assert_int_equal(schema.nstream, 1);
        assert_int_equal(schema.stream[0]->nevent, i == 0 ? 45 : 2);
        assert_string_equal(schema.stream[0]->clock->id, "monotonic");
        assert_true(schema.stream[0]->clock->is_unix && schema.stream[0]->clock->hz == 1000000000);
        assert_int_equal(schema.stream[0]->event_header->nmember, 2);
        const ctf_type *context = schema.stream[0]->packet_context;
        assert_true(ctf_type_has_role(context, CTF_ROLE_CPU));
        assert_true(ctf_type_has_role(context, CTF_ROLE_TIMESTAMP));
        assert_true(ctf_type_has_role(schema.packet_header, CTF_ROLE_UUID));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_json_text, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_tsdl_text, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_no_metadata, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_packets, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_uuids, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_bad_packets, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_cut, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_places, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_too_large, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_corpus, start, schema_clean),
        cmocka_unit_test_setup_teardown(test_recordings, start, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
