/* Makes tables from the events of sources. */
#include "analysis/table_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/words.h"
#include "op/source_impl.h"

int tl_table_run_init(tl_table_run *r, const tl_table_kind *kind, const tl_table_options *o, tl_error *e)
{
    char message[TL_TABLE_MESSAGE] = "";
    *r = (tl_table_run){.kind = kind, .code = o->code, .no_demangle = o->no_demangle};
    r->pass = o->calls && kind->calls_pass ? kind->calls_pass : kind->pass;
    r->table = calloc(1, r->pass ? r->pass->size : kind->size);
    r->options = kind->options_size ? calloc(1, kind->options_size) : NULL;
    if (!r->table || (kind->options_size && !r->options))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    if (kind->set && !kind->set(r->options ? r->options : r->table, o, message))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s", message);
    return 0;
}

const char *tl_table_stray_option(const tl_table_kind *kind, const tl_table_options *o)
{
    const struct {
        bool given;
        const char *option;
    } own[] = {{o->interval != 0, "interval"}, {o->line_size != 0, "line-size"},    {o->sample != 0, "sample"},
               {o->cache != NULL, "cache"},    {o->predictor != NULL, "predictor"}, {o->calls, "calls"}};
    for (size_t i = 0; i < TL_COUNT(own); i++)
        if (own[i].given && !(kind && kind->takes && tl_word_place(own[i].option, kind->takes) >= 0))
            return own[i].option;
    return NULL;
}

tl_want tl_table_run_want(const tl_table_run *r)
{
    return (tl_want){.fields = r->pass ? r->pass->fields : r->kind->of_runtime, .late = r->kind->late};
}

/* A source comes. Errors: its times have another unit than those before. */
static int begin_source(tl_table_run *r, const tl_source *s, tl_error *e)
{
    const char *unit = tl_trace_unit(tl_source_trace(s));
    if (r->begun && !r->pass && !r->kind->any_unit && strcmp(r->unit, unit) != 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                       "its times are %s, those of the inputs before are %s: they cannot be added up", unit, r->unit);
    snprintf(r->unit, sizeof r->unit, "%s", unit);
    r->begun = true;
    return 0;
}

int tl_table_run_add(tl_table_run *r, tl_source *s, const tl_select *select, unsigned threads, tl_error *e)
{
    if (r->pass)
        return tl_table_runs_add(&r, 1, s, select, threads, e);
    const int status = begin_source(r, s, e);
    return status < 0 ? status : r->kind->read(r->table, s, select, e);
}

int tl_table_runs_add(tl_table_run *const *r, uint32_t n, tl_source *s, const tl_select *select, unsigned threads,
                      tl_error *e)
{
    tl_insn_fill *fill = tl_alloc((size_t)n + 1, sizeof *fill);
    int status = fill ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %u tables", n);
    for (uint32_t i = 0; status == 0 && i < n; i++) {
        fill[i] = (tl_insn_fill){r[i]->table, r[i]->pass, r[i]->options, !r[i]->begun};
        status = begin_source(r[i], s, e);
    }
    if (status == 0)
        status = tl_insn_pass_together(fill, n, s, select, threads, e);
    free(fill);
    return status;
}

static void say_none(const tl_answer *a, const tl_prose *p)
{
    tl_say_styled(p, TL_STRONG, a->subject);
    tl_output_printf(p->out, ", no %s\n", (const char *)a->detail);
}

bool tl_table_run_is_empty(const tl_table_run *r)
{
    static const uint64_t zero;
    return r->kind->empty ? r->kind->empty(r->table)
                          : memcmp((const char *)r->table + r->kind->count, &zero, r->kind->count_size) == 0;
}

int tl_table_run_answer(tl_table_run *r, const tl_ask *ask, const char *subject, tl_answer *a, tl_error *e)
{
    *a = (tl_answer){.unit = r->unit,
                     .is_ns = strcmp(r->unit, "ns") == 0,
                     .subject = subject,
                     .table = r->table,
                     .code = r->code,
                     .no_demangle = r->no_demangle,
                     .unicode = ask->unicode};
    if (!ask->for_programs && tl_table_run_is_empty(r)) {
        a->head = say_none;
        a->detail = r->kind->what;
        return 0;
    }
    const int status = r->kind->answer(r->table, ask, a, e);
    if (status == 0 && a->failed)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    return status;
}

void tl_table_run_fini(tl_table_run *r)
{
    if (r->begun)
        (r->pass ? r->pass->fini : r->kind->fini)(r->table);
    free(r->table);
    free(r->options);
    *r = (tl_table_run){0};
}
