/* Writes .tlp files, part: what the notes in the image say of clock, program, objects and functions. */
#include "format/tlp/live_layout.h"
#include "rt/mode/rt_tlp_impl.h"
#include "rt/rt_say.h"

enum { LINE = 8192, NS = 1000000000 }; /* longer lines are passed over */

/* ---- one line ---- */

/* The next key=value of a line; the value of `rest` goes to the end of it. False: there are no more. */
static bool next_pair(char **at, const char *rest, const char **key, char **value)
{
    char *p = *at;
    while (*p == ' ')
        p++;
    *key = p;
    while (*p && *p != '=' && *p != ' ')
        p++;
    if (*p != '=')
        return false;
    *p++ = 0;
    *value = p;
    if (!rest || !tl_rt_same(*key, rest))
        while (*p && *p != ' ')
            p++;
    else
        p += rt_length(p);
    if (*p)
        *p++ = 0;
    *at = p;
    return true;
}

/* A copy of a value that comes last in its line: \n is a line feed, \\ a backslash. */
static const char *unescaped(tlp_writer *m, char *s)
{
    char *to = s;
    for (const char *from = s; *from; from++) {
        if (*from == '\\' && from[1]) {
            from++;
            *to++ = *from == 'n' ? '\n' : *from;
        } else {
            *to++ = *from;
        }
    }
    return to == s ? NULL : tl_rt_tlp_copy(m, s, (size_t)(to - s));
}

static uint64_t number(const char *s)
{
    uint64_t v;
    return tl_rt_read_number(s, &v) ? v : 0;
}

static void read_process(tlp_writer *m, char *at)
{
    const char *key;
    char *value;
    while (next_pair(&at, "exe", &key, &value))
        if (tl_rt_same(key, "exe"))
            m->exe = unescaped(m, value);
}

/* Ticks as ns, rounded half to even; false: too many for 63 bits. */
static bool ns_of(uint64_t ticks, uint64_t hz, int64_t *ns)
{
    const uint64_t seconds = ticks / hz, rest = ticks % hz;
    uint64_t quotient = 0, remainder = 0; /* of rest * 10^9 / hz, bit by bit: the product may need more than 64 */
    for (uint32_t bit = UINT32_C(1) << 29; bit; bit >>= 1) {
        const uint64_t add[2] = {remainder, NS & bit ? rest : 0};
        quotient *= 2;
        for (uint32_t i = 0; i < 2; i++) {
            remainder += add[i];
            if (remainder >= hz) {
                remainder -= hz;
                quotient++;
            }
        }
    }
    const uint64_t above = hz - remainder;
    quotient += remainder > above || (remainder == above && (quotient & 1));
    if (seconds > (INT64_MAX - quotient) / NS)
        return false;
    *ns = (int64_t)(seconds * NS + quotient);
    return true;
}

static void read_clock(tlp_writer *m, char *at)
{
    const char *key;
    char *value;
    bool has_ticks = false, has_unix = false;
    uint64_t ticks = 0, unix_ns = 0;
    int64_t since;
    while (next_pair(&at, NULL, &key, &value)) {
        if (tl_rt_same(key, "name")) {
            m->clock = tl_rt_tlp_copy(m, value, rt_length(value));
        } else if (tl_rt_same(key, "hz")) {
            m->hz = number(value);
        } else if (tl_rt_same(key, "ticks")) {
            has_ticks = tl_rt_read_number(value, &ticks);
        } else if (tl_rt_same(key, "unix")) {
            has_unix = tl_rt_read_number(value, &unix_ns);
        }
    }
    m->has_utc =
        has_ticks && has_unix && m->hz && m->hz <= INT64_MAX && unix_ns <= INT64_MAX && ns_of(ticks, m->hz, &since);
    if (m->has_utc)
        m->utc = (int64_t)unix_ns - since;
}

static void read_object(tlp_writer *m, char *at)
{
    tlp_object o = {0};
    const char *key;
    char *value;
    while (next_pair(&at, "path", &key, &value)) {
        if (tl_rt_same(key, "id"))
            o.id = (uint32_t)number(value);
        else if (tl_rt_same(key, "base"))
            o.base = (uint32_t)number(value);
        else if (tl_rt_same(key, "count"))
            o.count = (uint32_t)number(value);
        else if (tl_rt_same(key, "build-id") && !tl_rt_same(value, "-"))
            o.build_id = tl_rt_tlp_copy(m, value, rt_length(value));
        else if (tl_rt_same(key, "path"))
            o.path = unescaped(m, value);
    }
    if (tl_rt_tlp_grow(m, &m->object, m->nobject, sizeof o))
        m->object[m->nobject++] = o;
}

static void read_function(tlp_writer *m, char *at)
{
    tlp_note f = {0};
    const char *key;
    char *value;
    while (next_pair(&at, "name", &key, &value)) {
        if (tl_rt_same(key, "id"))
            f.id = (uint32_t)number(value);
        else if (tl_rt_same(key, "object"))
            f.object = (uint32_t)number(value);
        else if (tl_rt_same(key, "address"))
            f.address = number(value);
        else if (tl_rt_same(key, "name"))
            f.name = unescaped(m, value);
    }
    if (tl_rt_tlp_grow(m, &m->note, m->nnote, sizeof f))
        m->note[m->nnote++] = f;
}

