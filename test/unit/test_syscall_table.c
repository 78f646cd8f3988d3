/* System calls: what is a call, which result it has, and the list with the known memory. */
#include "analysis/instruction/syscall_table.h"

#include "analysis/instruction/syscall_memory.h"
#include "hand_insns.h"
#include "model/batch.h"

#define ERROR(n) (UINT64_C(0) - (n))

static void check_row(const tl_syscalls *s, const uint32_t *index, uint32_t i, uint64_t number, uint64_t count,
                      uint64_t errors)
{
    assert_true(i < s->n);
    assert_int_equal(s->row[index[i]].number, number);
    assert_int_equal(s->row[index[i]].count, count);
    assert_int_equal(s->row[index[i]].errors, errors);
}

static void counts_calls(void **state)
{
    static const hand_line one[] = {
        RESULT(ERROR(1)), /* of a call before the trace */
        INSN(0x1000, OP_SVC), ARGUMENT(64),        ARGUMENT(1),  ARGUMENT(63),        RESULT(5),
        RESULT(ERROR(2)),                                                      /* one result */
        INSN(0x1004, OP_SVC), ARGUMENT(64),        OTHER(),      ARGUMENT(64), /* two calls; the first has no result */
        LOAD(0x1000, 8),      RESULT(ERROR(4095)), ARGUMENT(63), RESULT(ERROR(4096)), /* no error */
        ARGUMENT(94)};
    static const hand_line two[] = {RESULT(ERROR(1)), ARGUMENT(500), ARGUMENT(0), RESULT(ERROR(38)), ARGUMENT(64)};
    for (unsigned threads = 1; threads <= 2; threads++) {
        hand h;
        tl_syscalls s;
        hand_init(&h, threads == 1 ? 0 : 1);
        HAND_ADD(&h, one);
        HAND_ADD(&h, two);
        hand_pass(&h, &s, &tl_syscall_table, NULL, threads);
        uint32_t *index = tl_syscalls_sort(&s);
        assert_non_null(index);
        assert_int_equal(s.n, 4);
        check_row(&s, index, 0, 64, 4, 1);
        check_row(&s, index, 1, 63, 1, 0);
        check_row(&s, index, 2, 94, 1, 0);
        check_row(&s, index, 3, 500, 1, 1);
        assert_int_equal(s.ncalls, 0);
        free(index);
        tl_syscall_table.fini(&s);
        hand_fini(&h);
    }
}

/* A trace of classes with fields, and a table that receives one event after another. */
enum { LIST_INSN, LIST_LOAD, LIST_STORE, LIST_ARGUMENT, LIST_RESULT, LIST_VEC, LIST_STORED, LIST_DC, LIST_CLASSES };
static const tl_field list_mem[] = {{.name = "what", .type = TL_LIST}, /* has to be skipped */
                                    {.name = "value", .type = TL_BYTES, .role = TL_FIELD_VALUE}};
static const tl_field list_pair[] = {{.name = "len", .type = TL_U64, .role = TL_FIELD_BYTES},
                                     {.name = "base", .type = TL_HEX, .role = TL_FIELD_BASE}};
static const tl_field list_struct = {.type = TL_STRUCT, .member = list_pair, .nmember = 2};
static const tl_field list_vec[] = {
    {.name = "iov", .type = TL_LIST, .member = &list_struct, .nmember = 1, .role = TL_FIELD_ITEMS}};
#define STATE(n, r)                                                                                                    \
    {                                                                                                                  \
        .kind = TL_STATE, .role = TL_ROLE_##r, .key = TL_KEY_VALUE, .name = (n)                                        \
    }
#define MEM(n, r)                                                                                                      \
    {                                                                                                                  \
        .kind = TL_MEM, .role = TL_ROLE_##r, .key = TL_KEY_ADDRESS, .aux = TL_AUX_SIZE, .name = (n),                   \
        .field = list_mem, .nfield = 2                                                                                 \
    }
static const tl_class list_classes[LIST_CLASSES] = {
    [LIST_INSN] = {.kind = TL_INSN, .role = TL_ROLE_A64, .key = TL_KEY_PC, .aux = TL_AUX_INSN, .name = "insn"},
    [LIST_LOAD] = MEM("load", LOAD),
    [LIST_STORE] = MEM("store", STORE),
    [LIST_ARGUMENT] = STATE("argument", CALL_ARGUMENT),
    [LIST_RESULT] = STATE("result", CALL_RESULT),
    [LIST_VEC] = {.kind = TL_STATE, .role = TL_ROLE_CALL_BUFFERS, .name = "vec", .field = list_vec, .nfield = 1},
    [LIST_STORED] = STATE("stored", STORED),
    [LIST_DC] = STATE("dc", CACHE_ADDRESS)};

