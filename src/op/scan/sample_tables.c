/* Tables of samples and allocations.
 *
 * An allocation has the stack of the last sample of its track, so that nothing before it can be left out: its table is
 * read as a whole, and what is selected is decided here. */
#include "op/scan/sample_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/utf8.h"
#include "model/span.h"
#include "op/call_select.h"
#include "op/scan/event_reader.h"
#include "op/scan/stack_paths.h"

/* The first columns are parts of events. */
enum { TRACE, ID, TS, UTC, TRACK, THREAD, PARTS };
enum { SAMPLES = PARTS, TIME, PAUSED, S_FUNCTION, S_NAME, S_DEPTH, S_PATH, S_IP, FILE_NAME, LINE, SAMPLE_COLUMNS };
enum { TYPE = PARTS, TYPE_NAME, OBJECTS, BYTES, A_IP, A_FUNCTION, A_NAME, A_DEPTH, A_PATH, ALLOCATION_COLUMNS };

#define HEAD_COLUMNS                                                                                                   \
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},                         \
    [ID] = {"id", "id", TL_INTEGER, TL_UNIT_NONE, "the event, as in events"},                                          \
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when it was recorded, from the begin of the trace"},                \
    [UTC] = {"utc", "utc", TL_INTEGER, TL_UNIT_UTC, "the same as time of day; null: not known"},                       \
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of its track, from 0"},                   \
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its thread"}
#define STACK_COLUMNS(function, name_, depth_, path_)                                                                  \
    [function] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE,                                              \
                  "the function on top of the stack; null: not known"},                                                \
    [name_] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name then, or its number; null: the stack is empty"},       \
    [depth_] = {"depth", "depth", TL_INTEGER, TL_UNIT_NONE, "functions on the stack"},                                 \
    [path_] = {"path", "path", TL_TEXT, TL_UNIT_NONE, "the functions from the outermost to this, with ; between"}

static const tl_column_info sample_columns[SAMPLE_COLUMNS] = {
    HEAD_COLUMNS,
    [SAMPLES] = {"samples", "samples", TL_INTEGER, TL_UNIT_COUNT, "how many samples it stands for"},
    [TIME] = {"time", "time", TL_INTEGER, TL_UNIT_TIME, "the time that these stand for; null: not known"},
    [PAUSED] = {"is_paused", "is_paused", TL_INTEGER, TL_UNIT_BOOL, "recording was paused then"},
    STACK_COLUMNS(S_FUNCTION, S_NAME, S_DEPTH, S_PATH),
    [S_IP] = {"ip", "ip", TL_INTEGER, TL_UNIT_HEX, "the address in the function; null: not known"},
    [FILE_NAME] = {"file", "file", TL_TEXT, TL_UNIT_NONE, "the source file of that"},
    [LINE] = {"line", "line", TL_INTEGER, TL_UNIT_NONE, "the line there"},
};
static const tl_column_info allocation_columns[ALLOCATION_COLUMNS] = {
    HEAD_COLUMNS,
    [TYPE] = {"type_id", "type_id", TL_INTEGER, TL_UNIT_HEX, "the number of the class of the objects; null: not known"},
    [TYPE_NAME] = {"type_name", "type_name", TL_TEXT, TL_UNIT_NONE, "its name then; null: not known"},
    [OBJECTS] = {"objects", "objects", TL_INTEGER, TL_UNIT_COUNT, "how many were allocated"},
    [BYTES] = {"bytes", "bytes", TL_INTEGER, TL_UNIT_BYTES, "their size"},
    [A_IP] = {"ip", "ip", TL_INTEGER, TL_UNIT_HEX, "where in the function; null: not known"},
    STACK_COLUMNS(A_FUNCTION, A_NAME, A_DEPTH, A_PATH),
};

static const tl_stack_columns stack_columns[TL_SAMPLE_TABLES] = {{S_FUNCTION, S_NAME, S_DEPTH, S_PATH},
                                                                 {A_FUNCTION, A_NAME, A_DEPTH, A_PATH}};

