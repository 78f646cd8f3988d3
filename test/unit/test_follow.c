/* Reading a source while it is being written, with a small format of lines: "TIME TRACK". */
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "check.h"
#include "input_check.h"
#include "model/format_impl.h"
#include "op/source_impl.h"
#include "traceloom/events.h"

typedef struct lines {
    tl_input *in;
    tl_trace *trace;
    uint64_t at;
} lines;

static int lines_probe(const tl_probe *p)
{
    return p->size >= 6 && memcmp(p->head, "lines\n", 6) == 0 ? 48 : 0;
}

static int lines_open(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    static const tl_class cls = {.kind = TL_INSTANT, .name = "line"};
    lines *r = reader;
    (void)progress;
    assert_int_equal(want->threads, 1);
    *r = (lines){.in = in, .trace = t};
    t->version = "1";
    tl_trace_set_clock(t, "lines", 1000);
    return tl_trace_set_classes(t, &cls, 1, e);
}

static uint32_t lines_streams(void *reader)
{
    (void)reader;
    return 1;
}

static int lines_stream_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    (void)stream;
    (void)e;
    *(lines *)cursor = *(lines *)reader;
    return 0;
}

/* One whole line a batch. */
static int lines_stream_next(void *cursor, tl_batch *b, tl_error *e)
{
    lines *c = cursor;
    for (;;) {
        char line[40] = "";
        size_t got;
        const uint64_t known = tl_input_size(c->in);
        bool ended = false;
        int r = tl_input_read(c->in, c->at, line, sizeof line - 1, &got, e);
        char *end = r == 0 ? memchr(line, '\n', got) : NULL;
        if (r < 0)
            return r;
        if (end) {
            unsigned ts, track;
            c->at += (uint64_t)(end - line) + 1;
            if (sscanf(line, "%u %u", &ts, &track) != 2)
                continue;
            while (c->trace->ntrack <= track && r == 0)
                r = tl_trace_add_track(c->trace, &(tl_track){.name = line}, &(uint32_t){0}, e);
            b->ts[0] = ts;
            b->key[0] = c->at;
            b->cls[0] = 0;
            b->track[0] = track;
            b->n = 1;
            return r < 0 ? r : 1;
        }
        r = tl_input_wait(c->in, known, 20, &ended, e);
        if (r < 0 || (ended && tl_input_size(c->in) == known))
            return r;
        if (tl_input_size(c->in) == known)
            return 1;
    }
}

static const tl_format lines_format = {
    .name = "lines",
    .suffixes = ".lines",
    .reader = &(const tl_reader){.may_be_empty = true,
                                 .unsorted = true,
                                 .follows = true,
                                 .size = sizeof(lines),
                                 .cursor_size = sizeof(lines),
                                 .probe = lines_probe,
                                 .open = lines_open,
                                 .streams = lines_streams,
                                 .stream_open = lines_stream_open,
                                 .stream_next = lines_stream_next},
};

static int rigid_probe(const tl_probe *p)
{
    return p->size >= 6 && memcmp(p->head, "rigid\n", 6) == 0 ? 48 : 0;
}

static const tl_format rigid_format = {
    .name = "rigid",
    .suffixes = ".rigid",
    .reader = &(const tl_reader){.probe = rigid_probe, .open = lines_open, .size = sizeof(lines)},
};

const tl_format *const tl_format_list[] = {&lines_format, &rigid_format, NULL};

const tl_format *tl_format_by_name(const char *name)
{
    return strcmp(name, "lines") == 0 ? &lines_format : strcmp(name, "rigid") == 0 ? &rigid_format : NULL;
}

const tl_format *tl_format_by_suffix(const char *path, unsigned can)
{
    (void)can;
    return strstr(path, ".lines") ? &lines_format : strstr(path, ".rigid") ? &rigid_format : NULL;
}

const tl_format *tl_format_of_empty(const char *path)
{
    return strstr(path, ".lines") ? &lines_format : NULL;
}

uint32_t tl_formats(void)
{
    return 0;
}

const tl_format_info *tl_format_get(uint32_t index)
{
    (void)index;
    return NULL;
}

static int try_open(tl_source **s, const char *path, const char *from, bool strict, tl_error *e)
{
    const tl_open_options o = {.from = from, .follow = true, .want = {.threads = 8, .strict = strict}};
    return tl_source_open(s, path, &o, e);
}

