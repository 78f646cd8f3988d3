/* Limits on what a trace in folders may demand of its reader, and demands without a limit. */
#include "ctf_source.h"
#include "format/ctf/read/ctf_losses.h"
#include "format/ctf/read/ctf_same.h"

static void put_text_file(ctf_bytes *folder, const char *name, const char *text)
{
    ctf_bytes data = {0};
    made_put(&data, text, strlen(text));
    made_file(folder, name, &data);
}

#define HEAD                                                                                                           \
    "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n"                                                \
    "typealias integer { size = 8; align = 8; } := u8;\n"

/* Reads a trace of one event class with these fields; the error of the first failure. */
static int read_fields(const char *fields, const char *bytes, size_t n, uint64_t *events, tl_error *e)
{
    static char text[1 << 14];
    ctf_bytes folder = {0};
    tl_source *s = NULL;
    const tl_batch *b = NULL;
    *events = 0;
    snprintf(text, sizeof text, HEAD "struct z { u8 n; };\nevent { name = a; fields := struct { %s }; };\n", fields);
    put_text_file(&folder, "metadata", text);
    ctf_bytes data = {0};
    made_put(&data, bytes, n);
    made_file(&folder, "s", &data);
    int status = tl_source_open_folder_memory(&s, folder.data, folder.n, "made", NULL, e);
    while (status == 0 && (status = tl_source_next(s, &b, e)) > 0) {
        *events += b->n;
        status = 0;
    }
    if (status == 0 && tl_trace_damage_count(&s->trace) > 0)
        status = TL_EDAMAGED;
    tl_source_close(s);
    free(folder.data);
    return status;
}

/* A length inside whichever option was chosen, with any number of options. */
static void lengths_may_be_in_any_option(void **state)
{
    enum { OPTIONS = 200 };
    char fields[1 << 13], *at = fields;
    at += sprintf(at, "enum : u8 { ");
    for (unsigned i = 0; i < OPTIONS; i++)
        at += sprintf(at, "o%u,", i);
    at += sprintf(at, "} t; variant <t> { ");
    for (unsigned i = 0; i < OPTIONS; i++)
        at += sprintf(at, "struct z o%u;", i);
    sprintf(at, " } v; u8 a[v.n];");
    for (unsigned chosen = 0; chosen < OPTIONS; chosen++) {
        const char bytes[] = {(char)chosen, 3, 1, 2, 3, (char)chosen, 0, (char)chosen, 1, 9};
        uint64_t events;
        tl_error e = {0};
        if (read_fields(fields, bytes, sizeof bytes, &events, &e) < 0)
            fail_msg("%u: %s", chosen, e.message);
        assert_int_equal(events, 3);
    }
}

/* Lengths whose number of bits would not fit its type. */
static void lengths_are_limited(void **state)
{
    static const char *const fields[] = {"u8 a[2305843009213693952];",
                                         "integer { size = 8; align = 8; encoding = UTF8; } a[2305843009213693952];"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        tl_error e = {0};
        uint64_t events;
        const int status = read_fields(fields[i], "abcdefgh", 8, &events, &e);
        if (status >= 0 || !strstr(e.message, "a length of 2305843009213693952 "))
            fail_msg("%d: %s", status, e.message);
        assert_int_equal(events, 0);
    }
}

/* A trace of many stream classes and many files, each possibly of any class. */
static void stream_classes_of_all_files_are_limited(void **state)
{
    enum { CLASSES = 60000, FILES = 280 };
    ctf_bytes folder = {0}, text = {0};
    made_text(&text, HEAD);
    for (unsigned i = 0; i < CLASSES; i++)
        made_text(&text, "stream { id = %u; };", i);
    made_file(&folder, "metadata", &text);
    for (unsigned i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        put_text_file(&folder, name, "x");
    }
    tl_source *s = NULL;
    tl_error e = {0};
    assert_int_equal(tl_source_open_folder_memory(&s, folder.data, folder.n, "made", NULL, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "too many stream classes for 280 files");
    free(folder.data);
}

/* Two packets of each stream, with a lost event between: it is counted, or the trace says that it is not. */
static void streams_of_one_file_are_limited(void **state)
{
    for (unsigned more = 0; more < 2; more++) {
        ctf_bytes folder = {0}, data = {0};
        made_unit(&folder, "", &(ctf_made){.parts = MADE_ALL});
        for (unsigned k = 0; k < 2; k++)
            for (unsigned i = 0; i < CTF_CHAINS_MAX + more; i++)
                made_packet(&data, MADE_ALL, (ctf_made_packet){.instance = i, .sequence = k, .discarded = k});
        made_file(&folder, "s", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.lost_events, CTF_CHAINS_MAX);
        assert_int_equal(s->trace.damage_count, 0);
        assert_int_equal(s->trace.nnote, more);
        if (more) {
            assert_string_equal(s->trace.note[0].rule, "ctf.streams");
            assert_contains(s->trace.note[0].what, "more than 4096 streams");
        }
        close_made(s, &folder);
    }
}

static ctf_schema parsed(const char *text, size_t n)
{
    ctf_schema s = {0};
    tl_error e = {0};
    must(ctf_tsdl_parse(&s, text, n, &e), &e);
    return s;
}

/* Equal schemas are one, but comparing them has a limit. */
static void schemas_of_many_clocks_are_not_compared(void **state)
{
    for (unsigned n = 64; n <= 65; n++) {
        ctf_bytes text = {0};
        made_text(&text, HEAD);
        for (unsigned i = 0; i < n; i++)
            made_text(&text, "clock { name = c%u; };", i);
        ctf_schema a = parsed((const char *)text.data, text.n), b = parsed((const char *)text.data, text.n);
        assert_int_equal(a.nclock, n);
        assert_int_equal(ctf_same_schema(&a, &b), n == 64);
        tl_arena_fini(&a.arena);
        tl_arena_fini(&b.arena);
        free(text.data);
    }
}

/* Types that each hold the one before twice: 2^20 of them, in 20 pairs. */
static void schemas_of_many_types_are_not_compared(void **state)
{
    enum { LEVELS = 20 };
    ctf_type type[2][LEVELS + 1] = {{{0}}};
    ctf_member member[2][LEVELS + 1][2];
    for (unsigned s = 0; s < 2; s++)
        for (unsigned i = 0; i <= LEVELS; i++) {
            const ctf_member inner = {.name = "x", .raw = "x", .type = i ? &type[s][i - 1] : NULL};
            member[s][i][0] = member[s][i][1] = inner;
            type[s][i] = (ctf_type){.kind = CTF_STRUCT, .align = 1, .member = member[s][i], .nmember = i ? 2 : 0};
        }
    for (unsigned i = LEVELS - 2; i <= LEVELS; i++) {
        const ctf_schema a = {.packet_header = &type[0][i]}, b = {.packet_header = &type[1][i]};
        assert_int_equal(ctf_same_schema(&a, &b), i < LEVELS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_may_be_in_any_option),
        cmocka_unit_test(lengths_are_limited),
        cmocka_unit_test(stream_classes_of_all_files_are_limited),
        cmocka_unit_test(streams_of_one_file_are_limited),
        cmocka_unit_test(schemas_of_many_clocks_are_not_compared),
        cmocka_unit_test(schemas_of_many_types_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
