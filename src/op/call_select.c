/* Which calls a selection contains. */
#include "op/call_select.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/glob.h"

bool tl_select_label(const tl_select *s, const char *label, bool *hit, bool *hit_not)
{
    bool taken = s->nfunc == 0;
    for (size_t i = 0; i < s->nfunc; i++)
        if (tl_glob(s->func[i], label)) {
            taken = true;
            if (hit)
                hit[i] = true;
        }
    for (size_t i = 0; i < s->nnot; i++)
        if (tl_glob(s->not_func[i], label)) {
            taken = false;
            if (hit_not)
                hit_not[i] = true;
        }
    return taken;
}

/* Whole text as a hexadecimal number, "0x2" or "0x00000002". */
static bool hex_number(const char *s, uint64_t *v)
{
    if (s[0] != '0' || s[1] != 'x' || s[2] == '\0' || s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] != '\0')
        return false;
    *v = strtoull(s, NULL, 16);
    return true;
}

/* Is the pattern the hexadecimal number at the end of the name, whatever the padding? */
static bool is_number_of(const char *pattern, const char *name)
{
    const char *space = strrchr(name, ' ');
    uint64_t wanted, found;
    return space && hex_number(pattern, &wanted) && hex_number(space + 1, &found) && wanted == found;
}

/* Does a pattern, a glob or a thread id, match the track? */
static bool names_track(const char *pattern, const tl_track *t)
{
    char tid[24];
    if (t->is_cpu && pattern[0] && pattern[strspn(pattern, "0123456789")] == '\0')
        return false; /* the id of a thread */
    snprintf(tid, sizeof tid, "%" PRId64, t->tid);
    return tl_glob(pattern, t->name) || (t->has_tid && strcmp(pattern, tid) == 0) || is_number_of(pattern, t->name);
}

/* If the track is a processor, is it selected? */
static bool takes_processor(const tl_select *s, const tl_track *t)
{
    return !t->is_cpu || s->ncpu == 0 || (t->tid <= INT32_MAX && tl_select_cpu(s, (int32_t)t->tid));
}

bool tl_select_track(const tl_select *s, const tl_track *t)
{
    if (!takes_processor(s, t))
        return false;
    for (size_t i = 0; i < s->nthread; i++)
        if (names_track(s->thread[i], t))
            return true;
    return s->nthread == 0;
}

bool tl_select_insn_track(const tl_select *s, const tl_track *t)
{
    return (s->ncpu == 0 || t->is_cpu) && tl_select_track(s, t);
}

int tl_select_check_insn_cpu(const tl_select *s, const tl_trace *t, tl_error *e)
{
    bool any = s->ncpu == 0 || t->ntrack == 0;
    for (uint32_t i = 0; i < t->ntrack; i++)
        any = any || t->track[i].is_cpu;
    if (any)
        return 0;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                   "its instructions are those of threads: there are no processors to select them by");
}

bool tl_select_track_hits(const tl_select *s, const tl_track *t, bool *hit)
{
    bool taken = s->nthread == 0;
    for (size_t i = 0; i < s->nthread; i++)
        if (names_track(s->thread[i], t))
            taken = hit[i] = true;
    return taken;
}

static bool select_class(const tl_select *s, const tl_class *c)
{
    for (size_t i = 0; i < s->ncls; i++)
        if (tl_glob(s->cls[i], c->name))
            return true;
    return s->ncls == 0;
}

bool tl_select_cpu(const tl_select *s, int32_t cpu)
{
    for (size_t i = 0; i < s->ncpu; i++)
        if (s->cpu[i] == cpu)
            return true;
    return s->ncpu == 0;
}

bool tl_call_select_cpu(const tl_call_select *s, const tl_batch *b, uint32_t i)
{
    return !b->cpu || s->select->ncpu == 0 || s->trace->track[b->track[i]].is_cpu ||
           tl_select_cpu(s->select, b->cpu[i]);
}

