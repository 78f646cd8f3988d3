/* Messages about lost events, damaged places and what an output could not hold. */
#include "cli/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/message.h"
#include "model/trace_impl.h"

#define DAMAGES_SHOWN 5u /* the others are counted; `check` lists all */
#define NOTES_SHOWN   5u /* `info --json` lists all */
#define PATH_SIZE     1024u

/* Two digits; only exact values are shown as 0 or 100. */
static void put_share(char *buf, size_t size, double percent)
{
    if (percent > 99)
        snprintf(buf, size, " (over 99 %%)");
    else if (percent < 0.01)
        snprintf(buf, size, " (under 0.01 %%)");
    else
        snprintf(buf, size, " (%.2g %%)", percent);
}

char *tl_losses_text(char *buf, size_t size, const tl_trace *t, uint64_t events)
{
    char number[32];
    uint64_t lost = tl_trace_lost_events(t), packets = tl_trace_lost_packets(t);
    size_t at = 0;
    buf[0] = 0;
    if (lost) {
        int n = snprintf(buf, size, "lost %s %s", tl_human_grouped(number, sizeof number, lost),
                         lost == 1 ? "event" : "events");
        at = n < 0 ? 0 : (size_t)n;
        if (events && at < size) {
            put_share(buf + at, size - at, 100.0 * (double)lost / ((double)lost + (double)events));
            at += strlen(buf + at);
        }
    }
    if (packets && at < size)
        snprintf(buf + at, size - at, "%s %s %s", lost ? " and" : "lost",
                 tl_human_grouped(number, sizeof number, packets), packets == 1 ? "packet" : "packets");
    return buf;
}

uint64_t tl_damages_of(const tl_trace *t, unsigned kind)
{
    uint64_t n = tl_trace_damage_count(t) - tl_trace_damages(t); /* of the others only the number is known */
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        n += (tl_trace_damage(t, i)->kind & kind) != 0;
    return n;
}

char *tl_damage_path(char *buf, size_t size, const tl_trace *t, const tl_damage *d)
{
    snprintf(buf, size, "%s%s%s", tl_path_name(tl_trace_path(t)), d->file ? "/" : "", d->file ? d->file : "");
    return buf;
}

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
    uint64_t n = 0;
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        n += (tl_trace_damage(t, i)->kind & (TL_DAMAGE_FAULT | TL_DAMAGE_LOSS)) == TL_DAMAGE_FAULT;
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

/* "a, b, c and 4 more" */
static char *names_text(char *buf, size_t size, const tl_contents *c)
{
    const uint32_t named = c->n < TL_CONTENTS_NAMED ? c->n : TL_CONTENTS_NAMED;
    char number[32];
    size_t at = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < named && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", *c->name[i] ? c->name[i] : ".");
    if (c->n > named && at < size)
        snprintf(buf + at, size - at, " and %s more", tl_human_grouped(number, sizeof number, c->n - named));
    return buf;
}

/* What was read as parts of the trace in a folder, and what was not. */
static void say_contents(const tl_cli *c, const tl_trace *t)
{
    char names[PATH_SIZE], number[32];
    if (t->parts.n > 1)
        tl_say(c, tl_trace_path(t), "%s traces in this folder are read as one: %s",
               tl_human_grouped(number, sizeof number, t->parts.n), names_text(names, sizeof names, &t->parts));
    if (t->not_read.n)
        tl_say(c, tl_trace_path(t), "%s in this folder %s to no trace and %s not read: %s",
               t->not_read.n == 1 ? "a file" : "files", t->not_read.n == 1 ? "belongs" : "belong",
               t->not_read.n == 1 ? "was" : "were", names_text(names, sizeof names, &t->not_read));
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
    if (*tl_losses_text(text, sizeof text, t, events)) {
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
