/* The layout of a file of snapshots, and single records of it. */
#include "format/xtrace/xtrace_snapshot.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/endian.h"

static const uint32_t header_sizes[] = {24, 19, 0, 32}; /* in the order of attempts */
enum { HEADER_LEAST = 19, HEADER_MOST = 32 };           /* bytes of a header with content; of the largest one */
enum { HEADER_SYNC = 4, HEADER_VERSION = 8, HEADER_SPLIT = 16, HEADER_STREAM = 17, HEADER_ORDER = 18 };

/* Files with more records are checked in samples of this size: all must be right in a valid file, and half in a damaged
 * one before all records are counted. */
#define SAMPLES 4096u

static uint32_t round_up_16(uint32_t n)
{
    return (n + 15) & ~(uint32_t)15;
}

uint64_t xtrace_snapshot_size(uint32_t vl)
{
    const uint32_t vector = vl / 8, predicate = vl / 64;
    return XTRACE_SNAPSHOT_Z + 32 * vector + 17 * round_up_16(predicate) + vector * vector + 96;
}

/* A layout being tried. */
typedef struct layout {
    uint32_t header, vl;
    uint64_t size, records;
    bool whole; /* no bytes are left after the records */
} layout;

/* Bytes at an offset; 0 where the file has become shorter. */
static int read_at(tl_input *in, uint64_t offset, void *buf, size_t n, tl_error *e)
{
    size_t got = 0;
    int status = tl_input_read(in, offset, buf, n, &got, e);
    if (status >= 0 && got < n)
        memset((uint8_t *)buf + got, 0, n - got);
    return status < 0 ? status : 0;
}

/* Does a record end in the vector length? 1 or 0, < 0: error. */
static int is_good(tl_input *in, const layout *l, uint64_t number, tl_error *e)
{
    uint8_t tail[XTRACE_SNAPSHOT_TAIL];
    int status = read_at(in, l->header + (number + 1) * l->size - sizeof tail, tail, sizeof tail, e);
    return status < 0 ? status : tl_load64(tail, false) == l->vl;
}

/* How many records are good, for many records in a sample of SAMPLES. Stops when more than `bad` are not: then *good is
 * 0. */
static int count_good(tl_input *in, const layout *l, bool sample, uint64_t bad, uint64_t *good, tl_error *e)
{
    const uint64_t n = sample ? SAMPLES : l->records;
    uint64_t left = bad;
    *good = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t number = sample ? i * ((l->records - 1) / (n - 1)) : i;
        int status = is_good(in, l, sample && i == n - 1 ? l->records - 1 : number, e);
        if (status < 0)
            return status;
        if (status == 0 && left-- == 0)
            return 0;
    }
    *good = n - (bad - left);
    return 0;
}

/* How many good records a layout has; 0 if it is out of the question. */
static int weigh(tl_input *in, const layout *l, uint64_t *good, tl_error *e)
{
    const bool many = l->records > SAMPLES;
    int status = 0;
    *good = 1;
    if (many)
        status = count_good(in, l, true, (SAMPLES - 1) / 2, good, e);
    if (status >= 0 && *good > 0)
        status = count_good(in, l, false, (l->records - 1) / 2, good, e);
    return status;
}

/* The layouts in order; *next advances. False at the end. Leaves out those without a whole record. */
static bool next_layout(uint64_t total, uint32_t *next, layout *l)
{
    const uint32_t lengths = XTRACE_VL_MOST / XTRACE_VL_STEP;
    while (*next < TL_COUNT(header_sizes) * lengths) {
        l->header = header_sizes[*next / lengths];
        l->vl = (*next % lengths + 1) * XTRACE_VL_STEP;
        l->size = xtrace_snapshot_size(l->vl);
        l->records = total > l->header ? (total - l->header) / l->size : 0;
        l->whole = l->records > 0 && (total - l->header) % l->size == 0;
        (*next)++;
        if (l->records > 0)
            return true;
    }
    return false;
}

