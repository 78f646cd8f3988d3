/* Opening a trace of any format, and reading its streams. */
#include <stdlib.h>
#include <string.h>

#include "op/source_impl.h"
#include "op/symbolize.h"

/* Asks every format; the one with the most evidence wins, two with the same are an error. */
static int find_format(const tl_format **out, tl_input *in, tl_error *e)
{
    uint8_t head[TL_PROBE_SIZE];
    size_t got = 0;
    int status = tl_input_read(in, 0, head, sizeof head, &got, e);
    if (status < 0)
        return status;
    if (got == 0)
        return tl_fail(e, TL_EFORMAT, 0, "the file is empty; expected a trace");
    const tl_probe probe = {.head = head, .size = got, .total = tl_input_size(in)};
    const tl_format *best = NULL, *rival = NULL;
    int most = 0;
    for (const tl_format *const *f = tl_format_list; *f; f++) {
        int evidence = (*f)->probe ? (*f)->probe(&probe) : 0;
        if (evidence > most) {
            best = *f;
            rival = NULL;
            most = evidence;
        } else if (evidence == most && most > 0) {
            rival = *f;
        }
    }
    if (rival)
        return tl_fail(e, TL_EFORMAT, 0, "could be %s or %s; choose with --from", best->name, rival->name);
    if (!best)
        return tl_fail(e, TL_EFORMAT, 0, "begins with bytes %02x %02x %02x %02x, which no format known here does",
                       head[0], got > 1 ? head[1] : 0u, got > 2 ? head[2] : 0u, got > 3 ? head[3] : 0u);
    *out = best;
    return 0;
}

static int choose_format(tl_source *s, const char *name, tl_error *e)
{
    if (!name)
        return find_format(&s->format, s->in, e);
    const tl_format *f = tl_format_by_name(name);
    if (!f)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "there is no format \"%s\"", name);
    if (!f->open)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "format %s can only be written", name);
    s->format = f;
    return 0;
}

/* Function ids get addresses from the binary, addresses get names. */
static int resolve(tl_source *s, const tl_open_options *o, tl_error *e)
{
    tl_elf *elf = NULL;
    tl_trace *t = &s->trace;
    int status = tl_elf_open(&elf, o->exe, e);
    if (status == 0)
        status = s->format->functions(s->reader, elf, t, e);
    if (status == 0)
        status = tl_symbolize(t, elf, !o->no_demangle, !o->no_lines, e);
    if (status == 0) {
        const char *id = tl_elf_build_id(elf);
        t->exe = tl_trace_intern(t, o->exe);
        t->build_id = id ? tl_trace_intern(t, id) : NULL;
        for (uint32_t i = 0; i < t->nfunction; i++)
            t->function[i].module = t->build_id;
        if (!t->exe || (id && !t->build_id))
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for symbols");
    }
    tl_elf_close(elf);
    if (status < 0 && e)
        e->offset = TL_NO_OFFSET; /* one in the binary would be taken for one in the trace */
    return status;
}

/* What remains once input and format are known. */
static int open_format(tl_source *s, const tl_open_options *o, tl_error *e)
{
    tl_trace *t = &s->trace;
    t->path = tl_trace_intern(t, tl_input_path(s->in));
    t->format = s->format->name;
    t->bytes = tl_input_size(s->in);
    s->reader = calloc(1, s->format->reader_size ? s->format->reader_size : 1);
    if (!t->path || !s->reader)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to open the file");
    int status = s->format->open(s->reader, s->in, t, &s->want, o->progress, e);
    if (status < 0)
        return tl_error_context(e, "%s", s->format->name), status;
    uint64_t offset = 0;
    const char *broken = tl_input_damage(s->in, &offset);
    if (broken && (status = tl_trace_add_damage(t, e, offset, 0, "input.damaged", "%s", broken)) < 0)
        return status;
    tl_trace_sort_damage(t);
    if (s->want.strict && t->ndamage)
        return tl_fail(e, TL_EDAMAGED, t->damage[0].offset, "%s: %s", t->damage[0].rule, t->damage[0].what);
    return o->exe && s->format->functions ? resolve(s, o, e) : 0;
}

/* Opens what `in` holds; takes `in` over, also on failure. */
static int open_input(tl_source **out, tl_input *in, const tl_open_options *options, tl_error *e)
{
    static const tl_open_options none = {0};
    const tl_open_options *o = options ? options : &none;
    tl_source *s = calloc(1, sizeof *s);
    if (!s) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory to open the file", tl_input_name(in));
        tl_input_close(in);
        return TL_ENOMEM;
    }
    tl_trace_init(&s->trace);
    s->in = in;
    s->want = o->want;
    int status = choose_format(s, o->from, e);
    if (status == 0)
        status = open_format(s, o, e);
    if (status < 0) {
        tl_error_context(e, "%s", tl_input_name(in));
        tl_source_close(s);
        return status;
    }
    *out = s;
    return 0;
}

