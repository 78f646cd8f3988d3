/* The runs of events that scans read. */
#include "op/scan/event_reader.h"

#include "model/value_json.h"

static void close_source(void *reader)
{
    tl_event_reader *r = reader;
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

static int open_source(void *reader, uint32_t i, tl_error *e)
{
    tl_event_reader *r = reader;
    tl_source *source = r->dataset->source[i];
    const tl_trace *t = tl_source_trace(source);
    const uint64_t begin = tl_scan_begin(t);
    const tl_scan_part *part = r->ask.part;
    if (tl_source_is_profile(source) || (part && part->source != i))
        return 0;
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
        tl_event_filter_limit(&r->filter, begin, &r->select);
    const bool any = select || r->select.has_from || r->select.has_to;
    tl_want want = source->want;
    want.fields = r->wants_fields;
    want.cpu = r->wants_cpu || r->select.ncpu > 0;
    want.threads = r->ask.alone ? 1 : want.threads;
    select = any ? &r->select : NULL;
    status = part ? tl_events_open_part(&r->events, source, part->first, part->n, select, &want, e)
                  : tl_events_open_want(&r->events, &source, 1, select, r->ask.ordered, &want, e);
    return status < 0 ? status : 1;
}

static int read_source(void *reader, tl_error *e)
{
    tl_event_reader *r = reader;
    return tl_events_runs(r->events, &r->run, &r->nrun, e);
}

static const tl_source_reading reading = {open_source, read_source, close_source};

int tl_event_reader_next(tl_event_reader *r, tl_error *e)
{
    int status = 1;
    while (r->nrun == 0 && status > 0)
        status = tl_source_walk_read(&r->walk, e);
    return status;
}

int tl_event_reader_init(tl_event_reader *r, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask,
                         tl_error *e)
{
    r->kind = t->arg;
    r->dataset = d;
    r->ask = *ask;
    r->ask.used = NULL;
    if (ask->part) {
        r->part = *ask->part;
        r->ask.part = &r->part;
    }
    r->walk = (tl_source_walk){.dataset = d, .ask = &r->ask, .reading = &reading, .scan = r};
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
