/* Selection: parses the options of the command line, and converts them to the units of a trace. */
#include "cli/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/text/number.h"
#include "base/text/utc_text.h"
#include "op/insn_select.h"

#define TIME_TEXT_MAX 64u        /* longest end of a --time range */
#define CPU_MAX       (1u << 16) /* largest processor number, so that a range cannot ask for much memory */
#define NS_PER_DAY    (86400 * UINT64_C(1000000000))

/* Is it a time except that its number is too large? */
static bool is_too_long(const char *text)
{
    char one[TIME_TEXT_MAX + 1];
    uint64_t ns;
    const size_t digits = strspn(text, "0123456789");
    snprintf(one, sizeof one, "1%s", text + digits);
    return digits > 0 && tl_parse_duration(one, &ns);
}

static int bad_time(tl_error *e, const char *option, const char *text)
{
    if (is_too_long(text))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s %s: too long; times go up to 584 years (5124095h)", option,
                       text);
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s %s: expected a time such as 250, 1.5us, 20ms or 3s%s", option, text,
                   strcmp(option, "--time") == 0 ? ", as in 2s..3s, 500ms.., ..1s, or of day in UTC, as in 23:01:24.."
                                                 : "");
}

/* One end of a range: n bytes at s. */
static int parse_when(tl_when *w, const char *option, const char *s, size_t n, tl_error *e)
{
    char text[TIME_TEXT_MAX];
    if (n >= sizeof text)
        return bad_time(e, option, "...");
    memcpy(text, s, n);
    text[n] = 0;
    w->kind = TL_WHEN_OPEN;
    if (n == 0)
        return 0;
    if (tl_parse_utc(text, n, &w->value)) {
        w->kind = TL_WHEN_UTC;
        return 0;
    }
    if (tl_parse_time_of_day(text, n, &w->value, &w->ahead)) {
        w->kind = TL_WHEN_DAY;
        return 0;
    }
    const char *since = text + (*text == '+');
    w->kind = TL_WHEN_PLAIN;
    if (*since && tl_parse_u64(since, &w->value))
        return 0;
    w->kind = TL_WHEN_UNIT;
    return tl_parse_duration(since, &w->value) ? 0 : bad_time(e, option, text);
}

int tl_parse_when(tl_when *w, const char *option, const char *text, tl_error *e)
{
    const int status = parse_when(w, option, text, strlen(text), e);
    return status == 0 && w->kind == TL_WHEN_OPEN ? bad_time(e, option, text) : status;
}

/* The unit of a time since the begin; "" without one, or if malformed. */
static const char *unit_of(const char *text)
{
    const char *unit = text + strspn(text, "+0123456789.");
    return unit == text || strpbrk(unit, "-:") ? "" : unit;
}

/* One end of a range, which may take its unit from the other one. */
static int parse_end(tl_when *w, const char *text, const char *other, tl_error *e)
{
    char whole[2 * TIME_TEXT_MAX];
    const bool inherits = *text && !text[strspn(text, "+0123456789.")];
    const int n = snprintf(whole, sizeof whole, "%s%s", text, inherits ? unit_of(other) : "");
    return parse_when(w, "--time", whole, (size_t)n, e);
}

static int parse_range(tl_selection *s, const char *text, tl_error *e)
{
    const char *dots = strstr(text, "..");
    char from[TIME_TEXT_MAX];
    if (!dots)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--time %s: expected two times, A..B; one of them may be missing",
                       text);
    if ((size_t)(dots - text) >= sizeof from || strlen(dots + 2) >= TIME_TEXT_MAX)
        return bad_time(e, "--time", "...");
    memcpy(from, text, (size_t)(dots - text));
    from[dots - text] = 0;
    int status = parse_end(&s->from, from, dots + 2, e);
    if (status == 0)
        status = parse_end(&s->to, dots + 2, from, e);
    if (status < 0)
        return status;
    if (s->from.kind == TL_WHEN_OPEN && s->to.kind == TL_WHEN_OPEN)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--time %s: neither end is given", text);
    bool comparable = s->from.kind != TL_WHEN_OPEN && s->to.kind != TL_WHEN_OPEN && s->from.kind != TL_WHEN_DAY &&
                      s->to.kind != TL_WHEN_DAY && (s->from.kind == TL_WHEN_UTC) == (s->to.kind == TL_WHEN_UTC);
    if (comparable && s->from.value >= s->to.value)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--time %s: the end is not after the beginning", text);
    return 0;
}