/* 1: *out fits best; 0: none fits. */
static int find_layout(tl_input *in, layout *out, tl_error *e)
{
    const uint64_t total = tl_input_size(in);
    uint64_t good, most = 0;
    layout l;
    for (uint32_t next = 0; next_layout(total, &next, &l);) {
        if (!l.whole)
            continue;
        int status = count_good(in, &l, l.records > SAMPLES, 0, &good, e);
        if (status < 0)
            return status;
        if (good > 0) { /* no other layout can fit: the last bytes of the file would have to be two lengths */
            *out = l;
            return 1;
        }
    }
    for (uint32_t next = 0; next_layout(total, &next, &l);) {
        int status = weigh(in, &l, &good, e);
        if (status < 0)
            return status;
        if (good > most || (good > 0 && good == most && l.whole && !out->whole)) {
            *out = l;
            most = good;
        }
    }
    return most > 0;
}

static int read_header(xtrace_snapshots *s, tl_error *e)
{
    uint8_t h[HEADER_LEAST];
    if (s->header_size < HEADER_LEAST)
        return 0;
    int status = read_at(s->in, 0, h, sizeof h, e);
    if (status < 0)
        return status;
    s->has_header = true;
    s->tag = tl_load32(h, false);
    s->sync = tl_load32(h + HEADER_SYNC, false);
    s->version = tl_load64(h + HEADER_VERSION, false);
    s->split = h[HEADER_SPLIT];
    s->stream = h[HEADER_STREAM];
    s->memory_order = h[HEADER_ORDER];
    return 0;
}

/* The counts of the first and of the last good record. */
static int find_range(xtrace_snapshots *s, tl_error *e)
{
    xtrace_entry first, last = {0};
    int status = xtrace_snapshots_next(s, 0, &first, e);
    if (status <= 0)
        return status;
    for (uint64_t n = s->records; status >= 0 && n > first.number && !last.good; n--)
        status = xtrace_snapshots_entry(s, n - 1, &last, e);
    s->has_range = status >= 0;
    s->first_insns = first.insns;
    s->last_insns = last.insns;
    return status;
}

/* Reports bytes that are given up. */
static int tell(const xtrace_snapshots *s, tl_error *e, uint64_t offset, uint64_t bytes, const char *rule,
                const char *what)
{
    const tl_damage d = {.offset = offset,
                         .bytes = bytes,
                         .at = offset,
                         .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS,
                         .rule = rule,
                         .file = s->file};
    if (s->strict)
        return tl_fail(e, TL_EDAMAGED, offset, "%s%s%s: %s", s->file ? s->file : "", s->file ? ": " : "", rule, what);
    return s->trace ? tl_trace_report(s->trace, e, &d, "%s", what) : 0;
}

/* Reports that no layout fits. */
static int tell_layout(const xtrace_snapshots *s, tl_error *e)
{
    char what[160];
    const uint64_t total = tl_input_size(s->in), end = s->first + s->records * s->record_size;
    if (!s->has_layout) {
        snprintf(what, sizeof what,
                 "%" PRIu64
                 " bytes are not snapshots: no header of 24, 19, 0 or 32 bytes and no vector length of %u to "
                 "%u bits fit",
                 total, XTRACE_VL_STEP, XTRACE_VL_MOST);
        return tell(s, e, 0, total, "xtrace.snapshot-size", what);
    }
    if (end >= total)
        return 0;
    snprintf(what, sizeof what, "record %" PRIu64 " is truncated: it has %" PRIu64 " of %" PRIu64 " bytes", s->records,
             total - end, s->record_size);
    return tell(s, e, end, total - end, "xtrace.snapshot-truncated", what);
}

