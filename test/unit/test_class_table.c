/* Tables of classes: names and columns, by hand. Classes here have names and fields that no format gives, all at once.
 */
#include "op/scan/class_table.h"

#include "base/compiler.h"
#include "fixture.h"

enum { MOST_CLASSES = 8, LONG = 150 };

typedef struct made {
    fixture f;
    tl_source source;
    tl_source *list[1];
    tl_dataset dataset;
    tl_class_tables tables;
} made;

static void make(made *m, const tl_class *classes, uint32_t n)
{
    tl_error e = {0};
    memset(m, 0, sizeof *m);
    fixture_trace(&m->f, "a", "clock", 1000000000, classes, n);
    m->source.trace = m->f.trace; /* borrowed */
    m->list[0] = &m->source;
    m->dataset = (tl_dataset){.source = m->list, .n = 1};
    must(tl_class_tables_init(&m->tables, &m->dataset, &e), &e);
}

static void unmake(made *m)
{
    tl_class_tables_fini(&m->tables);
    tl_trace_fini(&m->f.trace);
}

enum { FIRST = 1 }; /* before it is the table of snapshots */

static const tl_scan_table *table(made *m, uint32_t i)
{
    tl_error e = {0};
    assert_in_range(FIRST + i, FIRST, m->tables.n - 1);
    must(tl_class_table_make(&m->tables, FIRST + i, &e), &e);
    must(tl_class_table_make(&m->tables, FIRST + i, &e), &e); /* once is enough */
    return &m->tables.table[FIRST + i].table;
}

/* "a b:HEX c" of the columns after those that all tables have. */
static const char *fields(made *m, uint32_t i)
{
    enum { HEAD = 7 };
    static const char *const type[] = {[TL_INTEGER] = "int", [TL_REAL] = "real", [TL_TEXT] = "text"};
    static char text[4096];
    const tl_scan_table *t = table(m, i);
    size_t n = 0;
    assert_true(t->ncolumn >= HEAD);
    assert_string_equal(t->column[0].name, "trace");
    assert_string_equal(t->column[HEAD - 1].name, "cpu");
    text[0] = '\0';
    for (uint32_t k = HEAD; k < t->ncolumn; k++) {
        const tl_column_info *c = &t->column[k];
        const char *of = c->unit == TL_UNIT_HEX    ? "hex"
                         : c->unit == TL_UNIT_JSON ? "json"
                         : c->unit == TL_UNIT_BOOL ? "bool"
                                                   : type[c->type];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%s", n ? " " : "", c->name, of);
        assert_true(n < sizeof text);
    }
    return text;
}

static void names_of_tables(void **state)
{
    static char longest[LONG + 1], other[LONG + 1];
    memset(longest, 'a', LONG);
    memset(other, 'a', LONG);
    other[LONG - 1] = 'b';
    const tl_class classes[] = {{.kind = TL_INSTANT, .name = "sched:Switch"},
                                {.kind = TL_INSTANT, .name = "sched.switch"},
                                {.kind = TL_INSTANT, .name = "sched--switch--"},
                                {.kind = TL_INSTANT, .name = "sched_switch_2"},
                                {.kind = TL_INSTANT, .name = "\"; DROP TABLE x"},
                                {.kind = TL_INSTANT, .name = "größe"},
                                {.kind = TL_INSTANT, .name = ""},
                                {.kind = TL_INSTANT, .name = "::"},
                                {.kind = TL_FORMAT, .name = "framing"},
                                {.kind = TL_INSTANT, .name = longest},
                                {.kind = TL_INSTANT, .name = other},
                                {.kind = TL_INSTANT, .name = "sched:Switch"}};
    static const char *const expected[] = {"event_sched_switch",
                                           "event_sched_switch_2",
                                           "event_sched_switch_3",
                                           "event_sched_switch_2_2",
                                           "event_drop_table_x",
                                           "event_gr_e",
                                           "event_",
                                           "event__2"};
    made m;
    make(&m, classes, TL_COUNT(classes));
    assert_int_equal(m.tables.n, FIRST + 10); /* framing is no event; the last is the same class again */
    for (uint32_t i = 0; i < TL_COUNT(expected); i++)
        assert_string_equal(table(&m, i)->info.name, expected[i]);
    const char *a = table(&m, 8)->info.name, *b = table(&m, 9)->info.name;
    assert_int_equal(strlen(a), 6 + 100 + 9); /* cut, with a checksum of the whole */
    assert_int_equal(strlen(b), 6 + 100 + 9);
    assert_string_not_equal(a, b);
    assert_int_equal(m.tables.of[0][11], FIRST);
    assert_int_equal(m.tables.of[0][8], TL_NO_COLUMN);
    unmake(&m);
}

#define CONTEXT(scope) .context = TL_SCOPE_PAYLOAD - (scope)