/* An option whose value is a range of numbers from A to B - 1; A or B may be missing. */
static int split_range(const char *option, const char *text, char from[static TIME_TEXT_MAX],
                       char to[static TIME_TEXT_MAX], tl_error *e)
{
    const char *dots = strstr(text, "..");
    const size_t n = dots ? (size_t)(dots - text) : 0;
    if (!dots || n >= TIME_TEXT_MAX || strlen(dots + 2) >= TIME_TEXT_MAX)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s %s: expected two numbers, A..B; one of them may be missing",
                       option, text);
    if (n == 0 && !dots[2])
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s %s: neither end is given", option, text);
    memcpy(from, text, n);
    from[n] = 0;
    snprintf(to, TIME_TEXT_MAX, "%s", dots + 2);
    return 0;
}

static int check_range(const char *option, const char *text, bool both, uint64_t from, uint64_t to, tl_error *e)
{
    if (!both || from < to)
        return 0;
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s %s: the end is not after the beginning", option, text);
}

/* In instruction traces, times are numbers of instructions. */
static int parse_insns(tl_selection *s, const char *text, tl_error *e)
{
    char end[2][TIME_TEXT_MAX];
    tl_when *const when[2] = {&s->from, &s->to};
    int status = split_range("--insns", text, end[0], end[1], e);
    for (int i = 0; status == 0 && i < 2; i++) {
        if (!end[i][0])
            continue;
        if (!tl_parse_count(end[i], &when[i]->value))
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--insns %s: expected numbers of instructions, as in 1000..2M",
                           text);
        when[i]->kind = TL_WHEN_PLAIN;
    }
    return status < 0 ? status
                      : check_range("--insns", text, s->from.kind && s->to.kind, s->from.value, s->to.value, e);
}

/* "0x4000" or "16384". */
static bool parse_address(const char *text, uint64_t *out)
{
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return tl_parse_u64(text, out);
    uint64_t v = 0;
    const char *p = text + 2;
    for (; *p; p++) {
        const unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                               : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
                               : *p >= 'A' && *p <= 'F' ? (unsigned)(*p - 'A') + 10
                                                        : 16;
        if (digit == 16 || v >> 60)
            return false;
        v = v << 4 | digit;
    }
    *out = v;
    return p > text + 2;
}

static int parse_pcs(tl_selection *s, const char *text, tl_error *e)
{
    char end[2][TIME_TEXT_MAX];
    tl_select *o = &s->select;
    uint64_t *const to[2] = {&o->pc_from, &o->pc_to};
    o->pc_to = UINT64_MAX;
    o->has_pc = true;
    int status = split_range("--pc", text, end[0], end[1], e);
    for (int i = 0; status == 0 && i < 2; i++)
        if (end[i][0] && !parse_address(end[i], to[i]))
            status = tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--pc %s: expected addresses, as in 0x400000..0x401000", text);
    return status < 0 ? status : check_range("--pc", text, true, o->pc_from, o->pc_to, e);
}

/* Options for instruction traces only. */
static int parse_instructions(tl_selection *s, const tl_arguments *a, tl_error *e)
{
    int status = 0;
    if (a->insns && a->time)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--insns and --time say the same: give one of them");
    if (a->insns)
        status = parse_insns(s, a->insns, e);
    if (status == 0 && a->pc)
        status = parse_pcs(s, a->pc, e);
    s->select.levels = a->levels;
    s->insns_only = a->insns ? "--insns" : a->pc ? "--pc" : a->levels ? "--el" : a->slice_at ? "--slice-at" : NULL;
    return status;
}

/* "0,2-3": counts the processors, and stores them if cpu is not NULL. */
static bool read_cpus(const char *text, int32_t *cpu, size_t *n)
{
    for (;;) {
        char number[2][16];
        uint64_t value[2];
        unsigned count = 0;
        do {
            size_t length = strspn(text, "0123456789");
            if (length == 0 || length >= sizeof number[0])
                return false;
            memcpy(number[count], text, length);
            number[count][length] = 0;
            if (!tl_parse_u64(number[count], &value[count]) || value[count] > CPU_MAX)
                return false;
            text += length;
        } while (++count < 2 && *text == '-' && text++);
        if (count == 1)
            value[1] = value[0];
        for (uint64_t v = value[0]; v <= value[1]; v++, ++*n)
            if (cpu)
                cpu[*n] = (int32_t)v;
        if (*text == 0)
            return value[0] <= value[1];
        if (*text++ != ',' || value[0] > value[1])
            return false;
    }
}

static int parse_cpus(tl_selection *s, const tl_words *words, tl_error *e)
{
    size_t n = 0;
    for (size_t i = 0; i < words->n; i++)
        if (!read_cpus(words->word[i], NULL, &n))
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--cpu %s: expected processor numbers such as 0,2-3",
                           words->word[i]);
    if (n == 0)
        return 0;
    s->cpu = tl_alloc(n, sizeof *s->cpu);
    if (!s->cpu)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the selection");
    n = 0;
    for (size_t i = 0; i < words->n; i++)
        (void)read_cpus(words->word[i], s->cpu, &n);
    s->select.cpu = s->cpu;
    s->select.ncpu = n;
    return 0;
}

