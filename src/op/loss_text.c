/* Losses and damage of a trace, counted and in words. */
#include "op/loss_text.h"

#include <stdio.h>
#include <string.h>

#include "base/io/base_name.h"
#include "base/text/number.h"
#include "base/text/words.h"
#include "model/trace_impl.h"

#define NAMES_SIZE 1024u

/* Two digits; only all and nothing are shown as 100 % and 0 %. */
static void put_share(char *buf, size_t size, double percent)
{
    if (percent > 99)
        snprintf(buf, size, " (over 99 %%)");
    else if (percent < 0.01)
        snprintf(buf, size, " (under 0.01 %%)");
    else
        snprintf(buf, size, " (%.2g %%)", percent);
}

char *tl_losses_text(char *buf, size_t size, uint64_t lost, uint64_t packets, uint64_t events)
{
    char number[32];
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
    uint64_t n = tl_trace_damage_count(t) - tl_trace_damages(t); /* of those nothing is known but that they are there */
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        n += (tl_trace_damage(t, i)->kind & kind) != 0;
    return n;
}

uint64_t tl_harmless_faults(const tl_trace *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        n += (tl_trace_damage(t, i)->kind & (TL_DAMAGE_FAULT | TL_DAMAGE_LOSS)) == TL_DAMAGE_FAULT;
    return n;
}

char *tl_damage_path(char *buf, size_t size, const tl_trace *t, const tl_damage *d)
{
    snprintf(buf, size, "%s%s%s", tl_path_name(tl_trace_path(t)), d->file ? "/" : "", d->file ? d->file : "");
    return buf;
}

/* "a, b, c and 4 more" */
static char *names_text(char *buf, size_t size, const tl_contents *c)
{
    const uint32_t named = c->n < TL_CONTENTS_NAMED ? c->n : TL_CONTENTS_NAMED;
    char number[32];
    size_t at = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < named; i++)
        tl_words_add(buf, size, &at, ", ", *c->name[i] ? c->name[i] : ".");
    if (c->n > named && at < size)
        snprintf(buf + at, size - at, " and %s more", tl_human_grouped(number, sizeof number, c->n - named));
    return buf;
}

char *tl_parts_text(char *buf, size_t size, const tl_trace *t)
{
    char names[NAMES_SIZE], number[32];
    buf[0] = 0;
    if (t->parts.n > 1)
        snprintf(buf, size, "%s traces in this folder are read as one: %s",
                 tl_human_grouped(number, sizeof number, t->parts.n), names_text(names, sizeof names, &t->parts));
    return buf;
}

char *tl_not_read_text(char *buf, size_t size, const tl_trace *t)
{
    const bool one = t->not_read.n == 1;
    char names[NAMES_SIZE];
    buf[0] = 0;
    if (t->not_read.n)
        snprintf(buf, size, "%s in this folder %s to no trace and %s not read: %s", one ? "a file" : "files",
                 one ? "belongs" : "belong", one ? "was" : "were", names_text(names, sizeof names, &t->not_read));
    return buf;
}
