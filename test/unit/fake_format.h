/* A format for tests, which replaces all others: `fake` describes the contents of a trace, not its bytes. It replaces
 * src/formats.c, so that tests need no real format that goes wrong in just their way. */
#ifndef TL_TEST_FAKE_FORMAT_H
#define TL_TEST_FAKE_FORMAT_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "model/format_impl.h"

#define FAKE_STREAMS 200u

/* Whether events may come in any order: set by a test before it includes this. */
#ifndef FAKE_UNSORTED
#define FAKE_UNSORTED false
#endif
/* Whether an empty input is of this format. */
#ifndef FAKE_MAY_BE_EMPTY
#define FAKE_MAY_BE_EMPTY false
#endif

/* One problem that a cursor reports at an event. */
typedef struct fake_report {
    uint32_t stream;
    uint64_t event;
    tl_damage damage;
    const char *what;
} fake_report;

static struct {
    uint32_t streams;
    uint64_t events[FAKE_STREAMS];  /* of each stream */
    uint64_t fail_at[FAKE_STREAMS]; /* the unreadable event, + 1; 0: none */
    bool fail_open[FAKE_STREAMS];
    uint64_t seed;
    uint32_t step;                /* times advance by less than this */
    uint32_t regress;             /* one in this many events goes back; 0: none */
    uint64_t first[FAKE_STREAMS]; /* time of the first event */
    const uint64_t *times;        /* of the events of every stream, instead of all that; or NULL */
    uint64_t bytes;               /* size of the trace */
    uint32_t batch;               /* most events in one batch; 0: as many as fit */
    uint32_t text_room;           /* bytes of an event's text, at least 32 */
    bool has_range;               /* of the trace ... */
    uint64_t begin, end;
    tl_track track[FAKE_STREAMS]; /* has_range, begin, end of each */
    const fake_report *report;    /* damage found on reading */
    uint32_t nreport;
    const fake_report *opening; /* damage found on opening */
    uint32_t nopening;
    bool limits;             /* obeys tl_cursor_limit() */
    int probe, probe_folder; /* evidence */
    int (*properties)(tl_trace *t, tl_error *e);
    const tl_class *cls; /* otherwise three of one field */
    uint32_t ncls;
    /* What happened. */
    atomic_uint opened, closed, batches;
    atomic_uint_least64_t limit_from, limit_to;
    uint64_t written;
} fake;

typedef struct fake_reader {
    tl_trace *trace;
    const tl_want *want;
} fake_reader;

typedef struct fake_cursor {
    fake_reader *reader;
    uint32_t stream;
    uint64_t next, time, random;
    bool limited;
    uint64_t from, to;
} fake_cursor;

/* Event number i of a stream: the same for all who read in order. */
static inline uint64_t fake_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline void fake_start(uint32_t stream, uint64_t *random, uint64_t *time)
{
    *random = fake.seed * 1000 + stream;
    *time = fake.first[stream];
}

static inline void fake_step(uint64_t *random, uint64_t *time)
{
    const uint64_t r = fake_random(random);
    if (fake.regress && (r >> 40) % fake.regress == 0 && *time > 5)
        *time -= 5;
    else
        *time += fake.step ? r % fake.step : 1;
}

static int fake_probe(const tl_probe *p)
{
    (void)p;
    return fake.probe;
}

static int fake_probe_folder(const tl_folder *f)
{
    return tl_folder_find(f, "fake") == UINT32_MAX ? 0 : fake.probe_folder;
}

static int fake_tell(tl_trace *t, const fake_report *r, const tl_want *want, tl_error *e)
{
    int status = tl_trace_report(t, e, &r->damage, "%s", r->what);
    if (status == 0 && want->strict && r->damage.kind != TL_DAMAGE_NOTE)
        status = tl_fail(e, TL_EDAMAGED, r->damage.at, "%s: %s", r->damage.rule, r->what);
    return status;
}

