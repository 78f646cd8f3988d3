/* Lines of records: the form of each item of records.def in a line.
 *
 * Numbers have as many digits as in the source, or else as in the specification: 8 for iids and codes, 16 for pointers,
 * as many as needed in lists. Padded numbers are in upper case, others in lists in lower case. */
#include "format/tracelog/tracelog_write_record.h"

#include <string.h>

#include "base/text/ends_in.h"
#include "format/tracelog/tracelog_write_sample.h"
#include "model/field_text.h"

/* The scalar value at *v, which is advanced; NULL if there is none. */
static const tl_value *take(const tl_value **v, const tl_value *end)
{
    const tl_value *at = *v;
    if (TL_UNLIKELY(at >= end))
        return NULL;
    *v = TL_LIKELY(at->type < TL_LIST || at->type > TL_VARIANT) ? at + 1 : tl_value_skip(at, end);
    return at;
}

static bool is_number(const tl_value *v)
{
    return v && (v->type == TL_HEX || v->type == TL_U64);
}

static bool is_nothing(const tl_value *v)
{
    return v && (v->type == TL_NULL || v->type == TL_ABSENT);
}

/* The number of digits in the source, or else this one. */
static unsigned digits_of(const tl_value *v, unsigned otherwise)
{
    const unsigned digits = v->type == TL_HEX && v->flags ? v->flags : otherwise;
    return digits < TRACELOG_DIGITS_MAX ? digits : TRACELOG_DIGITS_MAX;
}

/* Pointers all have one width, the only source for that of call points. */
static void learn_width(tracelog_writer *w, unsigned digits)
{
    if (digits == 8 || digits == 16)
        w->pointer_digits = (uint8_t)digits;
}

static char *put_unknown(char *p)
{
    *p = '?';
    return p + 1;
}

/* Names distinguish iids from pointers. */
static bool is_iid(const tracelog_part_of_line *part)
{
    return part->item != TRACELOG_ID || tl_ends_in(part->name, "Iid") || strcmp(part->name, "internalId") == 0;
}

static char *put_id(char *p, tracelog_writer *w, const tl_value *v, bool iid)
{
    if (TL_UNLIKELY(!is_number(v))) {
        w->losses.odd += !is_nothing(v);
        return put_unknown(p);
    }
    const unsigned digits = digits_of(v, iid ? TRACELOG_IID_DIGITS : w->pointer_digits);
    if (!iid)
        learn_width(w, digits);
    return tracelog_put_hex(p, v->as.u, digits, TRACELOG_UPPER);
}

static char *put_code(char *p, tracelog_writer *w, const tl_value *v)
{
    const bool good = is_number(v);
    w->losses.odd += !good;
    return tracelog_put_hex(p, good ? v->as.u : 0, good ? digits_of(v, TRACELOG_IID_DIGITS) : TRACELOG_IID_DIGITS,
                            TRACELOG_UPPER);
}

static char *put_dec(char *p, tracelog_writer *w, const tl_value *v)
{
    const bool good = is_number(v);
    w->losses.odd += !good;
    return tl_put_u64(p, good ? v->as.u : 0);
}

/* A negative one is near 2^64. */
static char *put_usage(char *p, tracelog_writer *w, const tl_value *v)
{
    return v && v->type == TL_I64 ? tl_put_u64(p, v->as.u) : put_dec(p, w, v);
}

/* The process in hex for the IDE's viewer; threads of the system are decimal everywhere. */
static char *put_pid(char *p, tracelog_writer *w, tracelog_record record, const tl_value *v)
{
    if (w->vs && record == tracelog_apd_crf && is_number(v))
        return tracelog_put_short(p, v->as.u);
    return put_dec(p, w, v);
}

