/* The table of the functions of one place: stack(trace, place_id). */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/scan/made_scan.h"

enum { DEPTH, FUNCTION, NAME, TRACE, PLACE, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [DEPTH] = {"depth", "depth", TL_INTEGER, TL_UNIT_NONE, "1: outermost"},
    [FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE, "the function; null: not known"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "argument 1: the number of the trace"},
    [PLACE] = {"place_id", "place_id", TL_INTEGER, TL_UNIT_NONE, "argument 2: the place, as in places"},
};

/* A place of the source. */
typedef struct stack {
    const tl_profile *profile;
    uint32_t n, *place; /* [n] outermost first, without those that are no function: threads */
} stack;

static void free_stack(void *rows)
{
    free(((stack *)rows)->place);
    free(rows);
}

static int make(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    const tl_trace_places *p = &t->places[source];
    const int64_t number = argument[1].kind == TL_CELL_INT ? argument[1].i64 : 0;
    if (argument[0].kind != TL_CELL_INT || argument[0].i64 != (int64_t)source + 1 || !p->profile || number < 1 ||
        number >= tl_profile_places(p->profile))
        return 0;
    uint32_t place = p->order[number], i = p->depth[place];
    stack *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a stack");
    *s = (stack){.profile = p->profile, .n = i, .place = tl_alloc((size_t)i + 1, sizeof *s->place)};
    if (!s->place) {
        free_stack(s);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a stack");
    }
    for (; i > 0; place = tl_profile_parent(p->profile, place))
        if (tl_profile_function(p->profile, place) != UINT32_MAX)
            s->place[--i] = place;
    *out = s;
    return 0;
}

static uint64_t count(const void *rows)
{
    return ((const stack *)rows)->n;
}

static void put(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const stack *s = rows;
    const tl_function *f = tl_profile_get_function(s->profile, tl_profile_function(s->profile, s->place[i]));
    char label[24];
    (void)t;
    (void)source;
    tl_list_int(b, DEPTH, row, true, (int64_t)i + 1);
    tl_list_int(b, FUNCTION, row, !(f->flags & TL_FUNCTION_UNKNOWN), f->id);
    if (tl_scan_has(b, NAME)) {
        const char *name = tl_function_label(f, label);
        tl_scan_put_copy(b, NAME, row, name, strlen(name));
    }
}

const tl_made_kind tl_stack_kind = {
    .info = {"stack", "the functions of a place, outermost first: stack(trace, place_id)", TL_NEEDS_STACKS},
    .column = columns,
    .ncolumn = COLUMNS,
    .nargument = 2,
    .of_any = true,
    .of_places = true,
    .make = make,
    .free_rows = free_stack,
    .count = count,
    .put = put};
