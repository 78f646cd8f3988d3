/* Sentences about what a trace lost: places that break the same rule are one sentence. */
#include "op/loss_lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "model/histogram.h"
#include "op/loss_text.h"
#include "traceloom/error.h"

#define DAMAGES_SHOWN 5u /* the others are counted; `check` lists all */
#define NOTES_SHOWN   5u /* `info --json` lists all */
#define LINE_SIZE     8192u

/* file: of a folder, or NULL. */
__attribute__((format(printf, 4, 5))) static void say(const tl_loss_lines *l, const tl_trace *t, const char *file,
                                                      const char *format, ...)
{
    char text[LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    l->say(l->arg, t, file, text);
}

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
bool tl_lost_places_lines(const tl_loss_lines *l, const tl_trace *t)
{
    const uint64_t all = tl_damages_of(t, TL_DAMAGE_LOSS);
    uint64_t said = 0;
    unsigned lines = 0;
    char number[32];
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
        say(l, t, p.first->file, "byte %" PRIu64 ": %s: %s%s%s%s", p.first->offset, p.first->rule, p.first->what, like,
            skipped, p.n > 1 ? " (traceloom check lists them)" : "");
        said += p.n;
        lines++;
    }
    if (all > said)
        say(l, t, NULL, "and %s more (traceloom check lists them)",
            tl_human_grouped(number, sizeof number, all - said));
    return all > 0;
}

/* Places that break a rule of the format, though everything could be read: no answer depends on them. */
void tl_harmless_lines(const tl_loss_lines *l, const tl_trace *t)
{
    uint64_t left = tl_harmless_faults(t);
    char number[32];
    places p;
    for (uint32_t i = 0; i < tl_trace_damages(t) && left; i++)
        if (is_harmless(tl_trace_damage(t, i)) && count_like(t, i, is_harmless, &p)) {
            say(l, t, NULL, "%s: %s %s that lost nothing (traceloom check lists %s)", p.first->rule,
                tl_human_grouped(number, sizeof number, p.n), p.n == 1 ? "fault" : "faults", p.n == 1 ? "it" : "them");
            left -= p.n;
        }
}

void tl_notes_lines(const tl_loss_lines *l, const tl_trace *t)
{
    const uint32_t all = tl_trace_notes(t);
    char number[32];
    for (uint32_t i = 0; i < all && i < NOTES_SHOWN; i++) {
        const tl_damage *d = tl_trace_note(t, i);
        if (d->offset == TL_NO_OFFSET)
            say(l, t, d->file, "%s", d->what);
        else
            say(l, t, d->file, "byte %" PRIu64 ": %s", d->offset, d->what);
    }
    if (all > NOTES_SHOWN)
        say(l, t, NULL, "and %s more such places (traceloom info --json lists them)",
            tl_human_grouped(number, sizeof number, all - NOTES_SHOWN));
}

/* Which files of a folder were read as parts of the trace, and which were not. */
void tl_contents_lines(const tl_loss_lines *l, const tl_trace *t)
{
    char text[LINE_SIZE];
    if (*tl_parts_text(text, sizeof text, t))
        say(l, t, NULL, "%s", text);
    if (*tl_not_read_text(text, sizeof text, t))
        say(l, t, NULL, "%s", text);
}

void tl_lost_events_lines(const tl_loss_lines *l, const tl_trace *t, uint64_t events)
{
    char text[128];
    if (*tl_losses_text(text, sizeof text, tl_trace_lost_events(t), tl_trace_lost_packets(t), events))
        say(l, t, NULL, "%s", text);
}

void tl_out_of_order_lines(const tl_loss_lines *l, const tl_trace *t)
{
    const uint64_t n = tl_trace_out_of_order(t);
    char number[32];
    if (n)
        say(l, t, NULL, "%s %s back in time; %s order was kept", tl_human_grouped(number, sizeof number, n),
            n == 1 ? "event goes" : "events go", n == 1 ? "its" : "their");
}
