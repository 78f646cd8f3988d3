/* Messages about lost events, damaged places and what an output could not hold. */
#include "cli/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/message.h"

#define DAMAGES_SHOWN 5u /* the others are counted; `check` lists all */

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
            n = snprintf(buf + at, size - at, " (%.2g %%)", 100.0 * (double)lost / ((double)lost + (double)events));
            at += n < 0 ? 0 : (size_t)n;
        }
    }
    if (packets && at < size)
        snprintf(buf + at, size - at, "%s %s %s", lost ? " and" : "lost",
                 tl_human_grouped(number, sizeof number, packets), packets == 1 ? "packet" : "packets");
    return buf;
}

int tl_say_losses(const tl_cli *c, const tl_trace *t, uint64_t events)
{
    const char *path = tl_trace_path(t);
    char text[128];
    int status = TL_EXIT_DONE;
    if (*tl_losses_text(text, sizeof text, t, events)) {
        tl_say(c, path, "%s", text);
        if (c->args->strict)
            status = TL_EXIT_LOST;
    }
    uint64_t all = tl_trace_damage_count(t);
    if (all == 0)
        return status;
    uint32_t shown = tl_trace_damages(t) < DAMAGES_SHOWN ? tl_trace_damages(t) : DAMAGES_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        char skipped[64] = "", number[32];
        if (d->bytes)
            snprintf(skipped, sizeof skipped, "; %s %s skipped", tl_human_grouped(number, sizeof number, d->bytes),
                     d->bytes == 1 ? "byte" : "bytes");
        tl_say(c, path, "byte %" PRIu64 ": %s: %s%s", d->offset, d->rule, d->what, skipped);
    }
    if (all > shown) {
        char number[32];
        tl_say(c, path, "and %s more (traceloom check lists them)",
               tl_human_grouped(number, sizeof number, all - shown));
    }
    return TL_EXIT_DAMAGED;
}

void tl_say_drop(void *arg, const tl_drop *drop)
{
    char number[32];
    if (strncmp(drop->what, "the ", 4) == 0) /* there is only one */
        tl_say(arg, NULL, "not written: %s", drop->what);
    else
        tl_say(arg, NULL, "not written: %s %s", tl_human_grouped(number, sizeof number, drop->n), drop->what);
}
