/* Tests that things with equal hashes are not confused: names, labels, damage, streams, threads, functions. */
#include "ctf_read_back.h"
#include "format/ctf/read/ctf_losses.h"
#include "make_ctf.h"
#include "model/trace_impl.h"
#include "op/source_impl.h"
#include "op/symbols/discover.h"

/* Two texts that collided in tables whose hash had no key. */
static const char one[] = "aaaaaaaaby9sbbbbZHBNd2Wb", other[] = "aaaaaaaabEmBbbbbTl_7v7Nz";

static void test_labels_and_keys(void **state)
{
    const tl_mapping label[] = {{one, 0, 0}, {other, 1, 1}, {one, 2, 3}};
    const tl_field f[] = {{.name = one, .type = TL_U64, .bits = 8, .mapping = label, .nmapping = 3},
                          {.name = other, .type = TL_U64, .bits = 8}};
    const tl_class cls = {.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 2};
    static const tl_value v[] = {U(1), U(2)};
    fixture w = {0};
    fixture_init(&w);
    tl_trace_add_property(&w.trace, one, "first", 0, NULL);
    tl_trace_add_property(&w.trace, other, "second", 0, NULL);
    tl_trace_add_property(&w.trace, one, "again", 0, NULL); /* the first one counts */
    folder_classes(&w, &cls, 1);
    folder_start(&w, "2");
    fixture_event(&w, 0, 0, -1, 1, 0, v, 2);
    fixture_finish(&w);
    tl_source *s;
    assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_properties(t), 2);
    assert_string_equal(tl_trace_property(t, 0)->text, "first");
    assert_string_equal(tl_trace_property(t, 1)->name, other);
    assert_string_equal(tl_trace_property(t, 1)->text, "second");
    const tl_class *c = NULL;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        if (strcmp(tl_trace_class(t, i)->name, "c") == 0)
            c = tl_trace_class(t, i);
    assert_non_null(c);
    assert_int_equal(c->nfield, 2);
    assert_string_equal(c->field[0].name, one);
    assert_string_equal(c->field[1].name, other);
    assert_int_equal(c->field[0].nmapping, 3);
    uint32_t of_other = 0;
    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(c->field[0].mapping[i].label, other) == 0) {
            of_other++;
            assert_int_equal(c->field[0].mapping[i].low, 1);
            assert_int_equal(c->field[0].mapping[i].high, 1);
        }
    assert_int_equal(of_other, 1);
    tl_source_close(s);
    folder_fini(&w);
}

static void test_names_of_files(void **state)
{
    fixture w = {0};
    const tl_class classes[] = {number_class, number_class};
    const char *const name[] = {one, other};
    fixture_init(&w);
    for (int i = 0; i < 2; i++) {
        uint32_t track;
        assert_int_equal(tl_trace_add_track(&w.trace, &(tl_track){.name = name[i]}, &track, NULL), 0);
    }
    folder_classes(&w, classes, 2);
    folder_start(&w, "2");
    for (uint32_t i = 0; i < 2; i++)
        put_number(&w, w.trace.ntrack - 2 + i, -1, 1, 0);
    fixture_finish(&w);
    for (int i = 0; i < 2; i++) {
        size_t n;
        free(folder_file(name[i], &n));
    }
    folder_fini(&w);
}

static void test_damage(void **state)
{
    tl_trace t;
    tl_trace_init(&t);
    for (int pass = 0; pass < 2; pass++) {
        const char *const file[] = {one, other};
        for (int i = 0; i < 2; i++) {
            const tl_damage d = {.offset = 7, .at = 7, .file = file[i], .rule = "some.rule", .kind = TL_DAMAGE_FAULT};
            assert_int_equal(tl_trace_report(&t, NULL, &d, "bad"), 0);
        }
        tl_trace_add_out_of_order(&t, 3, 5);
        tl_trace_add_out_of_order(&t, 4, 5);
    }
    assert_int_equal(tl_trace_damage_count(&t), 2);
    assert_string_equal(t.damage[0].file, one);
    assert_string_equal(t.damage[1].file, other);
    assert_int_equal(t.out_of_order, 10);
    tl_trace_fini(&t);
}

/* The argument for which tl_hash_mix() gives `y`. */
static uint64_t unmix(uint64_t y)
{
    uint64_t inverse = 1;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - UINT64_C(0xd6e8feb86659fd93) * inverse;
    y ^= y >> 32;
    y *= inverse;
    return y ^ y >> 32;
}

