/* Events of sites in mode "ctf": spans, instants and counters with their fields.
 *
 * Each lane remembers its open spans with their places in the stack: spans left by longjmp end at the next event
 * further out, and an end without a begin (from before a fork, say) is left out. */
#include "rt/mode/rt_ctf_site.h"

#include "rt/hook/rt_spans.h"
#include "rt/mode/rt_ctf.h"
#include "rt/mode/rt_ctf_metadata.h"

/* ---- fields ---- */

typedef struct fields {
    uint32_t n;                      /* of fields */
    uint32_t length[RT_SITE_FIELDS]; /* of texts */
    size_t bytes;
} fields;

static void measure(fields *f, const struct tl_rt_site *site, int phase, const union tl_rt_value *value)
{
    f->bytes = site->kind == TL_RT_SPAN_SITE ? 4 : 0;
    f->n = phase == RT_CTF_END ? 0 : site->nfield;
    for (uint32_t i = 0; i < f->n; i++) {
        f->length[i] = site->field[i].type == TL_RT_TEXT ? tl_rt_site_text(value[i].s) : 0;
        f->bytes += site->field[i].type == TL_RT_TEXT ? f->length[i] + 1 : 8;
    }
}

static char *put_fields(char *p, const fields *f, const struct tl_rt_site *site, const union tl_rt_value *value)
{
    if (site->kind == TL_RT_SPAN_SITE) {
        rt_put32(p, tl_rt_span_function(site->id - 1));
        p += 4;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        if (site->field[i].type == TL_RT_TEXT) {
            rt_copy(p, value[i].s, f->length[i]);
            p += f->length[i];
            *p++ = '\0';
        } else {
            rt_put64(p, value[i].u);
            p += 8;
        }
    }
    return p;
}

/* ---- single events ---- */

static uint32_t class_of(const struct tl_rt_site *site, int phase)
{
    return RT_CTF_CLASS_SITES + 2 * (site->id - 1) + (uint32_t)phase;
}

/* Are the site's classes in the metadata? If there is no room for them, its event is dropped. */
static bool has_classes(rt_lane *l, rt_ctf_stream *s, const struct tl_rt_site *site)
{
    long done = tl_rt_ctf_metadata_site(site);
    if (RT_UNLIKELY(done < 0))
        tl_rt_ctf_drop(l, s, done);
    return done == 0;
}

static void put(rt_lane *l, rt_ctf_stream *s, uint64_t time, const struct tl_rt_site *site, int phase,
                const union tl_rt_value *value)
{
    fields f;
    if (!has_classes(l, s, site))
        return;
    measure(&f, site, phase, value);
    char *p = rt_ctf_reserve(l, s, &time, class_of(site, phase), f.bytes);
    if (RT_LIKELY(p != NULL))
        rt_ctf_commit(s, time, put_fields(p, &f, site, value));
}

/* ---- what signal handlers put aside ---- */

typedef struct late {
    uint64_t time;
    const struct tl_rt_site *site;
    uint32_t phase, n; /* bytes of payload after it; n rounded up to 8 */
} late;

static void put_payload(rt_lane *l, rt_ctf_stream *s, uint64_t time, const struct tl_rt_site *site, int phase,
                        const char *payload, size_t n)
{
    if (!has_classes(l, s, site))
        return;
    char *p = rt_ctf_reserve(l, s, &time, class_of(site, phase), n);
    if (p) {
        rt_copy(p, payload, n);
        rt_ctf_commit(s, time, p + n);
    }
}

void tl_rt_ctf_add_late(rt_lane *l, rt_ctf_stream *s)
{
    uint64_t mask = rt_signals_block(); /* as in add_all() of rt_record.c */
    for (uint32_t done = 0; done < s->late_used;) {
        const late *e = (const late *)(const void *)(s->late + done);
        put_payload(l, s, e->time, e->site, (int)e->phase, (const char *)(e + 1), e->n);
        done += (uint32_t)sizeof *e + ((e->n + 7) & ~7u);
    }
    s->late_used = 0;
    rt_signals_restore(mask);
}

