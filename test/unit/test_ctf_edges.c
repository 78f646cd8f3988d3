/* Tests of bounds in reading CTF: met exactly, and missed by one. */
#include "ctf_source.h"

#define TYPES                                                                                                          \
    "/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; } := u8;\n"                                               \
    "typealias integer { size = 16; align = 8; } := u16;\ntypealias integer { size = 1; align = 1; } := bit;\n"        \
    "trace { major = 1; minor = 8; byte_order = le; };\n"
#define EVENT(fields) TYPES "event { name = \"e\"; fields := struct { " fields " }; };\n"

static tl_source *open_stream(ctf_bytes *folder, const char *metadata, const uint8_t *bytes, size_t n)
{
    ctf_bytes text = {0}, stream = {0};
    *folder = (ctf_bytes){0};
    made_put(&text, metadata, strlen(metadata));
    made_put(&stream, bytes, n);
    made_file(folder, "metadata", &text);
    made_file(folder, "s", &stream);
    return open_made(folder, &(tl_open_options){.want.fields = true});
}

/* One event, with its values on the tape of the batch; or none, and the offset of the error. */
static const tl_batch *one_event(tl_source *s)
{
    const tl_batch *b = NULL;
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    assert_int_equal(b->n, 1);
    return b;
}

static void fails_at(const char *metadata, const uint8_t *bytes, size_t n, uint64_t byte, const char *rule)
{
    ctf_bytes folder;
    tl_source *s = open_stream(&folder, metadata, bytes, n);
    assert_int_equal(read_all(s), 0);
    assert_int_equal(s->trace.damage_count, 1);
    assert_string_equal(s->trace.damage[0].rule, rule);
    assert_int_equal(s->trace.damage[0].at, byte);
    close_made(s, &folder);
}

/* After a string only the byte is known of the place: a bit-field that just fits its unit stays in it. */
static void a_bit_field_fills_its_unit(void **state)
{
    ctf_bytes folder;
    tl_source *s = open_stream(&folder, EVENT("u8 a; string b; u16 c:8; u16 d:9;"),
                               (const uint8_t[]){1, 'x', 0, 0x77, 0x34, 0xff}, 6);
    const tl_batch *b = one_event(s);
    const tl_value *v = b->v + b->val[0];
    assert_int_equal(v[2].as.u, 0x77); /* 24 is 8 modulo 16, and 8 more are 16 */
    assert_int_equal(v[3].as.u, 0x134);
    close_made(s, &folder);
}

/* Text and bytes that reach the end of the packet, and that exceed it by one. */
static void text_ends_with_the_packet(void **state)
{
    static const char *const metadata[] = {
        EVENT("u8 n; integer { size = 8; align = 8; encoding = UTF8; } t[n];"),
        "\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"trace-class\"}\n"
        "\x1e{\"type\":\"data-stream-class\"}\n\x1e{\"type\":\"event-record-class\",\"payload-field-class\":"
        "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"n\",\"field-class\":{\"type\":"
        "\"fixed-length-unsigned-integer\",\"length\":8,\"alignment\":8,\"byte-order\":\"little-endian\"}},"
        "{\"name\":\"b\",\"field-class\":{\"type\":\"dynamic-length-blob\",\"length-field-location\":"
        "{\"path\":[\"n\"]}}}]}}\n"};
    for (unsigned i = 0; i < 2; i++) {
        ctf_bytes folder;
        tl_source *s = open_stream(&folder, metadata[i], (const uint8_t *)"\3abc", 4);
        const tl_batch *b = one_event(s);
        assert_int_equal(b->v[b->val[0] + 1].n, 3);
        assert_memory_equal(b->v[b->val[0] + 1].as.p, "abc", 3);
        assert_int_equal(s->trace.damage_count, 0);
        close_made(s, &folder);
        fails_at(metadata[i], (const uint8_t *)"\4abc", 4, 1, "ctf.event-bounds");
    }
}

/* An array of single bits that just fits, and one that does not: reported at its begin, not at the missing bit. */
static void an_array_fits_or_is_too_long(void **state)
{
    ctf_bytes folder;
    const char *const metadata = EVENT("u8 n; bit list[n];");
    tl_source *s = open_stream(&folder, metadata, (const uint8_t[]){16, 0x01, 0x80}, 3);
    const tl_batch *b = one_event(s);
    assert_int_equal(b->v[b->val[0] + 1].n, 16);
    assert_int_equal(b->v[b->val[0] + 17].as.u, 1);
    assert_int_equal(s->trace.damage_count, 0);
    close_made(s, &folder);
    fails_at(metadata, (const uint8_t[]){17, 0x01, 0x80}, 3, 1, "ctf.event-bounds");
}

/* Counters of 16 bits wrap around; wider ones were set back. */
static void counters_of_16_bits_go_around(void **state)
{
    for (unsigned bits = 16; bits <= 32; bits += 16) {
        char context[128];
        ctf_bytes folder = {0}, data = {0};
        snprintf(context, sizeof context, "integer { size = %u; align = 8; } events_discarded; u64 packet_seq_num;",
                 bits);
        made_unit(&folder, "", &(ctf_made){.parts = MADE_SIZES, .context = context});
        for (unsigned i = 0; i < 2; i++) {
            const uint32_t discarded = i ? 3 : 5;
            made_put(&data, (const uint8_t[]){(uint8_t)discarded, 0, 0, 0}, bits / 8);
            made_u64(&data, 7 + i);
            made_u64(&data, bits + 192);
            made_u64(&data, bits + 192);
        }
        made_file(&folder, "s", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.damage_count, 0);
        assert_int_equal(s->trace.lost_events, bits == 16 ? 65534 : 0);
        close_made(s, &folder);
    }
}

/* A search for packets accepts no header of more than 4096 bytes, whatever the window holds. */
static void long_headers_are_not_searched(void **state)
{
    for (unsigned size = 4000; size <= 5000; size += 1000) {
        char context[64];
        ctf_bytes folder = {0}, data = {0};
        snprintf(context, sizeof context, "u8 much[%u];", size);
        made_unit(&folder, "", &(ctf_made){.parts = MADE_MAGIC | MADE_SIZES, .context = context});
        for (unsigned i = 0; i < 3; i++) {
            const uint64_t bits = 8 * (4 + (uint64_t)size + 16 + 13);
            made_u32(&data, i == 1 ? 0xc1fc1fc0 : 0xc1fc1fc1);
            made_zeros(&data, size);
            made_u64(&data, i == 1 ? 0 : bits);
            made_u64(&data, i == 1 ? 0 : bits);
            made_zeros(&data, 13);
        }
        made_file(&folder, "s", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.damage_count, 1);
        assert_int_equal(read_all(s), size == 4000 ? 2 : 1);
        close_made(s, &folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bit_field_fills_its_unit),    cmocka_unit_test(text_ends_with_the_packet),
        cmocka_unit_test(an_array_fits_or_is_too_long),  cmocka_unit_test(counters_of_16_bits_go_around),
        cmocka_unit_test(long_headers_are_not_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
