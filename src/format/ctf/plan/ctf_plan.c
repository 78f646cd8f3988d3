/* Compiling a schema to plans. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/plan/ctf_compile.h"
#include "format/ctf/plan/ctf_fields.h"
#include "format/ctf/plan/ctf_plan_impl.h"

#define DENSE_MAX 65536u /* ids below this are found by a table */

typedef struct planner {
    ctf_plans *plans;
    ctf_plan_set *set;
    const ctf_schema *schema;
    ctf_class_list *classes;
    bool adds_classes;     /* only for the first byte order */
    uint32_t header_first; /* first occurrence of the event header */
    ctf_builder b;
    ctf_scopes scopes;
} planner;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the plans of event classes");
}

static int add_class(ctf_class_list *l, const tl_class *c, tl_error *e)
{
    if (!TL_GROW(l->cls, l->n, 1, l->capacity))
        return no_memory(e);
    l->cls[l->n] = *c;
    l->cls[l->n].id = l->n;
    l->n++;
    return 0;
}

/* Registers that may keep a value from an earlier event. */
static int find_stale(planner *p, ctf_event_plan *ev, uint32_t first, tl_error *e)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < p->scopes.noccurrence; i++)
        n += p->scopes.occurrence[i].conditional && p->scopes.occurrence[i].referenced;
    if (n == 0)
        return 0;
    uint16_t *clear = tl_arena_alloc(&p->plans->arena, n * sizeof *clear);
    if (!clear)
        return no_memory(e);
    n = 0;
    for (uint32_t i = first; i < p->scopes.noccurrence && n < UINT16_MAX; i++)
        if (p->scopes.occurrence[i].conditional && p->scopes.occurrence[i].referenced)
            clear[n++] = p->scopes.occurrence[i].reg;
    ev->clear = clear;
    ev->nclear = (uint16_t)n;
    return 0;
}

/* The three scopes of an event, in a row. */
static int event_scopes(planner *p, const ctf_stream_class *sc, const ctf_event_class *ec, tl_error *e)
{
    int status = ctf_builder_root(&p->b, CTF_FROM_STREAM_CONTEXT, sc->event_context, e);
    if (status == 0)
        status = ctf_builder_root(&p->b, CTF_FROM_EVENT_CONTEXT, ec->context, e);
    if (status == 0)
        status = ctf_builder_root(&p->b, CTF_FROM_PAYLOAD, ec->payload, e);
    return status;
}

/* Assigns a register to the key field of a class. */
static int place_key(planner *p, ctf_event_plan *ev, const ctf_type *type, tl_error *e)
{
    const uint32_t root = p->scopes.root[CTF_FROM_PAYLOAD];
    if (root == CTF_NO_NODE)
        return 0;
    for (uint32_t i = p->scopes.node[root].first; i != CTF_NO_NODE; i = p->scopes.node[i].next) {
        const ctf_node *n = &p->scopes.node[i];
        if (n->type != type || n->occurrence == CTF_NO_NODE)
            continue;
        ctf_occurrence *o = &p->scopes.occurrence[n->occurrence];
        if (o->reg == CTF_NO_REGISTER) {
            if (p->scopes.registers == CTF_NO_REGISTER)
                return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "too many event classes with keys");
            o->reg = (uint16_t)p->scopes.registers++;
        }
        ev->key = o->reg;
        return 0;
    }
    return 0;
}

static int plan_event(planner *p, const ctf_stream_class *sc, const ctf_event_class *ec, ctf_event_plan *ev,
                      uint32_t mod, uint32_t res, tl_error *e)
{
    const ctf_member *key = NULL;
    tl_class c;
    ev->id = ec->id;
    ev->key = CTF_NO_REGISTER;
    int status = ctf_fields_class(p->classes, sc, ec, &c, &key, e);
    if (status == 0 && p->adds_classes) {
        ev->cls = p->classes->n;
        status = add_class(p->classes, &c, e);
    }
    const uint32_t nodes = p->scopes.n;
    uint32_t replay = p->scopes.noccurrence;
    const uint32_t first = replay;
    p->b.replay = NULL;
    ctf_builder_start(&p->b, CTF_STORE, mod, res);
    if (status == 0)
        status = event_scopes(p, sc, ec, e);
    if (status == 0 && key)
        status = place_key(p, ev, key->type, e);
    if (status == 0)
        status = ctf_builder_end(&p->b, &ev->store, &ev->store_number, e);
    ev->moves_clock = p->b.moves_clock;
    ctf_scopes_cut(&p->scopes, nodes);
    p->b.replay = &replay;
    ctf_builder_start(&p->b, CTF_SKIP, mod, res);
    if (status == 0)
        status = event_scopes(p, sc, ec, e);
    if (status == 0)
        status = ctf_builder_end(&p->b, &ev->skip, &ev->skip_number, e);
    ctf_scopes_cut(&p->scopes, nodes);
    for (unsigned i = CTF_FROM_STREAM_CONTEXT; i <= CTF_FROM_PAYLOAD; i++)
        p->scopes.root[i] = CTF_NO_NODE;
    p->b.replay = NULL;
    return status < 0 ? status : find_stale(p, ev, first, e);
}

