/* Tests of how the clock of a stream moves: by fields after the headers (1.8), by timestamps of variable length (2),
 * and at the begin of a packet. The expected times are those of babeltrace2 2.0.4, and of the procedures in sections
 * 6.1 to 6.3 of the CTF 2 specification. */
#include "ctf_source.h"

#define RS "\x1e"

/* A folder of metadata and one stream. */
static ctf_bytes folder_of(const char *metadata, ctf_bytes *stream)
{
    ctf_bytes folder = {0}, text = {0};
    made_put(&text, metadata, strlen(metadata));
    made_file(&folder, "metadata", &text);
    made_file(&folder, "s", stream);
    return folder;
}

/* The times of all events, read in each way: counted only, with columns, with values. */
static void times_are(ctf_bytes folder, const uint64_t *expected, uint32_t n)
{
    for (int fields = 0; fields < 2; fields++) {
        tl_source *s = open_made(&folder, &(tl_open_options){.want.fields = fields});
        assert_int_equal(s->trace.damage_count, 0);
        const tl_batch *b = NULL;
        uint32_t k = 0;
        while (tl_source_next(s, &b, NULL) > 0)
            for (uint32_t i = 0; i < b->n; i++, k++) {
                assert_true(k < n);
                assert_int_equal(b->ts[i], expected[k]);
            }
        assert_int_equal(k, n);
        tl_source_close(s);
    }
    free(folder.data);
}

/* ---- 1.8 ---- */

static const char types[] = "typealias integer { size = 8; align = 8; } := u8;\n"
                            "typealias integer { size = 64; align = 8; } := u64;\n"
                            "clock { name = c; };\n"
                            "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
                            "typealias integer { size = 16; align = 8; map = clock.c.value; } := ts16;\n"
                            "typealias integer { size = 8; align = 8; map = clock.c.value; } := ts8;\n"
                            "trace { major = 1; minor = 8; byte_order = le; };\n";

static void put_numbers(ctf_bytes *b, const uint8_t *bytes, const uint16_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        made_put(b, (const uint8_t[]){(uint8_t)v[i], (uint8_t)(v[i] >> 8)}, bytes[i]);
}

/* In reading order: stream context, event context, an array, an option of a variant, an enumeration. */
static void fields_behind_headers_move_the_clock(void **state)
{
    char text[2048];
    snprintf(text, sizeof text,
             "/* CTF 1.8 */\n%s"
             "stream { packet.context := struct { ts timestamp_begin; ts timestamp_end; };\n"
             "         event.header := struct { u8 id; ts16 timestamp; }; event.context := struct { ts16 sc; }; };\n"
             "event { id = 0; name = \"e\"; context := struct { struct { ts16 ec; } i; };\n"
             "  fields := struct { enum : u8 { x = 1, y = 2 } q; variant <q> { ts8 x; u8 y; } v; ts8 arr[2];\n"
             "                     struct { ts8 k; u8 l; } many[1]; enum : ts8 { A = 212 } en; }; };\n"
             "event { id = 1; name = \"f\"; fields := struct { ts8 a; }; };\n"
             "event { id = 2; name = \"g\"; fields := struct { }; };\n",
             types);
    ctf_bytes stream = {0};
    made_u64(&stream, 1000);
    made_u64(&stream, 500000);
    for (uint16_t t = 1100; t <= 1200; t = (uint16_t)(t + 100)) {
        const uint16_t e[] = {0, t, t + 10, t + 20, 1, t + 30, t + 40, t + 50, t + 52, 3, 212};
        static const uint8_t size[] = {1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1}, f_size[] = {1, 2, 2, 1}, g_size[] = {1, 2, 2};
        const uint16_t f[] = {1, t + 60, t + 70, t + 80}, g[] = {2, t + 90, t + 91};
        put_numbers(&stream, size, e, 11);
        put_numbers(&stream, f_size, f, 4);
        put_numbers(&stream, g_size, g, 3);
    }
    static const uint64_t expected[] = {1100, 66696, 66726, 66736, 132332, 132362}; /* of babeltrace2 */
    times_are(folder_of(text, &stream), expected, 6);
}

