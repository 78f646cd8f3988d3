/* Reports events that cannot be decoded: where, why, and the loss. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/ctf/ctf_layout.h"
#include "format/ctf/read/ctf_event.h"

/* The file byte of a bit in the window; in compressed packets, the begin of the content. */
static uint64_t file_byte(const ctf_cursor *c, uint64_t bit)
{
    return c->packet.offset + (c->content ? CTF_2010_HEADER : ctf_cursor_bit(c, bit) / 8);
}

static bool is_2010(const ctf_cursor *c)
{
    return c->file->unit->schema.dialect == CTF_2010;
}

/* The end of the packet's content, as a bit of the window. */
static uint64_t content_end(const ctf_cursor *c)
{
    return c->finish - c->base * 8;
}

/* The bytes lost from one bit to another; for a compressed packet all stored ones. */
static uint64_t lost_bytes(const ctf_cursor *c, uint64_t from, uint64_t to)
{
    if (c->content)
        return c->packet.content / 8 - CTF_2010_HEADER;
    return to > from ? (to - from + 7) / 8 : 0;
}

static int fail_if_strict(const ctf_cursor *c, int status, uint64_t at, const char *rule, const char *what, tl_error *e)
{
    if (status < 0)
        return tl_fail(e, (tl_code)status, at, "no memory for the list of damage");
    return c->want->strict ? tl_fail(e, TL_EDAMAGED, at, "%s: %s: %s", c->file->name, rule, what) : 0;
}

static int report(const ctf_cursor *c, unsigned kind, uint64_t at, uint64_t offset, uint64_t bytes, const char *rule,
                  const char *what, tl_error *e)
{
    int status =
        ctf_report(c->trace, c->file, kind, at, offset, bytes, rule, "packet %" PRIu64 ": %s", c->packet.number, what);
    return fail_if_strict(c, status, at, rule, what, e);
}

/* Puts the path of a member into text if it is in the type. */
static bool find_member(const ctf_type *t, const ctf_member *m, unsigned depth, char *text, size_t size)
{
    const size_t at = strlen(text);
    for (uint32_t i = 0; t && depth < CTF_DEPTH_MAX && i < t->nmember; i++) {
        const ctf_member *child = &t->member[i];
        if (child->name)
            snprintf(text + at, size - at, "%s%s", at ? "." : "", child->name);
        if (child == m || find_member(child->type, m, depth + 1, text, size))
            return true;
        text[at] = 0;
    }
    return false;
}

/* Writes the path of the field where a program failed ("len", "a.b.c") into text. Returns text, "" if unknown. */
static const char *path_of(const ctf_program *p, const ctf_run *r, const ctf_type *const *scope, unsigned n, char *text,
                           size_t size)
{
    text[0] = 0;
    if (r->bad_op >= p->nop)
        return text;
    const ctf_op *op = &p->op[r->bad_op];
    const ctf_member *m = p->op_member[r->bad_op];
    const bool is_run = op->code == CTF_OP_RUN || op->code == CTF_OP_RUN_LE || op->code == CTF_OP_RUN_BE;
    if (is_run && r->bad_load >= op->a && r->bad_load - op->a < op->n)
        m = p->load_member[r->bad_load];
    if (op->code == CTF_OP_BITS || op->code == CTF_OP_VARINT)
        m = p->load_member[op->a];
    for (unsigned i = 0; m && i < n; i++)
        if (scope[i] && find_member(scope[i], m, 0, text, size))
            return text;
    return text;
}

static void describe(const ctf_cursor *c, const ctf_event_plan *ev, uint64_t start, ctf_run_status status, char *what,
                     size_t size)
{
    const ctf_run *r = &c->run;
    const ctf_stream_class *sc = c->file->unit->schema.stream[c->packet.stream];
    const uint64_t bit = ctf_cursor_bit(c, status == CTF_RUN_LARGE || status == CTF_RUN_MEMORY ? start : r->bad);
    const ctf_stream_plan *s = &ctf_plans_set(c->file->unit->plans, c->packet.big)->stream[c->packet.stream];
    const char *event = ev ? tl_trace_class(c->trace, ev->cls)->name : "header";
    char path[80], problem[96];
    if (ev) {
        const ctf_event_class *ec = sc->event[ev - s->event];
        const ctf_type *scope[] = {sc->event_context, ec->context, ec->payload};
        path_of(r->batch ? &ev->store : &ev->skip, r, scope, 3, path, sizeof path);
    } else {
        path_of(&s->header, r, &sc->event_header, 1, path, sizeof path);
    }
    switch (status) {
    case CTF_RUN_SELECTOR:
        snprintf(problem, sizeof problem, "no option is chosen by %" PRIu64, r->bad_value);
        break;
    case CTF_RUN_LENGTH:
        snprintf(problem, sizeof problem, "the length is %" PRId64, (int64_t)r->bad_value);
        break;
    case CTF_RUN_ORDER:
        snprintf(problem, sizeof problem, "the byte order changes inside a byte");
        break;
    case CTF_RUN_VARINT:
        snprintf(problem, sizeof problem, "an integer of more than 64 bits");
        break;
    case CTF_RUN_TEXT:
        snprintf(problem, sizeof problem, "%" PRIu64 " bytes are not whole number of characters", r->bad_value);
        break;
    case CTF_RUN_LARGE:
        snprintf(problem, sizeof problem, "more than %u values", CTF_EVENT_SLOTS_MAX);
        break;
    case CTF_RUN_MEMORY:
        snprintf(problem, sizeof problem, "no memory for it");
        break;
    default:
        snprintf(problem, sizeof problem, "leaves the packet's content of %" PRIu64 " bits", c->finish);
    }
    snprintf(what, size, "bit %" PRIu64 ": event %s%s%s: %s", bit, event, *path ? ", field " : "", path, problem);
}