void tl_rt_ctf_site_late(rt_lane *l, uint64_t time, const struct tl_rt_site *site, int phase,
                         const union tl_rt_value *value)
{
    rt_ctf_stream *s = l->ctf;
    fields f;
    measure(&f, site, phase, value);
    uint32_t size = (uint32_t)(sizeof(late) + ((f.bytes + 7) & ~(size_t)7));
    uint64_t mask = rt_signals_block(); /* a handler that interrupts may never return */
    if (!s || s->file != tl_rt.file || size > RT_CTF_LATE - s->late_used) {
        l->lost.late++;
    } else {
        late *e = (late *)(void *)(s->late + s->late_used);
        *e = (late){.time = time, .site = site, .phase = (uint32_t)phase, .n = (uint32_t)f.bytes};
        put_fields((char *)(e + 1), &f, site, value);
        s->late_used += size;
    }
    rt_signals_restore(mask);
}

/* ---- open spans ---- */

static void end_top(rt_lane *l, rt_ctf_stream *s, uint64_t time)
{
    const struct tl_rt_site *site = s->open[--s->nopen].site;
    put(l, s, time, site, RT_CTF_END, NULL);
}

/* Is a span gone, given that nothing below `keep` exists? `since`: or nothing as deep that began then or later. */
static bool is_gone(const rt_ctf_span *o, uintptr_t keep, uint64_t since)
{
    return o->sp < keep || (o->sp == keep && o->begin >= since);
}

void tl_rt_ctf_end_spans(rt_lane *l, rt_ctf_stream *s, uint64_t time, uintptr_t keep, uint64_t since)
{
    if (RT_LIKELY(!is_gone(&s->open[s->nopen - 1], keep, since)) || rt_on_signal_stack())
        return;
    s->beyond = 0;
    while (s->nopen && is_gone(&s->open[s->nopen - 1], keep, since))
        end_top(l, s, time);
}

static void begin_span(rt_ctf_stream *s, uint64_t time, const struct tl_rt_site *site, uintptr_t sp)
{
    if (s->nopen == RT_CTF_OPEN || s->beyond)
        s->beyond++;
    else
        s->open[s->nopen++] = (rt_ctf_span){.sp = sp, .begin = time, .site = site};
}

/* Ends the span and those begun in it; false: it is not open. */
static bool end_span(rt_lane *l, rt_ctf_stream *s, uint64_t time, const struct tl_rt_site *site, uintptr_t sp)
{
    if (s->beyond) {
        s->beyond--;
        put(l, s, time, site, RT_CTF_END, NULL);
        return true;
    }
    uint32_t i = s->nopen;
    while (i > 0 && !(s->open[i - 1].site == site && s->open[i - 1].sp == sp))
        i--;
    while (i > 0 && s->nopen >= i)
        end_top(l, s, time);
    return i > 0;
}

void tl_rt_ctf_site(rt_lane *l, uint64_t time, const struct tl_rt_site *site, int phase, const rt_ctf_place *at,
                    const union tl_rt_value *value)
{
    rt_ctf_stream *s = l->ctf;
    if (RT_UNLIKELY(!s)) {
        l->lost.memory++;
        return;
    }
    if (RT_UNLIKELY(s->late_used != 0))
        tl_rt_ctf_add_late(l, s);
    if (s->nopen)
        tl_rt_ctf_end_spans(l, s, time, at->keep, UINT64_MAX);
    if (phase == RT_CTF_END) {
        l->lost.exits += !end_span(l, s, time, site, at->sp);
        return;
    }
    put(l, s, time, site, phase, value);
    if (site->kind == TL_RT_SPAN_SITE)
        begin_span(s, time, site, at->sp);
}