static int fake_begin(fake_reader *r, tl_trace *t, const tl_want *want, tl_error *e)
{
    static const tl_field value = {.name = "value", .type = TL_U64}, text = {.name = "text", .type = TL_STRING};
    static tl_field fields[2];
    fields[0] = value;
    fields[1] = text;
    const tl_class cls[] = {
        {.kind = TL_INSTANT, .name = "fake.a", .field = fields, .nfield = 2},
        {.kind = TL_INSTANT, .name = "fake.b", .field = fields, .nfield = 2},
        {.kind = TL_STATE, .name = "fake.a", .field = fields, .nfield = 2},
    };
    r->trace = t;
    r->want = want;
    t->version = "1";
    t->bytes = fake.bytes;
    t->has_range = fake.has_range;
    t->begin = fake.begin;
    t->end = fake.end;
    tl_trace_set_clock(t, "fake", 1000000000);
    int status = fake.cls ? tl_trace_set_classes(t, fake.cls, fake.ncls, e) : tl_trace_set_classes(t, cls, 3, e);
    for (uint32_t i = 0; status == 0 && i < fake.streams; i++) {
        char name[32];
        uint32_t index;
        tl_track track = fake.track[i];
        snprintf(name, sizeof name, "stream %u", i);
        track.name = name;
        status = tl_trace_add_track(t, &track, &index, e);
    }
    for (uint32_t i = 0; status == 0 && i < fake.nopening; i++)
        status = tl_trace_report(t, e, &fake.opening[i].damage, "%s", fake.opening[i].what);
    if (status == 0 && fake.properties)
        status = fake.properties(t, e);
    return status;
}

static int fake_open(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    (void)in;
    (void)progress;
    return fake_begin(reader, t, want, e);
}

static int fake_open_folder(void *reader, const tl_folder *f, tl_trace *t, const tl_want *want, uint64_t *progress,
                            tl_error *e)
{
    (void)f;
    (void)progress;
    return fake_begin(reader, t, want, e);
}

static uint32_t fake_streams(void *reader)
{
    (void)reader;
    return fake.streams;
}

static int fake_stream_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    fake_cursor *c = cursor;
    *c = (fake_cursor){.reader = reader, .stream = stream};
    if (fake.fail_open[stream])
        return tl_fail(e, TL_EIO, TL_NO_OFFSET, "stream %u cannot be opened", stream);
    fake_start(stream, &c->random, &c->time);
    atomic_fetch_add(&fake.opened, 1);
    return 0;
}

static int fake_stream_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e)
{
    fake_cursor *c = cursor;
    (void)e;
    if (fake.limits) {
        c->limited = true;
        c->from = from;
        c->to = to;
    }
    atomic_store(&fake.limit_from, from);
    atomic_store(&fake.limit_to, to);
    return 0;
}

/* The values of an event: a number, and a text that only its batch holds. */
static int fake_values(const fake_cursor *c, tl_batch *b, tl_error *e)
{
    if (!b->val)
        return 0;
    b->val[b->n] = b->nval;
    char *text = tl_arena_alloc(b->arena, fake.text_room > 32 ? fake.text_room : 32);
    tl_value *v = text ? tl_batch_slots(b, 2) : NULL;
    if (!v)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for values");
    const int n = snprintf(text, 32, "%u/%u", c->stream, (unsigned)c->next);
    v[0] = (tl_value){.type = TL_U64, .as.u = c->next};
    v[1] = (tl_value){.type = TL_STRING, .n = (uint32_t)n, .as.p = text};
    return 0;
}

static int fake_stream_next(void *cursor, tl_batch *b, tl_error *e)
{
    fake_cursor *c = cursor;
    const uint32_t room = fake.batch && fake.batch < b->capacity ? fake.batch : b->capacity;
    int status = 0;
    atomic_fetch_add(&fake.batches, 1);
    for (; status == 0 && b->n < room && c->next < fake.events[c->stream]; c->next++) {
        if (fake.times)
            c->time = fake.times[c->next];
        if (fake.fail_at[c->stream] == c->next + 1) {
            if (b->n) /* first returns those before it */
                break;
            return tl_fail(e, TL_EIO, c->next, "event %u of stream %u cannot be read", (unsigned)c->next, c->stream);
        }
        for (uint32_t i = 0; status == 0 && i < fake.nreport; i++)
            if (fake.report[i].stream == c->stream && fake.report[i].event == c->next)
                status = fake_tell(c->reader->trace, &fake.report[i], c->reader->want, e);
        if (status == 0 && (!c->limited || (c->time >= c->from && c->time < c->to))) {
            b->ts[b->n] = c->time;
            b->key[b->n] = c->next;
            b->cls[b->n] = (uint32_t)(c->next % c->reader->trace->ncls);
            b->track[b->n] = c->stream;
            if (b->cpu)
                b->cpu[b->n] = (int32_t)c->stream;
            status = fake_values(c, b, e);
            b->n++;
        }
        fake_step(&c->random, &c->time);
    }
    if (b->val)
        b->val[b->n] = b->nval;
    return status < 0 ? status : b->n > 0;
}

