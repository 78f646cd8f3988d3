/* What the columns of tables of events say. */
#include "model/event_parts.h"

#include <string.h>

#include "isa/a64.h"
#include "model/value_json.h"

const tl_column_info tl_event_part_column[TL_EVENT_PARTS] = {
    [TL_EVENT_TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [TL_EVENT_ID] = {"id", "id", TL_INTEGER, TL_UNIT_NONE,
                     "the event: the number of its stream, times 2^40, plus its number in the stream, from 0"},
    [TL_EVENT_TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when it happened, from the begin of the trace"},
    [TL_EVENT_UTC] = {"utc", "utc", TL_INTEGER, TL_UNIT_UTC, "time of day; null: not known"},
    [TL_EVENT_TICKS] = {"ts_ticks", "ts_ticks", TL_INTEGER, TL_UNIT_NONE, "the same in ticks of the trace's clock"},
    [TL_EVENT_RANK] = {"rank", "rank", TL_INTEGER, TL_UNIT_NONE,
                       "its place in the order of all tracks, where each has its own time; else null"},
    [TL_EVENT_TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of its track, from 0"},
    [TL_EVENT_THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its thread, processor or other track"},
    [TL_EVENT_PID] = {"pid", "pid", TL_INTEGER, TL_UNIT_NONE, "the process of the thread; null: not known"},
    [TL_EVENT_TID] = {"tid", "tid", TL_INTEGER, TL_UNIT_NONE, "the number of the thread; null: not known"},
    [TL_EVENT_CPU] = {"cpu", "cpu", TL_INTEGER, TL_UNIT_NONE, "the processor; null: not known"},
    [TL_EVENT_CLASS] = {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the number of its class, from 0"},
    [TL_EVENT_NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its class"},
    [TL_EVENT_KIND] = {"kind", "kind", TL_TEXT, TL_UNIT_NONE, "what it is: enter, exit, instant, counter, ..."},
    [TL_EVENT_KEY] = {"key", "key", TL_INTEGER, TL_UNIT_NONE,
                      "its main operand: a function, an address, ... as classes.key says; null: none"},
    [TL_EVENT_AUX] = {"aux", "aux", TL_INTEGER, TL_UNIT_NONE,
                      "its second operand: an opcode, or the bytes of an access; null: none"},
    [TL_EVENT_FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE,
                           "the function that it is about; null: none"},
    [TL_EVENT_FUNCTION_NAME] = {"function_name", "function_name", TL_TEXT, TL_UNIT_NONE, "its name; null: not known"},
    [TL_EVENT_FIELDS] = {"fields", "fields", TL_TEXT, TL_UNIT_JSON, "its fields: an object"},
    [TL_EVENT_CONTEXT] = {"context", "context", TL_TEXT, TL_UNIT_JSON,
                          "fields of its stream and of its context: an object; null: none"},
    [TL_EVENT_PC] = {"pc", "pc", TL_INTEGER, TL_UNIT_HEX, "the address of the instruction; null: not known"},
    [TL_EVENT_OPCODE] = {"opcode", "opcode", TL_INTEGER, TL_UNIT_HEX, "the instruction's 32 bits"},
    [TL_EVENT_LEVEL] = {"el", "el", TL_INTEGER, TL_UNIT_NONE, "the exception level: 0 is that of programs"},
    [TL_EVENT_CODE_CLASS] = {"class", "class", TL_TEXT, TL_UNIT_NONE, "class of the instruction, such as branch.cond"},
    [TL_EVENT_CODE_NAME] = {"function_name", "function_name", TL_TEXT, TL_UNIT_NONE,
                            "the function that pc is in; null: not known"},
    [TL_EVENT_CODE_OFFSET] = {"offset", "offset", TL_INTEGER, TL_UNIT_NONE, "bytes from the start of that function"},
    [TL_EVENT_ACCESS] = {"kind", "kind", TL_TEXT, TL_UNIT_NONE, "load or store"},
    [TL_EVENT_ACCESS_PC] = {"pc", "pc", TL_INTEGER, TL_UNIT_HEX, "the address of the instruction; null: not known"},
    [TL_EVENT_ADDRESS] = {"address", "address", TL_INTEGER, TL_UNIT_HEX, "what was accessed"},
    [TL_EVENT_SIZE] = {"size", "size", TL_INTEGER, TL_UNIT_BYTES, "bytes that were accessed"},
    [TL_EVENT_VALUE] = {"value", "value", TL_TEXT, TL_UNIT_NONE,
                        "these bytes in hexadecimal, in the order of memory; null: not known"},
};

const uint8_t tl_events_part[TL_EVENTS_PARTS] = {
    TL_EVENT_TRACE,  TL_EVENT_ID,     TL_EVENT_TS,  TL_EVENT_UTC, TL_EVENT_TICKS,    TL_EVENT_RANK,
    TL_EVENT_TRACK,  TL_EVENT_THREAD, TL_EVENT_PID, TL_EVENT_TID, TL_EVENT_CPU,      TL_EVENT_CLASS,
    TL_EVENT_NAME,   TL_EVENT_KIND,   TL_EVENT_KEY, TL_EVENT_AUX, TL_EVENT_FUNCTION, TL_EVENT_FUNCTION_NAME,
    TL_EVENT_FIELDS, TL_EVENT_CONTEXT};

/* Members of "fields" or, if `context`, of "context". */
static bool put_members(tl_text_writer *tw, const tl_event_view *v, const tl_class *c, const tl_batch *b, uint32_t i,
                        bool context)
{
    const tl_class_text *text = tl_field_texts_get(&v->json->texts, c);
    if (!text) {
        v->json->failed = true;
        return false;
    }
    const tl_value *first = b->v + b->val[i], *end = b->v + b->val[i + 1];
    const tl_value *in = tl_values_skip(first, end, text->npacket),
                   *payload = tl_values_skip(in, end, text->ncontext - text->npacket);
    bool any = false;
    if (context) {
        if (!tl_values_present(in, payload, text->ncontext - text->npacket))
            return false;
        tl_fields_json(tw, v->json, text->field + text->npacket, text->ncontext - text->npacket, in, payload, &any);
        return true;
    }
    if (tl_key_name(c)) {
        tl_key_json(tw, c, b->key[i]);
        any = true;
    }
    tl_fields_json(tw, v->json, text->field + text->ncontext, text->nfield - text->ncontext, payload, end, &any);
    return true;
}

bool tl_event_object(const tl_event_view *v, const tl_batch *b, uint32_t i, bool context, tl_pb *out)
{
    tl_text_writer tw;
    if (!b->val || !tl_text_open_buffer(&tw, out)) {
        v->json->failed = true;
        return false;
    }
    TL_TEXT_PUT(&tw, "{");
    const bool there = put_members(&tw, v, &v->trace->cls[b->cls[i]], b, i, context);
    TL_TEXT_PUT(&tw, "}");
    tl_text_close(&tw);
    return there;
}

static void put_object(const tl_event_view *v, const tl_batch *b, uint32_t i, tl_scan_block *block, uint32_t column,
                       uint32_t row, bool context)
{
    const tl_class *c = &v->trace->cls[b->cls[i]];
    if (c->nfield == 0 && (context || !tl_key_name(c)))
        tl_scan_put_text(block, column, row, context ? NULL : "{}");
    else if (tl_event_object(v, b, i, context, &block->json))
        tl_scan_put_json(block, column, row);
    else
        tl_scan_put_null(block, column, row);
    block->failed = block->failed || v->json->failed;
    tl_pb_clear(&block->json);
}

static void put_number_of_track(tl_event_part part, const tl_track *t, tl_scan_block *block, uint32_t column,
                                uint32_t row)
{
    const bool has = t && (part == TL_EVENT_PID ? t->has_pid : t->has_tid);
    if (has)
        tl_scan_put_int(block, column, row, part == TL_EVENT_PID ? t->pid : t->tid);
    else
        tl_scan_put_null(block, column, row);
}

/* The bytes of an access. */
static void put_bytes(const tl_class *c, const tl_batch *b, uint32_t i, tl_scan_block *block, uint32_t column,
                      uint32_t row)
{
    const tl_value *v = tl_value_of_role(c, b, i, TL_FIELD_VALUE, NULL);
    if (v && v->type == TL_BYTES)
        tl_scan_put_blob(block, column, row, v->as.p, v->n);
    else
        tl_scan_put_null(block, column, row);
}

/* Parts that are not numbers of a column. */
static void put_one(tl_event_part part, const tl_event_view *v, const tl_batch *b, uint32_t i, tl_scan_block *block,
                    uint32_t column, uint32_t row)
{
    const tl_class *c = &v->trace->cls[b->cls[i]];
    const tl_function *function = NULL;
    switch (part) {
    case TL_EVENT_UTC:
        if (c->flags & TL_CLASS_TIMELESS)
            tl_scan_put_null(block, column, row);
        else
            tl_list_utc(block, column, row, v->trace, b->ts[i]);
        return;
    case TL_EVENT_PID:
    case TL_EVENT_TID:
        put_number_of_track(part, tl_trace_track(v->trace, b->track[i]), block, column, row);
        return;
    case TL_EVENT_FUNCTION_NAME:
        function = c->key == TL_KEY_FUNCTION ? tl_trace_function(v->trace, (int64_t)b->key[i]) : NULL;
        tl_scan_put_text(block, column, row, function ? function->name : NULL);
        return;
    case TL_EVENT_FIELDS:
    case TL_EVENT_CONTEXT:
        put_object(v, b, i, block, column, row, part == TL_EVENT_CONTEXT);
        return;
    case TL_EVENT_CODE_CLASS:
        tl_scan_put_text(block, column, row,
                         b->aux ? a64_class_name(a64_class_quick(tl_insn_opcode(b->aux[i]))) : NULL);
        return;
    case TL_EVENT_VALUE:
        put_bytes(c, b, i, block, column, row);
        return;
    case TL_EVENT_ACCESS:
        tl_scan_put_text(block, column, row,
                         c->role == TL_ROLE_LOAD    ? "load"
                         : c->role == TL_ROLE_STORE ? "store"
                                                    : c->name);
        return;
    default:
        tl_scan_put_null(block, column, row);
    }
}

/* Text that all events of a class, or of a track, have in common; a loop for each part. */
TL_ALWAYS_INLINE void put_texts(tl_event_part part, const tl_event_view *v, const tl_batch *b, const uint32_t *at,
                                uint32_t n, const tl_scan_array *to, uint32_t row)
{
    const tl_class *cls = v->trace->cls;
    const char **text = to->text + row;
    uint8_t *is_null = to->is_null + row;
    for (uint32_t k = 0; k < n; k++) {
        const tl_track *track = part == TL_EVENT_THREAD ? tl_trace_track(v->trace, b->track[at[k]]) : NULL;
        text[k] = part == TL_EVENT_NAME   ? cls[b->cls[at[k]]].name
                  : part == TL_EVENT_KIND ? tl_kind_name(cls[b->cls[at[k]]].kind)
                  : track                 ? track->name
                                          : NULL;
        is_null[k] = !text[k];
    }
}

/* Puts a number for each event. */
TL_ALWAYS_INLINE void put_number(const tl_scan_array *to, uint32_t row, bool has, int64_t number)
{
    to->i64[row] = has ? number : 0;
    to->is_null[row] = !has;
}

/* Numbers that some events, or some traces, do not have. */
static void put_numbers(tl_event_part part, const tl_event_view *v, const tl_batch *b, const uint32_t *at, uint32_t n,
                        tl_scan_block *block, uint32_t column, uint32_t row)
{
#define EACH(has, number)                                                                                              \
    for (uint32_t k = 0; k < n; k++) {                                                                                 \
        const uint32_t i = at[k];                                                                                      \
        put_number(to, row + k, (has), (int64_t)(number));                                                             \
    }                                                                                                                  \
    return
    const tl_scan_array *to = &block->array[column];
    const tl_class *cls = v->trace->cls;
    switch (part) {
    case TL_EVENT_ID:
        EACH(true, tl_event_id(b, i));
    case TL_EVENT_TRACK:
        EACH(true, b->track[i]);
    case TL_EVENT_CLASS:
        EACH(true, b->cls[i]);
    case TL_EVENT_TS:
        EACH(!(cls[b->cls[i]].flags & TL_CLASS_TIMELESS), tl_event_ts(v->trace, v->begin, b->ts[i]));
    case TL_EVENT_TICKS:
        EACH(!(cls[b->cls[i]].flags & TL_CLASS_TIMELESS), b->ts[i]);
    case TL_EVENT_RANK:
        EACH(b->rank != NULL, b->rank ? b->rank[i] : 0);
    case TL_EVENT_CPU:
        EACH(b->cpu && b->cpu[i] >= 0, b->cpu ? b->cpu[i] : 0);
    case TL_EVENT_AUX:
        EACH(b->aux && cls[b->cls[i]].aux != TL_AUX_NONE, b->aux ? b->aux[i] : 0);
    case TL_EVENT_PC:
        EACH(tl_insn_has_pc(b->aux ? b->aux[i] : TL_INSN_NO_PC), b->key[i]);
    case TL_EVENT_OPCODE:
        EACH(true, tl_insn_opcode(b->aux ? b->aux[i] : TL_INSN_NO_PC));
    case TL_EVENT_LEVEL:
        EACH(true, tl_insn_level(b->aux ? b->aux[i] : TL_INSN_NO_PC));
    case TL_EVENT_ADDRESS:
        EACH(true, b->key[i]);
    case TL_EVENT_SIZE:
        EACH(b->aux != NULL, b->aux ? b->aux[i] : 0);
    case TL_EVENT_KEY:
        EACH(cls[b->cls[i]].key != TL_KEY_NONE, b->key[i]);
    default:
        EACH(cls[b->cls[i]].key == TL_KEY_FUNCTION, b->key[i]);
    }
#undef EACH
}

void tl_event_part_put(tl_event_part part, const tl_event_view *v, const tl_batch *b, const uint32_t *at, uint32_t n,
                       tl_scan_block *block, uint32_t column, uint32_t row)
{
    const tl_scan_array *to = &block->array[column];
    switch (part) {
    case TL_EVENT_TRACE:
        for (uint32_t k = 0; k < n; k++)
            tl_scan_put_int(block, column, row + k, v->number);
        return;
    case TL_EVENT_ID:
    case TL_EVENT_TRACK:
    case TL_EVENT_CLASS:
    case TL_EVENT_TS:
    case TL_EVENT_TICKS:
    case TL_EVENT_RANK:
    case TL_EVENT_CPU:
    case TL_EVENT_KEY:
    case TL_EVENT_AUX:
    case TL_EVENT_FUNCTION:
    case TL_EVENT_PC:
    case TL_EVENT_OPCODE:
    case TL_EVENT_LEVEL:
    case TL_EVENT_ADDRESS:
    case TL_EVENT_SIZE:
        put_numbers(part, v, b, at, n, block, column, row);
        return;
    case TL_EVENT_NAME:
        put_texts(TL_EVENT_NAME, v, b, at, n, to, row);
        return;
    case TL_EVENT_KIND:
        put_texts(TL_EVENT_KIND, v, b, at, n, to, row);
        return;
    case TL_EVENT_THREAD:
        put_texts(TL_EVENT_THREAD, v, b, at, n, to, row);
        return;
    default:
        for (uint32_t k = 0; k < n; k++)
            put_one(part, v, b, at[k], block, column, row + k);
    }
}
