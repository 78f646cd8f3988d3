/* Tests of opening folders: units and files, properties of the trace, tracks, ranges, losses, problems. */
#include "ctf_source.h"
#include "format/ctf/read/ctf_index.h"

extern const tl_format tl_format_ctf;

static const ctf_made usual = {.parts = MADE_ALL};

/* A file of one packet. */
static void put_stream(ctf_bytes *folder, const char *name, unsigned parts, ctf_made_packet p)
{
    ctf_bytes data = {0};
    made_packet(&data, parts, p);
    made_file(folder, name, &data);
}

static void put_text_file(ctf_bytes *folder, const char *name, const char *text)
{
    ctf_bytes data = {0};
    made_text(&data, "%s", text);
    made_file(folder, name, &data);
}

/* ---- files ---- */

static void files_beside_metadata_are_streams(void **state)
{
    ctf_bytes folder = {0};
    made_unit(&folder, "", &usual);
    put_stream(&folder, "chan_0", MADE_ALL, (ctf_made_packet){.begin = 100, .end = 200, .events = 3});
    put_stream(&folder, "chan_1", MADE_ALL, (ctf_made_packet){.begin = 150, .end = 300, .events = 2});
    put_text_file(&folder, "index/chan_0.idx", "no stream");
    put_text_file(&folder, ".hidden", "no stream");
    put_text_file(&folder, "deeper/other", "no stream");
    put_text_file(&folder, "empty", "");
    tl_source *s = open_made(&folder, NULL);
    const tl_trace *t = &s->trace;
    assert_int_equal(tl_source_streams(s), 2);
    assert_int_equal(t->ntrack, 2);
    assert_int_equal(t->damage_count, 0);
    assert_string_equal(t->format, "ctf");
    assert_string_equal(t->version, "1.8");
    assert_string_equal(t->byte_order, "little");
    ctf_bytes text = {0};
    made_metadata(&text, &usual);
    assert_int_equal(t->bytes, text.n + 2 * 80 + 5 * 13);
    free(text.data);
    uint64_t begin, end;
    assert_true(tl_trace_range(t, &begin, &end));
    assert_int_equal(begin, 100);
    assert_int_equal(end, 300);
    assert_int_equal(track_of(s, "0/chan_1")->begin, 150);
    assert_int_equal(track_of(s, "0/chan_1")->end, 300);
    assert_true(track_of(s, "0/chan_0")->has_range);
    assert_int_equal(read_all(s), 5);
    close_made(s, &folder);
}

static void tracks_without_events_are_there(void **state)
{
    ctf_bytes folder = {0};
    made_unit(&folder, "a/b", &usual);
    put_stream(&folder, "a/b/chan", MADE_ALL, (ctf_made_packet){.begin = 7, .end = 9});
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.ntrack, 1);
    assert_int_equal(track_of(s, "0/a/b/chan")->begin, 7);
    assert_int_equal(read_all(s), 0);
    close_made(s, &folder);
}

static void each_stream_class_of_a_file_has_its_track(void **state)
{
    ctf_bytes folder = {0}, data = {0};
    made_unit(&folder, "", &(ctf_made){.parts = MADE_ALL, .streams = 3});
    made_packet(&data, MADE_ALL, (ctf_made_packet){.stream = 2, .begin = 10, .end = 20, .events = 1});
    made_packet(&data, MADE_ALL, (ctf_made_packet){.stream = 0, .begin = 15, .end = 40, .events = 2});
    made_packet(&data, MADE_ALL, (ctf_made_packet){.stream = 2, .begin = 30, .end = 35, .events = 3});
    made_file(&folder, "mixed", &data);
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.ntrack, 2);
    assert_string_equal(s->trace.track[0].name, "0/mixed");
    assert_int_equal(track_of(s, "0/mixed")->end, 40);
    assert_int_equal(track_of(s, "2/mixed")->begin, 10);
    assert_int_equal(track_of(s, "2/mixed")->end, 35);
    assert_int_equal(read_all(s), 6);
    close_made(s, &folder);
}

