/* The metadata file of 2010: text in packets, and mistakes at their place in the file. */
#include "make_ctf2010.h"

/* Reads m as a metadata file, from exactly its bytes. */
static int read_made(const made *m, ctf_schema *s, tl_error *e)
{
    uint8_t *exact = malloc(m->n + 1);
    tl_input *in;
    memcpy(exact, m->data, m->n);
    assert_int_equal(tl_input_open_memory(&in, exact, m->n, "metadata", e), 0);
    *s = (ctf_schema){0};
    const int r = ctf_2010_metadata(s, in, e);
    tl_input_close(in);
    free(exact);
    return r;
}

static void check_damage(const ctf_schema *s, const char *expected)
{
    shown text = {0};
    show_damage(&text, s->damage, s->ndamage);
    assert_string_equal(text.text, expected);
    for (uint32_t i = 0; i < s->ndamage; i++)
        assert_null(s->damage[i].file);
}

static made *fresh(bool big)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->big = big;
    return m;
}

static void add(made *m, const char *text)
{
    made_packet(m, (made_header){.padding = 7}, text, strlen(text));
}

/* Words may continue beyond the end of a packet, and some packets may be empty. */
static void packets(void **state)
{
    for (int big = 0; big < 2; big++) {
        made *m = fresh(big);
        add(m, "trace { maj");
        add(m, "");
        add(m, "or = 0; } section { name = one; ev");
        made_packet(m, (made_header){0}, "ent { header_type = type1; } }\0\0", 32);
        ctf_schema s;
        tl_error e = {0};
        must(read_made(m, &s, &e), &e);
        assert_int_equal(s.dialect, CTF_2010);
        assert_int_equal(s.order, big ? CTF_BE : CTF_LE);
        assert_int_equal(s.session, SESSION);
        assert_int_equal(s.major, 0);
        assert_int_equal(s.nstream, 1);
        assert_string_equal(s.stream[0]->name, "one");
        check_damage(&s, "");
        tl_arena_fini(&s.arena);
        free(m);
    }
}

/* The byte order is that of the first usable packet, the session that of the first one. */
static void order_and_session(void **state)
{
    made *m = fresh(true);
    made_packet(m, (made_header){.content_size = 5, .session = 77}, "bad ", 4);
    m->big = false;
    made_packet(m, (made_header){.session = 77}, TEXT, TEXT_N);
    ctf_schema s;
    tl_error e;
    assert_int_equal(read_made(m, &s, &e), 0);
    assert_int_equal(s.order, CTF_LE);
    assert_int_equal(s.session, 77);
    check_damage(&s, "FL ctf2010.content-size 8 0+52\n");
    tl_arena_fini(&s.arena);
    free(m);
}

static void check_error(const made *m, uint64_t offset, const char *message)
{
    ctf_schema s;
    tl_error e = {0};
    assert_int_equal(read_made(m, &s, &e), TL_EDAMAGED);
    if (e.offset != offset || !strstr(e.message, message))
        fail_msg("offset %" PRIu64 ", expected %" PRIu64 ": %s", e.offset, offset, e.message);
    tl_arena_fini(&s.arena);
}

static void mistakes(void **state)
{
    made *m = fresh(false);
    add(m, "trace { }\nbogus { }"); /* 48 + 19 + 7 bytes */
    check_error(m, 48 + 10, "line 2, column 1: unknown block bogus");
    m->n = 0;
    add(m, "trace { }\n");
    add(m, "  bogus { }");
    check_error(m, 65 + 48 + 2, "line 2, column 3: unknown block bogus");
    /* The place of a word across the end of a packet is its begin. */
    m->n = 0;
    add(m, "trace { } bo");
    add(m, "gus { }");
    check_error(m, 48 + 10, "unknown block bogus");
    /* Missing text is missing at the end, even if the last packets are empty or unreadable. */
    m->n = 0;
    add(m, "trace {");
    check_error(m, 48 + 7, "the metadata ends");
    add(m, "");
    check_error(m, 62 + 48, "the metadata ends");
    made_packet(m, (made_header){.encryption = AES}, "secret", 6);
    check_error(m, 62 + 48, "the metadata ends");
    free(m);
}

