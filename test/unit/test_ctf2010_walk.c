/* Packets of the 2010 dialect: which are found, their contents, and problems of the others. */
#include "make_ctf2010.h"

/* Walks over the bytes and shows the packets: number:offset+size/content bytes, '!' if cut off. Problems follow. The
 * window holds `capacity` bytes. */
static void walk(const made *m, size_t capacity, bool report, shown *out)
{
    ctf_unit unit = {.schema = {.dialect = CTF_2010, .session = SESSION}};
    const ctf_file file = {.unit = &unit, .name = "one_3", .size = m->n, .section = 5, .cpu = 3};
    tl_input *in;
    tl_window window;
    tl_trace trace = {0};
    tl_error e = {0};
    uint8_t *exact = malloc(m->n + 1);
    memcpy(exact, m->data, m->n);
    tl_trace_init(&trace);
    assert_int_equal(tl_input_open_memory(&in, exact, m->n, "one_3", &e), 0);
    assert_int_equal(tl_window_init(&window, in, capacity, &e), 0);
    ctf_walk w = {.file = &file, .window = &window, .report = report ? &trace : NULL};
    ctf_packet p;
    int r;
    *out = (shown){0};
    while ((r = ctf_2010_walk_next(&w, &p, &e)) > 0) {
        show(out, "%" PRIu64 ":%" PRIu64 "+%" PRIu64 "/%" PRIu64 "%s ", p.number, p.offset, p.size, p.content / 8,
             p.truncated ? "!" : "");
        assert_int_equal(p.content % 8, 0);
        assert_int_equal(p.first, 384);
        assert_int_equal(p.stream, 5);
        assert_int_equal(p.cpu, 3);
    }
    must(r, &e);
    assert_int_equal(w.offset, m->n);
    assert_int_equal(ctf_2010_walk_next(&w, &p, &e), 0);
    show(out, "\n");
    for (uint32_t i = 0; i < trace.ndamage; i++)
        assert_string_equal(trace.damage[i].file, "one_3");
    show_damage(out, trace.damage, trace.ndamage);
    tl_trace_fini(&trace);
    tl_window_fini(&window);
    tl_input_close(in);
    free(exact);
}

/* The same for any window, and the same packets without a list of problems. */
static void check_walk(const made *m, const char *expected)
{
    static const size_t capacity[] = {48, 49, 64, 100, 4096, 1 << 17};
    shown text;
    for (size_t i = 0; i < sizeof capacity / sizeof *capacity; i++) {
        walk(m, capacity[i], true, &text);
        assert_string_equal(text.text, expected);
    }
    walk(m, 64, false, &text);
    assert_memory_equal(text.text, expected, text.n);
    assert_int_equal(text.n, strchr(expected, '\n') + 1 - expected);
}

static made *fresh(bool big)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->big = big;
    return m;
}

/* A packet of 64 bytes, 60 of them content. */
static size_t add(made *m, made_header h)
{
    h.padding += 4;
    return made_packet(m, h, "twelve bytes", 12);
}

static void headers(void **state)
{
    for (int big = 0; big < 2; big++) {
        made *m = fresh(big);
        const made_header h = {.checksum = 0x01020304,
                               .count = 0x11121314,
                               .begin = UINT64_C(0x2122232425262728),
                               .end = UINT64_C(0x3132333435363738),
                               .discarded = 0x41424344,
                               .bits = 12,
                               .compression = 1,
                               .encryption = 2,
                               .checksum_scheme = 3};
        add(m, h);
        ctf_unit unit = {.schema = {.session = SESSION}};
        const ctf_file file = {.unit = &unit, .name = "f", .size = m->n, .section = 1, .cpu = -1};
        tl_input *in;
        tl_window window;
        tl_error e;
        ctf_packet p;
        tl_input_open_memory(&in, m->data, m->n, "f", &e);
        tl_window_init(&window, in, 4096, &e);
        ctf_walk w = {.file = &file, .window = &window, .number = 41};
        memset(&p, 0xff, sizeof p);
        assert_int_equal(ctf_2010_walk_next(&w, &p, &e), 1);
        assert_true(p.big == (big != 0) && !p.truncated && p.number == 41 && p.cpu == -1);
        assert_true(p.has_begin && p.has_end && p.has_discarded && p.has_sequence && !p.has_instance);
        assert_true(p.begin == h.begin && p.end == h.end);
        assert_true(p.sequence == h.count && p.sequence_bits == 12);
        assert_true(p.discarded == h.discarded && p.discarded_bits == 32);
        assert_true(p.checksum == h.checksum && p.compression == 1 && p.encryption == 2 && p.checksum_scheme == 3);
        tl_window_fini(&window);
        tl_input_close(in);
        free(m);
    }
}

