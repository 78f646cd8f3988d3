/* traceloom check: is every byte of a trace valid? */
#include <inttypes.h>

#include "base/json_write.h"
#include "base/number.h"
#include "base/output.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "traceloom/source.h"

static void print_json(tl_output *out, const tl_trace *t, uint32_t shown)
{
    tl_json j;
    tl_json_init(&j, out);
    tl_json_object(&j);
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key_string(&j, "path", tl_base_name(tl_trace_path(t)));
    tl_json_key_string(&j, "format", tl_trace_format(t));
    tl_json_key(&j, "ok");
    tl_json_bool(&j, tl_trace_damage_count(t) == 0);
    tl_json_key(&j, "problems");
    tl_json_array(&j);
    for (uint32_t i = 0; i < shown; i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        tl_json_object(&j);
        tl_json_key_u64(&j, "offset", d->offset);
        tl_json_key_string(&j, "rule", d->rule);
        tl_json_key_string(&j, "what", d->what);
        tl_json_object_end(&j);
    }
    tl_json_array_end(&j);
    tl_json_object_end(&j);
    tl_output_puts(out, "\n");
}

static void print_text(tl_output *out, const tl_cli *c, const tl_trace *t, uint32_t shown)
{
    char path[1024], what[1024], number[32];
    tl_text_clean(path, sizeof path, tl_path_name(tl_trace_path(t)));
    uint64_t all = tl_trace_damage_count(t);
    if (all == 0 && !c->args->quiet)
        tl_output_printf(out, "%s: ok\n", path);
    for (uint32_t i = 0; i < shown; i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        tl_output_printf(out, "%s: byte %" PRIu64 ": %s: %s\n", path, d->offset, d->rule,
                         tl_text_clean(what, sizeof what, d->what));
    }
    if (all > shown)
        tl_output_printf(out, "%s: and %s more\n", path, tl_human_grouped(number, sizeof number, all - shown));
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
    const uint64_t events = count.events;
    tl_count_free(&count);
    tl_reading_stop(&r);
    if (status == TL_EXIT_DONE) {
        uint32_t shown = tl_trace_damages(r.trace);
        if (c->args->strict && shown > 1)
            shown = 1;
        if (c->args->json)
            print_json(out, r.trace, shown);
        else
            print_text(out, c, r.trace, shown);
        if (tl_trace_damage_count(r.trace))
            status = TL_EXIT_NO;
        else if (c->args->strict && (tl_trace_lost_events(r.trace) || tl_trace_lost_packets(r.trace)))
            status = TL_EXIT_LOST;
    }
    char text[128];
    if (*tl_losses_text(text, sizeof text, r.trace, events))
        tl_say(c, path, "%s", text);
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