static void units_are_one_trace(void **state)
{
    enum { UNITS = 150 }; /* more than are parsed at once */
    ctf_bytes folder = {0};
    for (unsigned i = 0; i < UNITS; i++) {
        char path[64], env[64];
        snprintf(path, sizeof path, "ust/pid/%u", i);
        snprintf(env, sizeof env, "hostname = \"box\"; vpid = %u; tracer = 2;", i);
        made_unit(&folder, path, &(ctf_made){.parts = MADE_ALL, .env = env, .other_uuid = i % 2});
        strcat(path, "/chan");
        put_stream(&folder, path, MADE_ALL,
                   (ctf_made_packet){.begin = i, .end = i + 10, .events = 1, .other_uuid = i % 2});
    }
    for (unsigned threads = 1; threads < 5; threads++) {
        tl_source *s = open_made(&folder, &(tl_open_options){.want.threads = threads});
        const tl_trace *t = &s->trace;
        assert_int_equal(t->damage_count, 0);
        assert_int_equal(t->nnote, 0);
        assert_int_equal(t->ntrack, UNITS);
        assert_int_equal(t->ncls, 1); /* all have the same */
        assert_string_equal(t->version, "1.8");
        assert_int_equal(t->nproperty, 2); /* differing ones belong to none */
        assert_string_equal(t->property[0].name, "hostname");
        assert_string_equal(t->property[0].text, "box");
        assert_string_equal(t->property[1].name, "tracer");
        assert_int_equal(t->property[1].number, 2);
        assert_int_equal(t->begin, 0);
        assert_int_equal(t->end, UNITS + 9);
        assert_int_equal(read_all(s), UNITS);
        tl_source_close(s);
    }
    free(folder.data);
}

/* Units with different classes have their own; equal ones are one. */
static void different_units(void **state)
{
    ctf_bytes folder = {0};
    made_unit(&folder, "a", &(ctf_made){.parts = MADE_ALL, .streams = 2});
    made_unit(&folder, "b", &(ctf_made){.parts = MADE_ALL, .streams = 3});
    made_unit(&folder, "c", &(ctf_made){.parts = MADE_ALL & ~MADE_INSTANCE, .streams = 2});
    put_stream(&folder, "a/s", MADE_ALL, (ctf_made_packet){.stream = 1, .events = 2});
    put_stream(&folder, "b/s", MADE_ALL, (ctf_made_packet){.stream = 2, .events = 3});
    put_stream(&folder, "c/s", MADE_ALL & ~MADE_INSTANCE, (ctf_made_packet){.stream = 1, .events = 4});
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.damage_count, 0);
    assert_int_equal(s->trace.ncls, 3);
    const tl_batch *b;
    uint64_t by_class[3] = {0};
    while (tl_source_next(s, &b, NULL) > 0)
        for (uint32_t i = 0; i < b->n; i++)
            by_class[b->cls[i]]++;
    assert_string_equal(s->trace.cls[1].name, "e1");
    assert_int_equal(by_class[0], 0);
    assert_int_equal(by_class[1], 6);
    assert_int_equal(by_class[2], 3);
    close_made(s, &folder);
}

/* ---- problems ---- */

static void units_that_cannot_be_used_are_reported(void **state)
{
    ctf_bytes folder = {0};
    put_text_file(&folder, "bad/metadata", "/* CTF 1.8 */\ntrace { nonsense nonsense nonsense");
    put_text_file(&folder, "bad/stream", "1234");
    made_unit(&folder, "good", &usual);
    put_stream(&folder, "good/stream", MADE_ALL, (ctf_made_packet){.events = 2});
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.ndamage, 1);
    const tl_damage *d = &s->trace.damage[0];
    assert_string_equal(d->rule, "ctf.metadata");
    assert_string_equal(d->file, "bad/metadata");
    assert_int_equal(d->kind, TL_DAMAGE_FAULT | TL_DAMAGE_LOSS);
    assert_int_equal(d->bytes, 0);
    assert_true(d->at >= 14);
    assert_string_equal(s->trace.version, "1.8");
    assert_int_equal(tl_source_streams(s), 1);
    assert_int_equal(read_all(s), 2);
    tl_source_close(s);
    tl_error e = {0};
    const tl_open_options strict = {.want.strict = true};
    assert_int_equal(tl_source_open_folder_memory(&s, folder.data, folder.n, "made", &strict, &e), TL_EDAMAGED);
    assert_contains(e.message, "bad/metadata: ctf.metadata");
    free(folder.data);
}

static void nothing_but_bad_metadata_still_opens(void **state)
{
    ctf_bytes folder = {0};
    put_text_file(&folder, "metadata", "}");
    put_text_file(&folder, "stream", "1234");
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.ndamage, 1);
    assert_int_equal(tl_source_streams(s), 0);
    assert_int_equal(s->trace.bytes, 5);
    assert_null(s->trace.version);
    assert_false(s->trace.has_range);
    assert_int_equal(read_all(s), 0);
    close_made(s, &folder);
}