/* The thread of jit and gch: `doc` writes its iid, `vs` its number in the system. */
static char *put_any_thread(char *p, tracelog_writer *w, const tl_value *iid, const tl_value *os_id,
                            const tl_track *track)
{
    const bool known = is_number(iid), has_os_id = is_number(os_id);
    w->losses.odd += !known && !is_nothing(iid);
    if (has_os_id && (w->vs || !known))
        return tl_put_u64(p, os_id->as.u);
    if (w->vs && known) {
        const tracelog_thread *t = tracelog_threads_get(&w->threads, true, iid->as.u);
        if (t && t->has_os_id)
            return tl_put_u64(p, t->os_id);
        if (track && track->has_tid && track->tid >= 0)
            return tl_put_u64(p, (uint64_t)track->tid);
    }
    return put_id(p, w, iid, true);
}

static void put_text(tl_text_writer *tw, tracelog_writer *w, const tl_value *v)
{
    if (v && v->type == TL_STRING)
        tracelog_put_text(tw, v->as.p, v->n, &w->losses.breaks);
    else
        w->losses.odd++;
}

static void put_quoted(tl_text_writer *tw, tracelog_writer *w, const tl_value *v)
{
    tl_text_char(tw, '"');
    if (!is_nothing(v)) /* for fun nam with one text, the others */
        put_text(tw, w, v);
    tl_text_char(tw, '"');
}

/* Members of the items of lists. */
enum style { END, POINTER, SHORT, SHORT_ID, DEC, IP, NAME };
#define MEMBERS_MAX 4u
static const uint8_t code_style[MEMBERS_MAX] = {POINTER, SHORT}, map_style[MEMBERS_MAX] = {SHORT, SHORT, SHORT},
                     alt_style[MEMBERS_MAX] = {SHORT_ID, DEC, DEC}, alloc_style[MEMBERS_MAX] = {SHORT_ID, DEC, DEC, IP},
                     size_style[MEMBERS_MAX] = {NAME, DEC, DEC};

static char *put_ip(char *p, tracelog_writer *w, const tl_value *v)
{
    const unsigned digits = digits_of(v, w->pointer_digits);
    learn_width(w, digits);
    return tracelog_put_hex(p, v->as.u, digits, digits < 8 ? TRACELOG_LOWER : TRACELOG_UPPER);
}

static void put_member(tl_text_writer *tw, tracelog_writer *w, uint8_t style, const tl_value *v)
{
    tl_text_room(tw, TRACELOG_NUMBER_ROOM);
    char *p = tw->p;
    if (style == DEC)
        p = put_dec(p, w, v);
    else if (style == POINTER && is_number(v))
        p = put_id(p, w, v, false);
    else if (style == SHORT_ID && !is_number(v))
        p = put_id(p, w, v, true);
    else if (style == SHORT_ID) /* more than 32 bits: not an iid, but a pointer in its place */
        p = tracelog_put_hex(p, v->as.u, digits_of(v, 1), v->as.u > UINT32_MAX ? TRACELOG_UPPER : TRACELOG_LOWER);
    else if (style == SHORT || style == POINTER)
        p = tracelog_put_hex(p, is_number(v) ? v->as.u : 0, is_number(v) ? digits_of(v, 1) : 1, TRACELOG_LOWER);
    tw->p = p;
    if (style == NAME)
        put_text(tw, w, v);
    else if (style != SHORT_ID && style != DEC)
        w->losses.odd += !is_number(v);
}

static const tl_value *put_item(tl_text_writer *tw, tracelog_writer *w, const tl_value *v, const tl_value *end,
                                const uint8_t style[MEMBERS_MAX])
{
    if (v->type != TL_STRUCT) {
        w->losses.odd++;
        return tl_value_skip(v, end);
    }
    uint32_t left = v++->n;
    for (uint32_t m = 0; m < MEMBERS_MAX && style[m] != END; m++) {
        const tl_value *member = left > 0 ? take(&v, end) : NULL;
        left -= left > 0;
        if (style[m] == IP) {
            if (is_number(member)) {
                tl_text_room(tw, TRACELOG_NUMBER_ROOM);
                *tw->p++ = ':';
                tw->p = put_ip(tw->p, w, member);
            }
            continue;
        }
        tl_text_char(tw, m == 0 ? ' ' : ':');
        put_member(tw, w, style[m], member);
    }
    return tl_values_skip(v, end, left);
}

