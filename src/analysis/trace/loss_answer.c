/* The relation `losses`: what each trace lost, damaged or did not finish, counted. */
#include <stdlib.h>

#include "analysis/table_kind.h"
#include "base/grow.h"
#include "model/histogram.h"
#include "op/loss_text.h"
#include "op/source_impl.h"

#define LOSS_ROWS 20u /* on a terminal */

typedef struct loss {
    uint64_t trace;
    const char *what;
    uint64_t n;
} loss;

typedef struct losses {
    uint64_t traces;
    loss *row;
    uint32_t n, capacity;
} losses;

static bool add(losses *l, const char *what, uint64_t n)
{
    if (n == 0)
        return true;
    if (!TL_GROW(l->row, l->n, 1, l->capacity))
        return false;
    l->row[l->n++] = (loss){l->traces, what, n};
    return true;
}

static uint64_t bytes_lost(const tl_trace *t)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        if (tl_trace_damage(t, i)->kind & TL_DAMAGE_LOSS)
            bytes = tl_add_saturated(bytes, tl_trace_damage(t, i)->bytes);
    return bytes;
}

/* Calls without a begin or an end, if it has calls. */
static int count_calls(losses *l, tl_source *s, tl_error *e)
{
    const tl_profile_options options = {.flat = true, .threads = s->want.threads};
    tl_profile *p = NULL;
    tl_error why = {0};
    const int status = tl_profile_from_source(&p, s, &options, &why);
    const bool ok = !p || (add(l, "exits without entry", tl_profile_unmatched_exits(p)) &&
                           add(l, "entries without exit", tl_profile_unmatched_open(p)));
    tl_profile_free(p);
    if (status < 0 && status != TL_EUNSUPPORTED) {
        if (e)
            *e = why;
        return status;
    }
    return ok ? 0 : TL_ENOMEM;
}

static int read_source(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    losses *l = table;
    const tl_trace *t = tl_source_trace(s);
    tl_count count = {0};
    if (select)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "this table is of whole traces: nothing of them can be selected");
    int status = tl_source_is_profile(s) ? 0 : tl_source_count(s, s->want.threads, &count, e); /* finds all damage */
    tl_count_free(&count);
    if (status < 0)
        return status;
    l->traces++;
    const bool ok = add(l, "lost events", tl_trace_lost_events(t)) &&
                    add(l, "lost packets", tl_trace_lost_packets(t)) &&
                    add(l, "damaged places", tl_damages_of(t, TL_DAMAGE_LOSS)) &&
                    add(l, "skipped bytes", bytes_lost(t)) && add(l, "events out of order", tl_trace_out_of_order(t));
    status = ok ? count_calls(l, s, e) : TL_ENOMEM;
    return status == TL_ENOMEM ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for losses") : status;
}

static void fini(void *table)
{
    free(((losses *)table)->row);
}

static const tl_column columns[] = {
    {TL_COL("trace", NULL, INTEGER, NONE, "the number of the trace, from 1"), TL_AT(U64, loss, trace)},
    {TL_COL("what", "what", TEXT, NONE,
            "lost events, lost packets, damaged places, skipped bytes, events out of order, "
            "exits without entry or entries without exit"),
     TL_AT(TEXT, loss, what), .role = TL_ROLE_NAME},
    {TL_COL("n", "number", INTEGER, COUNT, "how many, not 0"), TL_AT(U64, loss, n), .place = 1},
};

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const losses *l = table;
    (void)e;
    TL_ADD_TOP(a, ask, "losses", columns, l->row, NULL, l->n, LOSS_ROWS, "losses", 30);
    a->head = tl_say_subject;
    a->unit = NULL;
    return 0;
}

const tl_table_kind tl_table_loss = {.info = {"loss", "what was lost, damaged or not finished", TL_NEEDS_NOTHING},
                                     .sql = "losses",
                                     .what = "losses",
                                     .several = true,
                                     .of_any = true,
                                     .any_unit = true,
                                     .no_thread = "it is of whole traces",
                                     .size = sizeof(losses),
                                     .read = read_source,
                                     TL_EMPTY_IF_0(losses, n),
                                     .answer = answer,
                                     .fini = fini,
                                     TL_TABLE_COLUMNS(columns)};