static void problems_of_packets_are_in_order_of_files(void **state)
{
    ctf_bytes folder = {0};
    made_unit(&folder, "", &usual);
    for (char name[] = "a"; *name < 'k'; ++*name) {
        ctf_bytes data = {0};
        made_packet(&data, MADE_ALL, (ctf_made_packet){.magic = 1, .events = 1});
        made_packet(&data, MADE_ALL, (ctf_made_packet){.events = 1});
        made_zeros(&data, 10);
        made_file(&folder, name, &data);
    }
    for (unsigned threads = 1; threads < 5; threads++) {
        tl_source *s = open_made(&folder, &(tl_open_options){.want.threads = threads});
        assert_int_equal(s->trace.ndamage, 20);
        for (uint32_t i = 0; i < 20; i++) {
            const char name[2] = {(char)('a' + (char)(i / 2)), '\0'};
            assert_string_equal(s->trace.damage[i].file, name);
            assert_string_equal(s->trace.damage[i].rule, i % 2 ? "ctf.padding" : "ctf.magic");
        }
        assert_int_equal(read_all(s), 10);
        assert_int_equal(s->trace.damage_count, 20);
        tl_source_close(s);
    }
    free(folder.data);
}

/* All packets have one uuid that the metadata lacks: a note. If they differ, those that differ are lost. */
static void a_common_uuid_is_the_right_one(void **state)
{
    enum { ALL_THE_SAME, ONE_IS_RIGHT, ALL_DIFFER };
    static const struct {
        uint32_t notes, damages, events;
    } expected[] = {{1, 0, 3}, {0, 1, 2}, {0, 2, 0}};
    for (unsigned i = ALL_THE_SAME; i <= ALL_DIFFER; i++) {
        ctf_bytes folder = {0};
        made_unit(&folder, "", &usual);
        put_stream(&folder, "a", MADE_ALL, (ctf_made_packet){.other_uuid = true, .events = 1});
        const size_t at = folder.n + sizeof "b" + 4;
        put_stream(&folder, "b", MADE_ALL, (ctf_made_packet){.other_uuid = i != ONE_IS_RIGHT, .events = 2});
        folder.data[at + 4] ^= i == ALL_DIFFER; /* the uuid's first byte */
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.nnote, expected[i].notes);
        assert_int_equal(s->trace.ndamage, expected[i].damages);
        const tl_damage *d = expected[i].notes ? s->trace.note : s->trace.damage;
        assert_string_equal(d->rule, "ctf.uuid");
        assert_string_equal(d->file, "a");
        assert_int_equal(d->at, 4);
        assert_int_equal(read_all(s), expected[i].events);
        close_made(s, &folder);
    }
}

static void without_stream_classes_there_are_no_streams(void **state)
{
    ctf_bytes folder = {0};
    put_text_file(&folder, "metadata",
                  "\x1e{\"type\": \"preamble\", \"version\": 2}\n\x1e{\"type\": \"trace-class\"}\n");
    put_text_file(&folder, "stream", "1234");
    tl_source *s = open_made(&folder, NULL);
    assert_string_equal(s->trace.version, "2");
    assert_int_equal(s->trace.ndamage, 0);
    assert_int_equal(s->trace.nnote, 1);
    assert_int_equal(tl_source_streams(s), 0);
    close_made(s, &folder);
}

/* ---- one file ---- */

