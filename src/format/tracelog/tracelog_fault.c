/* Finds why a line is malformed: the slow and thorough reader after the fast one.
 *
 * It reads a line as people would: words, then the number of fields, then one field after the other; the first error
 * gives the rule. Rules: unknown-record, field, number-range, string, prefix (all with "tracelog." in front);
 * docs/format/tracelog.md lists them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "format/tracelog/tracelog_facts.h"

#define SHOWN 40 /* characters of a text in a message */

/* Text of the line. */
typedef struct span {
    const uint8_t *p;
    size_t n;
} span;

typedef struct fault {
    const char *rule; /* NULL: nothing found yet */
    char *what;       /* [160] */
} fault;

static const char rule_field[] = "tracelog.field", rule_range[] = "tracelog.number-range";

TL_PRINTF(3, 4) static bool found(fault *f, const char *rule, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->what, 160, format, arguments);
    va_end(arguments);
    f->rule = rule;
    return false;
}

/* A text for a message: unprintable characters become '.', a long one is cut. */
typedef struct shown {
    char text[SHOWN + 4];
} shown;

static shown show(span s)
{
    shown out;
    size_t n = s.n < SHOWN ? s.n : SHOWN;
    for (size_t i = 0; i < n; i++)
        out.text[i] = (char)(s.p[i] >= 0x20 && s.p[i] < 0x7f ? s.p[i] : '.');
    memcpy(out.text + n, s.n > SHOWN ? "..." : "", s.n > SHOWN ? 4 : 1);
    return out;
}

static bool begins_0x(span s)
{
    return s.n >= 2 && s.p[0] == '0' && s.p[1] == 'x';
}

static bool check_digits(fault *f, const char *name, span all, span digits, unsigned base, uint64_t most)
{
    uint64_t v = 0;
    bool large = false;
    for (size_t i = 0; i < digits.n; i++) {
        const uint8_t c = digits.p[i], lower = c | 0x20;
        const unsigned d = c >= '0' && c <= '9'           ? (unsigned)(c - '0')
                           : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10)
                                                          : 99;
        if (d >= base)
            return found(f, rule_field, "%s is \"%s\"; expected a %s number", name, show(all).text,
                         base == 10 ? "decimal" : "hexadecimal");
        large = large || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v);
    }
    if (digits.n == 0)
        return found(f, rule_field, "%s is \"%s\"; expected a %s number", name, show(all).text,
                     base == 10 ? "decimal" : "hexadecimal");
    if (large || v > most)
        return found(f, rule_range, "%s is %s; expected at most %llu", name, show(all).text, (unsigned long long)most);
    return true;
}

static bool check_dec(fault *f, const char *name, span s, uint64_t most)
{
    return check_digits(f, name, s, s, 10, most);
}

static bool check_usage(fault *f, const char *name, span s)
{
    uint64_t v = 0;
    if (!check_dec(f, name, s, UINT64_MAX))
        return false;
    tracelog_parse_number((const char *)s.p, s.n, &v);
    return tracelog_is_usage(v) || check_dec(f, name, s, TRACELOG_USAGE_MAX);
}

static bool check_hex(fault *f, const char *name, span s)
{
    const span digits = {s.p + 2, begins_0x(s) ? s.n - 2 : 0};
    return check_digits(f, name, s, digits, 16, UINT64_MAX);
}

static bool is_unknown(span s)
{
    return s.n == 1 && s.p[0] == '?';
}

static bool check_id(fault *f, const char *name, span s)
{
    return is_unknown(s) || check_hex(f, name, s);
}

static bool check_ip(fault *f, const char *name, span s)
{
    return is_unknown(s) || (begins_0x(s) ? check_hex(f, name, s) : check_digits(f, name, s, s, 16, UINT64_MAX));
}

/* Takes the text before the next `by`, or all; false if nothing is left. */
static bool take(span *s, uint8_t by, span *out)
{
    if (!s->p)
        return false;
    const uint8_t *at = memchr(s->p, by, s->n);
    *out = (span){s->p, at ? (size_t)(at - s->p) : s->n};
    *s = at ? (span){at + 1, s->n - out->n - 1} : (span){NULL, 0};
    return true;
}