static void fake_stream_close(void *cursor)
{
    (void)cursor;
    atomic_fetch_add(&fake.closed, 1);
}

/* A writer that writes a line for each event: time, stream, number. */
typedef struct fake_writer {
    tl_output *out;
    uint64_t begin;
} fake_writer;

static int fake_create(void *writer, const tl_write_context *context, tl_error *e)
{
    fake_writer *w = writer;
    (void)e;
    w->out = context->out;
    w->begin = context->options->begin;
    return 0;
}

static int fake_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    fake_writer *w = writer;
    (void)e;
    for (uint32_t i = from; i < to; i++)
        tl_output_printf(w->out, "%llu %u %llu\n", (unsigned long long)(b->ts[i] - w->begin), b->track[i],
                         (unsigned long long)b->key[i]);
    fake.written += to - from;
    return 0;
}

static const tl_format fake_format = {
    .name = "fake",
    .summary = "a format of tests",
    .suffixes = ".fake",
    .reader = &(const tl_reader){.unsorted = FAKE_UNSORTED,
                                 .may_be_empty = FAKE_MAY_BE_EMPTY,
                                 .size = sizeof(fake_reader),
                                 .cursor_size = sizeof(fake_cursor),
                                 .probe = fake_probe,
                                 .open = fake_open,
                                 .probe_folder = fake_probe_folder,
                                 .open_folder = fake_open_folder,
                                 .streams = fake_streams,
                                 .stream_open = fake_stream_open,
                                 .stream_limit = fake_stream_limit,
                                 .stream_next = fake_stream_next,
                                 .stream_close = fake_stream_close},
    .event_writer = &(const tl_event_writer){.ordered = true,
                                             .wants = {.fields = true},
                                             .size = sizeof(fake_writer),
                                             .create = fake_create,
                                             .write = fake_write},
};

/* Two that must be named, or are rivals. */
static const tl_format fake_file_only = {
    .name = "files",
    .reader = &(const tl_reader){.open = fake_open, .probe_folder = fake_probe_folder},
};
static const tl_format fake_folder_only = {
    .name = "folders",
    .reader = &(const tl_reader){.open_folder = fake_open_folder},
};
static const tl_format fake_output = {
    .name = "output",
    .event_writer = &(const tl_event_writer){.create = fake_create},
};

/* The second format claims the same folders: a test that wants it sets `fake_rivals`. */
static bool fake_rivals;
static int fake_rival_probe(const tl_folder *f)
{
    return fake_rivals ? fake_probe_folder(f) : 0;
}
static const tl_format fake_rival = {
    .name = "rival",
    .reader = &(const tl_reader){.probe_folder = fake_rival_probe, .open_folder = fake_open_folder},
};

/* Replaces src/formats.c. */
const tl_format *const tl_format_list[] = {&fake_format, &fake_folder_only, &fake_output, &fake_rival, NULL};

const tl_format *tl_format_by_name(const char *name)
{
    for (const tl_format *const *f = tl_format_list; *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return strcmp(name, "files") == 0 ? &fake_file_only : NULL;
}

const tl_format *tl_format_by_suffix(const char *path, unsigned can)
{
    const size_t n = strlen(path);
    (void)can;
    return n >= 5 && strcmp(path + n - 5, ".fake") == 0 ? &fake_format : NULL;
}

const tl_format *tl_format_of_empty(const char *path)
{
    return FAKE_MAY_BE_EMPTY ? tl_format_by_suffix(path, TL_CAN_READ_EVENTS) : NULL;
}

uint32_t tl_formats(void)
{
    return 1;
}

const tl_format_info *tl_format_get(uint32_t index)
{
    static const tl_format_info info = {
        .name = "fake", .summary = "", .suffixes = ".fake", .can = TL_CAN_READ_EVENTS | TL_CAN_WRITE_EVENTS};
    return index == 0 ? &info : NULL;
}

/* A trace of n streams for a test to change. */
static inline void fake_reset(uint32_t streams, uint64_t events)
{
    memset(&fake, 0, sizeof fake);
    fake.streams = streams;
    fake.probe = fake.probe_folder = 10;
    fake.step = 10;
    fake.seed = 1;
    fake.bytes = 1000;
    for (uint32_t i = 0; i < streams; i++)
        fake.events[i] = events;
}

#endif