int xtrace_snapshots_open(xtrace_snapshots *s, tl_input *in, tl_trace *t, const char *file, tl_error *e)
{
    *s = (xtrace_snapshots){.in = in, .trace = t, .file = file};
    const uint64_t total = tl_input_size(in);
    layout l = {0};
    int status = 0;
    for (size_t h = 0; h < TL_COUNT(header_sizes); h++)
        if (total == header_sizes[h]) { /* nothing else */
            s->has_layout = true;
            s->header_size = header_sizes[h];
        }
    if (!s->has_layout) {
        status = find_layout(in, &l, e);
        s->has_layout = status > 0;
        s->header_size = l.header;
        s->vl = l.vl;
        s->record_size = l.size;
        s->records = l.records;
    }
    s->first = s->header_size;
    if (status >= 0)
        status = read_header(s, e);
    if (status >= 0)
        status = tell_layout(s, e);
    if (status >= 0)
        status = find_range(s, e);
    return status < 0 ? status : 0;
}

int xtrace_snapshots_strict(xtrace_snapshots *s, tl_error *e)
{
    s->strict = true;
    return tell_layout(s, e);
}

int xtrace_snapshots_read(const xtrace_snapshots *s, uint64_t number, uint8_t *record, tl_error *e)
{
    return read_at(s->in, s->first + number * s->record_size, record, (size_t)s->record_size, e);
}

int xtrace_snapshots_entry(const xtrace_snapshots *s, uint64_t number, xtrace_entry *out, tl_error *e)
{
    uint8_t head[XTRACE_SNAPSHOT_X], tail[XTRACE_SNAPSHOT_TAIL];
    const uint64_t at = s->first + number * s->record_size;
    int status = read_at(s->in, at, head, sizeof head, e);
    if (status >= 0)
        status = read_at(s->in, at + s->record_size - sizeof tail, tail, sizeof tail, e);
    if (status < 0)
        return status;
    *out = (xtrace_entry){.number = number,
                          .file = tl_load64(head + XTRACE_SNAPSHOT_FILE, false),
                          .offset = tl_load64(head + XTRACE_SNAPSHOT_OFFSET, false),
                          .user_insns = tl_load64(head + XTRACE_SNAPSHOT_USER, false),
                          .insns = tl_load64(head + XTRACE_SNAPSHOT_INSNS, false),
                          .vl = tl_load64(tail, false)};
    out->good = out->vl == s->vl;
    return 0;
}

int xtrace_snapshots_tell_vl(const xtrace_snapshots *s, uint64_t number, uint64_t vl, tl_error *e)
{
    char what[120];
    snprintf(what, sizeof what, "record %" PRIu64 " ends in the vector length %" PRIu64 " in a file of %u", number, vl,
             s->vl);
    return tell(s, e, s->first + number * s->record_size, s->record_size, "xtrace.snapshot-vl", what);
}

int xtrace_snapshots_next(const xtrace_snapshots *s, uint64_t number, xtrace_entry *out, tl_error *e)
{
    xtrace_entry found;
    for (; number < s->records; number++) {
        int status = xtrace_snapshots_entry(s, number, &found, e);
        if (status < 0)
            return status;
        if (found.good) {
            *out = found;
            return 1;
        }
    }
    return 0;
}

int xtrace_snapshots_find(const xtrace_snapshots *s, uint64_t insns, uint64_t *number, tl_error *e)
{
    uint64_t low = 0, high = s->records; /* the record is before `high`; `best`, if found, is before `low` */
    uint64_t best = UINT64_MAX;
    while (low < high) {
        xtrace_entry middle;
        int status = xtrace_snapshots_next(s, low + (high - low) / 2, &middle, e);
        if (status < 0)
            return status;
        if (status > 0 && middle.number < high && middle.insns <= insns) {
            best = middle.number;
            low = middle.number + 1;
        } else {
            high = low + (high - low) / 2;
        }
    }
    if (best == UINT64_MAX)
        return 0;
    *number = best;
    return 1;
}