static const tl_value *put_list(tl_text_writer *tw, tracelog_writer *w, const tl_value *v, const tl_value *end,
                                const uint8_t style[MEMBERS_MAX])
{
    if (v >= end || v->type != TL_LIST) {
        w->losses.odd += !(v < end && is_nothing(v));
        take(&v, end);
        return v;
    }
    uint32_t n = v++->n;
    for (; n > 0 && v < end; n--)
        v = put_item(tw, w, v, end, style);
    return v;
}

/* One part of a line, without the space before it. */
static const tl_value *put_part(tl_text_writer *tw, tracelog_writer *w, tracelog_record record,
                                const tracelog_part_of_line *part, const tl_batch *b, uint32_t i, const tl_value *v,
                                const tl_value *end)
{
    const tl_value *one;
    tl_text_room(tw, TRACELOG_NUMBER_ROOM);
    switch (part->item) {
    case TRACELOG_THREAD:
    case TRACELOG_ID:
    case TRACELOG_NEWER_ID:
        tw->p = put_id(tw->p, w, take(&v, end), is_iid(part));
        break;
    case TRACELOG_ANY_THREAD:
        one = take(&v, end);
        tw->p = put_any_thread(tw->p, w, one, take(&v, end), tl_trace_track(w->context.trace, b->track[i]));
        break;
    case TRACELOG_HEX:
        tw->p = put_code(tw->p, w, take(&v, end));
        break;
    case TRACELOG_PID:
        tw->p = put_pid(tw->p, w, record, take(&v, end));
        break;
    case TRACELOG_MS:
        take(&v, end);
        tw->p = tl_put_u64(tw->p, tracelog_write_ms(w, b->ts[i]));
        break;
    case TRACELOG_USAGE:
        tw->p = put_usage(tw->p, w, take(&v, end));
        break;
    case TRACELOG_DEC:
    case TRACELOG_COUNT:
    case TRACELOG_OLD_COUNT:
        tw->p = put_dec(tw->p, w, take(&v, end));
        break;
    case TRACELOG_TEXT:
    case TRACELOG_TEXT3:
    case TRACELOG_TEXT_NEXT:
        put_quoted(tw, w, take(&v, end));
        break;
    case TRACELOG_REASON:
        one = take(&v, end);
        if (is_nothing(one))
            tw->p = put_unknown(tw->p);
        else
            put_text(tw, w, one);
        break;
    case TRACELOG_WORD:
    case TRACELOG_REST:
    case TRACELOG_TIME:
    case TRACELOG_GENERATIONS:
        put_text(tw, w, take(&v, end));
        break;
    case TRACELOG_CODE: /* items of lists bring their own spaces */
        v = put_list(tw, w, v, end, code_style);
        v = put_list(tw, w, v, end, map_style);
        break;
    case TRACELOG_ALT:
        v = put_list(tw, w, v, end, alt_style);
        break;
    case TRACELOG_ALLOC:
        v = put_list(tw, w, v, end, alloc_style);
        break;
    case TRACELOG_SIZES:
        v = put_list(tw, w, v, end, size_style);
        break;
    case TRACELOG_AGAIN:
    case TRACELOG_STACK:
        break; /* handled by the line */
    }
    return v;
}

static bool is_list(tracelog_item item)
{
    return item == TRACELOG_CODE || item == TRACELOG_ALT || item == TRACELOG_ALLOC || item == TRACELOG_SIZES;
}

