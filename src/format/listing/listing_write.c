/* A listing of instructions: for people, and for diff.
 *
 *         0            0x400580  d10083ff  sub     sp, sp, #32
 *         1            0x400584  f9000fe0  str     x0, [sp, #24]             [0x7ffff0 <- 8 bytes]
 *         2            0x400588  d4000001  svc     #0                        syscall 64: 0x1, 0x4a0b10, 0xc = 0xc
 *         3            0x40058c  d65f03c0  ret                               -> 0x400900
 *
 *   1  the number of the instruction in its track; in front of it the track, in traces of several
 *   2  its level, if it is above 0, and pc
 *   3  opcode and text
 *   4  what else the trace says of it: see docs/format/listing.md
 *
 * What follows the text comes as separate events, so a line ends with the first event that does not belong to it.
 * If another track came in between, the rest gets a line of its own with the number again.
 *
 * Two formats: without the bytes of accesses and without registers, which need the tape of values, and with them. */
#include <stdlib.h>

#include "base/grow.h"
#include "base/text/number.h"
#include "format/listing/listing_detail.h"
#include "format/listing/listing_line.h"
#include "model/label.h"

enum {
    NUMBER_WIDTH = 9,
    NUMBER_MAX = 20,
    TRACK_WIDTH_MAX = 32, /* longer names push their line to the right */
    TRACK_BYTES = 256,    /* a name is cut there */
    EVENT_ROOM = 1024,    /* bytes written without another check */
    SPACES = 128          /* most that are needed before something that follows, and more */
};

/* How the events of a class are written. */
typedef enum listing_action {
    LISTING_DROP,
    LISTING_IGNORE,
    LISTING_INSN,
    LISTING_LOAD,
    LISTING_STORE,
    LISTING_STORED,
    LISTING_SYSTEM, /* = 0x10 */
    LISTING_ARGUMENT,
    LISTING_RESULT,
    LISTING_BUFFERS,
    LISTING_AT,
    LISTING_TARGET,
    LISTING_ORDER,
    LISTING_FLAGS,
    LISTING_VALUE,   /* name 0x10 */
    LISTING_NAME,    /* only its presence */
    LISTING_OWN_LINE /* the same, not after an instruction; registers may follow */
} listing_action;

/* Arguments of a system call so far. */
typedef struct listing_call {
    uint64_t number; /* of the instruction */
    uint32_t n;
} listing_call;

typedef struct listing_writer {
    tl_write_context context;
    bool values;
    uint8_t *action; /* by class */
    listing_lines lines;
    tl_labels track;
    bool show_track;
    size_t track_width;

    bool open; /* a line has no line feed yet ... */
    bool mine; /* ... and ends with an instruction: what follows ... */
    uint32_t open_track;
    uint64_t open_number; /* ... this instruction is appended, ... */
    unsigned padding;     /* ... after that many spaces */

    uint64_t number;                           /* of the last line, ... */
    char digits[NUMBER_MAX + TL_TEXT_PADDING]; /* ... as text that ends at NUMBER_MAX, all but ... */
    char last_digit;                           /* ... this one */
    const char *first_digit;                   /* where the column begins */

    listing_call *call; /* by track */
    uint32_t ncall;
    uint64_t left_out;
} listing_writer;