static void compressed(void **state)
{
    for (size_t i = 0; i < CODECS; i++) {
        made *m = fresh(false);
        add(m, "section { name = s; event { header_type = type1; } }\n");
        made_packet(m, (made_header){.compression = codec[i].scheme}, codec[i].data, codec[i].n);
        ctf_schema s;
        tl_error e = {0};
        must(read_made(m, &s, &e), &e);
        assert_int_equal(s.nstream, 1);
        char expected[64] = "";
        if (!codec[i].is_built) /* it says so */
            snprintf(expected, sizeof expected, "L ctf2010.compression %d %d+%zu\n", 108 + 48, 108 + 48, codec[i].n);
        check_damage(&s, expected);
        tl_arena_fini(&s.arena);
        if (codec[i].is_built) {
            /* In the compressed text, and after it. */
            m->n = 0;
            add(m, "section { name = ");
            made_packet(m, (made_header){.compression = codec[i].scheme}, codec[i].data, codec[i].n);
            check_error(m, 72 + 48, "expected the name of an attribute or '}', found '{'");
            m->n = 0;
            made_packet(m, (made_header){.compression = codec[i].scheme}, codec[i].data, codec[i].n);
            add(m, "  bogus { }");
            check_error(m, 48 + codec[i].n + 48 + 2, "line 2, column 3: unknown block bogus");
        }
        free(m);
    }
}

/* Unusable packets are noted, and the rest is read. */
static void damage(void **state)
{
    made *m = fresh(false);
    add(m, "trace { major = 0; }");                                                  /* 75 bytes */
    made_bytes(m, "garbage", 7);                                                     /* 82 */
    made_packet(m, (made_header){.compression = 9}, "x", 1);                         /* 131 */
    made_packet(m, (made_header){.checksum_scheme = CRC32, .checksum = 1}, "\n", 1); /* 180 */
    made_packet(m, (made_header){.encryption = AES}, "x", 1);                        /* 229 */
    add(m, "section { name = s; event { header_type = type1; } }");
    m->n -= 7 + 1; /* the last brace */
    ctf_schema s;
    tl_error e = {0};
    assert_int_equal(read_made(m, &s, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, 229 + 48 + 51);
    const char *expected = "FL ctf2010.magic 75 75+7\n"
                           "FL ctf2010.compression 127 130+1\n"
                           "FL ctf2010.checksum 147 179+1\n"
                           "F ctf2010.truncated 328 328+0\n"
                           "N ctf2010.encrypted 180 180+0\n";
    check_damage(&s, expected); /* also after failure */
    tl_arena_fini(&s.arena);
    m->n++;
    assert_int_equal(read_made(m, &s, &e), 0);
    assert_int_equal(s.nstream, 1);
    assert_int_equal(s.ndamage, 5);
    tl_arena_fini(&s.arena);
    free(m);
}

static void no_metadata(void **state)
{
    made *m = fresh(false);
    check_error(m, 0, "no packet magic number");
    add(m, TEXT);
    ctf_schema s;
    tl_error e = {0};
    m->n = 3;
    check_error(m, 0, "no packet magic number");
    for (m->n = 4; m->n < 48; m->n++) { /* nothing to read, but still of this dialect */
        assert_int_equal(read_made(m, &s, &e), 0);
        assert_int_equal(s.nstream, 0);
        char expected[64];
        snprintf(expected, sizeof expected, "FL ctf2010.truncated %zu 0+%zu\n", m->n, m->n);
        check_damage(&s, expected);
        tl_arena_fini(&s.arena);
    }
    m->data[1] ^= 1;
    check_error(m, 0, "no packet magic number");
    free(m);
}

/* More text than allowed: in plain packets, each of them optional. */
static void limit(void **state)
{
    made *m = fresh(false);
    made_packet(m, (made_header){0}, "", 0);
    const size_t n = CTF_METADATA_MAX + 1;
    uint8_t *data = malloc(n + CTF_2010_HEADER);
    assert_non_null(data);
    memset(data, ' ', n + CTF_2010_HEADER);
    memcpy(data, m->data, CTF_2010_HEADER);
    for (size_t more = 0; more < 2; more++) {
        tl_store32(data + CTF_2010_CONTENT_SIZE, (uint32_t)(n - 1 + more + CTF_2010_HEADER), false);
        tl_store32(data + CTF_2010_PACKET_SIZE, (uint32_t)(n - 1 + more + CTF_2010_HEADER), false);
        tl_input *in;
        tl_error e = {0};
        assert_int_equal(tl_input_open_memory(&in, data, n - 1 + more + CTF_2010_HEADER, "metadata", &e), 0);
        ctf_schema s = {0};
        assert_int_equal(ctf_2010_metadata(&s, in, &e), more ? TL_ENOMEM : 0);
        tl_arena_fini(&s.arena);
        tl_input_close(in);
    }
    free(data);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets),  cmocka_unit_test(order_and_session),
        cmocka_unit_test(mistakes), cmocka_unit_test(compressed),
        cmocka_unit_test(damage),   cmocka_unit_test(no_metadata),
        cmocka_unit_test(limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
