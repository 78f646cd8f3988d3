/* Chrome trace events of managed runtimes: spans and gauges; see chrome_samples.c for samples.
 *
 *   {"ph":"X","name":"JIT Work:Fib","cat":"JIT","pid":7,"tid":8,"ts":5.000,"dur":2.000,"args":{...}}
 *   {"ph":"b","name":"GC","cat":"GC","id":"0x1","pid":7,"tid":8,"ts":5.000,"args":{...}}
 *   {"ph":"e","name":"GC","cat":"GC","id":"0x1","pid":7,"tid":8,"ts":9.000}
 *   {"ph":"C","name":"CPU thread 0x2","pid":7,"tid":8,"ts":5.000,"args":{"%":12.5}}
 *
 * A span that nests in those of its thread is an X, which viewers prefer; others, and those of threads with calls, are
 * b and e. */
#include <string.h>

#include "base/text/float_text.h"
#include "format/chrome/chrome_writer.h"

/* ,"name":"GC GEN0" from words. */
static bool put_name(chrome_writer *w, const char *const *word, size_t n)
{
    tl_pb_clear(&w->args);
    tl_timeline_words(&w->args, word, n);
    tl_pb_text(&w->text, ",\"name\":");
    tl_string_json(&w->text, (const char *)w->args.data, w->args.n, &w->fields.bad);
    return !w->args.failed;
}

/* One event for a span: all of it, or its begin or end. */
static bool write_part(chrome_writer *w, const tl_span *s, char ph, uint64_t ns, uint64_t duration)
{
    char buf[24];
    const char *word[] = {tl_span_title(s), tl_span_label(s, w->line.context.trace, buf)};
    tl_pb *text = chrome_begin_event(w, ph);
    if (!put_name(w, word, TL_COUNT(word)))
        return false;
    tl_pb_text(text, ",\"cat\":");
    chrome_put_string(w, tl_span_title(s));
    if (ph != 'X') {
        tl_pb_text(text, ",\"id\":");
        chrome_put_id(text, w->apart);
    }
    if (!chrome_put_place(w, s->track, ns))
        return false;
    if (ph == 'X') {
        tl_pb_text(text, ",\"dur\":");
        chrome_put_time(text, duration);
    }
    if (ph != 'e' && s->nargs > 0) {
        tl_pb_text(text, ",\"args\":{");
        tl_pb_raw(text, s->args, s->nargs);
        tl_pb_text(text, "}");
    }
    return chrome_end_event(w);
}

bool chrome_write_span(void *writer, const tl_span *s, uint64_t begin, uint64_t end)
{
    chrome_writer *w = writer;
    const tl_nest_track *t = tl_nest_get(&w->line.nest, s->track);
    if (!t)
        return false;
    if (s->nests && !t->open)
        return write_part(w, s, 'X', begin, end - begin);
    w->apart++;
    return write_part(w, s, 'b', begin, 0) && write_part(w, s, 'e', end, 0);
}

bool chrome_write_gauge(void *writer, const tl_gauge *g, uint64_t ns)
{
    chrome_writer *w = writer;
    const tl_track *track = tl_trace_track(w->line.context.trace, g->track);
    const char *word[] = {g->name, g->part, g->suffix, g->of_process || !track ? NULL : track->name};
    tl_pb *text = chrome_begin_event(w, 'C');
    if (!put_name(w, word, TL_COUNT(word)) || !chrome_put_place(w, g->track, ns))
        return false;
    tl_pb_text(text, ",\"args\":{");
    chrome_put_string(w, g->unit);
    tl_pb_text(text, ":");
    if (g->is_real) {
        char number[TL_FLOAT_TEXT_MAX];
        tl_pb_raw(text, number, (size_t)(tl_put_double(number, g->real) - number));
    } else {
        tl_pb_text_u64(text, g->value);
    }
    tl_pb_text(text, "}");
    return chrome_end_event(w);
}