static int no_match(const tl_select *s, size_t i, tl_error *e)
{
    const struct {
        const char *what, *const *pattern;
        size_t n;
    } group[] = {{"function", s->func, s->nfunc},
                 {"function", s->not_func, s->nnot},
                 {"thread", s->thread, s->nthread},
                 {"class of events", s->cls, s->ncls}};
    size_t g = 0;
    if (s->missed)
        *s->missed = i;
    for (; i >= group[g].n; g++)
        i -= group[g].n;
    return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "no %s matches \"%s\"", group[g].what, group[g].pattern[i]);
}

int tl_select_settle(const tl_select *s, size_t i, bool found, tl_error *e)
{
    if (!s->matched)
        return found ? 0 : no_match(s, i, e);
    s->matched[i] = s->matched[i] || found;
    return 0;
}

int tl_select_check(const tl_select *s, tl_error *e)
{
    for (size_t i = 0; s->matched && i < s->nfunc + s->nnot + s->nthread + s->ncls; i++)
        if (!s->matched[i])
            return no_match(s, i, e);
    return 0;
}

int tl_select_settle_tracks(const tl_select *s, const tl_track *track, uint32_t n, tl_error *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < s->nthread; i++) {
        uint32_t k = 0;
        while (k < n && !names_track(s->thread[i], &track[k]))
            k++;
        status = tl_select_settle(s, s->nfunc + s->nnot + i, k < n, e);
    }
    return status;
}

int tl_select_settle_classes(const tl_select *s, const tl_trace *t, tl_error *e)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < s->ncls; i++) {
        uint32_t k = 0;
        while (k < t->ncls && !tl_glob(s->cls[i], t->cls[k].name))
            k++;
        status = tl_select_settle(s, s->nfunc + s->nnot + s->nthread + i, k < t->ncls, e);
    }
    return status;
}

int tl_select_settle_names(const tl_select *s, const tl_trace *t, tl_error *e)
{
    int status = tl_select_settle_tracks(s, t->track, t->ntrack, e);
    return status < 0 ? status : tl_select_settle_classes(s, t, e);
}

int tl_call_select_init(tl_call_select *s, const tl_select *select, const tl_trace *t, uint64_t begin, tl_error *e)
{
    *s = (tl_call_select){.select = select, .trace = t, .to = UINT64_MAX};
    if (select->has_from)
        s->from = select->time_from > UINT64_MAX - begin ? UINT64_MAX : begin + select->time_from;
    if (select->has_to)
        s->to = select->time_to > UINT64_MAX - begin ? UINT64_MAX : begin + select->time_to;
    s->track = tl_alloc(t->ntrack + 1, sizeof *s->track);
    s->cls = tl_alloc(t->ncls + 1, sizeof *s->cls);
    s->hit = calloc(select->nfunc + 1, sizeof *s->hit);
    s->hit_not = calloc(select->nnot + 1, sizeof *s->hit_not);
    if (!s->track || !s->cls || !s->hit || !s->hit_not) {
        tl_call_select_fini(s);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
    }
    s->ntrack = t->ntrack;
    for (uint32_t i = 0; i < t->ntrack; i++)
        s->track[i] = tl_select_track(select, &t->track[i]);
    for (uint32_t i = 0; i < t->ncls; i++)
        s->cls[i] = select_class(select, &t->cls[i]);
    return 0;
}

void tl_call_select_fini(tl_call_select *s)
{
    free(s->function);
    free(s->track);
    free(s->cls);
    free(s->hit);
    free(s->hit_not);
    *s = (tl_call_select){0};
}

bool tl_call_select_track(const tl_call_select *s, uint32_t track)
{
    return track < s->ntrack ? s->track[track] : tl_select_track(s->select, &s->trace->track[track]);
}

bool tl_call_select_function(tl_call_select *s, const tl_profile *p, uint32_t function)
{
    if (!TL_GROW_TO(s->function, s->nfunction, function, UINT32_MAX))
        return true;
    if (!s->function[function]) {
        char buffer[24];
        const char *label = tl_function_label(&p->function[function], buffer);
        s->function[function] = tl_select_label(s->select, label, s->hit, s->hit_not) ? 1 : 2;
    }
    return s->function[function] == 1;
}