/* The tables from ids to event classes. */
static int index_ids(planner *p, ctf_stream_plan *s, tl_error *e)
{
    uint64_t dense = 0;
    for (uint32_t i = 0; i < s->nevent; i++)
        if (s->event[i].id < DENSE_MAX && s->event[i].id >= dense)
            dense = s->event[i].id + 1;
    uint32_t *table = tl_arena_alloc(&p->plans->arena, ((size_t)dense + 1) * sizeof *table);
    ctf_quick *quick = tl_arena_zalloc(&p->plans->arena, ((size_t)dense + 1) * sizeof *quick);
    if (!table || !quick)
        return no_memory(e);
    memset(table, 0xff, ((size_t)dense + 1) * sizeof *table);
    for (uint32_t i = 0; i < s->nevent; i++) {
        if (s->event[i].id < dense)
            table[s->event[i].id] = i;
        else if (!tl_hash_put(&s->by_id, s->event[i].id, i))
            return no_memory(e);
    }
    s->dense = table;
    s->quick = quick;
    s->ndense = (uint32_t)dense;
    return 0;
}

/* Packet context and event header of a stream class. */
static int plan_headers(planner *p, const ctf_stream_class *sc, ctf_stream_plan *s, tl_error *e)
{
    ctf_builder *b = &p->b;
    uint32_t replay = p->scopes.noccurrence;
    ctf_builder_start(b, CTF_LOAD, p->set->header_mod, p->set->header_res);
    int status = ctf_builder_root(b, CTF_FROM_PACKET_CONTEXT, sc->packet_context, e);
    if (status == 0)
        status = ctf_builder_end(b, &s->packet_context, &s->context_number, e);
    s->mod = b->mod;
    s->res = b->res;
    if (status == 0 && p->classes->packets && sc->packet_context) {
        b->replay = &replay;
        b->hide_roles = true;
        ctf_builder_start(b, CTF_STORE, p->set->header_mod, p->set->header_res);
        status = ctf_builder_root(b, CTF_FROM_PACKET_CONTEXT, sc->packet_context, e);
        if (status == 0)
            status = ctf_builder_end(b, &s->shown_context, &s->shown_number, e);
        b->replay = NULL;
        b->hide_roles = false;
        for (uint32_t i = 0; i < sc->packet_context->nmember; i++)
            s->shown += ctf_fields_shown(&sc->packet_context->member[i]);
    }
    const uint32_t first = p->header_first = p->scopes.noccurrence;
    ctf_builder_start(b, CTF_LOAD, 1, 0);
    if (status == 0)
        status = ctf_builder_root(b, CTF_FROM_EVENT_HEADER, sc->event_header, e);
    if (status == 0)
        status = ctf_builder_end(b, &s->header, &s->header_number, e);
    s->header_align = sc->event_header ? ctf_type_alignment(sc->event_header) : 1;
    for (uint32_t i = first; i < p->scopes.noccurrence; i++)
        p->scopes.occurrence[i].referenced = false; /* from here on: by events */
    return status;
}

