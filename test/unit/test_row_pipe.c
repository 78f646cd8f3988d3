/* Rows of workers: what is sent is received, in pieces of any size; what no worker sends is refused. */
#include <unistd.h>

#include "check.h"
#include "cli/query/row_pipe.h"

#define LONG 100000u /* more than the room of a sender, and than one read */

/* A result of one row. */
typedef struct one_row {
    tl_result result; /* the first member */
    const tl_column_info *column;
    const tl_sql_value *value;
} one_row;

static const tl_column_info *column(const tl_result *r, uint32_t i)
{
    return &((const one_row *)(const void *)r)->column[i];
}

static const tl_sql_value *value(tl_result *r, uint32_t i)
{
    return &((const one_row *)(const void *)r)->value[i];
}

static char *long_text(void)
{
    char *text = malloc(LONG + 1);
    assert_non_null(text);
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    return text;
}

/* Sends everything that there is to a file, and begins to read it. */
static FILE *sent(const tl_column_info *columns, const tl_sql_value *values, uint32_t n, unsigned rows)
{
    FILE *file = tmpfile();
    tl_row_sender *s = calloc(1, sizeof *s);
    one_row r = {{n, true, column, NULL, value}, columns, values};
    assert_non_null(file);
    assert_non_null(s);
    s->fd = fileno(file);
    tl_send_text(s, TL_ROWS_MESSAGE, "a note", 6);
    tl_send_columns(s, &r.result);
    for (unsigned i = 0; i < rows; i++)
        tl_send_row(s, &r.result);
    tl_send_text(s, TL_ROWS_TEXT, "", 0);
    tl_send_end(s, 3, TL_END_FAILED | TL_END_EVERYWHERE);
    assert_false(s->is_closed);
    free(s);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    return file;
}

/* The next frame, which must be of this kind. */
static tl_row_frame frame(tl_row_receiver *in, FILE *file, tl_row_frame_kind kind)
{
    tl_row_frame f;
    tl_error e = {0};
    while (!tl_row_frame_take(in, &f))
        assert_int_equal(tl_receive(in, fileno(file), &e), 1);
    assert_int_equal(f.kind, kind);
    return f;
}

static void everything_arrives(void **state)
{
    char *text = long_text();
    const tl_column_info columns[] = {
        {.name = "ts", .type = TL_INTEGER, .unit = TL_UNIT_TIME}, {.name = "", .type = TL_TEXT, .unit = TL_UNIT_NONE},
        {.name = "b", .type = TL_TEXT, .unit = TL_UNIT_BLOB},     {.name = "r", .type = TL_REAL, .unit = TL_UNIT_SHARE},
        {.name = "n", .type = TL_TEXT, .unit = TL_UNIT_JSON},     {.name = "e", .type = TL_TEXT, .unit = TL_UNIT_NONE}};
    const tl_sql_value values[] = {{.kind = TL_VALUE_INTEGER, .i64 = INT64_MIN},
                                   {.kind = TL_VALUE_TEXT, .text = text, .size = LONG},
                                   {.kind = TL_VALUE_BLOB, .text = "\0\1", .size = 2},
                                   {.kind = TL_VALUE_REAL, .real = -0.5},
                                   {.kind = TL_VALUE_NULL},
                                   {.kind = TL_VALUE_TEXT, .text = "", .size = 0}};
    const uint32_t n = sizeof values / sizeof *values;
    FILE *file = sent(columns, values, n, 3);
    tl_row_receiver in = {0};
    tl_error e = {0};
    uint8_t byte;
    tl_row_frame f = frame(&in, file, TL_ROWS_MESSAGE);
    assert_int_equal(f.end - f.at, 6);
    assert_memory_equal(f.at, "a note", 6);
    f = frame(&in, file, TL_ROWS_COLUMNS);
    assert_true(tl_row_frame_byte(&f, &byte));
    assert_int_equal(byte, 1);
    for (uint32_t i = 0; i < n; i++) {
        tl_column_info c;
        assert_true(tl_row_frame_column(&f, &c));
        assert_string_equal(c.name, columns[i].name);
        assert_int_equal(c.type, columns[i].type);
        assert_int_equal(c.unit, columns[i].unit);
    }
    assert_int_equal(f.at - f.end, 0);
    for (unsigned row = 0; row < 3; row++) {
        f = frame(&in, file, TL_ROWS_ONE);
        for (uint32_t i = 0; i < n; i++) {
            tl_sql_value v;
            assert_true(tl_row_frame_value(&f, &v));
            assert_int_equal(v.kind, values[i].kind);
            assert_int_equal(v.i64, values[i].i64);
            assert_memory_equal(&v.real, &values[i].real, sizeof v.real);
            assert_int_equal(v.size, values[i].size);
            if (v.kind >= TL_VALUE_TEXT)
                assert_memory_equal(v.text, values[i].text, v.size + (v.kind == TL_VALUE_TEXT));
        }
        assert_int_equal(f.at - f.end, 0);
    }
    f = frame(&in, file, TL_ROWS_TEXT);
    assert_int_equal(f.at - f.end, 0);
    f = frame(&in, file, TL_ROWS_END);
    assert_true(tl_row_frame_byte(&f, &byte) && byte == 3);
    assert_true(tl_row_frame_byte(&f, &byte) && byte == (TL_END_FAILED | TL_END_EVERYWHERE));
    assert_false(tl_row_frame_byte(&f, &byte));
    assert_int_equal(tl_receive(&in, fileno(file), &e), 0);
    assert_false(tl_row_frame_take(&in, &f));
    tl_receiver_fini(&in);
    fclose(file);
    free(text);
}