/* Streams of two classes whose instances were chosen to collide. */
static void test_streams_of_packets(void **state)
{
    const uint64_t first = 41, second = unmix(tl_hash_mix(first + 1) ^ UINT64_C(1) << 32) - 1;
    assert_int_equal(tl_hash_mix(first + 1), tl_hash_mix(second + 1) ^ UINT64_C(1) << 32);
    ctf_unit unit = {.schema = {.dialect = CTF_2}};
    const ctf_file f = {.unit = &unit};
    ctf_losses l = {0};
    for (uint64_t i = 0; i < 3; i++)
        for (uint32_t stream = 0; stream < 2; stream++) {
            const ctf_packet p = {.stream = stream,
                                  .has_instance = true,
                                  .instance = stream ? second : first,
                                  .has_sequence = true,
                                  .sequence_bits = 64,
                                  .sequence = i + 1000 * stream};
            assert_int_equal(ctf_losses_add(&l, &f, &p, i, NULL), 0);
        }
    assert_int_equal(l.n, 2);
    assert_int_equal(l.packets, 0);
    ctf_losses_fini(&l);
}

/* --- functions and threads known only from events --- */

static const char metadata[] =
    MADE_CALLS_HEAD "stream { event.header := struct { u8 id; stamp timestamp; };\n"
                    "         event.context := struct { u64 _vpid; u64 _vtid; }; };\n" MADE_CALLS_EVENTS;

/* A trace of calls: process, thread and function of each. */
static tl_source *open_calls(const uint64_t (*call)[3], size_t n, ctf_bytes *folder)
{
    ctf_bytes events = {0};
    for (size_t i = 0; i < 2 * n; i++) {
        const uint8_t id = (uint8_t)(1 + i % 2);
        made_put(&events, &id, 1);
        made_u64(&events, i);
        for (int k = 0; k < 3; k++)
            made_u64(&events, call[i / 2][k]);
    }
    *folder = made_trace(metadata, &events);
    const tl_open_options options = {.want = {.fields = true}};
    tl_source *s;
    tl_error e;
    must(tl_source_open_folder_memory(&s, folder->data, folder->n, "folder", &options, &e), &e);
    return s;
}

/* The resulting calls, in the order of the trace. */
static uint32_t view_calls(tl_source *s, uint64_t *function, uint32_t *track, uint32_t most)
{
    tl_cursor *c;
    tl_thread_view *view;
    const tl_batch *b;
    uint32_t n = 0;
    assert_int_equal(tl_discover(s, NULL), 0);
    s->want.fields = true;
    assert_int_equal(tl_thread_view_new(&view, s, NULL), 0);
    assert_int_equal(tl_cursor_open(&c, s, 0, NULL), 0);
    while (tl_cursor_next(c, &b, NULL) > 0) {
        b = tl_thread_view_batch(view, b, 0, b->n);
        for (uint32_t i = 0; i < b->n && n < most; i += 2, n++) {
            function[n] = b->key[i];
            track[n] = b->track[i];
        }
    }
    tl_cursor_close(c);
    tl_thread_view_free(view);
    return n;
}

static void test_threads(void **state)
{
    static const uint64_t call[][3] = {{1, 5, 16}, {0, (UINT64_C(1) << 32) + 5, 16}, {1, 5, 16}};
    uint64_t function[3];
    uint32_t track[3];
    ctf_bytes folder; /* the source reads it later */
    tl_source *s = open_calls(call, TL_COUNT(call), &folder);
    assert_int_equal(view_calls(s, function, track, 3), 3);
    assert_int_equal(track[0], track[2]);
    assert_int_not_equal(track[0], track[1]);
    tl_source_close(s);
    free(folder.data);
}

static void test_functions_at_other_addresses(void **state)
{
    static const uint64_t call[][3] = {{1, 5, 0x1000}, {1, 5, 0x2000}, {2, 6, 0x3000}};
    uint64_t function[3];
    uint32_t track[3];
    ctf_bytes folder; /* the source reads it later */
    tl_source *s = open_calls(call, TL_COUNT(call), &folder);
    for (int i = 0; i < 3; i++) {
        const tl_function f = {.id = 0x1000 * (i + 1), .name = i ? other : one, .address = 0x10};
        assert_int_equal(tl_trace_add_function(&s->trace, &f, NULL), 0);
    }
    assert_int_equal(view_calls(s, function, track, 3), 3);
    assert_int_equal(function[0], 0x1000);
    assert_int_equal(function[1], 0x2000);
    assert_int_equal(function[2], 0x2000); /* the same one, in another process */
    tl_source_close(s);
    free(folder.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_labels_and_keys, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_names_of_files, scratch_enter, scratch_leave),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_streams_of_packets),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_functions_at_other_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
