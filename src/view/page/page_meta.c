/* The sections of a page that are JSON: what it is about, and what was damaged. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "model/profile_words.h"
#include "traceloom/traceloom.h"
#include "view/page/page_text.h"
#include "view/page/page_time.h"

#define SAFE_MOST ((UINT64_C(1) << 53) - 1) /* larger whole numbers are not exact in a browser */

static void put_number(tl_json *j, const char *key, uint64_t v)
{
    char text[24];
    if (v <= SAFE_MOST) {
        tl_json_key_u64(j, key, v);
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64, v);
    tl_json_key_string(j, key, text);
}

static void put_bool(tl_json *j, const char *key, bool v)
{
    tl_json_key(j, key);
    tl_json_bool(j, v);
}

static void put_inputs(tl_json *j, const tl_html_inputs *in)
{
    tl_json_key(j, "inputs");
    tl_json_array(j);
    for (uint64_t i = 0; i < in->n && i < TL_HTML_INPUTS_MAX; i++) {
        tl_json_object(j);
        tl_json_key_string(j, "name", in->input[i].name);
        tl_json_key_string(j, "format", in->input[i].format);
        tl_json_key_string(j, "version", in->input[i].version);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_json_key_u64(j, "inputs_left_out", in->n > TL_HTML_INPUTS_MAX ? in->n - TL_HTML_INPUTS_MAX : 0);
}

static void put_weights(tl_json *j, const tl_profile *p)
{
    tl_json_key(j, "weights");
    tl_json_array(j);
    for (uint32_t i = 0; i < p->nweight; i++) {
        tl_json_object(j);
        tl_json_key_string(j, "name", p->kind[i].name);
        tl_json_key_string(j, "unit", p->kind[i].unit);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    if (p->nweight)
        tl_json_key_u64(j, "weight", p->weight);
    else
        tl_json_key_null(j, "weight");
}

static void put_time(tl_json *j, const tl_html_time *t)
{
    put_bool(j, "has_time", t->known);
    tl_json_key_string(j, "no_time", t->known ? NULL : t->unknown);
    if (!t->known)
        return;
    tl_json_key_string(j, "axis", t->of_insns ? "instructions" : "time");
    put_number(j, "begin", t->begin > t->zero ? t->begin - t->zero : 0);
    put_number(j, "span", t->end - t->begin);
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, t->utc_ns);
    if (t->has_utc)
        tl_json_key_string(j, "begin_utc_ns", text);
    else
        tl_json_key_null(j, "begin_utc_ns");
}

static void put_units(tl_json *j, const tl_html_page *page, const tl_profile *p, const tl_html_time *t)
{
    const char *unit = tl_profile_unit(p);
    const tl_profile_words words = tl_profile_words_of(p);
    tl_json_key_string(j, "kind",
                       page->instead                       ? "events"
                       : p->nweight                        ? "samples"
                       : strcmp(unit, "instructions") == 0 ? "insns"
                                                           : "calls");
    put_time(j, t);
    tl_json_key_string(j, "unit", unit);
    tl_json_key_string(j, "count_unit", tl_profile_calls(p));
    tl_json_key(j, "words");
    tl_json_object(j);
    tl_json_key_string(j, "one", words.one);
    tl_json_key_string(j, "many", words.many);
    tl_json_key_string(j, "whole", words.whole);
    tl_json_object_end(j);
    tl_json_key(j, "clock");
    tl_json_object(j);
    put_number(j, "hz", p->clock.hz);
    tl_json_object_end(j);
    put_bool(j, "histogram", p->has_histogram && !page->instead);
    put_bool(j, "per_thread", p->per_thread);
    put_weights(j, p);
}

static void put_sums(tl_json *j, const tl_html_page *page, const tl_html_data *d, const tl_html_source *s)
{
    const tl_profile *p = s->profile;
    uint64_t calls = 0, self = 0;
    for (uint32_t i = 0; i < p->nplace; i++) {
        calls = tl_add_saturated(calls, p->stat[i].calls);
        self = tl_add_saturated(self, p->stat[i].self);
    }
    put_number(j, "calls", p->nweight ? p->samples.counted : calls);
    put_number(j, "self", self);
    put_number(j, "total", s->tree.weight[0]);
    tl_json_key_u64(j, "functions", s->rows.n);
    tl_json_key_u64(j, "places", d->places);
    tl_json_key_u64(j, "threads", page->table->tracks);
}

static void put_losses(tl_json *j, const tl_html_page *page, const tl_profile *p)
{
    const tl_html_inputs *in = page->inputs;
    tl_json_key(j, "unmatched");
    tl_json_object(j);
    put_number(j, "exits", tl_profile_unmatched_exits(p));
    put_number(j, "open", tl_profile_unmatched_open(p));
    put_number(j, "unwound", tl_profile_unwound(p));
    tl_json_object_end(j);
    tl_json_key(j, "samples");
    if (p->nweight) {
        tl_json_object(j);
        put_number(j, "counted", p->samples.counted);
        put_number(j, "empty", p->samples.empty);
        put_number(j, "paused", p->samples.paused);
        tl_json_object_end(j);
    } else {
        tl_json_null(j);
    }
    tl_json_key(j, "lost");
    tl_json_object(j);
    put_number(j, "events", in->lost_events);
    put_number(j, "packets", in->lost_packets);
    put_number(j, "bytes", in->damaged_bytes);
    put_number(j, "out_of_order", in->out_of_order);
    tl_json_object_end(j);
}

static void put_lines(tl_json *j, const tl_html_lines *lines)
{
    for (uint32_t i = 0; i < lines->n; i++)
        tl_json_string(j, lines->line[i]);
}

static void put_sentences(tl_json *j, const tl_html_page *page, const tl_profile *p)
{
    char text[TL_UNMATCHED_SIZE];
    tl_json_key(j, "losses");
    tl_json_array(j);
    put_lines(j, &page->inputs->losses);
    if (*tl_profile_unmatched_text(p, text))
        tl_json_string(j, text);
    if (*tl_profile_unwound_text(p, text))
        tl_json_string(j, text);
    tl_json_array_end(j);
    tl_json_key(j, "notes");
    tl_json_array(j);
    put_lines(j, &page->inputs->notes);
    tl_json_array_end(j);
}

static void put_options(tl_json *j, const tl_html_page *page)
{
    tl_json_key_string(j, "selection", page->selection);
    tl_json_key_string(j, "by", page->by);
    tl_json_key_string(j, "sort", page->sort);
    if (page->has_top)
        tl_json_key_u64(j, "top", page->top);
    else
        tl_json_key_null(j, "top");
    tl_json_key_string(j, "again", page->again);
}

bool tl_html_left_out(const tl_html_data *d, const tl_profile *p, unsigned i, tl_html_omission *out)
{
    char amount[TL_AMOUNT_SIZE];
    *out = (tl_html_omission){0};
    switch (i) {
    case 0:
        *out = (tl_html_omission){.section = "tree", .n = d->places_out, .self = d->places_self, .has_self = true};
        snprintf(out->text, sizeof out->text, "narrow places of the tree, but for sums (none is wider than %s)",
                 tl_profile_amount(p, amount, d->narrowest));
        return true;
    case 1:
        *out = (tl_html_omission){
            .section = "functions", .n = d->functions_out, .self = d->functions_self, .has_self = true};
        snprintf(out->text, sizeof out->text, "functions with a small total");
        return true;
    case 2:
        *out = (tl_html_omission){.section = "hist", .n = d->hist_out};
        snprintf(out->text, sizeof out->text, "histograms of functions with a small total");
        return true;
    case 3:
        *out = (tl_html_omission){.section = "names", .n = d->texts_out};
        snprintf(out->text, sizeof out->text, "names and paths of functions, for which there was no room");
        return true;
    case 4:
        *out = (tl_html_omission){.section = "spans", .n = d->spans_out};
        if (d->spans_all_from == 0)
            snprintf(out->text, sizeof out->text, "deep calls of the timeline");
        else
            snprintf(out->text, sizeof out->text, "short calls of the timeline (all of at least %s are there)",
                     tl_profile_amount(p, amount, d->spans_all_from));
        return true;
    case 5:
        *out = (tl_html_omission){.section = "grid", .n = d->grid_out};
        snprintf(out->text, sizeof out->text, "rows of the timeline that say what covers it");
        return true;
    case 6:
        *out = (tl_html_omission){.section = "slow", .n = d->slow_out};
        snprintf(out->text, sizeof out->text, "lists of the slowest calls of a function");
        return true;
    default:
        return false;
    }
}

static void put_omission(tl_json *j, const tl_html_omission *o)
{
    if (o->n == 0)
        return;
    tl_json_object(j);
    tl_json_key_string(j, "section", o->section);
    put_number(j, "n", o->n);
    if (o->has_self)
        put_number(j, "self", o->self);
    else
        tl_json_key_null(j, "self");
    tl_json_key_string(j, "text", o->text);
    tl_json_object_end(j);
}

static void put_left_out(tl_json *j, const tl_html_page *page, const tl_html_data *d, const tl_profile *p)
{
    tl_html_omission o;
    tl_json_key(j, "left_out");
    tl_json_array(j);
    for (unsigned i = 0; tl_html_left_out(d, p, i, &o); i++)
        put_omission(j, &o);
    for (size_t i = 0; i < page->nmore; i++) {
        o = (tl_html_omission){.section = page->more[i].name, .n = page->more[i].left_out};
        snprintf(o.text, sizeof o.text, "%s", page->more[i].what ? page->more[i].what : "");
        put_omission(j, &o);
    }
    tl_json_array_end(j);
}

int tl_html_json_begin(tl_output **out, tl_json *j, tl_error *e)
{
    const int status = tl_output_open_memory(out, TL_PLAIN, e);
    if (status == 0) {
        tl_json_init(j, *out);
        tl_json_object(j);
    }
    return status;
}

int tl_html_take(tl_output *out, char **json, size_t *n, tl_error *e)
{
    const int status = tl_output_finish(out, e);
    if (status == 0)
        *json = tl_output_take_memory(out, n);
    tl_output_close(out);
    return status == 0 && !*json ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the page") : status;
}

int tl_html_meta(const tl_html_page *page, const tl_html_data *d, const tl_html_source *s, const tl_html_time *t,
                 const char *facts, char **json, size_t *n, tl_error *e)
{
    tl_output *out;
    tl_json j;
    char made_by[64];
    const int status = tl_html_json_begin(&out, &j, e);
    if (status < 0)
        return status;
    tl_json_key_u64(&j, "schema", 1);
    snprintf(made_by, sizeof made_by, "traceloom %s", tl_version());
    tl_json_key_string(&j, "made_by", made_by);
    tl_json_key_string(&j, "title", page->title);
    tl_json_key_string(&j, "facts", facts);
    put_inputs(&j, page->inputs);
    put_units(&j, page, s->profile, t);
    put_sums(&j, page, d, s);
    put_losses(&j, page, s->profile);
    put_sentences(&j, page, s->profile);
    put_options(&j, page);
    put_left_out(&j, page, d, s->profile);
    tl_json_object_end(&j);
    return tl_html_take(out, json, n, e);
}

static void put_place(tl_json *j, const tl_damage_row *d)
{
    tl_json_object(j);
    tl_json_key_u64(j, "input", d->trace);
    tl_json_key_string(j, "file", d->file);
    if (d->has_offset)
        put_number(j, "offset", d->offset);
    else
        tl_json_key_null(j, "offset");
    put_number(j, "bytes", d->bytes);
    tl_json_key_string(j, "kind", d->kind);
    tl_json_key_string(j, "rule", d->rule);
    tl_json_key_string(j, "what", d->what);
    tl_json_object_end(j);
}

int tl_html_damage(const tl_catalog *damage, char **json, size_t *n, tl_error *e)
{
    tl_output *out;
    tl_json j;
    const int status = tl_html_json_begin(&out, &j, e);
    if (status < 0)
        return status;
    tl_json_key_u64(&j, "n", damage->ndamage);
    tl_json_key(&j, "damage");
    tl_json_array(&j);
    for (uint32_t i = 0; i < damage->ndamage && i < TL_HTML_DAMAGE_MAX; i++)
        put_place(&j, &damage->damage[i]);
    tl_json_array_end(&j);
    tl_json_object_end(&j);
    return tl_html_take(out, json, n, e);
}
