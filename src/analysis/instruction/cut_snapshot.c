/* Makes a snapshot: the fields of an earlier one with the values that the machine has now. Unknown values are 0, and
 * counted. */
#include "analysis/instruction/cut_snapshot.h"

#include <string.h>

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/machine_state.h"
#include "model/batch.h"
#include "op/source_impl.h"

enum { PREDICATES = 16 };

/* Copies an event with everything that its values point to. */
static int copy_event(tl_batch *to, const tl_batch *b, uint32_t i, uint64_t ts, tl_error *e)
{
    const uint32_t n = b->val[i + 1] - b->val[i];
    tl_value *const v = tl_batch_slots(to, n);
    bool ok = v != NULL;
    if (ok)
        memcpy(v, b->v + b->val[i], n * sizeof *v);
    for (uint32_t k = 0; ok && k < n; k++)
        if (v[k].type == TL_BYTES) {
            uint8_t *bytes = tl_arena_alloc(to->arena, v[k].n ? v[k].n : 1);
            ok = bytes != NULL;
            if (ok && v[k].n)
                memcpy(bytes, v[k].as.p, v[k].n);
            v[k].as.p = bytes;
        }
    if (!ok)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a snapshot");
    to->ts[0] = ts;
    to->key[0] = 0;
    to->cls[0] = b->cls[i];
    to->track[0] = b->track[i];
    if (to->aux)
        to->aux[0] = 0;
    if (to->rank)
        to->rank[0] = 0;
    if (to->cpu)
        to->cpu[0] = b->cpu ? b->cpu[i] : -1;
    to->val[0] = 0;
    to->val[1] = n;
    to->n = 1;
    return 0;
}

/* Copies the snapshot that the machine began with. */
static int copy_base(tl_cut_snapshot *c, tl_source *s, uint32_t track, const tl_machine *m, tl_error *e)
{
    const tl_limit limit = {.set = true, .from = m->from, .to = m->from < UINT64_MAX ? m->from + 1 : m->from};
    tl_insn_classes classes;
    (void)tl_insn_classes_find(&classes, &s->trace);
    int status = 0;
    for (uint32_t i = 0; status == 0 && c->batch.n == 0 && i < tl_source_streams(s); i++) {
        tl_cursor *cursor = NULL;
        const tl_batch *b;
        bool ended = false;
        status = tl_cursor_open_want(&cursor, s, i, NULL, &limit, e);
        while (status == 0 && !ended && (status = tl_cursor_next(cursor, &b, e)) > 0) {
            status = 0;
            ended = b->track[0] != track; /* a stream is of one track */
            for (uint32_t k = 0; status == 0 && !ended && k < b->n; k++) {
                ended = b->ts[k] > m->from;
                if (ended || b->ts[k] != m->from || tl_insn_what_is(&classes, b->cls[k]) != TL_IS_SNAPSHOT)
                    continue;
                tl_batch_clear(&c->batch); /* of several, the last one was replayed */
                status = copy_event(&c->batch, b, k, m->at, e);
            }
        }
        tl_cursor_close(cursor);
    }
    return status;
}

static unsigned bits_of(uint32_t v)
{
    return (unsigned)__builtin_popcount(v);
}

/* Sets unknown bytes to 0. The copy is ours, so it may be written. */
static void put_zeros(const tl_value *v, size_t from)
{
    if (v->type == TL_BYTES && v->n > from)
        memset((uint8_t *)(uintptr_t)v->as.p + from, 0, v->n - from);
}

static void put_vector(const tl_machine *m, unsigned n, const tl_value *v)
{
    const size_t low = v->n < TL_VECTOR_BYTES ? v->n : TL_VECTOR_BYTES;
    if (!(m->vectors_written >> n & 1))
        return;
    put_zeros(v, 0); /* writing the low bytes clears the others */
    if (m->vectors >> n & 1)
        memcpy((uint8_t *)(uintptr_t)v->as.p, m->vector[n], low);
}

/* A system register, by its name in the snapshot. */
static void put_system(tl_cut_snapshot *c, const tl_machine *m, const char *name, tl_value *v)
{
    for (unsigned k = 0; k < TL_MACHINE_SYSTEM; k++)
        if (strcmp(tl_machine_system[k].name, name) == 0) {
            if (m->system_unknown >> k & 1) {
                v->as.u = 0;
                c->unknown++;
            } else if (m->system_known >> k & 1) {
                v->as.u = m->system[k];
            }
        }
}

static void put_predicates(const tl_machine *m, const tl_field *f, tl_value *v)
{
    if (f->type == TL_LIST)
        for (uint32_t n = 0; n < v->n && n < PREDICATES; n++)
            if (m->predicates_written >> n & 1)
                put_zeros(&v[1 + n], 0);
    if (f->type == TL_BYTES && m->predicates_written & (strcmp(f->name, "za") == 0 ? A64_ZA : A64_FFR))
        put_zeros(v, 0);
}

static void put_values(tl_cut_snapshot *c, const tl_machine *m)
{
    const tl_class *cls = tl_trace_class(c->batch.trace, c->batch.cls[0]);
    tl_value *v = c->batch.v, *const end = v + c->batch.nval;
    c->unknown += 32 - bits_of(m->registers.known) + bits_of(m->vectors_written & ~m->vectors) +
                  bits_of(m->predicates_written & (A64_FFR | A64_ZA | (A64_FFR - 1))) + !m->registers.has_nzcv;
    for (uint32_t k = 0; k < cls->nfield && v < end; k++) {
        const tl_field *f = &cls->field[k];
        const bool general = f->role == TL_FIELD_GENERAL, vectors = f->role == TL_FIELD_VECTORS;
        for (uint32_t n = 0; (general || vectors) && n < v->n && n < 32; n++)
            if (general)
                v[1 + n].as.u = m->registers.x[n]; /* 0 if unknown */
            else
                put_vector(m, n, &v[1 + n]);
        if (f->role == TL_FIELD_FLAGS_REGISTER)
            v->as.u = m->registers.has_nzcv ? m->registers.nzcv : 0;
        else if (f->type == TL_HEX)
            put_system(c, m, f->name, v);
        else if (!general && !vectors)
            put_predicates(m, f, v);
        v += v->type == TL_LIST ? 1 + v->n : 1;
    }
}

int tl_cut_snapshot_make(tl_cut_snapshot *c, tl_source *s, uint32_t track, uint64_t at, tl_error *e)
{
    tl_machine m;
    *c = (tl_cut_snapshot){0};
    int status = tl_machine_at_track(&m, s, track, at, e);
    if (status == 0 && m.has_snapshot && m.from < at) {
        status = tl_batch_init(&c->batch, &s->trace, &(tl_want){.fields = true, .cpu = true}, 1, e);
        if (status == 0)
            status = copy_base(c, s, track, &m, e);
        if (m.has_next)
            a64_learn(&m.registers, m.opcode, m.has_address ? &m.address : NULL, m.has_target ? &m.target : NULL);
        if (status == 0 && c->batch.n)
            put_values(c, &m);
    }
    c->is_there = status == 0 && m.has_snapshot && m.from == at;
    c->has_none = status == 0 && !m.has_snapshot;
    tl_machine_fini(&m);
    return status;
}

void tl_cut_snapshot_fini(tl_cut_snapshot *c)
{
    tl_batch_fini(&c->batch);
}
