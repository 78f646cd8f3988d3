/* Messages about lost events, damaged places and what an output could not hold. */
#include "cli/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/message.h"
#include "model/histogram.h"
#include "op/loss_text.h"

#define DAMAGES_SHOWN 5u /* the others are counted; `check` lists all */
#define NOTES_SHOWN   5u /* `info --json` lists all */
#define PATH_SIZE     1024u

static bool is_lost(const tl_damage *d)
{
    return d->kind & TL_DAMAGE_LOSS;
}

static bool is_harmless(const tl_damage *d)
{
    return (d->kind & (TL_DAMAGE_FAULT | TL_DAMAGE_LOSS)) == TL_DAMAGE_FAULT;
}

/* The places that break one rule. */
typedef struct places {
    const tl_damage *first;
    uint64_t n, bytes;
} places;

/* Counts places like number `first`; false if there is an earlier one. */
static bool count_like(const tl_trace *t, uint32_t first, bool (*counts)(const tl_damage *d), places *p)
{
    *p = (places){.first = tl_trace_damage(t, first)};
    for (uint32_t i = 0; i < tl_trace_damages(t); i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        if (!counts(d) || strcmp(d->rule, p->first->rule) != 0)
            continue;
        if (i < first)
            return false;
        p->n++;
        p->bytes = tl_add_saturated(p->bytes, d->bytes);
    }
    return true;
}

/* Places with bytes that were given up: those that break the same rule in one line. */
static int say_lost_places(const tl_cli *c, const tl_trace *t)
{
    const uint64_t all = tl_damages_of(t, TL_DAMAGE_LOSS);
    uint64_t said = 0;
    unsigned lines = 0;
    char number[32], path[PATH_SIZE];
    places p;
    for (uint32_t i = 0; i < tl_trace_damages(t) && said < all && lines < DAMAGES_SHOWN; i++) {
        char skipped[64] = "", like[64] = "";
        if (!is_lost(tl_trace_damage(t, i)) || !count_like(t, i, is_lost, &p))
            continue;
        if (p.n > 1)
            snprintf(like, sizeof like, "; %s such places", tl_human_grouped(number, sizeof number, p.n));
        if (p.bytes)
            snprintf(skipped, sizeof skipped, "%s %s %s skipped", p.n > 1 ? "," : ";",
                     tl_human_grouped(number, sizeof number, p.bytes), p.bytes == 1 ? "byte" : "bytes");
        tl_say(c, tl_damage_path(path, sizeof path, t, p.first), "byte %" PRIu64 ": %s: %s%s%s%s", p.first->offset,
               p.first->rule, p.first->what, like, skipped, p.n > 1 ? " (traceloom check lists them)" : "");
        said += p.n;
        lines++;
    }
    if (all > said)
        tl_say(c, tl_trace_path(t), "and %s more (traceloom check lists them)",
               tl_human_grouped(number, sizeof number, all - said));
    return all ? TL_EXIT_DAMAGED : TL_EXIT_DONE;
}

/* Places that break a rule of the format, though everything could be read: no answer depends on them. */
static void say_harmless_faults(const tl_cli *c, const tl_trace *t)
{
    uint64_t left = tl_harmless_faults(t);
    char number[32];
    places p;
    for (uint32_t i = 0; i < tl_trace_damages(t) && left; i++)
        if (is_harmless(tl_trace_damage(t, i)) && count_like(t, i, is_harmless, &p)) {
            tl_say(c, tl_trace_path(t), "%s: %s %s that lost nothing (traceloom check lists %s)", p.first->rule,
                   tl_human_grouped(number, sizeof number, p.n), p.n == 1 ? "fault" : "faults",
                   p.n == 1 ? "it" : "them");
            left -= p.n;
        }
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

/* Which files of a folder were read as parts of the trace, and which were not. */
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
    if (c->args->verb->id == TL_VERB_INFO)
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
