/* Writes .tlp files, part: the body, in the order of docs/format/profile.md. */
#include "format/tlp/tlp_layout.h"
#include "rt/mode/rt_tlp_impl.h"

static void put_string(const tlp_writer *m, tlp_sink *s, uint32_t string)
{
    tl_rt_tlp_put_number(s, string ? m->text[string - 1].rank : 0);
}

static void put_strings(const tlp_writer *m, tlp_sink *s)
{
    for (uint32_t i = 0; i < m->nstring; i++) {
        const tlp_text *t = &m->text[m->text_order[i]];
        tl_rt_tlp_put_number(s, t->n);
        tl_rt_tlp_put(s, t->s, t->n);
    }
}

static void put_head(const tlp_writer *m, tlp_sink *s)
{
    put_string(m, s, m->clock_text);
    tl_rt_tlp_put_number(s, m->hz);
    if (m->has_utc)
        tl_rt_tlp_put_number(s, tlp_zigzag(m->utc));
    put_string(m, s, m->build_id_text);
    put_string(m, s, m->exe_text);
    tl_rt_tlp_put_number(s, m->exits);
    tl_rt_tlp_put_number(s, m->open);
    tl_rt_tlp_put_number(s, m->lost > m->lost_noted ? m->lost : m->lost_noted);
    tl_rt_tlp_put_number(s, 0); /* damaged bytes */
}

static void put_functions(const tlp_writer *m, tlp_sink *s)
{
    uint32_t id = 0;
    for (uint32_t i = 0; i < m->nfunction; i++) {
        const tlp_function *f = &m->function[m->function_order[i]];
        put_string(m, s, f->module);
        tl_rt_tlp_put_number(s, tlp_zigzag((int64_t)f->id - (int64_t)id));
        put_string(m, s, f->name);
        tl_rt_tlp_put_number(s, 0); /* file, line */
        tl_rt_tlp_put_number(s, 0);
        tl_rt_tlp_put_number(s, f->address);
        put_string(m, s, f->name); /* linkage name */
        if (m->extended) {
            put_string(m, s, f->library);
            tl_rt_tlp_put_number(s, 0); /* later name, flags */
            tl_rt_tlp_put_number(s, 0);
        }
        id = f->id;
    }
}

static void put_threads(const tlp_writer *m, tlp_sink *s)
{
    for (uint32_t i = 0; i < m->nthread; i++) {
        const tlp_thread *t = &m->thread[i];
        tl_rt_tlp_put_number(s, t->has_tid ? TLP_HAS_PID | TLP_HAS_TID : TLP_HAS_PID);
        tl_rt_tlp_put_number(s, tlp_zigzag((int64_t)t->pid));
        if (t->has_tid)
            tl_rt_tlp_put_number(s, tlp_zigzag((int64_t)t->tid));
        put_string(m, s, t->name);
    }
}

static void put_tree(const tlp_writer *m, tlp_sink *s)
{
    for (uint32_t i = 1; i < m->nplace; i++) {
        uint32_t up = 0, at = m->order[i - 1];
        for (; at != m->place[m->order[i]].parent; at = m->place[at].parent)
            up++;
        tl_rt_tlp_put_number(s, up);
    }
    for (uint32_t i = 0; i < m->nplace; i++)
        m->least[i] = i ? m->nthread : 0;
    for (uint32_t i = 1; i < m->nplace; i++) {
        const uint32_t at = m->order[i], parent = m->place[at].parent;
        const uint32_t code = at <= m->nthread ? at - 1 : m->function_code[m->place[at].function];
        tl_rt_tlp_put_number(s, code - m->least[parent]);
        m->least[parent] = code + 1;
    }
}

static void put_sums(const tlp_writer *m, tlp_sink *s)
{
    const tlp_numbers *n = m->numbers;
    for (uint32_t i = 1; i < m->nplace; i++)
        tl_rt_tlp_put_number(s, n[i].calls);
    for (uint32_t i = 1; i < m->nplace; i++)
        tl_rt_tlp_put_number(s, n[i].total);
    for (uint32_t i = 1; i < m->nplace; i++)
        tl_rt_tlp_put_number(s, n[i].inner); /* total - self */
    for (uint32_t i = 1; i < m->nplace; i++)
        tl_rt_tlp_put_number(s, n[i].total - n[i].outer);
}

static void put_durations(const tlp_writer *m, tlp_sink *s)
{
    const tlp_numbers *n = m->numbers;
    for (uint32_t i = 1; i < m->nplace; i++)
        if (n[i].calls)
            tl_rt_tlp_put_number(s, n[i].total / n[i].calls - n[i].min);
    for (uint32_t i = 1; i < m->nplace; i++)
        if (n[i].calls)
            tl_rt_tlp_put_number(s, n[i].max - n[i].min);
    for (const tlp_bytes *b = m->bucket_first; b; b = b->next)
        tl_rt_tlp_put(s, b->byte, b->used);
}

void tl_rt_tlp_put_body(const tlp_writer *m, tlp_sink *s)
{
    tl_rt_tlp_put_number(s, m->nstring);
    tl_rt_tlp_put_number(s, m->nfunction);
    tl_rt_tlp_put_number(s, m->nthread);
    tl_rt_tlp_put_number(s, m->nplace - 1);
    put_strings(m, s);
    put_head(m, s);
    put_functions(m, s);
    put_threads(m, s);
    put_tree(m, s);
    put_sums(m, s);
    put_durations(m, s);
}