/* Skipping takes many fields in one step: decodes the event again, into a batch of its own, to find the field that does
 * not fit. Without memory it stays the first one of the step. */
static void locate(ctf_cursor *c, const ctf_event_plan *ev, uint64_t fields, tl_batch *b)
{
    ctf_run *r = &c->run;
    const tl_want want = {.fields = true};
    if (tl_batch_init(b, c->trace, &want, 1, NULL) < 0 || !tl_batch_slots(b, ev->store.slots))
        return;
    b->nval = 0;
    const ctf_run before = *r;
    for (uint32_t i = 0; i < ev->nclear; i++)
        r->reg[ev->clear[i]] = 0;
    r->at = fields;
    r->batch = b;
    if (ctf_run_store(r, &ev->store) != CTF_RUN_SHORT)
        *r = before;
    r->at = before.at;
}

int ctf_fault_event(ctf_cursor *c, const ctf_event_plan *ev, uint64_t start, uint64_t fields, ctf_run_status status,
                    tl_error *e)
{
    char what[240];
    if (status == CTF_RUN_MEMORY)
        return tl_fail(e, TL_ENOMEM, file_byte(c, start), "no memory for an event");
    if (status == CTF_RUN_SHORT && ev && !c->run.batch) {
        tl_batch b = {0};
        locate(c, ev, fields, &b);
        describe(c, ev, start, status, what, sizeof what);
        c->run.batch = NULL;
        c->run.text = c->run.text_end = NULL;
        tl_batch_fini(&b);
    } else {
        describe(c, ev, start, status, what, sizeof what);
    }
    const uint64_t end = content_end(c);
    const bool bounds = status == CTF_RUN_SHORT;
    if (bounds && c->packet.truncated) /* the walk has reported the cut */
        return report(c, TL_DAMAGE_LOSS, file_byte(c, start), file_byte(c, start), lost_bytes(c, start, end),
                      is_2010(c) ? "ctf2010.truncated" : "ctf.truncated", what, e);
    const char *rule = is_2010(c) ? "ctf2010.event-bounds" : bounds ? "ctf.event-bounds" : "ctf.field";
    const uint64_t bad = status == CTF_RUN_LARGE ? start : c->run.bad;
    return report(c, TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, file_byte(c, bad), file_byte(c, start),
                  lost_bytes(c, start, end), rule, what, e);
}

int ctf_fault_unknown(ctf_cursor *c, uint64_t id, uint64_t start, uint64_t resume, tl_error *e)
{
    char what[160];
    snprintf(what, sizeof what, "bit %" PRIu64 ": event class %" PRIu64 " is not in the metadata%s",
             ctf_cursor_bit(c, start), id, resume == content_end(c) ? "; the rest of the packet is skipped" : "");
    return report(c, TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, file_byte(c, start), file_byte(c, start),
                  lost_bytes(c, start, resume), is_2010(c) ? "ctf2010.unknown-event" : "ctf.unknown-event", what, e);
}

int ctf_fault_payload(ctf_cursor *c, uint64_t begin, uint64_t bytes, uint64_t says, tl_error *e)
{
    char what[160];
    snprintf(what, sizeof what, "bit %" PRIu64 ": payload_size %" PRIu64 ", the fields take %" PRIu64 " bytes",
             ctf_cursor_bit(c, begin), says, bytes);
    return report(c, TL_DAMAGE_FAULT, file_byte(c, begin), file_byte(c, begin), 0, "ctf2010.payload-size", what, e);
}

int ctf_fault_empty(ctf_cursor *c, uint64_t start, tl_error *e)
{
    return report(c, TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, file_byte(c, start), file_byte(c, start),
                  lost_bytes(c, start, content_end(c)), "ctf.empty-event", "events of no bits, which would never end",
                  e);
}

int ctf_fault_regression(ctf_cursor *c, uint64_t start, tl_error *e)
{
    c->out_of_order++;
    return fail_if_strict(c, 0, file_byte(c, start), "ctf.order", "an event is earlier than the one before it", e);
}