static void columns_of_fields(void **state)
{
    static const tl_mapping labels[] = {{"ON", 1, 1}};
    static const tl_field inner[] = {{.name = "x", .type = TL_U64}, {.name = "", .type = TL_BOOL}};
    static const tl_field outer[] = {{.name = "in", .type = TL_STRUCT, .member = inner, .nmember = 2},
                                     {.name = "n", .type = TL_I64}};
    static const tl_field d5[] = {{.name = "f", .type = TL_U64}},
                          d4[] = {{.name = "e", .type = TL_STRUCT, .member = d5, .nmember = 1}},
                          d3[] = {{.name = "d", .type = TL_STRUCT, .member = d4, .nmember = 1}},
                          d2[] = {{.name = "c", .type = TL_STRUCT, .member = d3, .nmember = 1}},
                          d1[] = {{.name = "b", .type = TL_STRUCT, .member = d2, .nmember = 1}},
                          d0[] = {{.name = "a", .type = TL_STRUCT, .member = d1, .nmember = 1}};
    static const tl_field plain[] = {{.name = "u", .type = TL_U64},     {.name = "i", .type = TL_I64},
                                     {.name = "h", .type = TL_HEX},     {.name = "f", .type = TL_F64},
                                     {.name = "s", .type = TL_STRING},  {.name = "b", .type = TL_BYTES},
                                     {.name = "o", .type = TL_BOOL},    {.name = "l", .type = TL_LIST},
                                     {.name = "v", .type = TL_VARIANT}, {.name = "none", .type = TL_STRUCT}};
    static const tl_field clash[] = {{.name = "pid", .type = TL_U64, CONTEXT(TL_SCOPE_PACKET)},
                                     {.name = "pid", .type = TL_U64, CONTEXT(TL_SCOPE_STREAM), .flags = TL_FIELD_CLASH},
                                     {.name = "pid", .type = TL_U64, CONTEXT(TL_SCOPE_EVENT), .flags = TL_FIELD_CLASH},
                                     {.name = "pid", .type = TL_U64}};
    static const tl_field taken[] = {{.name = "ts", .type = TL_U64},   {.name = "ID", .type = TL_U64},
                                     {.name = "a", .type = TL_U64},    {.name = "A", .type = TL_F64},
                                     {.name = "a", .type = TL_STRING}, {.name = "a_2", .type = TL_U64},
                                     {.name = "", .type = TL_U64},     {.name = "q\"", .type = TL_U64}};
    static const tl_field labelled[] = {{.name = "m", .type = TL_U64, .mapping = labels, .nmapping = 1},
                                        {.name = "m_label", .type = TL_STRING}};
    const tl_class classes[] = {
        {.kind = TL_INSTANT, .name = "plain", .field = plain, .nfield = TL_COUNT(plain)},
        {.kind = TL_INSTANT, .name = "clash", .field = clash, .nfield = TL_COUNT(clash), .ncontext = 3},
        {.kind = TL_INSTANT, .name = "taken", .field = taken, .nfield = TL_COUNT(taken)},
        {.kind = TL_INSTANT, .name = "labelled", .field = labelled, .nfield = TL_COUNT(labelled)},
        {.kind = TL_INSTANT, .name = "outer", .field = outer, .nfield = TL_COUNT(outer)},
        {.kind = TL_INSTANT, .name = "deep", .field = d0, .nfield = 1},
        {.kind = TL_INSTANT, .name = "nothing"}};
    static const char *const expected[] = {"u:int i:int h:hex f:real s:text b:text o:bool l:json v:json none:json",
                                           "stream_pid:int event_pid:int pid:int",
                                           "ts_2:int ID_2:int a:int A_2:real a_3:text a_2_2:int field:int q\":int",
                                           "m:int m_label:text m_label_2:text",
                                           "in_x:int in_:bool n:int",
                                           "a_b_c_d_e:json",
                                           ""};
    made m;
    make(&m, classes, TL_COUNT(classes));
    for (uint32_t i = 0; i < TL_COUNT(expected); i++)
        assert_string_equal(fields(&m, i), expected[i]);
    unmake(&m);
}

static void many_fields(void **state)
{
    enum { FIELDS = 2000 };
    static tl_field field[FIELDS];
    static char name[FIELDS][8];
    for (uint32_t i = 0; i < FIELDS; i++) {
        snprintf(name[i], sizeof name[i], "f%u", i);
        field[i] = (tl_field){.name = name[i], .type = TL_U64};
    }
    const tl_class many = {.kind = TL_INSTANT, .name = "many", .field = field, .nfield = FIELDS};
    made m;
    make(&m, &many, 1);
    const tl_scan_table *t = table(&m, 0);
    assert_int_equal(t->ncolumn, TL_CLASS_COLUMNS_MAX);
    assert_string_equal(t->column[7].name, "f0");
    assert_string_equal(t->column[t->ncolumn - 1].name, "f1892");
    unmake(&m);
}

/* The same class in two traces: columns of the same name and type are one. */
static void two_traces(void **state)
{
    static const tl_field one[] = {{.name = "x", .type = TL_U64}, {.name = "y", .type = TL_U64}},
                          two[] = {{.name = "y", .type = TL_I64},
                                   {.name = "x", .type = TL_STRING},
                                   {.name = "z", .type = TL_F64}};
    const tl_class first[] = {{.kind = TL_INSTANT, .name = "c", .field = one, .nfield = 2}},
                   second[] = {{.kind = TL_INSTANT, .name = "other"},
                               {.kind = TL_INSTANT, .name = "c", .field = two, .nfield = 3}};
    made m, n;
    tl_error e = {0};
    make(&m, first, 1);
    make(&n, second, 2);
    tl_source *both[] = {&m.source, &n.source};
    made k = {.dataset = {.source = both, .n = 2}};
    must(tl_class_tables_init(&k.tables, &k.dataset, &e), &e);
    assert_int_equal(k.tables.n, FIRST + 2);
    assert_int_equal(k.tables.of[0][0], FIRST);
    assert_int_equal(k.tables.of[1][0], FIRST + 1);
    assert_int_equal(k.tables.of[1][1], FIRST);
    assert_string_equal(fields(&k, 0), "x:int y:int x_2:text z:real");
    assert_string_equal(fields(&k, 1), "");
    tl_class_tables_fini(&k.tables);
    unmake(&m);
    unmake(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_of_tables), cmocka_unit_test(columns_of_fields),
                                       cmocka_unit_test(many_fields), cmocka_unit_test(two_traces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