/* A thread by its number: in the list of functions' shape, since both are found by a number. */
static void read_thread(tlp_writer *m, char *at)
{
    tlp_note t = {0};
    const char *key;
    char *value;
    while (next_pair(&at, "name", &key, &value)) {
        if (tl_rt_same(key, "tid"))
            t.id = (uint32_t)number(value);
        else if (tl_rt_same(key, "name"))
            t.name = unescaped(m, value);
    }
    if (tl_rt_tlp_grow(m, &m->named, m->nnamed, sizeof t))
        m->named[m->nnamed++] = t;
}

/* Exits of calls that began before are no losses: they have a number of their own. */
static void read_lost(tlp_writer *m, char *at)
{
    const char *key;
    char *value;
    m->lost_noted = 0;
    while (next_pair(&at, NULL, &key, &value))
        if (!tl_rt_same(key, "exits"))
            m->lost_noted = tlp_add(m->lost_noted, number(value));
}

static void read_line(tlp_writer *m, char *line)
{
    static const struct {
        const char *word;
        void (*read)(tlp_writer *m, char *at);
    } known[] = {{"process", read_process},   {"clock", read_clock},   {"object", read_object},
                 {"function", read_function}, {"thread", read_thread}, {"lost", read_lost}};
    char *at = line;
    while (*at && *at != ' ')
        at++;
    if (*at)
        *at++ = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (tl_rt_same(line, known[i].word))
            known[i].read(m, at);
}

/* ---- all of them ---- */

typedef struct lines {
    tlp_writer *m;
    uint32_t n;
    char line[LINE];
} lines;

static void add_bytes(lines *l, const uint8_t *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (p[i] != '\n') {
            if (l->n < LINE)
                l->line[l->n++] = (char)p[i];
            continue;
        }
        if (l->n < LINE) {
            l->line[l->n] = 0;
            read_line(l->m, l->line);
        }
        l->n = 0;
    }
}

/* Lines of one id replace each other: only the last one stays. They stand in the order of ids then. */
static bool object_after(const tlp_writer *m, uint32_t a, uint32_t b)
{
    return m->object[a].id > m->object[b].id;
}

static bool note_after(const tlp_writer *m, uint32_t a, uint32_t b)
{
    return m->note[a].id > m->note[b].id;
}

static bool named_after(const tlp_writer *m, uint32_t a, uint32_t b)
{
    return m->named[a].id > m->named[b].id;
}

/* The last index of each id, ascending by id; *n becomes their number. */
static const uint32_t *settle(tlp_writer *m, uint32_t *n, tlp_after *after)
{
    uint32_t *order = tl_rt_tlp_numbers(m, *n), kept = 0;
    if (!order)
        return NULL;
    tl_rt_tlp_sort(m, order, order + *n, *n, after);
    for (uint32_t i = 0; i < *n; i++) {
        if (kept && !after(m, order[i], order[kept - 1]))
            kept--;
        order[kept++] = order[i];
    }
    *n = kept;
    return order;
}

static void settle_objects(tlp_writer *m)
{
    uint32_t n = m->nobject;
    const uint32_t *order = settle(m, &n, object_after);
    tlp_object *object = tl_rt_tlp_take(m, n * (uint64_t)sizeof *object);
    for (uint32_t i = 0; order && object && i < n; i++)
        object[i] = m->object[order[i]];
    m->object = object;
    m->nobject = n;
}

static tlp_note *settled(tlp_writer *m, const tlp_note *note, uint32_t *n, tlp_after *after)
{
    const uint32_t *order = settle(m, n, after);
    tlp_note *out = tl_rt_tlp_take(m, *n * (uint64_t)sizeof *out);
    for (uint32_t i = 0; order && out && i < *n; i++)
        out[i] = note[order[i]];
    return out;
}

const tlp_note *tl_rt_tlp_find(const tlp_note *note, uint32_t n, uint32_t id)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (note[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && note[low].id == id ? &note[low] : NULL;
}

/* The object of the program itself: by its path, else by its numbers. 0: not known. */
static void find_program(tlp_writer *m)
{
    for (uint32_t i = 0; m->exe && i < m->nobject && !m->program; i++)
        if (m->object[i].path && tl_rt_same(m->object[i].path, m->exe))
            m->program = m->object[i].id;
    for (uint32_t i = 0; i < m->nobject && !m->program; i++)
        if (m->object[i].base == 0 && m->object[i].count > 0)
            m->program = m->object[i].id;
}

void tl_rt_tlp_read_notes(tlp_writer *m)
{
    lines *l = tl_rt_tlp_take(m, sizeof *l);
    live_chain chain = {0};
    if (!l)
        return;
    l->m = m;
    const uint8_t *p;
    for (uint32_t at = tlp_load32(m->image + LIVE_HEADER_TEXT);
         (p = tlp_at(m, at, LIVE_TEXT_BYTES)) && !live_circles(&chain, at); at = tlp_load32(p + LIVE_TEXT_NEXT)) {
        const uint64_t room =
            __atomic_load_n(m->image_size, __ATOMIC_RELAXED) - (uint64_t)(p - m->image) - LIVE_TEXT_BYTES;
        const uint64_t used = tlp_load32(p + LIVE_TEXT_USED);
        add_bytes(l, p + LIVE_TEXT_BYTES, used < room ? used : room);
    }
    if (m->error)
        return;
    if (!m->clock)
        m->clock = "ticks";
    find_program(m);
    settle_objects(m);
    m->note = settled(m, m->note, &m->nnote, note_after);
    m->named = settled(m, m->named, &m->nnamed, named_after);
}