/* Splits at colons; returns the number of pieces, but stores only the first `most`. */
static unsigned divide(span s, span *piece, unsigned most)
{
    unsigned n = 0;
    for (span p; take(&s, ':', &p); n++)
        if (n < most)
            piece[n] = p;
    return n;
}

static bool check_item(fault *f, tracelog_item item, span s)
{
    span v[4];
    const unsigned n = divide(s, v, 4);
    switch (item) {
    case TRACELOG_SIZES:
        for (size_t i = 0; i < v[0].n; i++)
            if (!(v[0].p[i] == '_' || (v[0].p[i] >= '0' && v[0].p[i] <= '9') ||
                  ((v[0].p[i] | 0x20) >= 'a' && (v[0].p[i] | 0x20) <= 'z')))
                v[0].n = 0;
        return n == 3 && v[0].n > 0
                   ? check_dec(f, "alloc", v[1], UINT64_MAX) && check_dec(f, "reserved", v[2], UINT64_MAX)
                   : found(f, rule_field, "\"%s\" is not NAME:alloc:reserved", show(s).text);
    case TRACELOG_ALT:
    case TRACELOG_ALLOC:
        if (n != 3 && (n != 4 || item == TRACELOG_ALT))
            return found(f, rule_field, "\"%s\" is not classIid:allocCount:memSize%s", show(s).text,
                         item == TRACELOG_ALT ? "" : "[:ip]");
        return check_id(f, "classIid", v[0]) && check_dec(f, "allocCount", v[1], UINT64_MAX) &&
               check_dec(f, "memSize", v[2], UINT64_MAX) && (n == 3 || check_ip(f, "ip", v[3]));
    default: /* a frame */
        if (n > 2)
            return found(f, rule_field, "\"%s\" is not a frame, functionIid[:ip]", show(s).text);
        return check_id(f, "functionIid", v[0]) && (n == 1 || check_ip(f, "ip", v[1]));
    }
}

/* Checks all items of a list; their number is *items. */
static bool check_items(fault *f, tracelog_item item, span rest, unsigned *items)
{
    *items = 0;
    for (span s; take(&rest, ' ', &s); ++*items)
        if (!check_item(f, item, s))
            return false;
    return true;
}

static bool check_code(fault *f, span rest)
{
    bool maps = false;
    for (span s; take(&rest, ' ', &s);) {
        span v[3];
        const unsigned n = divide(s, v, 3);
        maps = maps || n == 3;
        if (n != (maps ? 3u : 2u))
            return found(f, rule_field, "\"%s\" is neither code_info nor il_map%s", show(s).text,
                         n == 2 ? ", which come last" : "");
        if (!check_hex(f, n == 3 ? "ilOffset" : "start_addr", v[0]) ||
            !check_hex(f, n == 3 ? "nativeStart" : "size", v[1]) || (n == 3 && !check_hex(f, "nativeEnd", v[2])))
            return false;
    }
    return true;
}

/* Checks what follows the count of a sam str. */
static bool check_stack(fault *f, span rest)
{
    span sizes, v[3];
    unsigned frames;
    if (!take(&rest, ' ', &sizes))
        return found(f, rule_field, "too few fields; expected matchPrefixSize:stackSize[:ip] and frames");
    const unsigned n = divide(sizes, v, 3);
    if (n != 2 && n != 3)
        return found(f, rule_field, "\"%s\" is not matchPrefixSize:stackSize[:ip]", show(sizes).text);
    if (!check_dec(f, "matchPrefixSize", v[0], TRACELOG_DEPTH_MAX) ||
        !check_dec(f, "stackSize", v[1], TRACELOG_DEPTH_MAX) || (n == 3 && !check_ip(f, "ip", v[2])))
        return false;
    uint64_t kept = 0, size = 0;
    tracelog_parse_number((const char *)v[0].p, v[0].n, &kept);
    tracelog_parse_number((const char *)v[1].p, v[1].n, &size);
    if (kept > size)
        return found(f, "tracelog.prefix", "matchPrefixSize is %u, more than the stackSize %u", (unsigned)kept,
                     (unsigned)size);
    if (n == 3 && kept == 0)
        return found(f, "tracelog.prefix", "an ip of the last matching frame, but matchPrefixSize is 0");
    if (!check_items(f, TRACELOG_STACK, rest, &frames))
        return false;
    return frames <= TRACELOG_DEPTH_MAX - kept || found(f, rule_range, "the stack has %u frames; expected at most %u",
                                                        (unsigned)kept + frames, TRACELOG_DEPTH_MAX);
}

