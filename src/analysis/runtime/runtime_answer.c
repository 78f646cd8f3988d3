/* Shared by the answers about managed runtimes. */
#include "analysis/runtime/runtime_answer.h"

#include <inttypes.h>

#include "base/text/number.h"

void tl_get_quantile(const tl_at *at, tl_cell *out)
{
    const tl_quantiles *q = at->row;
    if (q->count)
        tl_cell_u64(out, *(const uint64_t *)(const void *)((const char *)q + at->column->which));
}

void tl_say_unmatched(const tl_prose *p, uint64_t open, uint64_t stray, const char *effect)
{
    char a[32], b[32];
    if (open || stray)
        tl_output_printf(p->out, "%s%s without end, %s without begin: %s%s\n", tl_style_on(p->terminal, TL_FAINT),
                         tl_human_grouped(a, sizeof a, open), tl_human_grouped(b, sizeof b, stray), effect,
                         tl_style_on(p->terminal, TL_PLAIN_TEXT));
}

const char *tl_answer_time(const tl_answer *a, char *buf, size_t size, uint64_t v)
{
    return tl_human_time(buf, size, v, a->is_ns);
}

void tl_cell_name(const tl_at *at, tl_cell *out, const char *name, bool has_number, uint64_t number)
{
    if (name && *name)
        tl_cell_text(out, name);
    else if (has_number)
        tl_cell_printf(at, out, "0x%" PRIx64, number);
    else
        tl_cell_text(out, "?");
}

void tl_get_type(const tl_at *at, tl_cell *out)
{
    const tl_type_row *row = at->row;
    tl_cell_name(at, out, row->name, row->has_type, row->type);
}
