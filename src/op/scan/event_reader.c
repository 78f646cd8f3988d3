/* The runs of events that scans read. */
#include "op/scan/event_reader.h"

#include "model/value_json.h"

static void close_source(tl_event_reader *r)
{
    tl_events_close(r->events);
    r->events = NULL;
    tl_event_filter_fini(&r->filter);
    if (r->has_json) {
        tl_fields_fini(&r->json);
        tl_enum_texts_fini(&r->labels);
    }
    r->json = (tl_fields){0};
    r->labels = (tl_enum_texts){0};
    r->has_json = false;
    r->nrun = 0;
}

/* Narrows the time of the selection; ticks count from `begin` there. */
static void limit_time(tl_event_reader *r, uint64_t begin)
{
    const tl_event_filter *f = &r->filter;
    const uint64_t from = f->from > begin ? f->from - begin : 0, to = f->to > begin ? f->to - begin : 0;
    if (f->to == UINT64_MAX && from == 0)
        return;
    if (from > 0 && (!r->select.has_from || r->select.time_from < from)) {
        r->select.has_from = true;
        r->select.time_from = from;
    }
    if (f->to != UINT64_MAX && (!r->select.has_to || r->select.time_to > to)) {
        r->select.has_to = true;
        r->select.time_to = to;
    }
}

/* Readers that leave out what is outside of a time do not count it: then times are tested here alone. */
static void keep_numbers(tl_event_reader *r, uint64_t begin)
{
    tl_event_filter *f = &r->filter;
    if (r->select.has_from && begin + r->select.time_from > f->from)
        f->from = begin + r->select.time_from;
    if (r->select.has_to && r->select.time_to < f->to - begin)
        f->to = begin + r->select.time_to;
    f->has_time = f->has_time || r->select.has_from || r->select.has_to;
    r->select.has_from = r->select.has_to = false;
}

/* ONE|ODD */
static void join_labels(void *arg, const char *const *label, uint32_t n, tl_pb *text)
{
    (void)arg;
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_raw(text, "|", i > 0);
        tl_pb_text(text, label[i]);
    }
}

static int open_source(tl_event_reader *r, uint32_t i, tl_error *e)
{
    tl_source *source = r->dataset->source[i];
    const tl_trace *t = tl_source_trace(source);
    uint64_t begin = 0, end;
    if (!t->clock.from_zero)
        tl_trace_range(t, &begin, &end);
    r->view = (tl_event_view){
        .trace = t, .begin = begin, .number = i + 1, .code = source->code, .json = &r->json, .labels = &r->labels};
    r->has_json = true;
    tl_enum_texts_init(&r->labels, join_labels, NULL);
    if (!tl_json_fields_init(&r->json, t))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    const tl_event_table *kind = r->kind;
    int status = tl_event_filter_init(&r->filter, t, begin, &r->ask, kind->part,
                                      kind->source ? kind->source[i].only : NULL, kind->kinds, e);
    if (status < 0)
        return status;
    const tl_select *select = r->whole ? NULL : r->dataset->select;
    r->select = select ? *select : (tl_select){0};
    if (r->skips_none)
        keep_numbers(r, begin);
    else if (!r->whole)
        limit_time(r, begin);
    const bool any = select || r->select.has_from || r->select.has_to;
    tl_want want = source->want;
    want.fields = r->wants_fields;
    want.cpu = r->wants_cpu || r->select.ncpu > 0;
    return tl_events_open_want(&r->events, &source, 1, any ? &r->select : NULL, r->ask.ordered, &want, e);
}

int tl_event_reader_next(tl_event_reader *r, tl_error *e)
{
    for (;;) {
        if (r->nrun > 0)
            return 1;
        if (r->ask.stop && r->ask.stop(r->ask.stop_arg))
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "stopped");
        int status = r->events ? tl_events_runs(r->events, &r->run, &r->nrun, e) : 0;
        if (status < 0)
            return status;
        if (status > 0)
            continue;
        close_source(r);
        if (r->next == r->dataset->n)
            return 0;
        const uint32_t i = r->next++;
        if (!tl_source_is_profile(r->dataset->source[i]))
            status = open_source(r, i, e);
        if (status < 0)
            return status;
    }
}

int tl_event_reader_init(tl_event_reader *r, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask,
                         tl_error *e)
{
    r->kind = t->arg;
    r->dataset = d;
    r->ask = *ask;
    r->ask.used = NULL;
    for (uint32_t i = 0; i < t->ncolumn; i++)
        if (!ask->used || ask->used[i]) {
            r->wants_cpu = r->wants_cpu || r->kind->part[i] == TL_EVENT_CPU;
            r->skips_none = r->skips_none || r->kind->part[i] == TL_EVENT_ID || r->kind->part[i] == TL_EVENT_ACCESS_PC;
            r->wants_fields = r->wants_fields || tl_event_part_wants_fields(r->kind->part[i]);
        }
    return tl_term_copy_init(&r->terms, &r->ask, e);
}

void tl_event_reader_fini(tl_event_reader *r)
{
    close_source(r);
    tl_term_copy_fini(&r->terms);
}
