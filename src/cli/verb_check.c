/* traceloom check: is every byte of a trace valid? */
#include <inttypes.h>

#include "base/io/output.h"
#include "base/text/json_write.h"
#include "base/text/number.h"
#include "cli/info/verb_info.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "traceloom/source.h"

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

static void print_json(tl_output *out, const tl_trace *t, uint32_t most)
{
    tl_json j;
    problems p = {.trace = t, .left = most};
    tl_json_init(&j, out);
    tl_json_object(&j);
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key_string(&j, "path", tl_base_name(tl_trace_path(t)));
    tl_json_key_string(&j, "format", tl_trace_format(t));
    tl_json_key(&j, "ok");
    tl_json_bool(&j, tl_damages_of(t, TL_DAMAGE_FAULT) == 0);
    tl_json_key(&j, "problems");
    tl_json_array(&j);
    for (const tl_damage *d; (d = next_problem(&p));) {
        tl_json_object(&j);
        tl_json_key_u64(&j, "offset", d->at);
        tl_json_key_string(&j, "rule", d->rule);
        tl_json_key_string(&j, "what", d->what);
        if (d->file)
            tl_json_key_string(&j, "file", d->file);
        tl_json_object_end(&j);
    }
    tl_json_array_end(&j);
    tl_notes_json(&j, t);
    tl_json_object_end(&j);
    tl_output_puts(out, "\n");
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
        if (c->args->json)
            print_json(out, r.trace, most);
        else
            print_text(out, c, r.trace, most);
        if (tl_damages_of(r.trace, TL_DAMAGE_FAULT))
            status = TL_EXIT_NO;
        else if (c->args->strict && (tl_trace_lost_events(r.trace) || tl_trace_lost_packets(r.trace)))
            status = TL_EXIT_LOST;
    }
    char text[128];
    if (*tl_losses_text(text, sizeof text, r.trace, events))
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