static void good_packets(void **state)
{
    made *m = fresh(false);
    check_walk(m, "\n");
    add(m, (made_header){0});
    made_packet(m, (made_header){0}, "", 0);
    m->big = true; /* orders may be mixed */
    add(m, (made_header){0});
    made_packet(m, (made_header){.no_packet_size = true}, "0123456789", 10);
    check_walk(m, "0:0+64/60 1:64+48/48 2:112+64/60 3:176+58/58 \n");
    /* Without packet_size a packet takes the rest of the file. */
    made_bytes(m, "more", 4);
    check_walk(m, "0:0+64/60 1:64+48/48 2:112+64/60 3:176+62/58 \n");
    free(m);
}

static void counter_bits(void **state)
{
    made *m = fresh(false);
    add(m, (made_header){.bits = 0});
    add(m, (made_header){.bits = 33});
    add(m, (made_header){.bits = 32});
    check_walk(m, "0:0+64/60 1:64+64/60 2:128+64/60 \nF ctf2010.counter-bits 108 108+0\n");
    free(m);
}

/* Between two good packets one with each flaw; its size leads to the second one. */
static void flaws(void **state)
{
    static const struct {
        made_header h;
        const char *expected;
    } flaw[] = {
        {{.session = 1}, "FL ctf2010.session 68 64+64\n"},
        {{.content_size = 47}, "FL ctf2010.content-size 72 64+64\n"},
        {{.content_size = 65}, "FL ctf2010.content-size 72 64+64\n"},
        /* These two are searched for. */
        {{.packet_size = 47}, "FL ctf2010.packet-size 76 64+64\n"},
        {{.content_size = 47, .packet_size = 100}, "FL ctf2010.content-size 72 64+64\n"},
        {{.content_size = 47, .packet_size = 0xffffffff}, "FL ctf2010.content-size 72 64+64\n"},
        {{.content_size = 47, .no_packet_size = true}, "FL ctf2010.content-size 72 64+64\n"},
    };
    for (size_t i = 0; i < sizeof flaw / sizeof *flaw; i++)
        for (int big = 0; big < 2; big++) {
            made *m = fresh(big);
            char expected[200];
            add(m, (made_header){0});
            add(m, flaw[i].h);
            m->big = !m->big;
            add(m, (made_header){0});
            snprintf(expected, sizeof expected, "0:0+64/60 2:128+64/60 \n%s", flaw[i].expected);
            check_walk(m, expected);
            free(m);
        }
}

/* A size that leads to the end of the file is believed, too; any other is not. */
static void sizes_that_lie(void **state)
{
    made *m = fresh(false);
    add(m, (made_header){.content_size = 1, .packet_size = 128});
    add(m, (made_header){0});
    check_walk(m, "\nFL ctf2010.content-size 8 0+128\n");
    m->n = 0;
    add(m, (made_header){.content_size = 1, .packet_size = 64 + 48});
    add(m, (made_header){0});
    check_walk(m, "1:64+64/60 \nFL ctf2010.content-size 8 0+64\n");
    /* Nothing more to find. */
    m->n = 0;
    add(m, (made_header){.session = 5, .packet_size = 0x1000});
    check_walk(m, "\nFL ctf2010.session 4 0+64\n");
    free(m);
}

static void garbage(void **state)
{
    made *m = fresh(false);
    static const char nearly[] = "\xc1\x1f\xfc\xc1junk\xc1\xfc\x1f\xc1\xc1\xc1\x1f\xc1\x1f\xfc";
    made_bytes(m, "some garbage", 12);
    add(m, (made_header){0});
    made_bytes(m, "0", 1);
    made_bytes(m, nearly, sizeof nearly - 1); /* magic numbers, but none followed by the session */
    add(m, (made_header){0});
    made_bytes(m, "end", 3);
    check_walk(m, "0:12+64/60 1:95+64/60 \nFL ctf2010.magic 0 0+12\nFL ctf2010.magic 76 76+19\n"
                  "FL ctf2010.truncated 162 159+3\n");
    made_bytes(m, "!", 1);
    check_walk(m, "0:12+64/60 1:95+64/60 \nFL ctf2010.magic 0 0+12\nFL ctf2010.magic 76 76+19\n"
                  "FL ctf2010.magic 159 159+4\n");
    free(m);
}

/* A mark is found anywhere, also across the end of a window. */
static void marks_anywhere(void **state)
{
    for (size_t i = 4; i < 300; i++) {
        made *m = fresh(i & 1);
        char expected[100];
        memset(m->data, i & 2 ? 0xc1 : 0, i);
        m->n = i;
        add(m, (made_header){0});
        snprintf(expected, sizeof expected, "0:%zu+64/60 \nFL ctf2010.magic 0 0+%zu\n", i, i);
        check_walk(m, expected);
        free(m);
    }
}