typedef struct list {
    tl_trace trace;
    tl_batch batch;
    tl_syscalls table;
    uint64_t ts;
} list;

static void list_init(list *l)
{
    const tl_want want = {.fields = true};
    const tl_syscall_options options = {.list = true};
    uint32_t index;
    memset(l, 0, sizeof *l);
    tl_trace_init(&l->trace);
    tl_trace_set_clock(&l->trace, "instructions", 0);
    assert_int_equal(tl_trace_set_classes(&l->trace, list_classes, LIST_CLASSES, NULL), 0);
    assert_int_equal(tl_trace_add_track(&l->trace, &(tl_track){.name = "4711"}, &index, NULL), 0);
    assert_int_equal(tl_trace_add_track(&l->trace, &(tl_track){.name = "12"}, &index, NULL), 0);
    assert_int_equal(tl_batch_init(&l->batch, &l->trace, &want, 4, NULL), 0);
    assert_int_equal(tl_syscall_list_table.init(&l->table, &options, NULL), 0);
    assert_int_equal(tl_syscall_list_table.begin(&l->table, &l->trace, NULL), 0);
}

static void list_fini(list *l)
{
    tl_syscall_list_table.fini(&l->table);
    tl_batch_fini(&l->batch);
    tl_trace_fini(&l->trace);
}

static void event(list *l, uint32_t cls, uint64_t key, const tl_value *v, uint32_t n, bool gap)
{
    tl_batch *b = &l->batch;
    tl_batch_clear(b);
    l->ts += cls == LIST_INSN;
    b->n = 1;
    b->cls[0] = cls;
    b->track[0] = 0;
    b->ts[0] = l->ts ? l->ts - 1 : 0;
    b->key[0] = key;
    b->aux[0] = 0;
    b->val[0] = 0;
    tl_value *to = tl_batch_slots(b, n);
    assert_true(to || !n);
    for (uint32_t i = 0; i < n; i++)
        to[i] = v[i];
    b->val[1] = n;
    assert_int_equal(tl_syscall_list_table.events(&l->table, b, 0, 1, gap, NULL), 0);
}

static void plain(list *l, uint32_t cls, uint64_t key)
{
    event(l, cls, key, NULL, 0, false);
}

static void access_memory(list *l, uint32_t cls, uint64_t address, const char *text, uint32_t n)
{
    const tl_value v[] = {{.type = TL_LIST, .n = 1}, {.type = TL_U64}, {.type = TL_BYTES, .n = n, .as.p = text}};
    event(l, cls, address, v, 3, false);
}

static void call(list *l, uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    plain(l, LIST_INSN, 0x1000);
    plain(l, LIST_ARGUMENT, number);
    plain(l, LIST_ARGUMENT, a);
    plain(l, LIST_ARGUMENT, b);
    plain(l, LIST_ARGUMENT, c);
    for (unsigned i = 0; i < 9; i++) /* more than possible */
        plain(l, LIST_ARGUMENT, i);
}

static void check_text(const list *l, uint32_t i, const char *text)
{
    assert_true(i < l->table.ncalls);
    assert_string_equal(l->table.call[i].text, text);
}

static void a_list_may_have_a_limit(void **state)
{
    list l;
    tl_error e = {0};
    list_init(&l);
    l.table.most = 2;
    for (unsigned i = 0; i < 2; i++) {
        call(&l, 93, 7, 0, 0);
        plain(&l, LIST_RESULT, 0);
    }
    call(&l, 93, 7, 0, 0);
    assert_int_equal(tl_syscall_list_table.end(&l.table, &e), TL_ELIMIT);
    assert_non_null(strstr(e.message, "more than 2 system calls"));
    assert_int_equal(l.table.ncalls, 2);
    list_fini(&l);
}

static void list_of_calls(void **state)
{
    list l;
    list_init(&l);
    plain(&l, LIST_RESULT, 1); /* of nothing seen */
    access_memory(&l, LIST_STORE, 0x2000, "hello\n", 6);
    call(&l, 64, 1, 0x2000, 6);
    plain(&l, LIST_RESULT, 6);
    call(&l, 93, 7, 0, 0);
    assert_int_equal(tl_syscall_list_table.end(&l.table, NULL), 0);
    assert_int_equal(l.table.ncalls, 2);
    const tl_syscall *c = l.table.call;
    check_text(&l, 0, "write(1, \"hello\\n\", 6)");
    assert_int_equal(c[0].ts, 0);
    assert_true(c[0].has_result);
    assert_int_equal(c[0].result, 6);
    assert_int_equal(c[0].n, 6);
    assert_int_equal(c[0].argument[1], 0x2000);
    assert_int_equal(c[0].argument[5], 2);
    assert_string_equal(c[0].track, "4711");
    check_text(&l, 1, "exit(7)");
    assert_int_equal(c[1].ts, 1);
    assert_false(c[1].has_result);
    list_fini(&l);
}