static listing_action action_of(const tl_class *c)
{
    if (c->kind == TL_FORMAT)
        return LISTING_IGNORE;
    if (c->kind == TL_INSN && c->role == TL_ROLE_A64 && c->aux == TL_AUX_INSN)
        return LISTING_INSN;
    if (c->kind == TL_MEM && c->aux == TL_AUX_SIZE)
        return c->role == TL_ROLE_LOAD ? LISTING_LOAD : c->role == TL_ROLE_STORE ? LISTING_STORE : LISTING_DROP;
    if (c->kind == TL_REGS || c->kind == TL_LOSS)
        return LISTING_OWN_LINE;
    if (c->kind != TL_STATE)
        return LISTING_DROP;
    switch (c->role) {
    case TL_ROLE_STORED:
        return LISTING_STORED;
    case TL_ROLE_SYSTEM_VALUE:
        return LISTING_SYSTEM;
    case TL_ROLE_CALL_RESULT:
        return LISTING_RESULT;
    case TL_ROLE_CALL_ARGUMENT:
        return LISTING_ARGUMENT;
    case TL_ROLE_CALL_BUFFERS:
        return LISTING_BUFFERS;
    case TL_ROLE_CACHE_ADDRESS:
        return LISTING_AT;
    case TL_ROLE_TARGET:
        return LISTING_TARGET;
    case TL_ROLE_ORDER:
        return LISTING_ORDER;
    case TL_ROLE_FLAGS:
        return LISTING_FLAGS;
    default:
        return c->key == TL_KEY_VALUE ? LISTING_VALUE : LISTING_NAME;
    }
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    listing_writer *w = writer;
    const tl_track *track = tl_trace_track(w->context.trace, (uint32_t)index);
    char name[LISTING_NAME_BYTES(TRACK_BYTES)];
    tl_pb_raw(text, name, listing_clean_name(name, track ? track->name : "?", TRACK_BYTES));
    while (text->n < w->track_width && !text->failed)
        tl_pb_raw(text, " ", 1);
    tl_pb_raw(text, "  ", 2);
}

/* As wide as the longest name, up to a limit. */
static size_t width_of_tracks(const tl_trace *t)
{
    char name[LISTING_NAME_BYTES(TRACK_BYTES)];
    size_t width = 0;
    for (uint32_t i = 0; i < t->ntrack; i++) {
        const size_t n = listing_clean_name(name, t->track[i].name, TRACK_BYTES);
        width = n > width && n <= TRACK_WIDTH_MAX ? n : width;
    }
    return width;
}

static int create(listing_writer *w, const tl_write_context *context, bool values, tl_error *e)
{
    const tl_trace *t = context->trace;
    w->context = *context;
    w->values = values;
    w->show_track = t->ntrack > 1;
    w->track_width = w->show_track ? width_of_tracks(t) : 0;
    w->last_digit = '9'; /* no number yet */
    tl_labels_init(&w->track, make_track, w);
    w->action = malloc((size_t)t->ncls + 1);
    if (!w->action)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "listing: no memory for the classes");
    bool any = false;
    for (uint32_t i = 0; i < t->ncls; i++) {
        w->action[i] = (uint8_t)action_of(&t->cls[i]);
        any = any || w->action[i] == LISTING_INSN;
    }
    if (!any)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "listing: the trace has no instructions of A64");
    return listing_lines_init(&w->lines, t, e);
}

static int listing_create(void *writer, const tl_write_context *context, tl_error *e)
{
    return create(writer, context, false, e);
}

static int listing_values_create(void *writer, const tl_write_context *context, tl_error *e)
{
    return create(writer, context, true, e);
}

