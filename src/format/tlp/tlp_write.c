/* Writes a profile as a .tlp file. It is encoded in memory first, since the size precedes it; the profile itself takes
 * many times that. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/endian.h"
#include "base/grow.h"
#include "base/protobuf.h"
#include "base/text/number.h"
#include "format/tlp/tlp_format.h"
#include "format/tlp/tlp_layout.h"
#include "model/hist_bytes.h"
#include "model/patched.h"
#include "model/string_rank.h"

typedef struct encoder {
    const tl_profile *p;
    tl_string_ranks ranks;
    uint32_t *function; /* [nfunction] in canonical order */
    uint32_t *track;    /* [ntrack] in canonical order */
    uint32_t *place;    /* [nplace] in canonical order */
    uint32_t *code;     /* of each function, by index: number of threads + rank */
    uint32_t *next;     /* [nplace] scratch: least code for the next child */
    bool extended;      /* version 2 */
    bool unwound;       /* it has counts of calls closed by outer exits */
    tl_pb file;
} encoder;

static void put_string(encoder *w, const char *s)
{
    tl_pb_varint(&w->file, tl_string_rank(&w->ranks, s));
}

/* The size is filled in later. */
static void put_header(encoder *w)
{
    uint8_t header[TLP_OFFSET_BODY];
    unsigned flags = (w->p->has_histogram ? TLP_HISTOGRAM : 0u) | (w->p->per_thread ? TLP_PER_THREAD : 0u) |
                     (w->p->clock.has_utc ? TLP_UTC : 0u) | (w->p->nweight ? TLP_SAMPLES : 0u) |
                     (w->p->nweight && w->p->has_span ? TLP_SPAN : 0u) | (w->unwound ? TLP_UNWOUND : 0u) |
                     (w->p->npatched ? TLP_PATCHED : 0u) | (w->p->rescaled ? TLP_RESCALED : 0u);
    memcpy(header + TLP_OFFSET_MAGIC, TLP_MAGIC, TLP_MAGIC_BYTES);
    tl_store16(header + TLP_OFFSET_VERSION, w->extended ? TLP_VERSION_SAMPLES : TLP_VERSION, false);
    tl_store16(header + TLP_OFFSET_FLAGS, (uint16_t)flags, false);
    tl_store64(header + TLP_OFFSET_SIZE, 0, false);
    tl_pb_raw(&w->file, header, sizeof header);
}

static void put_head(encoder *w)
{
    const tl_profile *p = w->p;
    put_string(w, p->clock.name);
    tl_pb_varint(&w->file, p->clock.hz);
    if (p->clock.has_utc)
        tl_pb_varint(&w->file, tlp_zigzag(p->clock.utc_offset_ns));
    put_string(w, p->build_id);
    put_string(w, p->exe);
    tl_pb_varint(&w->file, p->unmatched_exits);
    tl_pb_varint(&w->file, p->unmatched_open);
    tl_pb_varint(&w->file, p->lost_events);
    tl_pb_varint(&w->file, p->damaged_bytes);
    if (!p->nweight)
        return;
    tl_pb_varint(&w->file, p->samples.counted);
    tl_pb_varint(&w->file, p->samples.empty);
    tl_pb_varint(&w->file, p->samples.paused);
    if (p->has_span) {
        tl_pb_varint(&w->file, p->begin);
        tl_pb_varint(&w->file, p->end - p->begin);
    }
}

static void put_patched(encoder *w)
{
    if (w->p->npatched)
        tl_pb_varint(&w->file, w->p->npatched);
    for (uint32_t i = 0; i < w->p->npatched; i++) {
        const tl_patched *o = &w->p->patched[i];
        put_string(w, o->path);
        tl_pb_varint(&w->file, o->functions);
        tl_pb_varint(&w->file, o->patched);
        tl_pb_varint(&w->file, o->late);
        put_string(w, o->why);
    }
}

static void put_functions(encoder *w)
{
    uint64_t id = 0;
    for (uint32_t i = 0; i < w->p->nfunction; i++) {
        const tl_function *f = &w->p->function[w->function[i]];
        put_string(w, f->module);
        tl_pb_varint(&w->file, tlp_zigzag((int64_t)((uint64_t)f->id - id)));
        put_string(w, f->name);
        put_string(w, f->file);
        tl_pb_varint(&w->file, f->line);
        tl_pb_varint(&w->file, f->address);
        put_string(w, f->linkage_name);
        if (w->extended) {
            put_string(w, f->library);
            put_string(w, f->renamed);
            tl_pb_varint(&w->file, f->flags);
            if (f->flags & TL_FUNCTION_OFFSET)
                tl_pb_varint(&w->file, f->offset);
        }
        id = (uint64_t)f->id;
    }
}