/* A call shows the memory of its time, without later changes. */
static void memory_is_of_the_time_of_the_call(void **state)
{
    list l;
    list_init(&l);
    access_memory(&l, LIST_STORE, 0x2000, "one", 3);
    call(&l, 64, 1, 0x2000, 3);
    access_memory(&l, LIST_STORE, 0x2000, "two", 3); /* of a handler of signals, say */
    plain(&l, LIST_RESULT, 3);
    check_text(&l, 0, "write(1, \"one\", 3)");
    call(&l, 64, 1, 0x2000, 3);
    plain(&l, LIST_RESULT, 3);
    check_text(&l, 1, "write(1, \"two\", 3)");
    list_fini(&l);
}

static void vectors(void **state)
{
    static const tl_value v[] = {{.type = TL_LIST, .n = 2},       {.type = TL_STRUCT, .n = 2},
                                 {.type = TL_U64, .as.u = 2},     {.type = TL_HEX, .as.u = 0x2000},
                                 {.type = TL_STRUCT, .n = 2},     {.type = TL_U64, .as.u = 7},
                                 {.type = TL_HEX, .as.u = 0x9000}};
    list l;
    list_init(&l);
    access_memory(&l, LIST_LOAD, 0x2000, "ab", 2);
    event(&l, LIST_VEC, 0, v, 7, false); /* of no call */
    call(&l, 66, 1, 0x5000, 2);
    event(&l, LIST_VEC, 0, v, 7, false);
    plain(&l, LIST_RESULT, 9);
    check_text(&l, 0, "writev(1, [{iov_base=\"ab\", iov_len=2}, {iov_base=0x9000, iov_len=7}], 2)");
    call(&l, 65, 1, 0x5000, 2); /* readv: the bytes read are unknown, and the former ones are gone */
    event(&l, LIST_VEC, 0, v, 7, false);
    plain(&l, LIST_RESULT, 9);
    call(&l, 64, 1, 0x2000, 2);
    plain(&l, LIST_RESULT, 2);
    check_text(&l, 2, "write(1, 0x2000, 2)");
    list_fini(&l);
}

/* Does a write of "keep" at 0x2000 still show it after a call? */
static bool survives(uint64_t number, const uint64_t argument[3], uint64_t result)
{
    list l;
    list_init(&l);
    access_memory(&l, LIST_STORE, 0x2000, "keep", 4);
    call(&l, number, argument[0], argument[1], argument[2]);
    plain(&l, LIST_RESULT, result);
    call(&l, 64, 1, 0x2000, 4);
    plain(&l, LIST_RESULT, 4);
    const bool kept = strcmp(l.table.call[1].text, "write(1, \"keep\", 4)") == 0;
    if (!kept)
        assert_string_equal(l.table.call[1].text, "write(1, 0x2000, 4)");
    list_fini(&l);
    return kept;
}

#define ARGUMENTS(a, b, c) ((const uint64_t[]){(a), (b), (c)})

static void calls_change_memory(void **state)
{
    assert_true(survives(64, ARGUMENTS(1, 0x2000, 4), 4));         /* write */
    assert_false(survives(63, ARGUMENTS(1, 0x2000, 4), 4));        /* read */
    assert_true(survives(63, ARGUMENTS(1, 0x1fff, 4), 1));         /* read, less than was asked for */
    assert_false(survives(63, ARGUMENTS(1, 0x1fff, 4), ERROR(4))); /* it may have begun */
    assert_true(survives(63, ARGUMENTS(1, 0x2004, 4), 4));         /* beside it */
    assert_false(survives(80, ARGUMENTS(1, 0x1f80, 0), 0));        /* fstat */
    assert_true(survives(80, ARGUMENTS(1, 0x1e00, 0), 0));         /* the struct ends before it */
    assert_false(survives(29, ARGUMENTS(1, 0, 0x900000), 0));      /* ioctl: unknown effect */
    assert_false(survives(9999, ARGUMENTS(1, 0, 0), 0));           /* an unknown call */
    assert_false(survives(215, ARGUMENTS(0x2000, 0x1000, 0), 0));  /* munmap */
    assert_true(survives(215, ARGUMENTS(0x3000, 0x1000, 0), 0));
    assert_true(survives(215, ARGUMENTS(0x2000, 0x1000, 0), ERROR(22)));
    assert_false(survives(222, ARGUMENTS(0, 0x1000, 3), 0x2000)); /* mmap: its result counts */
    assert_true(survives(222, ARGUMENTS(0x2000, 0x1000, 3), 0x8000));
    assert_false(survives(222, ARGUMENTS(0, UINT64_MAX, 3), 0x8000)); /* very much */
    assert_true(survives(98, ARGUMENTS(0x2000, 0, 3), 0));            /* futex */
}

