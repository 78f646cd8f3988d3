/* Messages about lost events, damaged places and what an output could not hold. */
#include "cli/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/message.h"
#include "op/loss_text.h"

#define DAMAGES_SHOWN 5u /* the others are counted; `check` lists all */
#define NOTES_SHOWN   5u /* `info --json` lists all */
#define PATH_SIZE     1024u

/* Places with bytes that were given up. */
static int say_lost_places(const tl_cli *c, const tl_trace *t)
{
    const uint64_t all = tl_damages_of(t, TL_DAMAGE_LOSS);
    uint64_t shown = 0;
    for (uint32_t i = 0; i < tl_trace_damages(t) && shown < DAMAGES_SHOWN; i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        char skipped[64] = "", number[32], path[PATH_SIZE];
        if (!(d->kind & TL_DAMAGE_LOSS))
            continue;
        if (d->bytes)
            snprintf(skipped, sizeof skipped, "; %s %s skipped", tl_human_grouped(number, sizeof number, d->bytes),
                     d->bytes == 1 ? "byte" : "bytes");
        tl_say(c, tl_damage_path(path, sizeof path, t, d), "byte %" PRIu64 ": %s: %s%s", d->offset, d->rule, d->what,
               skipped);
        shown++;
    }
    if (all > shown) {
        char number[32];
        tl_say(c, tl_trace_path(t), "and %s more (traceloom check lists them)",
               tl_human_grouped(number, sizeof number, all - shown));
    }
    return all ? TL_EXIT_DAMAGED : TL_EXIT_DONE;
}

/* Places that break a rule of the format, though everything could be read. */
static void say_harmless_faults(const tl_cli *c, const tl_trace *t)
{
    const uint64_t n = tl_harmless_faults(t);
    char number[32];
    if (n)
        tl_say(c, tl_trace_path(t), "%s %s that lost nothing (traceloom check lists %s)",
               tl_human_grouped(number, sizeof number, n), n == 1 ? "fault" : "faults", n == 1 ? "it" : "them");
}

void tl_say_notes(const tl_cli *c, const tl_trace *t)
{
    const uint32_t all = tl_trace_notes(t);
    char number[32], path[PATH_SIZE];
    for (uint32_t i = 0; i < all && i < NOTES_SHOWN; i++) {
        const tl_damage *d = tl_trace_note(t, i);
        tl_damage_path(path, sizeof path, t, d);
        if (d->offset == TL_NO_OFFSET)
            tl_say(c, path, "%s", d->what);
        else
            tl_say(c, path, "byte %" PRIu64 ": %s", d->offset, d->what);
    }
    if (all > NOTES_SHOWN)
        tl_say(c, tl_trace_path(t), "and %s more such places (traceloom info --json lists them)",
               tl_human_grouped(number, sizeof number, all - NOTES_SHOWN));
}

/* What was read as parts of the trace in a folder, and what was not. */
static void say_contents(const tl_cli *c, const tl_trace *t)
{
    char text[2 * PATH_SIZE];
    if (*tl_parts_text(text, sizeof text, t))
        tl_say(c, tl_trace_path(t), "%s", text);
    if (*tl_not_read_text(text, sizeof text, t))
        tl_say(c, tl_trace_path(t), "%s", text);
}

int tl_say_out_of_order(const tl_cli *c, const tl_trace *t)
{
    const uint64_t n = tl_trace_out_of_order(t);
    char text[96], number[32];
    if (n == 0)
        return TL_EXIT_DONE;
    snprintf(text, sizeof text, "%s %s back in time; %s order was kept", tl_human_grouped(number, sizeof number, n),
             n == 1 ? "event goes" : "events go", n == 1 ? "its" : "their");
    if (!c->args->strict) {
        tl_say(c, tl_trace_path(t), "%s", text);
        return TL_EXIT_DONE;
    }
    tl_say_error(tl_trace_path(t), "%s", text);
    return TL_EXIT_DAMAGED;
}

int tl_say_losses(const tl_cli *c, const tl_trace *t, uint64_t events)
{
    char text[128];
    int status = TL_EXIT_DONE;
    if (*tl_losses_text(text, sizeof text, tl_trace_lost_events(t), tl_trace_lost_packets(t), events)) {
        tl_say(c, tl_trace_path(t), "%s", text);
        if (c->args->strict)
            status = TL_EXIT_LOST;
    }
    status = tl_exit_worse(status, say_lost_places(c, t));
    say_harmless_faults(c, t);
    status = tl_exit_worse(status, tl_say_out_of_order(c, t));
    tl_say_notes(c, t);
    say_contents(c, t);
    return status;
}

void tl_say_drop(void *arg, const tl_drop *drop)
{
    char number[32];
    if (strncmp(drop->what, "the ", 4) == 0) /* no number, since there is only one */
        tl_say(arg, NULL, "not written: %s", drop->what);
    else
        tl_say(arg, NULL, "not written: %s %s", tl_human_grouped(number, sizeof number, drop->n), drop->what);
}