static bool check_texts(fault *f, span rest, unsigned count)
{
    const uint8_t *begin[3];
    size_t size[3];
    if (count > 1 && tracelog_is_one_text(rest.p, rest.n))
        return true;
    if (tracelog_divide_texts(rest.p, rest.n, count, begin, size))
        return true;
    if (rest.n == 0 || rest.p[0] != '"')
        return found(f, "tracelog.string", "\"%s\"; expected text in quotes", show(rest).text);
    if (rest.n < 2 || rest.p[rest.n - 1] != '"')
        return found(f, "tracelog.string", "text in quotes has no end");
    return found(f, "tracelog.string", "expected %u texts in quotes", count);
}

/* A field that is one word. */
static bool check_field(fault *f, const tracelog_part_of_line *part, span s)
{
    switch (part->item) {
    case TRACELOG_ANY_THREAD:
        return (s.n > 0 && s.p[0] >= '0' && s.p[0] <= '9' && !begins_0x(s)) ? check_dec(f, "thread", s, UINT64_MAX)
                                                                            : check_id(f, "thread", s);
    case TRACELOG_HEX:
        return check_hex(f, part->name, s);
    case TRACELOG_PID:
        return begins_0x(s) ? check_hex(f, part->name, s) : check_dec(f, part->name, s, UINT64_MAX);
    case TRACELOG_DEC:
        return check_dec(f, part->name, s, UINT64_MAX);
    case TRACELOG_USAGE:
        return check_usage(f, part->name, s);
    case TRACELOG_MS:
        return check_dec(f, part->name, s, TRACELOG_MS_MAX);
    case TRACELOG_OLD_COUNT:
        return is_unknown(s) || check_dec(f, part->name, s, UINT32_MAX);
    case TRACELOG_COUNT:
        return check_dec(f, part->name, s, UINT32_MAX);
    case TRACELOG_REASON:
        return is_unknown(s) || (s.n == 7 && memcmp(s.p, "induced", 7) == 0) ||
               found(f, rule_field, "reason is \"%s\"; expected induced or ?", show(s).text);
    case TRACELOG_GENERATIONS:
        for (size_t i = 0; i < s.n; i++)
            if (s.p[i] != 't' && s.p[i] != 'f')
                s.n = 0;
        return s.n == 4 || found(f, rule_field, "gen_collect is not four of t and f");
    default: /* THREAD, ID, AGAIN */
        return check_id(f, part->name, s);
    }
}

static bool is_list(tracelog_item i)
{
    return i == TRACELOG_STACK || i == TRACELOG_CODE || i == TRACELOG_ALT || i == TRACELOG_ALLOC || i == TRACELOG_SIZES;
}

static bool is_text(tracelog_item i)
{
    return i == TRACELOG_TEXT || i == TRACELOG_TEXT3;
}

static bool has_optional(const tracelog_shape *shape)
{
    bool any = false;
    for (uint32_t i = 0; i < shape->nparts; i++)
        any = any || shape->part[i].item == TRACELOG_AGAIN || shape->part[i].item == TRACELOG_NEWER_ID;
    return any;
}

/* Is the number of fields right, and none empty? Plain fields come first. */
static bool check_number(fault *f, const tracelog_shape *shape, span rest, unsigned plain)
{
    const tracelog_item last = plain < shape->nparts ? shape->part[plain].item : TRACELOG_ID;
    const bool text = is_text(last), optional = has_optional(shape);
    unsigned least = plain, most = plain, n = 0;
    if (text)
        least = plain + 1;
    else if (last == TRACELOG_STACK)
        least = plain + (shape == &tracelog_shapes[tracelog_sam_str]);
    else if (last == TRACELOG_SIZES)
        least = most = plain + 4;
    else if (optional)
        least--;
    if (last == TRACELOG_STACK || last == TRACELOG_CODE || last == TRACELOG_ALT || last == TRACELOG_ALLOC)
        most = UINT32_MAX;
    for (span s; (!text || n < plain) && take(&rest, ' ', &s); n++)
        if (s.n == 0)
            return found(f, rule_field, "field %u is empty: exactly one space stands between fields", n + 1);
    if (text)
        n += rest.p != NULL;
    if (n < least)
        return found(f, rule_field, "too few fields: %u; expected %s%u", n, most == least ? "" : "at least ", least);
    return text || n <= most || found(f, rule_field, "too many fields: %u; expected %u", n, most);
}