static tl_accept listing_accept(void *writer, const tl_class *c)
{
    (void)writer;
    const listing_action a = action_of(c);
    return a == LISTING_DROP ? TL_ACCEPT_DROP : a == LISTING_IGNORE ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

/* The digits before the last one, for a number that does not follow that of the previous line. */
static TL_NOINLINE void make_digits(listing_writer *w, uint64_t number)
{
    char *const end = w->digits + NUMBER_MAX, text[NUMBER_MAX];
    const size_t n = (size_t)(tl_put_u64(text, number) - text);
    memset(w->digits, ' ', NUMBER_MAX);
    memcpy(end - n, text, n);
    w->first_digit = end - n < end - NUMBER_WIDTH ? end - n : end - NUMBER_WIDTH;
    w->last_digit = text[n - 1];
}

/* The number of the line, usually one more than the previous one. The last digit is kept apart, because a byte that was
 * just written cannot be loaded with its neighbours without waiting. */
TL_ALWAYS_INLINE char *put_number(listing_writer *w, char *p, uint64_t number)
{
    if (TL_LIKELY(number == w->number + 1 && w->last_digit < '9' && number != 0))
        w->last_digit++;
    else
        make_digits(w, number);
    w->number = number;
    const size_t n = (size_t)(w->digits + NUMBER_MAX - w->first_digit);
    memcpy(p, w->first_digit, NUMBER_MAX);
    p[n - 1] = w->last_digit;
    return p + n;
}

/* Ends the previous line, and begins one with track and number. False when memory runs out. */
TL_ALWAYS_INLINE bool start_line(tl_text_writer *tw, listing_writer *w, const tl_batch *b, uint32_t i)
{
    *tw->p = '\n';
    tw->p += w->open;
    w->open = true;
    w->open_track = b->track[i];
    w->open_number = b->ts[i];
    if (w->show_track) {
        const tl_label track = tl_labels_get(&w->track, b->track[i]);
        if (TL_UNLIKELY(!track.p))
            return false;
        tl_text_raw(tw, track.p, track.n);
        tl_text_room(tw, EVENT_ROOM);
    }
    tw->p = put_number(w, tw->p, b->ts[i]);
    return true;
}

/* The arguments so far of an instruction's call; NULL when memory runs out. */
static listing_call *call_of(listing_writer *w, uint32_t track, uint64_t number)
{
    if (!TL_GROW_TO(w->call, w->ncall, track, TL_TRACKS_MAX))
        return NULL;
    listing_call *c = &w->call[track];
    if (c->number != number)
        *c = (listing_call){.number = number};
    return c;
}

static char *put_0x(char *p, uint64_t v)
{
    memcpy(p, "0x", 2);
    return tl_put_hex(p + 2, v);
}

/* Linux returns errors as negative numbers. After arguments "= 0x10", elsewhere with a word for it. */
static char *put_result(char *p, const listing_call *call, uint64_t v)
{
    p = call->n > 0 ? TL_PUT(p, " = ") : TL_PUT(p, " returns ");
    return v > UINT64_MAX - 4095 ? tl_put_i64(p, (int64_t)v) : put_0x(p, v);
}

static char *put_argument(char *p, listing_call *call, uint64_t v)
{
    const uint32_t n = call->n;
    call->n += n < 2;
    if (n == 0) {
        p = TL_PUT(p, " syscall ");
        return tl_put_u64(p, v);
    }
    p = n == 1 ? TL_PUT(p, ": ") : TL_PUT(p, ", ");
    return put_0x(p, v);
}

/* " [0x7ffff0 <- 8 bytes" */
TL_ALWAYS_INLINE char *put_access(char *p, const tl_batch *b, uint32_t i, bool store)
{
    p = TL_PUT(p, " [0x");
    p = tl_put_hex(p, b->key[i]);
    p = store ? TL_PUT(p, " <- ") : TL_PUT(p, " -> ");
    p = tl_put_u64(p, b->aux[i]);
    p = TL_PUT(p, " bytes");
    return p - (b->aux[i] == 1);
}

/* A detail after an instruction, preceded by a space; there is room for EVENT_ROOM. */
static bool put_detail(tl_text_writer *tw, listing_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    const uint64_t v = b->key[i];
    char *p = tw->p;
    switch ((listing_action)w->action[c->id]) {
    case LISTING_STORED:
        p = v ? TL_PUT(p, " not stored") : TL_PUT(p, " stored");
        break;
    case LISTING_SYSTEM:
        p = put_0x(TL_PUT(p, " = "), v);
        break;
    case LISTING_ARGUMENT:
    case LISTING_RESULT: {
        listing_call *call = call_of(w, b->track[i], b->ts[i]);
        if (!call)
            return false;
        p = w->action[c->id] == LISTING_RESULT ? put_result(p, call, v) : put_argument(p, call, v);
        break;
    }
    case LISTING_AT:
        p = put_0x(TL_PUT(p, " at "), v);
        break;
    case LISTING_TARGET:
        p = put_0x(TL_PUT(p, " -> "), v);
        break;
    case LISTING_ORDER:
        p = tl_put_u64(TL_PUT(p, " @"), v);
        break;
    case LISTING_FLAGS:
        p = listing_put_flags(TL_PUT(p, " flags "), v);
        break;
    case LISTING_BUFFERS:
        if (w->values) {
            listing_put_buffers(tw, c, b, i);
            return true;
        }
        p = TL_PUT(p, " buffers");
        break;
    default:
        *tw->p++ = ' ';
        tl_text_raw(tw, c->name, strlen(c->name));
        tl_text_room(tw, EVENT_ROOM);
        p = tw->p;
        if (w->action[c->id] == LISTING_VALUE)
            p = put_0x(TL_PUT(p, " "), v);
    }
    tw->p = p;
    return true;
}

static void put_own(tl_text_writer *tw, listing_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    TL_TEXT_COPY(tw, "  -- ");
    tl_text_raw(tw, c->name, strlen(c->name));
    if (w->values && b->val && c->kind == TL_REGS)
        w->left_out += listing_put_registers(tw, c, b, i);
}

/* An event that is not an instruction. */
static bool put_other(tl_text_writer *tw, listing_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &w->context.trace->cls[b->cls[i]];
    const listing_action action = (listing_action)w->action[c->id];
    if (action == LISTING_OWN_LINE) {
        if (!start_line(tw, w, b, i))
            return false;
        w->mine = false;
        put_own(tw, w, c, b, i);
        return true;
    }
    if (TL_UNLIKELY(!w->mine || w->open_track != b->track[i] || w->open_number != b->ts[i])) {
        if (!start_line(tw, w, b, i))
            return false;
        w->mine = true;
        w->padding = w->lines.width;
    }
    if (w->padding > 0) { /* one of the spaces is part of the detail */
        tw->p = (char *)memset(tw->p, ' ', SPACES) + w->padding - 1;
        w->padding = 0;
    }
    if (action != LISTING_LOAD && action != LISTING_STORE)
        return put_detail(tw, w, c, b, i);
    tw->p = put_access(tw->p, b, i, action == LISTING_STORE);
    if (w->values)
        listing_put_bytes(tw, c, b, i);
    tl_text_char(tw, ']');
    return true;
}

static int listing_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    listing_writer *w = writer;
    tl_text_writer tw;
    bool ok = true;
    tl_text_open(&tw, w->context.out);
    for (uint32_t i = from; i < to && ok; i++) {
        tl_text_room(&tw, EVENT_ROOM);
        if (TL_LIKELY(w->action[b->cls[i]] == LISTING_INSN)) {
            ok = start_line(&tw, w, b, i);
            if (TL_LIKELY(ok))
                tw.p = listing_put_line(&w->lines, tw.p, b->key[i], b->aux[i], &w->padding);
            w->mine = true;
        } else {
            ok = put_other(&tw, w, b, i);
        }
    }
    tl_text_close(&tw);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "listing: no memory for a line");
}