static int plan_stream(planner *p, const ctf_stream_class *sc, ctf_stream_plan *s, tl_error *e)
{
    const uint32_t nodes = p->scopes.n;
    int status = plan_headers(p, sc, s, e);
    const uint32_t mod = p->b.mod, res = p->b.res, header_end = p->scopes.noccurrence;
    s->event = tl_arena_zalloc(&p->plans->arena, (sc->nevent + 1) * sizeof *s->event);
    if (status == 0 && !s->event)
        status = no_memory(e);
    for (uint32_t i = 0; status == 0 && i < sc->nevent; i++) {
        status = plan_event(p, sc, sc->event[i], &s->event[i], mod, res, e);
        s->nevent++;
    }
    if (status == 0 && sc->event_context && ctf_type_has_role(sc->event_context, CTF_ROLE_PAYLOAD_SIZE)) {
        s->has_payload_size = true;
        ctf_builder_start(&p->b, CTF_LOAD, mod, res);
        status = ctf_builder_root(&p->b, CTF_FROM_STREAM_CONTEXT, sc->event_context, e);
        if (status == 0)
            status = ctf_builder_end(&p->b, &s->context_only, &s->only_number, e);
    }
    bool referenced = false;
    for (uint32_t i = p->header_first; i < header_end; i++)
        referenced = referenced || p->scopes.occurrence[i].referenced;
    if (status == 0 && sc->event_header && !referenced)
        ctf_short_header_find(&s->short_header, sc->event_header, p->b.native);
    if (status == 0)
        status = index_ids(p, s, e);
    ctf_scopes_cut(&p->scopes, nodes);
    p->scopes.root[CTF_FROM_PACKET_CONTEXT] = p->scopes.root[CTF_FROM_EVENT_HEADER] = CTF_NO_NODE;
    return status;
}

/* Finds what can be skipped without a program; after all registers are known. */
static void find_quick(ctf_stream_plan *s)
{
    const ctf_short_header *h = &s->short_header;
    ctf_quick *quick = (ctf_quick *)(uintptr_t)s->quick;
    s->whole_bytes = h->is_uniform && h->align == 8 && h->bits % 8 == 0 && h->long_bits % 8 == 0 &&
                     !(h->id.flags & CTF_LOAD_BIG) && h->id.left == h->id.right;
    for (uint32_t i = 0; i < s->ndense; i++) {
        const ctf_event_plan *ev = s->dense[i] == CTF_NO_NODE ? NULL : &s->event[s->dense[i]];
        quick[i] = (ctf_quick){.bits = CTF_NOT_QUICK, .bytes = UINT32_MAX, .cls = ev ? ev->cls : 0};
        if (!ev || !ev->skip.is_fixed || ev->skip.bits / 8 >= UINT32_MAX || ev->key != CTF_NO_REGISTER ||
            s->has_payload_size)
            continue;
        quick[i].bits = ev->skip.bits;
        quick[i].bytes = (uint32_t)(ev->skip.bits / 8);
        s->whole_bytes = s->whole_bytes && ev->skip.bits % 8 == 0;
        if (ev->store.nop == 2 && ev->store.op[0].code == CTF_OP_RUN_LE && ev->store.op[0].b == ev->skip.bits) {
            quick[i].load = ev->store.load + ev->store.op[0].a;
            quick[i].nload = ev->store.op[0].n;
        } else if (ev->store.nop == 1) {
            quick[i].load = ev->store.load;
        }
    }
}

static void settle(planner *p)
{
    ctf_program_settle(&p->set->packet_header, p->set->header_number, &p->scopes);
    for (uint32_t i = 0; i < p->schema->nstream; i++) {
        ctf_stream_plan *s = &p->set->stream[i];
        ctf_program_settle(&s->packet_context, s->context_number, &p->scopes);
        if (s->shown_context.op)
            ctf_program_settle(&s->shown_context, s->shown_number, &p->scopes);
        ctf_program_settle(&s->header, s->header_number, &p->scopes);
        if (s->has_payload_size)
            ctf_program_settle(&s->context_only, s->only_number, &p->scopes);
        for (uint32_t k = 0; k < s->nevent; k++) {
            ctf_program_settle(&s->event[k].store, s->event[k].store_number, &p->scopes);
            ctf_program_settle(&s->event[k].skip, s->event[k].skip_number, &p->scopes);
        }
        find_quick(s);
    }
    p->set->registers = p->scopes.registers;
}