/* Only a payload tells which clock a stream has. */
static void a_field_of_a_payload_names_the_clock(void **state)
{
    char text[1024];
    snprintf(text, sizeof text,
             "/* CTF 1.8 */\n%sclock { name = other; };\nstream { event.header := struct { u8 id; }; };\n"
             "event { id = 0; name = \"e\"; fields := struct { ts8 at; }; };\n",
             types);
    ctf_bytes stream = {0};
    made_put(&stream, (const uint8_t[]){0, 10, 0, 20, 0, 5, 0, 7}, 8);
    static const uint64_t expected[] = {0, 10, 20, 261};
    times_are(folder_of(text, &stream), expected, 4);
}

/* A field of another clock, or a signed one, moves nothing. */
static void other_fields_do_not_move_the_clock(void **state)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "/* CTF 1.8 */\n%sclock { name = other; };\nstream { event.header := struct { u8 id; ts8 timestamp; }; };\n"
        "event { id = 0; name = \"e\"; fields := struct {\n"
        "  integer { size = 8; align = 8; map = clock.other.value; } a;\n"
        "  integer { size = 8; align = 8; signed = true; map = clock.c.value; } b; }; };\n",
        types);
    ctf_bytes stream = {0};
    made_put(&stream, (const uint8_t[]){0, 10, 90, 91, 0, 20, 92, 93}, 8);
    static const uint64_t expected[] = {10, 20};
    times_are(folder_of(text, &stream), expected, 2);
}

/* Such fields are marked for writers of text, but not those that contain others. */
static void fields_that_are_times_are_marked(void **state)
{
    char text[2048];
    snprintf(text, sizeof text,
             "/* CTF 1.8 */\n%sstream { event.header := struct { u8 id; }; };\n"
             "event { id = 0; name = \"e\"; fields := struct { u8 n; ts8 a; ts8 list[3]; struct { ts8 x; } all;\n"
             "  struct { ts8 x; u8 y; } some; struct { } none; enum : u8 { p = 1, q = 2 } tag;\n"
             "  variant <tag> { ts8 p; ts8 q; } every; variant <tag> { ts8 p; u8 q; } either; }; };\n",
             types);
    ctf_bytes stream = {0}, folder;
    made_zeros(&stream, 1);
    folder = folder_of(text, &stream);
    tl_source *s = open_made(&folder, NULL);
    const tl_field *f = s->trace.cls[0].field;
    assert_int_equal(s->trace.cls[0].nfield, 9);
    static const bool marked[] = {false, true, true, true, false, false, false, true, false};
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal((f[i].flags & TL_FIELD_CLOCK) != 0, marked[i]);
    assert_true(f[4].member[0].flags & TL_FIELD_CLOCK);
    assert_false(f[4].member[1].flags & TL_FIELD_CLOCK);
    assert_false(f[8].member[0].flags & TL_FIELD_CLOCK); /* it is one of several that are shown */
    close_made(s, &folder);
}

/* ---- 2 ---- */

#define NUMBER(bits, roles)                                                                                            \
    "{\"type\":\"fixed-length-unsigned-integer\",\"length\":" #bits ",\"byte-order\":\"little-endian\","               \
    "\"alignment\":8,\"roles\":[" roles "]}"
#define VARIABLE     "{\"type\":\"variable-length-unsigned-integer\",\"roles\":[\"default-clock-timestamp\"]}"
#define MEMBER(n, c) "{\"name\":\"" n "\",\"field-class\":" c "}"
#define START                                                                                                          \
    RS "{\"type\":\"preamble\",\"version\":2}\n" RS "{\"type\":\"trace-class\"}\n" RS                                  \
       "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000000000}\n"