#define HEAD_PARTS TL_EVENT_TRACE, TL_EVENT_ID, TL_EVENT_TS, TL_EVENT_UTC, TL_EVENT_TRACK, TL_EVENT_THREAD
/* What the filter knows of the columns; the others are this file's. */
static const uint8_t parts[] = {HEAD_PARTS,     TL_EVENT_OTHER, TL_EVENT_OTHER, TL_EVENT_OTHER,
                                TL_EVENT_OTHER, TL_EVENT_OTHER, TL_EVENT_OTHER, TL_EVENT_OTHER,
                                TL_EVENT_OTHER, TL_EVENT_OTHER, TL_EVENT_OTHER};
_Static_assert(sizeof parts >= SAMPLE_COLUMNS && sizeof parts >= ALLOCATION_COLUMNS, "a part for each column");

static const tl_event_table tables[TL_SAMPLE_TABLES] = {{.part = parts, .kinds = 1u << TL_SAMPLE}, {.part = parts}};

/* A type's names, of one source. */
typedef struct type_names {
    tl_hash index; /* number -> name */
    const char **name;
    uint32_t n, capacity;
    tl_strings strings;
} type_names;

/* A row: what it is made of besides its event. */
typedef struct sample_row {
    tl_stack_path stack;
    tl_sample sample;
    const tl_value *item; /* of an allocation: the struct, in the tape */
    const char *type;     /* the name that its type had then, or NULL */
} sample_row;

typedef struct sample_scan {
    tl_scan scan;
    const tl_scan_table *table;
    uint32_t which; /* of the tables */
    bool wants_nodes;
    uint32_t most; /* rows that are made at once */
    tl_event_reader reader;
    /* State of the source: */
    uint32_t number;
    tl_stack_nodes stacks;
    type_names types;
    tl_call_select select;
    bool selects;
    tl_stack_path *top; /* by track; only of allocations */
    uint32_t ntop;
    /* Place in the current run: */
    const tl_run *run; /* NULL: it has not begun */
    uint32_t event;
    const tl_field *list; /* the event's list of items ... */
    const tl_value *item; /* ... the next of it */
    uint32_t items;       /* that are left */
    tl_scan_block block;
    uint32_t at[TL_BLOCK_ROWS];
    sample_row row[TL_BLOCK_ROWS];
} sample_scan;

static void close_state(sample_scan *s)
{
    tl_stack_nodes_fini(&s->stacks);
    tl_hash_fini(&s->types.index);
    tl_strings_fini(&s->types.strings);
    free(s->types.name);
    s->types = (type_names){0};
    if (s->selects)
        tl_call_select_fini(&s->select);
    s->selects = false;
    free(s->top);
    s->top = NULL;
    s->ntop = 0;
}

static int open_state(sample_scan *s, tl_error *e)
{
    const tl_event_view *v = &s->reader.view;
    const tl_select *select = s->reader.whole ? s->reader.dataset->select : NULL;
    close_state(s);
    s->number = v->number;
    tl_stack_nodes_init(&s->stacks, v->trace, 0);
    if (!select)
        return 0;
    int status = tl_select_settle_names(select, v->trace, e);
    if (status == 0)
        status = tl_call_select_init(&s->select, select, v->trace, v->begin, e);
    s->selects = status == 0;
    return status;
}

/* ---- events ---- */

static bool is_number(const tl_value *v)
{
    return v && (v->type == TL_U64 || v->type == TL_I64 || v->type == TL_HEX);
}

/* The member of a struct in a list that has a role, or NULL. */
static const tl_value *member(const tl_field *list, const tl_value *v, const tl_value *end, tl_field_role role)
{
    const tl_field *of = list->member;
    uint32_t left = v->type == TL_STRUCT && list->nmember == 1 ? v->n : 0;
    v++;
    for (uint32_t i = 0; left > 0 && i < of->nmember && v < end; i++, left--, v = tl_value_skip(v, end))
        if (of->member[i].role == role)
            return v;
    return NULL;
}

