/* One pass over the events of a trace: the first of them in full, all of them as numbers by class and time. Where
 * calls, samples and instructions have tabs of their own, it is about the other events.
 *
 * The time is cut into columns of equal width, at most 512. The width begins at one tick and doubles whenever an event
 * lies behind the last column, so the length of the trace need not be known. */
#include "view/page/page_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table_kind.h"
#include "base/grow.h"
#include "base/text/json_write.h"
#include "model/event_parts.h"
#include "model/value_json.h"
#include "op/needs.h"
#include "op/scan/source_walk.h"
#include "traceloom/events.h"
#include "view/page/page_text.h"

enum { COLUMNS = TL_HTML_DENSITY_COLUMNS };

typedef struct density {
    uint32_t *row_of; /* by class: row, or UINT32_MAX */
    uint64_t *events; /* [nrow][COLUMNS] */
    uint32_t nrow;
    uint64_t first, width; /* ticks; width 0: no event yet */
    uint32_t used;         /* columns */
} density;

typedef struct making {
    tl_event_view view;
    bool *passed; /* by class: it has a tab of its own */
    tl_fields json;
    tl_pb text;
    tl_output *out; /* of the first events */
    tl_json j;
    uint64_t rows, left_out, bytes;
    density density;
} making;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the events of the page");
}

bool tl_html_is_other(const tl_class *c)
{
    return c->kind != TL_FORMAT && c->kind != TL_SAMPLE && c->kind != TL_INSN && c->key != TL_KEY_FUNCTION &&
           !tl_class_of_machine(c);
}

/* ---- density ---- */

/* The row of a class, whose name and kind are the first columns of rows. */
static uint32_t find_row(const tl_part *classes, uint32_t n, const tl_class *c)
{
    for (uint32_t i = 0; i < n; i++) {
        tl_cell name, kind;
        tl_part_cell(classes, i, 0, &name);
        tl_part_cell(classes, i, 1, &kind);
        if (name.kind == TL_CELL_TEXT && kind.kind == TL_CELL_TEXT && strcmp(name.text, c->name) == 0 &&
            strcmp(kind.text, tl_kind_name(c->kind)) == 0)
            return i;
    }
    return UINT32_MAX;
}

static int start_density(density *d, const tl_trace *t, const tl_part *classes, tl_error *e)
{
    d->nrow = classes && classes->n < TL_HTML_DENSITY_MAX ? (uint32_t)classes->n : TL_HTML_DENSITY_MAX;
    d->nrow = classes ? d->nrow : 0;
    d->row_of = tl_alloc((size_t)tl_trace_classes(t) + 1, sizeof *d->row_of);
    d->events = calloc((size_t)d->nrow * COLUMNS + 1, sizeof *d->events);
    if (!d->row_of || !d->events)
        return no_memory(e);
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        d->row_of[i] = find_row(classes, d->nrow, tl_trace_class(t, i));
    return 0;
}

static void widen(density *d)
{
    for (uint32_t row = 0; row < d->nrow; row++) {
        uint64_t *n = d->events + (size_t)row * COLUMNS;
        for (uint32_t i = 0; i < COLUMNS / 2; i++)
            n[i] = n[2 * i] + n[2 * i + 1];
        memset(n + COLUMNS / 2, 0, COLUMNS / 2 * sizeof *n);
    }
    d->used = (d->used + 1) / 2;
    d->width *= 2;
}

/* Events that come too late are in the first column, as those of the first event's time. */
static void count(density *d, uint32_t cls, uint64_t ts)
{
    if (!d->width) {
        d->first = ts;
        d->width = 1;
    }
    const uint64_t time = ts > d->first ? ts - d->first : 0;
    while (time / d->width >= COLUMNS)
        widen(d);
    const uint32_t column = (uint32_t)(time / d->width);
    d->used = column >= d->used ? column + 1 : d->used;
    if (d->row_of[cls] != UINT32_MAX)
        d->events[(size_t)d->row_of[cls] * COLUMNS + column]++;
}

/* A class as the gap to its last column with events, and their number, and so on. */
static void put_class(tl_json *j, const uint64_t *n)
{
    uint32_t at = 0;
    tl_json_array(j);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        if (n[i] == 0)
            continue;
        tl_json_u64(j, i - at);
        tl_json_u64(j, n[i]);
        at = i;
    }
    tl_json_array_end(j);
}

static int put_density(const making *m, uint64_t classes, tl_html_section *section, tl_error *e)
{
    const density *d = &m->density;
    char *json = NULL;
    tl_output *out;
    tl_json j;
    uint32_t i = 0;
    const int status = tl_html_json_begin(&out, &j, e);
    if (status < 0)
        return status;
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key_u64(&j, "first", d->first > m->view.begin ? d->first - m->view.begin : 0);
    tl_json_key_u64(&j, "width", d->width);
    tl_json_key_u64(&j, "columns", d->used);
    tl_json_key(&j, "classes");
    tl_json_array(&j);
    for (; i < d->nrow && tl_output_bytes(out) < m->bytes; i++)
        put_class(&j, d->events + (size_t)i * COLUMNS);
    tl_json_array_end(&j);
    tl_json_key_u64(&j, "left_out", classes - i);
    tl_json_object_end(&j);
    *section =
        (tl_html_section){.name = "density", .left_out = classes - i, .what = "classes in the density over time"};
    const int taken = tl_html_take(out, &json, &section->n, e);
    section->json = json;
    return taken;
}

