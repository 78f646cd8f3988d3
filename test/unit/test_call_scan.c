/* Rows of calls that are not one function and one thread to a stream: instructions, and threads that only events name.
 */
#include "call_rows_fixture.h"
#include "hand_insns.h"
#include "make_ctf.h"

/* ---- instructions ---- */

static void test_instructions(void **state)
{
    static const hand_line line[] = {OTHER(),
                                     INSN(0x100, OP_ADD), /* id 1, instruction 0 */
                                     INSN(0x104, OP_BL),
                                     INSN(0x200, OP_ADD), /* 3 */
                                     INSN(0x204, OP_BL),
                                     LOAD(1, 8),
                                     INSN(0x300, OP_RET), /* 6 */
                                     INSN(0x208, OP_RET),
                                     INSN(0x108, OP_BL),
                                     INSN(0x400, OP_ADD)}; /* 9 */
    static const struct {
        uint64_t id, exit, parent, begin, end, self;
        uint32_t depth;
    } expected[] = {{6, 7, 3, 4, 5, 1, 3},
                    {3, 8, 1, 2, 6, 3, 2},
                    {9, UINT64_MAX, 1, 7, 8, 1, 2},
                    {1, UINT64_MAX, UINT64_MAX, 0, 8, 3, 1}};
    for (uint32_t batch = 0; batch < 4; batch++) {
        hand h;
        hand_init(&h, batch);
        hand_add(&h, line, sizeof line / sizeof *line);
        hand_add(&h, line, sizeof line / sizeof *line);
        assert_int_equal(tl_call_scan_parts(&h.source), 2);
        rows found = scan(&h.source, &all_calls);
        assert_int_equal(found.n, 8);
        for (size_t i = 0; i < found.n; i++) {
            const row *one = &found.row[i];
            const uint64_t stream = (uint64_t)(i / 4) << 40;
            const uint64_t id = expected[i % 4].id + stream, parent = expected[i % 4].parent;
            assert_int_equal(one->id, id);
            assert_int_equal(one->exit,
                             expected[i % 4].exit == UINT64_MAX ? UINT64_MAX : expected[i % 4].exit + stream);
            assert_int_equal(one->parent, parent == UINT64_MAX ? UINT64_MAX : parent + stream);
            assert_int_equal(one->begin, expected[i % 4].begin);
            assert_int_equal(one->end, expected[i % 4].end);
            assert_int_equal(one->self, expected[i % 4].self);
            assert_int_equal(one->depth, expected[i % 4].depth);
        }
        free(found.row);
        check_places(&h.source, NULL);
        hand_fini(&h);
    }
}

/* ---- threads named by events ---- */

/* A thread runs on two streams: its calls are matched over both, and ids are of the stream that has the event. */
static void test_threads_on_any_stream(void **state)
{
    static const char metadata[] =
        MADE_CALLS_HEAD "stream { event.header := struct { u8 id; stamp timestamp; };\n"
                        "         event.context := struct { u64 _vpid; u64 _vtid; }; };\n" MADE_CALLS_EVENTS;
    static const struct {
        unsigned stream;
        uint8_t id;
        uint64_t ts, tid, function;
    } event[] = {{0, 1, 10, 7, 0x1000}, {1, 1, 20, 7, 0x2000}, {0, 1, 25, 8, 0x3000},
                 {0, 2, 30, 7, 0x2000}, {1, 2, 35, 8, 0x3000}, {1, 2, 40, 7, 0x1000}};
    ctf_bytes folder = {0}, text = {0}, stream[2] = {0};
    made_put(&text, metadata, strlen(metadata));
    made_file(&folder, "metadata", &text);
    for (size_t i = 0; i < sizeof event / sizeof *event; i++) {
        ctf_bytes *to = &stream[event[i].stream];
        made_put(to, &event[i].id, 1);
        made_u64(to, event[i].ts);
        made_u64(to, 1);
        made_u64(to, event[i].tid);
        made_u64(to, event[i].function);
    }
    made_file(&folder, "stream0", &stream[0]);
    made_file(&folder, "stream1", &stream[1]);
    tl_source *s = NULL;
    tl_error e = {0};
    must(tl_source_open_folder_memory(&s, folder.data, folder.n, "folder", NULL, &e), &e);
    rows found = scan(s, &all_calls);
    assert_int_equal(tl_call_scan_parts(s), 1);
    assert_int_equal(found.n, 3);
    const uint64_t second = UINT64_C(1) << 40;
    const struct {
        uint64_t id, exit, parent, begin, end, self;
        int64_t tid, function;
    } expected[] = {{second, 2, 0, 20, 30, 10, 7, 0x2000},
                    {1, second + 1, UINT64_MAX, 25, 35, 10, 8, 0x3000},
                    {0, second + 2, UINT64_MAX, 10, 40, 20, 7, 0x1000}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(found.row[i].id, expected[i].id);
        assert_int_equal(found.row[i].exit, expected[i].exit);
        assert_int_equal(found.row[i].parent, expected[i].parent);
        assert_int_equal(found.row[i].begin, expected[i].begin);
        assert_int_equal(found.row[i].end, expected[i].end);
        assert_int_equal(found.row[i].self, expected[i].self);
        assert_int_equal(found.row[i].tid, expected[i].tid);
        assert_int_equal(found.row[i].function, expected[i].function);
    }
    free(found.row);
    check_places(s, NULL);
    tl_source_close(s);
    free(folder.data);
}

static void test_traces_without_calls(void **state)
{
    tl_source *s = NULL;
    tl_call_scan *c = NULL;
    tl_error e = {0};
    ctf_bytes folder = {0}, text = {0}, stream = {0};
    made_metadata(&text, &(ctf_made){0});
    made_file(&folder, "metadata", &text);
    made_packet(&stream, 0, (ctf_made_packet){.events = 2});
    made_file(&folder, "stream", &stream);
    must(tl_source_open_folder_memory(&s, folder.data, folder.n, "folder", NULL, &e), &e);
    assert_false(tl_call_scan_wanted(&s->trace));
    assert_int_equal(tl_call_scan_open(&c, s, 0, 1, &all_calls, &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "no calls of functions");
    tl_source_close(s);
    free(folder.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_threads_on_any_stream),
        cmocka_unit_test(test_traces_without_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