static int listing_finish(void *writer, tl_error *e)
{
    (void)e;
    listing_writer *w = writer;
    if (w->open)
        tl_output_puts(w->context.out, "\n");
    w->open = false;
    tl_drops_add(w->context.drops, "vector registers", w->left_out);
    return 0;
}

static void listing_discard(void *writer)
{
    listing_writer *w = writer;
    tl_labels_fini(&w->track);
    listing_lines_fini(&w->lines);
    free(w->action);
    free(w->call);
}

const tl_format tl_format_listing = {
    .name = "listing",
    .summary = "instructions as text: one line each, disassembled, with addresses",
    .suffixes = ".lst",
    .event_writer = &(const tl_event_writer){.holds = "instructions of A64",
                                             .ordered = true,
                                             .size = sizeof(listing_writer),
                                             .create = listing_create,
                                             .accept = listing_accept,
                                             .write = listing_write,
                                             .finish = listing_finish,
                                             .discard = listing_discard},
};

const tl_format tl_format_listing_values = {
    .name = "listing-values",
    .summary = "the same with the bytes of accesses, and registers",
    .event_writer = &(const tl_event_writer){.holds = "instructions of A64",
                                             .ordered = true,
                                             .wants = {.fields = true},
                                             .size = sizeof(listing_writer),
                                             .create = listing_values_create,
                                             .accept = listing_accept,
                                             .write = listing_write,
                                             .finish = listing_finish,
                                             .discard = listing_discard},
};