static void put_threads(encoder *w)
{
    for (uint32_t i = 0; i < w->p->ntrack; i++) {
        const tl_track *t = &w->p->track[w->track[i]];
        tl_pb_varint(&w->file, (t->has_pid ? TLP_HAS_PID : 0u) | (t->has_tid ? TLP_HAS_TID : 0u));
        if (t->has_pid)
            tl_pb_varint(&w->file, tlp_zigzag(t->pid));
        if (t->has_tid)
            tl_pb_varint(&w->file, tlp_zigzag(t->tid));
        put_string(w, t->name);
    }
}

static void put_tree(encoder *w)
{
    const tl_profile *p = w->p;
    for (uint32_t i = 1; i < p->nplace; i++) {
        uint32_t up = 0, parent = p->place[w->place[i]].parent;
        for (uint32_t at = w->place[i - 1]; at != parent; at = p->place[at].parent)
            up++;
        tl_pb_varint(&w->file, up);
    }
    uint32_t threads = 0;
    for (uint32_t i = 0; i < p->nplace; i++)
        w->next[i] = i == 0 ? 0 : p->ntrack; /* threads only below the root of all */
    for (uint32_t i = 1; i < p->nplace; i++) {
        const tl_place *at = &p->place[w->place[i]];
        uint32_t code = at->function == TL_NO_FUNCTION ? threads++ : w->code[at->function];
        tl_pb_varint(&w->file, code - w->next[at->parent]);
        w->next[at->parent] = code + 1;
    }
}

static const tl_place_stat *stat_at(const encoder *w, uint32_t i)
{
    return &w->p->stat[w->place[i]];
}

/* Differences are modulo 2^64: exact for any numbers, small for real programs. */
static void put_sums(encoder *w)
{
    uint32_t n = w->p->nplace;
    for (uint32_t k = 0; k < w->p->nweight; k++)
        for (uint32_t i = 1; i < n; i++)
            tl_pb_varint(&w->file, tl_profile_weight_self(w->p, w->place[i], k));
    if (w->p->nweight)
        return;
    for (uint32_t i = 1; i < n; i++)
        tl_pb_varint(&w->file, stat_at(w, i)->calls);
    for (uint32_t i = 1; i < n; i++)
        tl_pb_varint(&w->file, stat_at(w, i)->total);
    for (uint32_t i = 1; i < n; i++)
        tl_pb_varint(&w->file, stat_at(w, i)->total - stat_at(w, i)->self);
    for (uint32_t i = 1; i < n; i++)
        tl_pb_varint(&w->file, stat_at(w, i)->total - stat_at(w, i)->outer);
}

static void put_durations(encoder *w)
{
    uint32_t n = w->p->nplace;
    for (uint32_t i = 1; i < n; i++)
        if (stat_at(w, i)->calls)
            tl_pb_varint(&w->file, stat_at(w, i)->total / stat_at(w, i)->calls - stat_at(w, i)->min);
    for (uint32_t i = 1; i < n; i++)
        if (stat_at(w, i)->calls)
            tl_pb_varint(&w->file, stat_at(w, i)->max - stat_at(w, i)->min);
    for (uint32_t i = 1; i < n; i++)
        if (stat_at(w, i)->calls)
            tl_hist_put_buckets(&w->file, &stat_at(w, i)->hist, stat_at(w, i)->min, stat_at(w, i)->max);
}

static void put_body(encoder *w)
{
    tl_pb_varint(&w->file, w->ranks.n);
    tl_pb_varint(&w->file, w->p->nfunction);
    tl_pb_varint(&w->file, w->p->ntrack);
    tl_pb_varint(&w->file, w->p->nplace - 1);
    for (uint32_t i = 0; i < w->ranks.n; i++) {
        size_t n = strlen(w->ranks.text[i]);
        tl_pb_varint(&w->file, n);
        tl_pb_raw(&w->file, w->ranks.text[i], n);
    }
    put_head(w);
    put_patched(w);
    put_functions(w);
    put_threads(w);
    put_tree(w);
    put_sums(w);
    for (uint32_t i = 1; w->unwound && i < w->p->nplace; i++)
        tl_pb_varint(&w->file, tl_profile_place_unwound(w->p, w->place[i]));
    if (w->p->has_histogram)
        put_durations(w);
}