static int plan_set(planner *p, tl_error *e)
{
    const ctf_schema *s = p->schema;
    ctf_scopes_init(&p->scopes);
    p->b.scopes = &p->scopes;
    p->b.arena = &p->plans->arena;
    p->b.event_roles = s->dialect == CTF_1_8 ? CTF_ROLE_TIMESTAMP : CTF_ROLE_PAYLOAD_SIZE;
    p->set->stream = tl_arena_zalloc(&p->plans->arena, (s->nstream + 1) * sizeof *p->set->stream);
    ctf_builder_start(&p->b, CTF_LOAD, CTF_ALIGN_MAX, 0);
    int status = p->set->stream ? ctf_builder_root(&p->b, CTF_FROM_PACKET_HEADER, s->packet_header, e) : no_memory(e);
    if (status == 0)
        status = ctf_builder_end(&p->b, &p->set->packet_header, &p->set->header_number, e);
    p->set->header_mod = p->b.mod;
    p->set->header_res = p->b.res;
    for (uint32_t i = 0; status == 0 && i < s->nstream; i++)
        status = plan_stream(p, s->stream[i], &p->set->stream[i], e);
    if (status == 0)
        settle(p);
    ctf_scopes_fini(&p->scopes);
    ctf_builder_fini(&p->b);
    return status;
}

static uint32_t largest(uint32_t a, const ctf_type *t)
{
    const uint32_t b = t ? ctf_type_alignment(t) : 1;
    return a > b ? a : b;
}

/* A variant hides the alignment of its options from its container: visits every type. */
static uint32_t deep_alignment(const ctf_type *t, unsigned depth)
{
    uint32_t most = t ? largest(1, t) : 1;
    for (uint32_t i = 0; t && depth < CTF_DEPTH_MAX && i < t->nmember; i++) {
        const uint32_t a = deep_alignment(t->member[i].type, depth + 1);
        most = a > most ? a : most;
    }
    return most;
}

static uint32_t schema_alignment(const ctf_schema *s)
{
    uint32_t most = deep_alignment(s->packet_header, 0);
    for (uint32_t i = 0; i < s->nstream; i++) {
        const ctf_stream_class *c = s->stream[i];
        const ctf_type *of[] = {c->packet_context, c->event_header, c->event_context};
        for (unsigned k = 0; k < 3; k++) {
            const uint32_t a = deep_alignment(of[k], 0);
            most = a > most ? a : most;
        }
        for (uint32_t k = 0; k < c->nevent; k++) {
            const uint32_t a = deep_alignment(c->event[k]->context, 0), b = deep_alignment(c->event[k]->payload, 0);
            most = a > most ? a : most;
            most = b > most ? b : most;
        }
    }
    return most;
}

int ctf_plans_new(ctf_plans **out, const ctf_schema *s, ctf_class_list *classes, tl_error *e)
{
    ctf_plans *plans = calloc(1, sizeof *plans);
    if (!plans)
        return no_memory(e);
    plans->schema = s;
    plans->align = (schema_alignment(s) + 7) / 8;
    plans->has_big = s->dialect == CTF_2010;
    int status = 0;
    if (classes->packets && classes->n == 0)
        status = add_class(classes, &ctf_packet_class, e);
    for (unsigned i = 0; status == 0 && i < (plans->has_big ? 2u : 1u); i++) {
        planner p = {.plans = plans, .set = &plans->set[i], .schema = s, .classes = classes, .adds_classes = i == 0};
        p.b.native = i == 0 ? CTF_LE : CTF_BE;
        status = plan_set(&p, e);
    }
    for (uint32_t i = 0; status == 0 && plans->has_big && i < s->nstream; i++) {
        for (uint32_t k = 0; k < plans->set[1].stream[i].nevent; k++)
            plans->set[1].stream[i].event[k].cls = plans->set[0].stream[i].event[k].cls;
        find_quick(&plans->set[1].stream[i]);
    }
    if (status < 0) {
        if (e && s->text && e->offset != TL_NO_OFFSET) {
            const tl_error copy = *e;
            ctf_metadata_fail(e, s->text, s->ntext, copy.offset, "%.180s", copy.message);
            e->code = copy.code;
        }
        ctf_plans_free(plans);
        return status;
    }
    *out = plans;
    return 0;
}

void ctf_plans_free(ctf_plans *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t k = 0; p->set[i].stream && k < p->schema->nstream; k++)
            tl_hash_fini(&p->set[i].stream[k].by_id);
    tl_arena_fini(&p->arena);
    free(p);
}