static void truncated(void **state)
{
    made *m = fresh(true);
    add(m, (made_header){0});
    add(m, (made_header){0});
    for (m->n = 65; m->n < 128; m->n++) {
        char expected[200];
        const size_t n = m->n - 64;
        if (n < 48)
            snprintf(expected, sizeof expected, "0:0+64/60 \nFL ctf2010.truncated %zu 64+%zu\n", m->n, n);
        else
            snprintf(expected, sizeof expected, "0:0+64/60 1:64+%zu/%zu! \nF ctf2010.truncated %zu %zu+0\n", n,
                     n < 60 ? n : 60, m->n, m->n);
        check_walk(m, expected);
    }
    m->n = 0;
    made_packet(m, (made_header){.no_packet_size = true, .content_size = 100}, "0123456789", 10);
    check_walk(m, "0:0+58/58! \nF ctf2010.truncated 58 58+0\n");
    free(m);
}

/* A file that shrank while it was read is an error, not the end. */
static void changed(void **state)
{
    made *m = fresh(false);
    add(m, (made_header){0});
    ctf_unit unit = {.schema = {.session = SESSION}};
    for (int what = 0; what < 2; what++) {
        if (what == 1)
            m->data[0] = 0;
        const ctf_file file = {.unit = &unit, .name = "f", .size = m->n + 1, .cpu = -1};
        tl_input *in;
        tl_window window;
        tl_error e;
        ctf_packet p;
        tl_input_open_memory(&in, m->data, m->n, "f", &e);
        tl_window_init(&window, in, 64, &e);
        ctf_walk w = {.file = &file, .window = &window};
        int r = ctf_2010_walk_next(&w, &p, &e);
        if (what == 0) {
            assert_int_equal(r, 1);
            r = ctf_2010_walk_next(&w, &p, &e);
        }
        assert_int_equal(r, TL_EIO);
        assert_contains(e.message, "f: the file changed");
        assert_int_equal(ctf_2010_walk_next(&w, &p, NULL), TL_EIO);
        tl_window_fini(&window);
        tl_input_close(in);
    }
    free(m);
}

static void sections(void **state)
{
    static const char *const name[] = {"net", "net_1", "net.rx", "7"};
    ctf_stream_class stream[4] = {{.name = name[0]}, {.name = name[1]}, {.name = name[2]}, {.name = name[3]}};
    const ctf_stream_class *list[] = {&stream[0], &stream[1], &stream[2], &stream[3]};
    ctf_schema s = {.stream = list, .nstream = 4};
    static const struct {
        const char *file;
        uint32_t section;
        int32_t cpu;
    } cases[] = {
        {"net", 0, -1},
        {"net_0", 0, 0},
        {"net-12", 0, 12},
        {"net.007", 0, 7},
        {"net_1", 1, -1}, /* the longest name wins */
        {"net_1_2", 1, 2},
        {"net.rx_3", 2, 3},
        {"dir/sub_4/net.rx.2147483647", 2, INT32_MAX},
        {"net_2147483648", 0, -1}, /* too large for a processor */
        {"net_99999999999999999999", 0, -1},
        {"7", 3, -1},
        {"7_7", 3, 7},
        {"net_", UINT32_MAX, -1},
        {"net7", UINT32_MAX, -1},
        {"net_x", UINT32_MAX, -1},
        {"net+1", UINT32_MAX, -1},
        {"net.rx_1_2", UINT32_MAX, -1},
        {"ne", UINT32_MAX, -1},
        {"_7", UINT32_MAX, -1},
        {"77", UINT32_MAX, -1},
        {"", UINT32_MAX, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t cpu = 99;
        assert_int_equal(ctf_2010_section(&s, cases[i].file, &cpu), cases[i].section);
        assert_int_equal(cpu, cases[i].cpu);
    }
    /* A single section has all files. */
    s.nstream = 1;
    int32_t cpu = 99;
    assert_int_equal(ctf_2010_section(&s, "stray_5", &cpu), 0);
    assert_int_equal(cpu, -1);
    assert_int_equal(ctf_2010_section(&s, "net_5", &cpu), 0);
    assert_int_equal(cpu, 5);
    s.nstream = 0;
    assert_int_equal(ctf_2010_section(&s, "net", &cpu), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),        cmocka_unit_test(good_packets),   cmocka_unit_test(counter_bits),
        cmocka_unit_test(flaws),          cmocka_unit_test(sizes_that_lie), cmocka_unit_test(garbage),
        cmocka_unit_test(marks_anywhere), cmocka_unit_test(truncated),      cmocka_unit_test(changed),
        cmocka_unit_test(sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