/* How many fields precede the list or text at the end of a record. */
static unsigned plain_fields(const tracelog_shape *shape)
{
    unsigned plain = 0;
    while (plain < shape->nparts && !is_list(shape->part[plain].item) && !is_text(shape->part[plain].item))
        plain++;
    return plain;
}

static unsigned fields_of(span rest)
{
    unsigned n = 0;
    for (span s; take(&rest, ' ', &s);)
        n++;
    return n;
}

static bool check_record(fault *f, const tracelog_shape *shape, span rest)
{
    unsigned plain = 0;
    span s;
    switch (shape->part[0].item) {
    case TRACELOG_TIME:
        return found(f, rule_field, "\"%s\" is not a time", show(rest).text);
    case TRACELOG_WORD:
        return found(f, rule_field, "too few fields; expected a name and a value");
    default:
        break;
    }
    plain = plain_fields(shape);
    if (!check_number(f, shape, rest, plain))
        return false;
    const tracelog_item last = plain < shape->nparts ? shape->part[plain].item : TRACELOG_ID;
    span list = rest;
    for (unsigned i = 0; i < plain; i++)
        take(&list, ' ', &s);
    if (last == TRACELOG_CODE && !check_code(f, list))
        return false;
    const bool shorter = fields_of(rest) < plain;
    for (unsigned i = 0; i < plain; i++)
        if (!(shorter && shape->part[i].item == TRACELOG_NEWER_ID) && take(&rest, ' ', &s) &&
            !check_field(f, &shape->part[i], s))
            return false;
    if (last == TRACELOG_STACK)
        return check_stack(f, list);
    if (is_text(last))
        return check_texts(f, list, last == TRACELOG_TEXT3 ? 3 : 1);
    return plain == shape->nparts || last == TRACELOG_CODE || check_items(f, last, list, &plain);
}

const char *tracelog_find_fault(const uint8_t *line, size_t n, char what[static 160])
{
    static const char unknown[] = "tracelog.unknown-record";
    fault f = {.what = what};
    const span all = {line, n};
    if (n < 7 || line[3] != ' ' || (n > 7 && line[7] != ' ')) {
        found(&f, unknown, "\"%s\" is not a record", show(all).text);
        return f.rule;
    }
    for (uint32_t i = 0; i < TRACELOG_RECORDS; i++)
        if (memcmp(line, tracelog_shapes[i].words, 7) == 0) {
            const span rest = n > 7 ? (span){line + 8, n - 8} : (span){NULL, 0};
            if (check_record(&f, &tracelog_shapes[i], rest))
                found(&f, rule_field, "does not read");
            return f.rule;
        }
    found(&f, unknown, "there is no record \"%s\"", show((span){line, 7}).text);
    return f.rule;
}

unsigned tracelog_signs_of_fault(tracelog_record record, const uint8_t *line, const uint8_t *next)
{
    const tracelog_shape *shape = &tracelog_shapes[record];
    char what[160];
    fault f = {.what = what};
    size_t n = (size_t)(next - line) - 1;
    n -= n > 0 && line[n - 1] == '\r';
    span rest = n > 7 ? (span){line + 8, n - 8} : (span){NULL, 0}, list = rest, s;
    const unsigned plain = plain_fields(shape);
    if (!check_number(&f, shape, rest, plain))
        return 0;
    for (unsigned i = 0; i < plain; i++)
        take(&list, ' ', &s);
    switch (record) {
    case tracelog_fil_src:
    case tracelog_lin_src:
        return TRACELOG_SAVED;
    case tracelog_fun_cmf:
    case tracelog_fun_csf:
        return check_code(&f, list) ? TRACELOG_OLD : 0;
    default: /* a thread of the system comes first */
        return shape->part[0].item == TRACELOG_ANY_THREAD && take(&rest, ' ', &s) && check_dec(&f, "", s, UINT64_MAX)
                   ? TRACELOG_VS
                   : 0;
    }
}