static void a_file_of_a_trace_says_what_to_do(void **state)
{
    static const struct {
        const char *bytes;
        const char *what;
    } files[] = {{"\xc1\xfc\x1f\xc1zzzz", "a data stream or the metadata of a trace"},
                 {"\xc1\x1f\xfc\xc1zzzz", "a data stream or the metadata of a trace"},
                 {"\x75\xd1\x1d\x57zzzz", "the metadata of a trace"},
                 {"\x57\x1d\xd1\x75zzzz", "the metadata of a trace"},
                 {"\xc1\xf1\xdc\xc1zzzz", "an index of a trace"},
                 {"/* CTF 1.8 */", "the metadata of a trace"},
                 {"\x1e{\"type\":\"preamble\"}", "the metadata of a trace"},
                 {"\x1e\n {\"type\":\"preamble\"}", "the metadata of a trace"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tl_source *s = NULL;
        tl_error e = {0};
        assert_int_equal(tl_source_open_memory(&s, files[i].bytes, strlen(files[i].bytes), "x/file", NULL, &e),
                         TL_EUNSUPPORTED);
        assert_contains(e.message, "x/file: ctf: this is");
        assert_contains(e.message, files[i].what);
        assert_contains(e.message, "; give the folder that holds it");
    }
    const tl_probe nothing[] = {{.head = (const uint8_t *)""},
                                {.head = (const uint8_t *)"\xc1\xfc\x1f", .size = 3, .total = 3},
                                {.head = (const uint8_t *)"\x1e", .size = 1, .total = 1},
                                {.head = (const uint8_t *)"/* CTF 1.7", .size = 10, .total = 10}};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        assert_int_equal(tl_format_ctf.reader->probe(&nothing[i]), 0);
}

static void folders_are_known_by_their_metadata(void **state)
{
    static const struct {
        const char *name;
        bool is_trace;
    } folders[] = {{"metadata", true},
                   {"a/b/metadata", true},
                   {"metadata/x", false},
                   {"metadata.txt", false},
                   {"xmetadata", false}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        ctf_bytes block = {0};
        put_text_file(&block, folders[i].name, "x");
        tl_folder *f = NULL;
        assert_int_equal(tl_folder_open_memory(&f, block.data, block.n, "f", NULL), 0);
        assert_int_equal(tl_format_ctf.reader->probe_folder(f) > 0, folders[i].is_trace);
        tl_folder_close(f);
        free(block.data);
    }
}

/* ---- times and losses ---- */

static void without_times_there_is_no_range(void **state)
{
    ctf_bytes folder = {0};
    const unsigned parts = MADE_ALL & ~MADE_TIMES;
    made_unit(&folder, "", &(ctf_made){.parts = parts});
    put_stream(&folder, "s", parts, (ctf_made_packet){.begin = 5, .events = 2});
    tl_source *s = open_made(&folder, NULL);
    assert_false(s->trace.has_range);
    assert_false(track_of(s, "0/s")->has_range);
    assert_int_equal(read_all(s), 2);
    close_made(s, &folder);
}

/* Killed tracers leave 0 as the end; others leave one before the begin. */
static void ends_that_make_no_sense_are_not_believed(void **state)
{
    static const uint64_t ends[] = {0, 499};
    for (size_t i = 0; i < 2; i++) {
        ctf_bytes folder = {0};
        made_unit(&folder, "", &usual);
        put_stream(&folder, "s", MADE_ALL, (ctf_made_packet){.begin = 500, .end = ends[i], .events = 4});
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.begin, 500);
        assert_int_equal(s->trace.end, 500);
        tl_count c;
        assert_int_equal(tl_source_count(s, 1, &c, NULL), 0);
        assert_int_equal(c.last, 503);
        tl_count_free(&c);
        close_made(s, &folder);
    }
}

/* Packets of one stream: number and counter of discarded events, and the resulting losses. */
static void losses_of_a_stream(void **state)
{
    static const struct {
        uint64_t packet[3][2];
        uint64_t events, packets;
    } cases[] = {
        {{{0, 0}, {1, 0}, {2, 0}}, 0, 0},
        {{{0, 4}, {1, 4}, {2, 9}}, 9, 0},          /* the first of all counts itself */
        {{{5, 4}, {6, 4}, {7, 9}}, 5, 0},          /* another has an unknown past */
        {{{0, 0}, {3, 0}, {4, 0}}, 0, 2},          /* 1 and 2 are missing */
        {{{7, 100}, {8, 90}, {9, 92}}, 2, 0},      /* a counter that was set back */
        {{{7, 0}, {7, 0}, {2, 0}}, 0, 0},          /* numbers that stay or go back */
        {{{3, UINT64_MAX}, {4, 1}, {5, 1}}, 2, 0}, /* wraps around */
        {{{UINT64_MAX, 0}, {1, 0}, {2, 0}}, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ctf_bytes folder = {0}, data = {0};
        made_unit(&folder, "", &usual);
        for (unsigned k = 0; k < 3; k++)
            made_packet(&data, MADE_ALL,
                        (ctf_made_packet){.begin = 10 * k,
                                          .end = 10 * k + 9,
                                          .sequence = cases[i].packet[k][0],
                                          .discarded = cases[i].packet[k][1]});
        made_file(&folder, "s", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.lost_events, cases[i].events);
        assert_int_equal(s->trace.lost_packets, cases[i].packets);
        close_made(s, &folder);
    }
}

/* Events discarded up to the first packet are not counted unless it is known to be the first: a note tells that. */
static void what_was_discarded_before_is_noted(void **state)
{
    for (unsigned discarded = 0; discarded < 2; discarded++) {
        ctf_bytes folder = {0}, data = {0};
        made_unit(&folder, "", &(ctf_made){.context = "u64 events_discarded;"});
        made_u64(&data, 41 * discarded);
        made_file(&folder, "s", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.lost_events, 0);
        assert_int_equal(s->trace.damage_count, 0);
        assert_int_equal(s->trace.nnote, discarded);
        if (discarded) {
            assert_string_equal(s->trace.note[0].rule, "ctf.discarded");
            assert_string_equal(s->trace.note[0].file, "s");
            assert_contains(s->trace.note[0].what, "41 events");
        }
        close_made(s, &folder);
    }
    /* A packet whose number shows that it is not the first needs no note: others may know. */
    ctf_bytes folder = {0};
    made_unit(&folder, "", &usual);
    put_stream(&folder, "s", MADE_ALL, (ctf_made_packet){.sequence = 3, .discarded = 41});
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.nnote, 0);
    close_made(s, &folder);
}