/* False when memory runs out. */
static bool name_type(type_names *t, const tl_batch *b, uint32_t i, const tl_class *c)
{
    const tl_value *type = tl_role_value(b, i, c, TL_FIELD_TYPE, NULL),
                   *name = tl_role_value(b, i, c, TL_FIELD_NAME, NULL);
    if (!is_number(type) || !name || name->type != TL_STRING)
        return true;
    char *copy = tl_alloc((size_t)name->n + 1, 2); /* room to repair it */
    const char *text = copy ? tl_strings_get_text(&t->strings, copy, tl_utf8_repair(copy, name->as.p, name->n)) : NULL;
    free(copy);
    const uint32_t known = tl_hash_get(&t->index, type->as.u);
    if (text && known != TL_HASH_NONE) {
        t->name[known] = text;
        return true;
    }
    if (!text || !TL_GROW(t->name, t->n, 1, t->capacity) || !tl_hash_put(&t->index, type->as.u, t->n))
        return false;
    t->name[t->n++] = text;
    return true;
}

static const char *type_name(const sample_scan *s, const tl_value *type)
{
    const uint32_t name = is_number(type) ? tl_hash_get(&s->types.index, type->as.u) : TL_HASH_NONE;
    return name == TL_HASH_NONE ? NULL : s->types.name[name];
}

static bool is_selected(const sample_scan *s, const tl_batch *b, uint32_t i)
{
    const tl_call_select *x = &s->select;
    return !s->selects || (b->ts[i] >= x->from && (!x->select->has_to || b->ts[i] < x->to) && x->cls[b->cls[i]] &&
                           tl_call_select_track(x, b->track[i]) && tl_call_select_cpu(x, b, i));
}

/* A sample: a row, or the stack of its track. False when memory runs out. */
static bool take_sample(sample_scan *s, const tl_batch *b, uint32_t i, const tl_class *c, uint32_t *n)
{
    sample_row *row = &s->row[*n];
    row->sample = tl_sample_get(b, i, c);
    if (s->which == 0 && row->sample.count == 0)
        return true;
    if (!tl_stack_path_get(&row->stack, &s->stacks, &row->sample, s->wants_nodes))
        return false;
    if (s->which == 0) {
        s->at[(*n)++] = i;
        return true;
    }
    if (!TL_GROW_TO(s->top, s->ntop, b->track[i], TL_TRACKS_MAX))
        return false;
    s->top[b->track[i]] = row->stack;
    return true;
}

/* Begins with the items of an event. */
static void take_allocation(sample_scan *s, const tl_batch *b, uint32_t i, const tl_class *c)
{
    const tl_value *list = tl_role_value(b, i, c, TL_FIELD_ITEMS, &s->list);
    const bool counts = c->key != TL_KEY_WEIGHT || tl_weight_ticks(b->key[i]);
    if (counts && list && list->type == TL_LIST && is_selected(s, b, i) &&
        tl_event_filter_takes(&s->reader.filter, b, i)) {
        s->item = list + 1;
        s->items = list->n;
    }
}

/* Rows of the items that are left, as many as there is room for. */
static void take_items(sample_scan *s, const tl_batch *b, uint32_t room, uint32_t *n)
{
    static const tl_stack_path none = {.node = TL_HASH_NONE};
    const uint32_t i = s->event, track = b->track[i];
    const tl_value *end = b->v + b->val[i + 1];
    for (; s->items > 0 && s->item < end && *n < room; s->items--, s->item = tl_value_skip(s->item, end)) {
        s->row[*n] = (sample_row){.stack = track < s->ntop ? s->top[track] : none,
                                  .item = s->item,
                                  .type = type_name(s, member(s->list, s->item, end, TL_FIELD_TYPE))};
        s->at[(*n)++] = i;
    }
    if (s->item >= end)
        s->items = 0;
}

