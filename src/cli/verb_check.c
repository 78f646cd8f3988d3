/* traceloom check: is every byte of a trace valid? */
#include <inttypes.h>

#include "analysis/trace/catalog.h"
#include "base/text/number.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "op/loss_text.h"
#include "view/view.h"

/* The first `most` places that break a rule of the format. */
typedef struct problems {
    const tl_trace *trace;
    uint32_t next, left;
} problems;

static const tl_damage *next_problem(problems *p)
{
    while (p->left && p->next < tl_trace_damages(p->trace)) {
        const tl_damage *d = tl_trace_damage(p->trace, p->next++);
        if (d->kind & TL_DAMAGE_FAULT) {
            p->left--;
            return d;
        }
    }
    return NULL;
}

typedef struct verdict {
    const char *path, *format;
    uint64_t ok;
} verdict;

static int print_json(tl_output *out, const tl_trace *t, uint32_t most, tl_error *e)
{
    static const tl_column head[] = {{.json = "path", TL_AT(TEXT, verdict, path)},
                                     {.json = "format", TL_AT(TEXT, verdict, format)},
                                     {.json = "ok", .info.unit = TL_UNIT_BOOL, TL_AT(U64, verdict, ok)}};
    static const tl_column places[] = {{.json = "offset", TL_AT(U64, tl_damage_row, at)},
                                       {.json = "rule", TL_AT(TEXT, tl_damage_row, rule)},
                                       {.json = "what", TL_AT(TEXT, tl_damage_row, what)},
                                       {.json = "file", TL_AT(TEXT, tl_damage_row, file), .flags = TL_LEFT_OUT}};
    static const tl_ask ask = {.for_programs = true};
    const verdict v = {tl_base_name(tl_trace_path(t)), tl_trace_format(t), tl_damages_of(t, TL_DAMAGE_FAULT) == 0};
    tl_answer answer = {0};
    tl_catalog c = {0};
    int status = tl_catalog_add_damage(&c, t, e);
    uint32_t *order = tl_answer_alloc(&answer, (size_t)c.ndamage + 1, sizeof *order), n = 0;
    for (uint32_t i = 0; order && i < c.ndamage && n < most; i++)
        if (c.damage[i].is_fault)
            order[n++] = i;
    TL_ADD_FACTS(&answer, &ask, head, &v);
    TL_ADD_ROWS(&answer, &ask, "problems", places, c.damage, order, n);
    tl_info_add_notes(&answer, &ask, &c);
    if (status == 0)
        status = tl_view_json.show(&(tl_showing){.answer = &answer, .ask = &ask, .out = out}, e);
    tl_answer_fini(&answer);
    tl_catalog_fini(&c);
    return status;
}

static void print_text(tl_output *out, const tl_cli *c, const tl_trace *t, uint32_t most)
{
    char path[1024], clean[1024], what[1024], number[32];
    problems p = {.trace = t, .left = most};
    uint64_t left = tl_damages_of(t, TL_DAMAGE_FAULT);
    tl_text_clean(clean, sizeof clean, tl_path_name(tl_trace_path(t)));
    if (left == 0 && !c->args->quiet)
        tl_output_printf(out, "%s: ok\n", clean);
    for (const tl_damage *d; (d = next_problem(&p)); left--)
        tl_output_printf(out, "%s: byte %" PRIu64 ": %s: %s\n",
                         tl_text_clean(clean, sizeof clean, tl_damage_path(path, sizeof path, t, d)), d->at, d->rule,
                         tl_text_clean(what, sizeof what, d->what));
    if (left)
        tl_output_printf(out, "%s: and %s more\n", tl_text_clean(clean, sizeof clean, tl_path_name(tl_trace_path(t))),
                         tl_human_grouped(number, sizeof number, left));
}

static int check_file(const tl_cli *c, const char *path, tl_output *out)
{
    tl_reading r;
    const tl_want want = {.threads = tl_threads(c)}; /* not strict: all problems are wanted */
    int status = tl_reading_open(&r, c, path, &want);
    if (status != TL_EXIT_DONE)
        return status;
    tl_error e = {0};
    tl_count count = {0};
    tl_reading_start(&r, c, "checking");
    if (!tl_source_is_profile(r.source) && tl_source_count(r.source, tl_threads(c), &count, &e) < 0)
        status = tl_say_failure(path, &e);
    if (status == TL_EXIT_DONE && !tl_source_is_profile(r.source) && tl_source_check(r.source, tl_threads(c), &e) < 0)
        status = tl_say_failure(path, &e);
    const uint64_t events = count.events;
    tl_count_free(&count);
    tl_reading_stop(&r);
    if (status == TL_EXIT_DONE) {
        const uint32_t most = c->args->strict ? 1 : UINT32_MAX;
        if (c->args->json && print_json(out, r.trace, most, &e) < 0)
            status = tl_say_failure(path, &e);
        else if (!c->args->json)
            print_text(out, c, r.trace, most);
        if (status == TL_EXIT_DONE && tl_damages_of(r.trace, TL_DAMAGE_FAULT))
            status = TL_EXIT_NO;
        else if (c->args->strict && (tl_trace_lost_events(r.trace) || tl_trace_lost_packets(r.trace)))
            status = TL_EXIT_LOST;
    }
    char text[128];
    if (*tl_losses_text(text, sizeof text, tl_trace_lost_events(r.trace), tl_trace_lost_packets(r.trace), events))
        tl_say(c, path, "%s", text);
    status = tl_exit_worse(status, tl_say_out_of_order(c, r.trace));
    tl_say_notes(c, r.trace);
    tl_reading_close(&r);
    return status;
}

int tl_verb_check(tl_cli *c)
{
    tl_error e = {0};
    tl_output *out = NULL;
    int status = tl_check_inputs(c);
    if (status != TL_EXIT_DONE)
        return status;
    if (tl_output_open(&out, "-", false, TL_PLAIN, 0, &e) < 0)
        return tl_say_failure(NULL, &e);
    for (size_t i = 0; i < c->args->file.n; i++)
        status = tl_exit_worse(status, check_file(c, c->args->file.word[i], out));
    if (tl_output_finish(out, &e) < 0)
        status = tl_say_failure(NULL, &e);
    tl_output_close(out);
    return status;
}