static void stores_that_were_none(void **state)
{
    list l;
    list_init(&l);
    plain(&l, LIST_INSN, 0x1000);
    access_memory(&l, LIST_STORE, 0x2000, "ab", 2);
    access_memory(&l, LIST_STORE, 0x3000, "cd", 2);
    plain(&l, LIST_STORED, 1); /* it did not store */
    call(&l, 64, 1, 0x2000, 2);
    plain(&l, LIST_RESULT, 2);
    check_text(&l, 0, "write(1, 0x2000, 2)");
    access_memory(&l, LIST_STORE, 0x3000, "cd", 2);
    plain(&l, LIST_INSN, 0x1000);
    plain(&l, LIST_STORED, 1); /* of another instruction */
    call(&l, 64, 1, 0x3000, 2);
    plain(&l, LIST_RESULT, 2);
    check_text(&l, 1, "write(1, \"cd\", 2)");
    plain(&l, LIST_DC, 0x3100); /* may zero the block */
    call(&l, 64, 1, 0x3000, 2);
    check_text(&l, 1, "write(1, \"cd\", 2)");
    assert_int_equal(tl_syscall_list_table.end(&l.table, NULL), 0);
    check_text(&l, 2, "write(1, 0x3000, 2)");
    list_fini(&l);
}

static void gaps_end_a_call(void **state)
{
    list l;
    list_init(&l);
    access_memory(&l, LIST_STORE, 0x2000, "ab", 2);
    call(&l, 64, 1, 0x2000, 2);
    event(&l, LIST_RESULT, 2, NULL, 0, true);
    assert_false(l.table.call[0].has_result);
    check_text(&l, 0, "write(1, \"ab\", 2)");
    call(&l, 64, 1, 0x2000, 2); /* memory may have changed in the gap */
    plain(&l, LIST_RESULT, ERROR(9));
    check_text(&l, 1, "write(1, 0x2000, 2)");
    assert_int_equal(l.table.n, 1);
    assert_int_equal(l.table.row[0].errors, 1);
    list_fini(&l);
}

static void memory_is_limited(void **state)
{
    list l;
    list_init(&l);
    assert_int_equal(l.table.memory->pages_max, 16384);
    l.table.memory->pages_max = 4;
    for (uint64_t i = 0; i < 100; i++) {
        access_memory(&l, LIST_STORE, i * 4096, "x", 1);
        assert_true(tl_shadow_pages(l.table.memory->shadow) <= 5);
    }
    call(&l, 64, 1, 99 * 4096, 1);
    plain(&l, LIST_RESULT, 1);
    check_text(&l, 0, "write(1, \"x\", 1)");
    list_fini(&l);
}

static void merged_lists_are_in_order(void **state)
{
    list a, b;
    list_init(&a);
    list_init(&b);
    for (unsigned i = 0; i < 3; i++) {
        call(&a, 172, 0, 0, 0);
        plain(&a, LIST_RESULT, i);
        call(&b, 178, 0, 0, 0);
        plain(&b, LIST_RESULT, 10 + i);
    }
    for (unsigned i = 0; i < 3; i++) /* as if they were of the other track */
        b.table.call[i].track_index = 1;
    assert_int_equal(tl_syscall_list_table.merge(&b.table, &a.table, NULL), 0);
    list_fini(&a); /* nothing of it is used any more */
    assert_int_equal(b.table.ncalls, 6);
    assert_int_equal(b.table.n, 2);
    uint32_t *index = tl_syscalls_sort_list(&b.table);
    assert_non_null(index);
    for (unsigned i = 0; i < 6; i++) {
        const tl_syscall *c = &b.table.call[index[i]];
        assert_string_equal(c->text, i < 3 ? "getpid()" : "gettid()");
        assert_int_equal(c->result, i < 3 ? i : 7 + i);
    }
    free(index);
    list_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_calls),
        cmocka_unit_test(a_list_may_have_a_limit),
        cmocka_unit_test(list_of_calls),
        cmocka_unit_test(memory_is_of_the_time_of_the_call),
        cmocka_unit_test(vectors),
        cmocka_unit_test(calls_change_memory),
        cmocka_unit_test(stores_that_were_none),
        cmocka_unit_test(gaps_end_a_call),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(merged_lists_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