#define STREAM(context, header)                                                                                        \
    RS "{\"type\":\"data-stream-class\",\"default-clock-class-id\":\"c\",\"packet-context-field-class\":"              \
       "{\"type\":\"structure\",\"member-classes\":[" context "]},\"event-record-header-field-class\":"                \
       "{\"type\":\"structure\",\"member-classes\":[" header "]}}\n"
#define EVENT(payload)                                                                                                 \
    RS "{\"type\":\"event-record-class\",\"name\":\"e\",\"payload-field-class\":"                                      \
       "{\"type\":\"structure\",\"member-classes\":[" payload "]}}\n"
#define SIZE MEMBER("size", NUMBER(16, "\"packet-total-length\""))

static void a_variable_length_moves_as_many_bits(void **state)
{
    ctf_bytes stream = {0};
    /* 300 in two bytes, then 5 and 6 in one each: 7 bits. 4 in one goes around. 4 in three bytes (21 bits), and in ten.
     */
    static const uint8_t bytes[] = {0xac, 0x02, 5,    6,    4,    0x84, 0x80, 0x00, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x7f};
    made_put(&stream, (const uint8_t[]){8 * (2 + sizeof bytes), 0}, 2);
    made_put(&stream, bytes, sizeof bytes);
    static const uint64_t expected[] = {300, 389, 390, 516, (1 << 21) + 4, UINT64_MAX, UINT64_MAX};
    times_are(folder_of(START STREAM(SIZE, MEMBER("t", VARIABLE)) EVENT(""), &stream), expected, 7);
}

static void a_packet_of_2_begins_at_0(void **state)
{
    ctf_bytes stream = {0};
    for (uint8_t i = 0; i < 2; i++)
        made_put(&stream, (const uint8_t[]){8 * 5, 0, 200, 100, (uint8_t)(90 + i)}, 5);
    static const uint64_t expected[] = {200, 356, 602, 200, 356, 603};
    times_are(folder_of(START STREAM(SIZE, MEMBER("t", NUMBER(8, "\"default-clock-timestamp\""))) EVENT(""), &stream),
              expected, 6);
}

/* Each of several fields holds a part of the begin. */
static void the_begin_of_a_packet_is_several_fields(void **state)
{
    ctf_bytes stream = {0};
    made_put(&stream, (const uint8_t[]){8 * 6, 0, 0x34, 0x12, 0x33, 0x35}, 6);
    static const uint64_t expected[] = {0x1335};
    ctf_bytes folder =
        folder_of(START STREAM(SIZE "," MEMBER("a", NUMBER(16, "\"default-clock-timestamp\"")) "," MEMBER(
                                   "b", NUMBER(8, "\"default-clock-timestamp\"")),
                               MEMBER("t", NUMBER(8, "\"default-clock-timestamp\""))) EVENT(""),
                  &stream);
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.begin, 0x1333);
    tl_source_close(s);
    times_are(folder, expected, 1);
}

/* Only headers have roles there. */
static void a_role_in_a_payload_of_2_moves_nothing(void **state)
{
    ctf_bytes stream = {0};
    made_put(&stream, (const uint8_t[]){8 * 6, 0, 10, 200, 20, 201}, 6);
    static const uint64_t expected[] = {10, 20};
    times_are(folder_of(START STREAM(SIZE, MEMBER("t", NUMBER(8, "\"default-clock-timestamp\"")))
                            EVENT(MEMBER("p", NUMBER(8, "\"default-clock-timestamp\""))),
                        &stream),
              expected, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_behind_headers_move_the_clock),
        cmocka_unit_test(a_field_of_a_payload_names_the_clock),
        cmocka_unit_test(other_fields_do_not_move_the_clock),
        cmocka_unit_test(fields_that_are_times_are_marked),
        cmocka_unit_test(a_variable_length_moves_as_many_bits),
        cmocka_unit_test(a_packet_of_2_begins_at_0),
        cmocka_unit_test(the_begin_of_a_packet_is_several_fields),
        cmocka_unit_test(a_role_in_a_payload_of_2_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