int tl_selection_parse(tl_selection *s, const tl_arguments *a, tl_error *e)
{
    *s = (tl_selection){.select.missed = &s->missed, .missed = SIZE_MAX};
    tl_select *o = &s->select;
    o->func = a->func.word;
    o->nfunc = a->func.n;
    o->not_func = a->not_func.word;
    o->nnot = a->not_func.n;
    o->thread = a->thread.word;
    o->nthread = a->thread.n;
    o->cls = a->cls.word;
    o->ncls = a->cls.n;
    o->depth = a->depth;
    int status = parse_cpus(s, &a->cpu, e);
    if (status == 0)
        status = parse_instructions(s, a, e);
    if (status == 0 && a->time)
        status = parse_range(s, a->time, e);
    if (status == 0 && a->min_dur) {
        status = parse_when(&s->min_dur, "--min-dur", a->min_dur, strlen(a->min_dur), e);
        if (status == 0 && s->min_dur.kind != TL_WHEN_PLAIN && s->min_dur.kind != TL_WHEN_UNIT)
            status = bad_time(e, "--min-dur", a->min_dur);
    }
    s->any =
        o->nfunc || o->nnot || o->nthread || o->ncls || o->ncpu || o->depth || a->time || a->min_dur || s->insns_only;
    return status;
}

int tl_selection_keep_score(tl_selection *s, tl_error *e)
{
    const tl_select *o = &s->select;
    s->matched = calloc(o->nfunc + o->nnot + o->nthread + o->ncls + 1, sizeof *s->matched);
    if (!s->matched)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the selection");
    s->select.matched = s->matched;
    return 0;
}

/* A time of day on the day on which a trace began, or on the next one if only that is in the trace. */
static uint64_t on_its_day(const tl_when *w, uint64_t begin, uint64_t end)
{
    const uint64_t ahead = (uint64_t)w->ahead, local = begin + ahead;
    const uint64_t at = local - local % NS_PER_DAY + w->value - ahead;
    return at < begin && at + NS_PER_DAY <= end ? at + NS_PER_DAY : at;
}

int tl_when_ticks(const tl_when *w, const tl_trace *t, uint64_t *ticks, tl_error *e)
{
    const tl_clock *clock = tl_trace_clock(t);
    if (w->kind == TL_WHEN_PLAIN && clock->hz == 0) {
        *ticks = w->value;
        return 0;
    }
    if (clock->hz == 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                       "%s: the frequency of its clock is not known; give times in ticks, without a unit",
                       tl_trace_path(t));
    tl_scale scale;
    tl_scale_init(&scale, clock->hz);
    if (w->kind != TL_WHEN_UTC && w->kind != TL_WHEN_DAY) {
        *ticks = tl_scale_ticks(&scale, w->value);
        return 0;
    }
    uint64_t begin = 0, end = 0;
    const bool has_range = tl_trace_range(t, &begin, &end);
    if (!clock->has_utc || (!clock->from_zero && !has_range))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                       "%s: it does not know the time of day; give times since it began, such as 2s..3s",
                       tl_trace_path(t));
    /* Unsigned arithmetic: offsets before 1970 work like later ones. */
    const uint64_t offset = (uint64_t)clock->utc_offset_ns;
    const uint64_t start = tl_scale_ns(&scale, clock->from_zero ? 0 : begin) + offset;
    const uint64_t last = has_range ? tl_scale_ns(&scale, end) + offset : start;
    const uint64_t at = w->kind == TL_WHEN_DAY ? on_its_day(w, tl_scale_ns(&scale, begin) + offset, last) : w->value;
    *ticks = at > start ? tl_scale_ticks(&scale, at - start) : 0;
    return 0;
}

int tl_selection_apply(tl_selection *s, const tl_trace *t, tl_error *e)
{
    tl_select *o = &s->select;
    int status = 0;
    if (s->insns_only && (status = tl_select_needs_insns(t, s->insns_only, e)) < 0)
        return status;
    if (s->from.kind != TL_WHEN_OPEN) {
        o->has_from = true;
        status = tl_when_ticks(&s->from, t, &o->time_from, e);
    }
    if (status == 0 && s->to.kind != TL_WHEN_OPEN) {
        o->has_to = true;
        status = tl_when_ticks(&s->to, t, &o->time_to, e);
    }
    if (status == 0 && (s->from.kind == TL_WHEN_DAY || s->to.kind == TL_WHEN_DAY))
        status = check_range("--time", "A..B", o->has_from && o->has_to, o->time_from, o->time_to, e);
    if (status == 0 && s->min_dur.kind != TL_WHEN_OPEN)
        status = tl_when_ticks(&s->min_dur, t, &o->min_ticks, e);
    return status;
}

void tl_selection_fini(tl_selection *s)
{
    free(s->cpu);
    free(s->matched);
    s->cpu = NULL;
    s->matched = NULL;
}