/* Streams that share a file have counters of their own. */
static void losses_of_streams_in_one_file(void **state)
{
    ctf_bytes folder = {0}, data = {0};
    made_unit(&folder, "", &(ctf_made){.parts = MADE_ALL, .streams = 2});
    for (unsigned i = 0; i < 100; i++)
        made_packet(
            &data, MADE_ALL,
            (ctf_made_packet){
                .stream = i % 2, .instance = i / 2 % 5, .begin = i, .end = i, .sequence = 2 * i, .discarded = 3 * i});
    made_file(&folder, "s", &data);
    tl_source *s = open_made(&folder, NULL);
    /* Each of 10 streams has 10 packets, 10 of i apart; the only one that begins with 0 has lost 0 before. */
    assert_int_equal(s->trace.lost_packets, 10 * 9 * 19);
    assert_int_equal(s->trace.lost_events, 10 * 9 * 30);
    close_made(s, &folder);
}

/* A tracer that goes on in another file, even in another folder, has losses there, too; overlapping files do not. */
static void losses_between_files(void **state)
{
    ctf_bytes folder = {0};
    made_unit(&folder, "1", &usual);
    made_unit(&folder, "2", &usual);
    put_stream(&folder, "1/s_0", MADE_ALL,
               (ctf_made_packet){.instance = 3, .begin = 1, .sequence = 10, .discarded = 5});
    put_stream(&folder, "1/s_1", MADE_ALL,
               (ctf_made_packet){.instance = 3, .begin = 2, .sequence = 12, .discarded = 7});
    put_stream(&folder, "2/s", MADE_ALL, (ctf_made_packet){.instance = 3, .begin = 3, .sequence = 13, .discarded = 8});
    put_stream(&folder, "2/t", MADE_ALL, (ctf_made_packet){.instance = 3, .begin = 3, .sequence = 13, .discarded = 8});
    put_stream(&folder, "2/u", MADE_ALL, (ctf_made_packet){.instance = 4, .begin = 4, .sequence = 99, .discarded = 99});
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(s->trace.lost_packets, 1);
    assert_int_equal(s->trace.lost_events, 3);
    close_made(s, &folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_beside_metadata_are_streams),
        cmocka_unit_test(tracks_without_events_are_there),
        cmocka_unit_test(each_stream_class_of_a_file_has_its_track),
        cmocka_unit_test(units_are_one_trace),
        cmocka_unit_test(different_units),
        cmocka_unit_test(units_that_cannot_be_used_are_reported),
        cmocka_unit_test(nothing_but_bad_metadata_still_opens),
        cmocka_unit_test(problems_of_packets_are_in_order_of_files),
        cmocka_unit_test(a_common_uuid_is_the_right_one),
        cmocka_unit_test(without_stream_classes_there_are_no_streams),
        cmocka_unit_test(a_file_of_a_trace_says_what_to_do),
        cmocka_unit_test(folders_are_known_by_their_metadata),
        cmocka_unit_test(without_times_there_is_no_range),
        cmocka_unit_test(ends_that_make_no_sense_are_not_believed),
        cmocka_unit_test(losses_of_a_stream),
        cmocka_unit_test(what_was_discarded_before_is_noted),
        cmocka_unit_test(losses_of_streams_in_one_file),
        cmocka_unit_test(losses_between_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