static tl_source *open_followed(const char *path)
{
    tl_source *s = NULL;
    tl_error e = {0};
    must(try_open(&s, path, NULL, false, &e), &e);
    return s;
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* The next event, or -1 if there is nothing new, -2 at the end. */
static int64_t next_time(tl_events *v)
{
    const tl_batch *b = NULL;
    uint32_t from, to;
    tl_error e;
    int status = tl_events_next(v, &b, &from, &to, &e);
    must(status, &e);
    if (status == 0)
        return -2;
    assert_ptr_equal(b->trace, tl_events_trace(v));
    assert_true(to - from <= 1);
    return from == to ? -1 : (int64_t)b->ts[from];
}

static void check_events(bool ordered, bool selected)
{
    const tl_select select = {.ncls = 1, .cls = (const char *const[]){"li*"}};
    tl_events *v = NULL;
    tl_error e = {0};
    scratch_write("a.lines", "lines\n5 0\n3 1\n7", 15);
    tl_source *s = open_followed("a.lines");
    assert_int_equal(tl_events_open(&v, &s, 1, selected ? &select : NULL, ordered, &e), 0);
    assert_int_equal(tl_events_begin(v), 0);
    assert_int_equal(next_time(v), 5);
    assert_int_equal(next_time(v), 3); /* in the order of the file */
    assert_int_equal(tl_trace_tracks(tl_source_trace(s)), 2);
    assert_int_equal(next_time(v), -1); /* half a line does not count */
    assert_int_equal(next_time(v), -1);
    append("a.lines", "0 300\n8 1");
    assert_int_equal(next_time(v), 70);
    assert_int_equal(tl_trace_tracks(tl_source_trace(s)), 301);
    assert_int_equal(next_time(v), -1);
    append("a.lines", "\n");
    assert_int_equal(next_time(v), 8);
    assert_int_equal(truncate("a.lines", 7), 0);
    assert_int_equal(next_time(v), -2);
    assert_int_equal(next_time(v), -2);
    tl_events_close(v);
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 1);
    const tl_damage *d = tl_trace_damage(tl_source_trace(s), 0);
    assert_string_equal(d->rule, "input.damaged");
    assert_contains(d->what, "became shorter");
    tl_source_close(s);
}

static void events_as_they_come(void **state)
{
    check_events(true, false);
    check_events(false, false);
    check_events(true, true);
    check_events(false, true);
}

static void many_runs_at_a_time(void **state)
{
    tl_events *v = NULL;
    tl_error e = {0};
    const tl_run *run;
    uint32_t n;
    scratch_write("a.lines", "lines\n5 0\n", 10);
    tl_source *s = open_followed("a.lines");
    assert_int_equal(tl_events_open(&v, &s, 1, NULL, true, &e), 0);
    assert_int_equal(tl_events_runs(v, &run, &n, &e), 1);
    assert_int_equal(n, 1);
    assert_int_equal(run->to - run->from, 1);
    assert_int_equal(tl_events_runs(v, &run, &n, &e), 1);
    assert_int_equal(n, 1);
    assert_int_equal(run->to - run->from, 0);
    tl_events_close(v);
    tl_source_close(s);
}

static void strict_reading_fails_at_the_end(void **state)
{
    tl_source *s = NULL;
    const tl_batch *b;
    tl_error e = {0};
    scratch_write("a.lines", "lines\n5 0\n", 10);
    assert_int_equal(try_open(&s, "a.lines", NULL, true, &e), 0);
    assert_int_equal(tl_source_next(s, &b, &e), 1);
    assert_int_equal(b->n, 1);
    assert_int_equal(tl_source_next(s, &b, &e), 1);
    assert_int_equal(b->n, 0);
    assert_int_equal(truncate("a.lines", 3), 0);
    assert_int_equal(tl_source_next(s, &b, &e), TL_EDAMAGED);
    assert_contains(e.message, "a.lines: lines: input.damaged: the file became shorter");
    tl_source_close(s);
}

static void an_empty_file_is_what_its_name_says(void **state)
{
    tl_source *s = NULL;
    const tl_batch *b;
    tl_error e = {0};
    scratch_write("a.lines", "", 0);
    scratch_write("a.rigid", "", 0);
    s = open_followed("a.lines");
    assert_int_equal(tl_source_next(s, &b, &e), 1);
    assert_int_equal(b->n, 0);
    append("a.lines", "lines\n1 0\n");
    assert_int_equal(tl_source_next(s, &b, &e), 1);
    assert_int_equal(b->n, 1);
    tl_source_close(s);
    /* Not followed. */
    scratch_write("b.lines", "", 0);
    assert_int_equal(tl_source_open(&s, "b.lines", &(tl_open_options){.want.threads = 1}, &e), 0);
    assert_string_equal(tl_trace_format(tl_source_trace(s)), "lines");
    assert_int_equal(tl_source_next(s, &b, &e), 0);
    tl_source_close(s);
    s = NULL;
    assert_int_equal(tl_source_open(&s, "a.rigid", NULL, &e), TL_EFORMAT);
    assert_string_equal(e.message, "a.rigid: the file is empty; expected a trace");
    scratch_write("other", "", 0);
    assert_int_equal(tl_source_open(&s, "other", NULL, &e), TL_EFORMAT);
    assert_string_equal(e.message, "other: the file is empty; expected a trace");
    assert_int_equal(tl_source_open(&s, "other", &(tl_open_options){.from = "lines", .want.threads = 1}, &e), 0);
    tl_source_close(s);
}