static void put_parts(tl_text_writer *tw, tracelog_writer *w, tracelog_record record, const tl_batch *b, uint32_t i,
                      const tl_value *v, const tl_value *end)
{
    const tracelog_shape *shape = &tracelog_shapes[record];
    const tl_value *first = v < end ? v : NULL;
    tl_text_room(tw, 8);
    memcpy(tw->p, shape->words, 7);
    tw->p += 7;
    for (uint32_t k = 0; k < shape->nparts; k++) {
        const tracelog_part_of_line *part = &shape->part[k];
        if (part->item == TRACELOG_AGAIN) {
            if (!w->vs)
                continue;
            tl_text_room(tw, TRACELOG_NUMBER_ROOM);
            *tw->p++ = ' ';
            tw->p = put_id(tw->p, w, first, true);
            continue;
        }
        if (!is_list(part->item))
            tl_text_char(tw, ' ');
        v = put_part(tw, w, record, part, b, i, v, end);
    }
    tl_text_char(tw, '\n');
}

/* In fun cmf and fun csf the first two ids are swapped, and fun cmf has a status. */
static void put_old_function(tl_text_writer *tw, tracelog_writer *w, tracelog_record record, const tl_value *v,
                             const tl_value *end)
{
    const tl_value *function = take(&v, end), *internal = take(&v, end);
    TL_TEXT_PUT(tw, "fun inf ");
    tl_text_room(tw, 5 * TRACELOG_NUMBER_ROOM);
    char *p = put_id(tw->p, w, internal, true);
    *p++ = ' ';
    p = put_id(p, w, function, false);
    for (unsigned k = 0; k < 2; k++) { /* class and module */
        *p++ = ' ';
        p = put_id(p, w, take(&v, end), false);
    }
    *p++ = ' ';
    tw->p = put_code(p, w, take(&v, end));
    if (record == tracelog_fun_cmf) {
        take(&v, end);
        w->losses.status++;
    }
    v = put_list(tw, w, v, end, code_style);
    put_list(tw, w, v, end, map_style);
    tl_text_char(tw, '\n');
}

/* Names of new frames without a fun nam line among the events, as in a part of a log. */
static bool put_names(tl_text_writer *tw, tracelog_writer *w, const tracelog_thread *thread, uint32_t from)
{
    for (uint32_t i = from; i < thread->n; i++) {
        const tracelog_level *at = &thread->level[i];
        if (!at->node->name || !(at->flags & TL_FRAME_FUNCTION) ||
            TL_LIKELY(tl_hash_get(&w->named, at->function) != TL_HASH_NONE))
            continue;
        if (!tl_hash_put(&w->named, at->function, 1) ||
            !tracelog_head_name(tw, &w->heads, at->function, at->node->name))
            return false;
    }
    return true;
}

/* Ticks of joined traces need not be ms: then the period is that of the log's own prf cfg. */
static void put_pace(tl_text_writer *tw, tracelog_writer *w, uint64_t key)
{
    uint64_t period_ms = tl_weight_ticks(key);
    if (period_ms != 0 && w->context.trace->scale.hz != 1000)
        period_ms = w->log_period_ms;
    tracelog_put_pace(tw, w, period_ms, key & TL_WEIGHT_CALLS);
}