/* A frame of other bytes, in a buffer of just that size. */
static bool takes_value(const char *bytes, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    tl_sql_value v;
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    tl_row_frame f = {TL_ROWS_ONE, copy, copy + n};
    const bool taken = tl_row_frame_value(&f, &v);
    free(copy);
    return taken;
}

static bool takes_column(const char *bytes, size_t n)
{
    const uint8_t *at = (const uint8_t *)bytes;
    tl_row_frame f = {TL_ROWS_COLUMNS, at, at + n};
    tl_column_info c;
    return tl_row_frame_column(&f, &c);
}

static void other_bytes_are_refused(void **state)
{
    const uint64_t two = 2, most = UINT64_MAX;
    char bytes[16] = {TL_VALUE_TEXT};
    memcpy(bytes + 1, &two, sizeof two);
    memcpy(bytes + 9, "ab", 3);
    assert_true(takes_value(bytes, 12));
    assert_false(takes_value(bytes, 11)); /* no NUL */
    bytes[11] = 'c';
    assert_false(takes_value(bytes, 12)); /* another byte there */
    memcpy(bytes + 1, &most, sizeof most);
    assert_false(takes_value(bytes, 12));
    assert_false(takes_value(bytes, 5));
    assert_false(takes_value("", 0));
    assert_true(takes_value("", 1)); /* null */
    assert_false(takes_value("\5", 1));
    assert_false(takes_value("\1\0\0\0\0\0\0\0", 8));
    assert_true(takes_value("\1\0\0\0\0\0\0\0\0", 9));
    assert_true(takes_column("\0\0x", 4));
    assert_false(takes_column("\0\0x", 3));
    assert_false(takes_column("\3\0x", 4));
    assert_false(takes_column("\0\12x", 4));
    assert_false(takes_column("", 1));
}

/* The size of a frame is not believed before its bytes are there. */
static void frames_without_end(void **state)
{
    FILE *file = tmpfile();
    const uint64_t size = UINT64_MAX - 3;
    tl_row_receiver in = {0};
    tl_row_frame f;
    tl_error e = {0};
    assert_non_null(file);
    fwrite(&size, sizeof size, 1, file);
    fputc(TL_ROWS_ONE, file);
    fputs("abc", file);
    fflush(file);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    assert_int_equal(tl_receive(&in, fileno(file), &e), 1);
    assert_false(tl_row_frame_take(&in, &f));
    assert_int_equal(tl_receive(&in, fileno(file), &e), 0);
    assert_false(tl_row_frame_take(&in, &f));
    assert_true(in.capacity < 1 << 20);
    tl_receiver_clear(&in);
    assert_int_equal(in.end, 0);
    assert_true(tl_receive(&in, -1, &e) < 0);
    tl_receiver_fini(&in);
    fclose(file);
}

/* Nobody reads: the sender goes on to nowhere. */
static void nobody_reads(void **state)
{
    char *text = long_text();
    tl_row_sender *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->fd = -1;
    tl_send_text(s, TL_ROWS_TEXT, text, LONG);
    tl_send_end(s, 0, 0);
    assert_true(s->is_closed);
    free(s);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives),
        cmocka_unit_test(other_bytes_are_refused),
        cmocka_unit_test(frames_without_end),
        cmocka_unit_test(nobody_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