/* Rows of the run from s->event on; how many. The run is done when s->event is its end. */
static uint32_t take_rows(sample_scan *s, uint32_t room)
{
    const tl_batch *b = s->run->batch;
    const tl_class *cls = s->reader.view.trace->cls;
    uint32_t n = 0;
    for (; s->event < s->run->to && n < room; s->event++) {
        const uint32_t i = s->event;
        const tl_class *c = &cls[b->cls[i]];
        if (s->which == 0 && !tl_event_filter_takes(&s->reader.filter, b, i))
            continue;
        if (s->items == 0 && tl_sample_class(c))
            s->block.failed = !take_sample(s, b, i, c, &n) || s->block.failed;
        else if (s->items == 0 && s->which == 1 && c->role == TL_ROLE_TYPE_NAME)
            s->block.failed = !name_type(&s->types, b, i, c) || s->block.failed;
        else if (s->items == 0 && s->which == 1 && c->role == TL_ROLE_ALLOCATION)
            take_allocation(s, b, i, c);
        if (s->items > 0)
            take_items(s, b, room, &n);
        if (s->items > 0)
            break;
    }
    return n;
}

/* ---- columns ---- */

static void put_time(const sample_scan *s, const tl_class *c, const tl_sample *x, uint32_t row, tl_scan_block *b)
{
    uint64_t ticks;
    if (__builtin_mul_overflow(x->count, x->weight, &ticks))
        ticks = UINT64_MAX;
    const uint64_t ns = tl_scale_ns(&s->reader.view.trace->scale, ticks);
    tl_list_int(b, TIME, row, c->key == TL_KEY_WEIGHT, ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
}

/* Where the function on top is in the source. */
static void put_source(const sample_scan *s, const tl_frame *top, uint32_t row, tl_scan_block *b)
{
    const tl_source *source = s->reader.dataset->source[s->number - 1];
    tl_location at = {0};
    if (!tl_scan_has(b, FILE_NAME) && !tl_scan_has(b, LINE))
        return;
    if (!top || !source->reader->locate || !source->reader->locate(source->state, top, &at))
        at = (tl_location){0};
    if (tl_scan_has(b, FILE_NAME) && at.file)
        tl_scan_put_copy(b, FILE_NAME, row, at.file, strlen(at.file));
    else if (tl_scan_has(b, FILE_NAME))
        tl_scan_put_null(b, FILE_NAME, row);
    tl_list_int(b, LINE, row, at.line != 0, at.line);
}

static void put_sample(const sample_scan *s, const sample_row *x, uint32_t event, uint32_t row, tl_scan_block *b)
{
    const tl_batch *batch = s->run->batch;
    const tl_class *c = &s->reader.view.trace->cls[batch->cls[event]];
    const tl_frame *top = x->sample.stack->type == TL_STACK ? x->sample.stack->as.p : NULL;
    const bool has_ip = top && top->flags & TL_FRAME_IP;
    tl_list_int(b, SAMPLES, row, true, (int64_t)x->sample.count);
    if (tl_scan_has(b, TIME))
        put_time(s, c, &x->sample, row, b);
    tl_list_int(b, PAUSED, row, true, c->key == TL_KEY_WEIGHT && batch->key[event] & TL_WEIGHT_PAUSED ? 1 : 0);
    tl_list_int(b, S_IP, row, has_ip, has_ip ? (int64_t)top->ip : 0);
    put_source(s, top, row, b);
}

static void put_number(const tl_value *v, uint32_t column, uint32_t row, tl_scan_block *b)
{
    tl_list_int(b, column, row, is_number(v), is_number(v) ? (int64_t)v->as.u : 0);
}

static const struct {
    tl_field_role role;
    uint32_t column;
} of_items[] = {{TL_FIELD_TYPE, TYPE}, {TL_FIELD_COUNT, OBJECTS}, {TL_FIELD_BYTES, BYTES}, {TL_FIELD_IP, A_IP}};

static void put_allocation(const sample_scan *s, const sample_row *x, uint32_t event, uint32_t row, tl_scan_block *b)
{
    const tl_batch *batch = s->run->batch;
    const tl_class *c = &s->reader.view.trace->cls[batch->cls[event]];
    const tl_field *list = NULL;
    tl_role_value(batch, event, c, TL_FIELD_ITEMS, &list);
    for (size_t i = 0; i < TL_COUNT(of_items); i++)
        put_number(member(list, x->item, batch->v + batch->val[event + 1], of_items[i].role), of_items[i].column, row,
                   b);
    tl_list_text(b, TYPE_NAME, row, x->type);
}

static void put_rows(sample_scan *s, uint32_t n, uint32_t row)
{
    tl_scan_block *b = &s->block;
    for (uint32_t c = 0; c < PARTS; c++)
        if (tl_scan_has(b, c))
            tl_event_part_put(parts[c], &s->reader.view, s->run->batch, s->at, n, b, c, row);
    for (uint32_t k = 0; k < n; k++) {
        tl_stack_path_put(&s->row[k].stack, &s->stacks, &stack_columns[s->which], b, row + k);
        (s->which == 0 ? put_sample : put_allocation)(s, &s->row[k], s->at[k], row + k, b);
    }
}

/* ---- the scan ---- */

/* Rows of the runs that are there; how many. */
static uint32_t fill(sample_scan *s)
{
    tl_event_reader *r = &s->reader;
    uint32_t rows = 0;
    while (r->nrun > 0 && !s->block.failed) {
        const uint32_t room = TL_BLOCK_ROWS - rows < s->most ? TL_BLOCK_ROWS - rows : s->most;
        if (room == 0 || tl_scan_block_is_full(&s->block, rows))
            break;
        if (!s->run) {
            s->run = r->run;
            s->event = s->run->from;
            tl_stack_nodes_run(&s->stacks, s->run->batch);
        }
        const uint32_t n = take_rows(s, room);
        put_rows(s, n, rows);
        rows += n;
        if (s->event == s->run->to) {
            r->run++;
            r->nrun--;
            s->run = NULL;
        }
    }
    return rows;
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    sample_scan *s = (sample_scan *)scan;
    uint32_t rows = 0;
    tl_scan_block_begin(&s->block);
    while (rows == 0 && !s->block.failed) {
        int status = tl_event_reader_next(&s->reader, e);
        if (status <= 0)
            return status;
        if (s->number != s->reader.view.number && (status = open_state(s, e)) < 0)
            return status;
        rows = fill(s);
    }
    return tl_scan_block_done(&s->block, rows, block, e);
}

static void close_scan(tl_scan *scan)
{
    sample_scan *s = (sample_scan *)scan;
    close_state(s);
    tl_event_reader_fini(&s->reader);
    tl_scan_block_fini(&s->block);
    free(s);
}

static int open_scan(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    sample_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->table = t;
    s->which = t->arg == &tables[1];
    const tl_stack_columns *c = &stack_columns[s->which];
    const bool path = !ask->used || ask->used[c->path];
    s->wants_nodes = path || (s->which == 1 && (ask->used[c->name] || ask->used[c->depth]));
    s->most = path ? TL_BLOCK_TEXTS : TL_BLOCK_ROWS;
    s->reader.whole = s->which == 1;
    int status = tl_event_reader_init(&s->reader, t, d, ask, e);
    s->reader.wants_fields = true;
    if (status == 0)
        status = tl_scan_block_init(&s->block, t->column, t->ncolumn, ask->used, e);
    return tl_scan_opened(out, &s->scan, status);
}

void tl_sample_table(uint32_t i, tl_scan_table *out, const tl_dataset *d)
{
    static const tl_table_info info[TL_SAMPLE_TABLES] = {
        {"samples", "samples of stacks", TL_NEEDS_SAMPLES},
        {"allocations", "objects that were allocated, with the stack of the last sample before", TL_NEEDS_RUNTIME}};
    *out = (tl_scan_table){.info = info[i],
                           .column = i == 0 ? sample_columns : allocation_columns,
                           .ncolumn = i == 0 ? (uint32_t)SAMPLE_COLUMNS : (uint32_t)ALLOCATION_COLUMNS,
                           .order = TL_NO_ORDER,
                           .rows = tl_event_scan_guess(d) / 2 + 1,
                           .arg = &tables[i],
                           .is_large = true,
                           .keeps = tl_event_scan_keeps,
                           .open = open_scan};
}