static bool put_sample(tl_text_writer *tw, tracelog_writer *w, const tl_batch *b, uint32_t i, const tl_value *v,
                       const tl_value *end)
{
    const tl_value *iid = take(&v, end);
    take(&v, end); /* timestamp */
    const tl_value *count = take(&v, end), *kept = take(&v, end), *stack = take(&v, end);
    tracelog_sample s = {.known = is_number(iid), .ms = tracelog_write_ms(w, b->ts[i])};
    if (TL_LIKELY(s.known)) {
        s.iid = iid->as.u;
        s.digits = digits_of(iid, TRACELOG_IID_DIGITS);
    }
    if (is_number(count))
        s.count = count->as.u;
    const bool is_stack = stack && stack->type == TL_STACK;
    w->losses.odd += (!s.known && !is_nothing(iid)) || (!is_number(count) && !is_nothing(count)) || !is_stack;

    tracelog_thread *thread = tracelog_threads_get(&w->threads, s.known, s.iid);
    const uint32_t hint =
        is_number(kept) && kept->as.u < TRACELOG_KEPT_UNKNOWN ? (uint32_t)kept->as.u : TRACELOG_KEPT_UNKNOWN;
    if (!thread ||
        !tracelog_stack_set(&w->threads, thread, is_stack ? stack->as.p : NULL, hint, &s.change, &w->losses.too_deep))
        return false;
    if (!put_names(tw, w, thread, s.change.kept))
        return false;
    for (uint32_t k = s.change.kept; b->key[i] & TL_WEIGHT_CALLS && k < thread->n; k++)
        w->losses.no_begin += !(thread->level[k].node->flags & TL_FRAME_CALL);
    if (s.count > 0 || b->key[i] & TL_WEIGHT_CALLS)
        put_pace(tw, w, b->key[i]);
    tracelog_put_sample(tw, w, &s, thread, NULL);
    return true;
}

static bool is_text(const tl_value *v, const char *text)
{
    const size_t n = strlen(text);
    return v && v->type == TL_STRING && v->n == n && memcmp(v->as.p, text, n) == 0;
}

/* What later lines depend on. */
static bool remember(tracelog_writer *w, tracelog_record record, const tl_value *v, const tl_value *end)
{
    const tl_value *first = take(&v, end), *second = take(&v, end);
    tracelog_thread *t;
    switch (record) {
    case tracelog_thr_aos:
        if (!is_number(first) || !is_number(second))
            return true;
        t = tracelog_threads_get(&w->threads, true, first->as.u);
        if (t) {
            t->has_os_id = true;
            t->os_id = second->as.u;
        }
        return t != NULL;
    case tracelog_fun_nam:
        return !is_number(first) || tl_hash_put(&w->named, first->as.u, 1);
    case tracelog_prf_cfg:
        if (!second || second->type != TL_STRING)
            return true;
        if (is_text(first, "SamplingTimeoutMs"))
            w->pace.period_ms = w->log_period_ms = tracelog_period_ms(second->as.p, second->n);
        else if (is_text(first, "CollectionMethod"))
            w->pace.instrumented = is_text(second, "Instrumentation");
        else if (is_text(first, "AllocationSampling"))
            w->told_sampling = true;
        else if (is_text(first, "ExecutionTraceEnabled"))
            w->pace.no_execution = is_text(second, "F");
        return true;
    default:
        return true;
    }
}

/* A part of a log may lack the line that says what its allocations are. */
static void tell_sampling(tl_text_writer *tw, tracelog_writer *w)
{
    const uint64_t bytes = tl_trace_allocation_sampling(w->context.trace);
    w->told_sampling = true;
    if (!bytes)
        return;
    TL_TEXT_PUT(tw, "prf cfg AllocationSampling ");
    tl_text_room(tw, TRACELOG_NUMBER_ROOM);
    tw->p = tl_put_u64(tw->p, bytes);
    tl_text_char(tw, '\n');
}

bool tracelog_put_record(tl_text_writer *tw, tracelog_writer *w, tracelog_record record, const tl_batch *b, uint32_t i)
{
    const tl_value *v = b->val ? b->v + b->val[i] : NULL, *end = b->val ? b->v + b->val[i + 1] : NULL;
    switch (record) {
    case tracelog_sam_str:
    case tracelog_str_sam:
        return put_sample(tw, w, b, i, v, end);
    case tracelog_fun_cmf:
    case tracelog_fun_csf:
        put_old_function(tw, w, record, v, end);
        return true;
    default:
        if (!remember(w, record, v, end))
            return false;
        if (record == tracelog_sam_mem && !w->told_sampling)
            tell_sampling(tw, w);
    }
    put_parts(tw, w, record, b, i, v, end);
    return true;
}