/* ---- the first events ---- */

static bool put_object(making *m, const char *key, const tl_batch *b, uint32_t i, bool context)
{
    tl_pb_clear(&m->text);
    if (!tl_event_object(&m->view, b, i, context, &m->text))
        return !m->json.failed;
    tl_pb_raw(&m->text, "", 1);
    if (m->text.failed)
        return false;
    tl_json_key(&m->j, key);
    if (m->text.n <= TL_HTML_EVENT_SIZE_MAX)
        tl_json_raw(&m->j, (const char *)m->text.data);
    else
        tl_json_null(&m->j);
    return true;
}

/* Null in place of a name that no reader wants. */
static void put_name(tl_json *j, const char *key, const char *name)
{
    tl_json_key_string(j, key, name && strlen(name) <= TL_HTML_EVENT_SIZE_MAX ? name : NULL);
}

static bool put_event(making *m, const tl_batch *b, uint32_t i)
{
    const tl_class *c = tl_trace_class(m->view.trace, b->cls[i]);
    const tl_track *track = tl_trace_track(m->view.trace, b->track[i]);
    tl_json_object(&m->j);
    if (c->flags & TL_CLASS_TIMELESS)
        tl_json_key_null(&m->j, "ts");
    else
        tl_json_key_i64(&m->j, "ts", tl_event_ts(m->view.trace, m->view.begin, b->ts[i]));
    put_name(&m->j, "thread", track ? track->name : NULL);
    if (b->cpu && b->cpu[i] >= 0)
        tl_json_key_u64(&m->j, "cpu", (uint64_t)b->cpu[i]);
    else
        tl_json_key_null(&m->j, "cpu");
    put_name(&m->j, "class", c->name);
    const bool ok = put_object(m, "context", b, i, true) && put_object(m, "fields", b, i, false);
    tl_json_object_end(&m->j);
    m->rows++;
    return ok;
}

static int add_run(making *m, const tl_run *run, tl_error *e)
{
    const tl_batch *b = run->batch;
    for (uint32_t i = run->from; i < run->to; i++) {
        const tl_class *c = tl_trace_class(m->view.trace, b->cls[i]);
        if (m->passed[b->cls[i]])
            continue;
        if (!(c->flags & TL_CLASS_TIMELESS))
            count(&m->density, b->cls[i], b->ts[i]);
        if (m->left_out || m->rows == TL_HTML_EVENTS_MAX || tl_output_bytes(m->out) >= m->bytes)
            m->left_out++;
        else if (!put_event(m, b, i))
            return no_memory(e);
    }
    return 0;
}

static int read(making *m, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_events *events = NULL;
    const tl_run *run;
    uint32_t n = 0;
    tl_want want = tl_source_want(s, true);
    want.cpu = true;
    int status = tl_events_open_want(&events, &s, 1, select, true, &want, e);
    while (status == 0 && (status = tl_events_runs(events, &run, &n, e)) > 0) {
        status = 0;
        for (uint32_t i = 0; i < n && status == 0; i++)
            status = add_run(m, &run[i], e);
        if (status < 0)
            break;
    }
    tl_events_close(events);
    return status;
}

static int make(making *m, tl_source *s, const tl_select *select, const tl_part *classes, tl_html_section *out,
                tl_error *e)
{
    const tl_trace *t = tl_source_trace(s);
    m->view = (tl_event_view){.trace = t, .begin = tl_scan_begin(t), .number = 1, .json = &m->json};
    const bool all = tl_table_without_profile(t) != NULL;
    m->passed = tl_alloc((size_t)tl_trace_classes(t) + 1, sizeof *m->passed);
    int status = m->passed && tl_json_fields_init(&m->json, t) ? 0 : no_memory(e);
    for (uint32_t i = 0; status == 0 && i < tl_trace_classes(t); i++) {
        const tl_class *c = tl_trace_class(t, i);
        m->passed[i] = all ? c->kind == TL_FORMAT : !tl_html_is_other(c);
    }
    if (status == 0)
        status = start_density(&m->density, t, classes, e);
    if (status == 0)
        status = tl_html_json_begin(&m->out, &m->j, e);
    if (status < 0)
        return status;
    tl_json_key_u64(&m->j, "schema", 1);
    tl_json_key_string(&m->j, "unit", tl_trace_unit(t));
    tl_json_key(&m->j, "events");
    tl_json_array(&m->j);
    status = read(m, s, select, e);
    if (status < 0)
        return status;
    tl_json_array_end(&m->j);
    tl_json_key_u64(&m->j, "left_out", m->left_out);
    tl_json_object_end(&m->j);
    char *json = NULL;
    out[0] = (tl_html_section){
        .name = "events", .left_out = m->left_out, .what = "events after the first ones, which are counted"};
    status = tl_html_take(m->out, &json, &out[0].n, e);
    out[0].json = json;
    m->out = NULL;
    return status == 0 ? put_density(m, classes ? classes->n : 0, &out[1], e) : status;
}

int tl_html_events(tl_source *s, const tl_select *select, const tl_part *classes, uint64_t bytes,
                   tl_html_section out[static TL_HTML_EVENT_SECTIONS], tl_error *e)
{
    making m = {.bytes = bytes};
    const int status = make(&m, s, select, classes, out, e);
    tl_output_close(m.out);
    tl_fields_fini(&m.json);
    tl_pb_fini(&m.text);
    free(m.passed);
    free(m.density.row_of);
    free(m.density.events);
    return status;
}