/* Writes a head in two pieces into a pipe, the second a while after the first. */
static void *write_slowly(void *arg)
{
    const int fd = *(int *)arg;
    usleep(20000);
    if (write(fd, "lin", 3) != 3)
        abort();
    usleep(20000);
    if (write(fd, "es\n1 0\n2 0\n3", 12) != 12)
        abort();
    close(fd);
    return NULL;
}

static void a_pipe_says_its_format_when_it_likes(void **state)
{
    pthread_t thread;
    tl_events *v = NULL;
    tl_error e = {0};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int fd = open("pipe", O_RDWR);
    assert_int_equal(pthread_create(&thread, NULL, write_slowly, &fd), 0);
    tl_source *s = open_followed("pipe");
    assert_int_equal(tl_events_open(&v, &s, 1, NULL, true, &e), 0);
    int64_t time, last = 0;
    while ((time = next_time(v)) != -2)
        if (time > 0)
            assert_int_equal(time, ++last);
    assert_int_equal(last, 2);
    pthread_join(thread, NULL);
    tl_events_close(v);
    tl_source_close(s);
}

static void what_cannot_be_followed(void **state)
{
    tl_source *s = NULL;
    tl_error e = {0};
    scratch_write("a", "rigid\n", 6);
    assert_int_equal(try_open(&s, "a", NULL, false, &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "a: format rigid cannot be read while it is still being written (--follow)");
    assert_int_equal(try_open(&s, "a", "rigid", false, &e), TL_EUNSUPPORTED);
    scratch_write("b", "\x1f\x8b\x08\0\0\0\0\0\0\3rest", 14);
    assert_int_equal(try_open(&s, "b", "lines", false, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "b: the content is compressed");
    assert_int_equal(try_open(&s, "/nonexistent/a", "lines", false, &e), TL_EIO);
    assert_null(s);
}

/* A pipe that ends before its format is known. */
static void too_little_to_know_the_format(void **state)
{
    tl_source *s = NULL;
    tl_error e = {0};
    feed f;
    feed_start(&f, "lin", 3);
    assert_int_equal(try_open(&s, "fifo", NULL, false, &e), TL_EFORMAT);
    assert_contains(e.message, "fifo: unrecognised format (starts with 6c 69 6e)");
    pthread_join(f.thread, NULL);
    feed_start(&f, "", 0);
    assert_int_equal(try_open(&s, "fifo", NULL, false, &e), TL_EFORMAT);
    assert_contains(e.message, "fifo: the file is empty; expected a trace; choose");
    pthread_join(f.thread, NULL);
}

/* Flushed output can be read at the other end. */
static void output_is_flushed(void **state)
{
    tl_output *out = NULL;
    tl_error e = {0};
    int waiting = 0;
    char text[10];
    assert_int_equal(mkfifo("pipe", 0600), 0);
    const int fd = open("pipe", O_RDWR);
    assert_int_equal(tl_output_open(&out, "pipe", true, TL_PLAIN, 0, &e), 0);
    tl_output_puts(out, "hello");
    assert_int_equal(ioctl(fd, FIONREAD, &waiting), 0);
    assert_int_equal(waiting, 0);
    assert_int_equal(tl_output_flush(out, &e), 0);
    assert_int_equal(read(fd, text, sizeof text), 5);
    assert_int_equal(tl_output_flush(out, &e), 0);
    assert_int_equal(tl_output_bytes(out), 5);
    tl_output_puts(out, "!");
    assert_int_equal(tl_output_finish(out, &e), 0);
    assert_int_equal(read(fd, text, sizeof text), 1);
    tl_output_close(out);
    close(fd);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(tl_output_open(&out, "/dev/full", true, TL_PLAIN, 0, &e), 0);
        tl_output_puts(out, "hello");
        assert_int_equal(tl_output_flush(out, &e), TL_EIO);
        assert_int_equal(tl_output_flush(out, NULL), TL_EIO);
        tl_output_close(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_as_they_come, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(many_runs_at_a_time, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(strict_reading_fails_at_the_end, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(an_empty_file_is_what_its_name_says, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(a_pipe_says_its_format_when_it_likes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(what_cannot_be_followed, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(too_little_to_know_the_format, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(output_is_flushed, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
