/* The places of each trace of a dataset. */
#include "op/scan/trace_places.h"

#include <stdlib.h>

#include "base/grow.h"
#include "op/call_scan.h"
#include "op/checkpoints.h"

/* Deepest path that is written out; longer ones begin with "...". */
#define PATH_DEPTH 2048u

int tl_trace_places_make(tl_trace_places *out, const tl_dataset *d, uint32_t i, tl_error *e)
{
    const tl_profile_options options = {.select = d->select, .threads = d->threads};
    tl_error why = {0};
    tl_source_read_whole(d->source[i], true); /* places are numbered with those that have no calls */
    int status = tl_profile_from_source(&out->profile, d->source[i], &options, &why);
    tl_source_read_whole(d->source[i], false);
    if (status == TL_EUNSUPPORTED) /* it has neither calls nor samples */
        return 0;
    if (status < 0) {
        if (e)
            *e = why;
        return status;
    }
    const uint32_t n = tl_profile_places(out->profile);
    out->order = tl_alloc((size_t)n + 1, sizeof *out->order);
    out->number = tl_alloc((size_t)n + 1, sizeof *out->number);
    out->depth = tl_alloc((size_t)n + 1, sizeof *out->depth);
    if (!out->order || !out->number || !out->depth)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for places");
    status = tl_profile_canonical_order(out->profile, out->order, e);
    for (uint32_t k = 0; status == 0 && k < n; k++)
        out->number[out->order[k]] = k;
    for (uint32_t k = 0; status == 0 && k < n; k++) { /* callers come first */
        const uint32_t place = out->order[k], caller = place ? out->depth[tl_profile_parent(out->profile, place)] : 0;
        out->depth[place] = caller + (tl_profile_function(out->profile, place) != UINT32_MAX);
    }
    if (status == 0 && !tl_source_is_profile(d->source[i]) && tl_call_scan_wanted(tl_source_trace(d->source[i])))
        status = tl_call_places_new(&out->calls, out->profile, e);
    return status;
}

void tl_trace_places_fini(tl_trace_places *p)
{
    tl_call_places_free(p->calls);
    tl_profile_free(p->profile);
    free(p->order);
    free(p->number);
    free(p->depth);
    *p = (tl_trace_places){0};
}

void tl_place_text(const tl_profile *p, uint32_t place, const char *separator, tl_pb *text)
{
    uint32_t stack[PATH_DEPTH], n = 0;
    char label[24];
    for (; place && n < PATH_DEPTH; place = tl_profile_parent(p, place))
        if (tl_profile_function(p, place) != UINT32_MAX)
            stack[n++] = tl_profile_function(p, place);
    if (place) {
        tl_pb_text(text, "...");
        tl_pb_text(text, separator);
    }
    while (n-- > 0) {
        tl_pb_text(text, tl_function_label(tl_profile_get_function(p, stack[n]), label));
        if (n > 0)
            tl_pb_text(text, separator);
    }
}

void tl_place_path(const tl_profile *p, uint32_t place, tl_pb *text)
{
    tl_place_text(p, place, ";", text);
}