/* The buckets column omits what min, max and calls determine, so these must agree with the histogram. */
static int check_histograms(const tl_profile *p, tl_error *e)
{
    for (uint32_t i = 0; p->has_histogram && i < p->nplace; i++) {
        const tl_place_stat *s = &p->stat[i];
        uint64_t sum = tl_hist_sum(&s->hist);
        uint32_t last = tl_hist_bucket(s->max);
        bool ends =
            s->calls == 0 || (s->min <= s->max && tl_hist_next(&s->hist, 0) == tl_hist_bucket(s->min) &&
                              tl_hist_get(&s->hist, last) && tl_hist_next(&s->hist, last + 1) == TL_HIST_BUCKETS);
        if (sum != s->calls || !ends)
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                           "tlp: place %" PRIu32 " has %" PRIu64 " calls of %" PRIu64 " to %" PRIu64
                           " ticks, but its histogram holds %" PRIu64 " calls",
                           i, s->calls, s->min, s->max, sum);
    }
    return 0;
}

/* Does the profile need more than version 1 can hold? */
static bool needs_extended(const tl_profile *p)
{
    for (uint32_t i = 0; i < p->nfunction; i++)
        if (p->function[i].library || p->function[i].renamed || p->function[i].flags)
            return true;
    return p->nweight > 0 || p->npatched > 0 || p->rescaled || tl_profile_unwound(p) > 0;
}

/* The requested version is the highest one allowed. */
static int check_version(const char *wanted, bool extended, const tl_profile *p, tl_error *e)
{
    const unsigned newest = TLP_VERSION_SAMPLES;
    uint64_t number;
    if (wanted && (!tl_parse_u64(wanted, &number) || number > newest))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "tlp: version %s, but %u is the newest", wanted, newest);
    if (wanted && extended && number < newest)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "tlp: version %s cannot hold this profile, version %u can",
                       wanted, newest);
    if (p->nweight && (p->nweight != TL_SAMPLE_WEIGHTS || p->kind != tl_sample_weight))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "tlp: a profile of samples with other weights");
    return 0;
}

static int encoder_init(encoder *w, const tl_profile *p, bool extended, tl_error *e)
{
    *w = (encoder){.p = p, .extended = extended, .unwound = tl_profile_unwound(p) > 0};
    w->function = tl_alloc((size_t)p->nfunction + 1, sizeof *w->function);
    w->code = tl_alloc((size_t)p->nfunction + 1, sizeof *w->code);
    w->track = tl_alloc((size_t)p->ntrack + 1, sizeof *w->track);
    w->place = tl_alloc(p->nplace, sizeof *w->place);
    w->next = tl_alloc(p->nplace, sizeof *w->next);
    if (!w->function || !w->code || !w->track || !w->place || !w->next)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "tlp: no memory to write %" PRIu32 " places", p->nplace);
    int status = tl_string_ranks_init(&w->ranks, p, e);
    if (status >= 0)
        status = tl_profile_function_order(p, w->function, e);
    if (status >= 0)
        status = tl_profile_track_order(p, w->track, e);
    if (status >= 0)
        status = tl_profile_canonical_order(p, w->place, e);
    for (uint32_t i = 0; status >= 0 && i < p->nfunction; i++)
        w->code[w->function[i]] = p->ntrack + i;
    return status;
}

static void encoder_fini(encoder *w)
{
    free(w->function);
    free(w->code);
    free(w->track);
    free(w->place);
    free(w->next);
    tl_pb_fini(&w->file);
    tl_string_ranks_fini(&w->ranks);
}

int tl_tlp_write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    const char *wanted = context->options ? context->options->version : NULL;
    const bool extended = needs_extended(p);
    int status = check_version(wanted, extended, p, e);
    if (status >= 0)
        status = check_histograms(p, e);
    if (status < 0)
        return status;
    encoder w;
    status = encoder_init(&w, p, extended, e);
    if (status < 0)
        goto out;
    put_header(&w);
    put_body(&w);
    tl_pb_raw(&w.file, (const uint8_t[TLP_CHECKSUM_BYTES]){0}, TLP_CHECKSUM_BYTES);
    const uint64_t size = w.file.n;
    if (w.file.failed || size > TLP_SIZE_MAX) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET,
                         "tlp: no memory to write %" PRIu32 " places, or more than %" PRIu64 " bytes", p->nplace,
                         TLP_SIZE_MAX);
        goto out;
    }
    size_t end = w.file.n - TLP_CHECKSUM_BYTES;
    tl_store64(w.file.data + TLP_OFFSET_SIZE, size, false);
    tl_store32(w.file.data + end, tl_crc32(0, w.file.data, end), false);
    tl_output_write(context->out, w.file.data, w.file.n);
out:
    encoder_fini(&w);
    return status;
}