int tl_source_open(tl_source **out, const char *path, const tl_open_options *options, tl_error *e)
{
    tl_input *in = NULL;
    int status = tl_input_open(&in, path, e); /* its messages name the path */
    return status < 0 ? status : open_input(out, in, options, e);
}

int tl_source_open_memory(tl_source **out, const void *data, size_t size, const char *name,
                          const tl_open_options *options, tl_error *e)
{
    tl_input *in = NULL;
    int status = tl_input_open_memory(&in, data, size, name, e);
    return status < 0 ? status : open_input(out, in, options, e);
}

void tl_source_close(tl_source *s)
{
    if (!s)
        return;
    tl_cursor_close(s->cursor);
    if (s->reader && s->format->close)
        s->format->close(s->reader);
    free(s->reader);
    tl_input_close(s->in);
    tl_trace_fini(&s->trace);
    free(s);
}

const tl_trace *tl_source_trace(const tl_source *s)
{
    return &s->trace;
}

bool tl_source_is_profile(const tl_source *s)
{
    return s->format->read_profile != NULL;
}

uint32_t tl_source_streams(const tl_source *s)
{
    return s->format->streams ? s->format->streams(s->reader) : 0;
}

/* Small streams get small batches: there may be very many of them open at once. */
static uint32_t batch_capacity(const tl_source *s, uint32_t stream)
{
    enum { LEAST = 16, BYTES_OF_AN_EVENT = 8 };
    if (!s->format->stream_weight)
        return TL_BATCH_MAX;
    uint64_t events = s->format->stream_weight(s->reader, stream) / BYTES_OF_AN_EVENT;
    return events < LEAST ? LEAST : events < TL_BATCH_MAX ? (uint32_t)events : TL_BATCH_MAX;
}

int tl_cursor_open(tl_cursor **out, tl_source *s, uint32_t stream, tl_error *e)
{
    if (stream >= tl_source_streams(s))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "stream %u of %u", stream, tl_source_streams(s));
    tl_cursor *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a cursor");
    c->source = s;
    void *state = calloc(1, s->format->cursor_size ? s->format->cursor_size : 1);
    int status = state ? tl_batch_init(&c->batch, &s->trace, &s->want, batch_capacity(s, stream), e)
                       : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a cursor");
    if (status == 0)
        status = s->format->stream_open(s->reader, stream, state, e);
    if (status < 0) {
        free(state);
        tl_batch_fini(&c->batch);
        free(c);
        return status;
    }
    c->state = state;
    *out = c;
    return 0;
}

int tl_cursor_next(tl_cursor *c, const tl_batch **batch, tl_error *e)
{
    tl_batch_clear(&c->batch);
    int status = c->source->format->stream_next(c->state, &c->batch, e);
    if (status < 0)
        return tl_error_context(e, "%s: %s", tl_input_name(c->source->in), c->source->format->name), status;
    *batch = &c->batch;
    return status;
}

void tl_cursor_close(tl_cursor *c)
{
    if (!c)
        return;
    if (c->source->format->stream_close)
        c->source->format->stream_close(c->state);
    free(c->state);
    tl_batch_fini(&c->batch);
    free(c);
}

int tl_source_next(tl_source *s, const tl_batch **batch, tl_error *e)
{
    while (s->cursor || s->stream < tl_source_streams(s)) {
        int status = s->cursor ? 0 : tl_cursor_open(&s->cursor, s, s->stream++, e);
        if (status == 0)
            status = tl_cursor_next(s->cursor, batch, e);
        if (status != 0)
            return status;
        tl_cursor_close(s->cursor);
        s->cursor = NULL;
    }
    return 0;
}

typedef struct weighed {
    uint64_t weight;
    uint32_t stream;
} weighed;

static int heavier_first(const void *left, const void *right)
{
    const weighed *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->stream > b->stream) - (a->stream < b->stream);
}

uint32_t *tl_source_by_weight(tl_source *s)
{
    uint32_t n = tl_source_streams(s);
    uint32_t *order = malloc((n + 1) * sizeof *order);
    weighed *w = malloc((n + 1) * sizeof *w);
    for (uint32_t i = 0; order && w && i < n; i++)
        w[i] = (weighed){s->format->stream_weight ? s->format->stream_weight(s->reader, i) : 1, i};
    if (order && w) {
        qsort(w, n, sizeof *w, heavier_first);
        for (uint32_t i = 0; i < n; i++)
            order[i] = w[i].stream;
        free(w);
        return order;
    }
    free(w);
    free(order);
    return NULL;
}
