/* Which tables can be made from a source, by its classes or its profile. */
#include <stdio.h>
#include <string.h>

#include "analysis/table_kind.h"
#include "base/text/words.h"
#include "model/profile_impl.h"
#include "op/insn_calls.h"
#include "op/sample_profile.h"

/* What there may be in a source. */
enum {
    CALLS = 1,
    DURATIONS = 2, /* of each call */
    SAMPLES = 4,
    THREADS = 8, /* are distinguished */
    EVENTS = 16,
    RUNTIME = 32,
    INSNS = 64,
    NOTHING = 128 /* none, of whatever kind */
};

static unsigned class_has(const tl_class *c)
{
    const bool is_machine = c->role >= TL_ROLE_A64 && c->role <= TL_ROLE_SNAPSHOT;
    const unsigned calls = c->key == TL_KEY_FUNCTION && c->kind == TL_ENTER ? CALLS | DURATIONS : 0;
    return calls | (c->role != TL_ROLE_NONE && !is_machine ? RUNTIME : 0u);
}

static unsigned source_has(const tl_source *s, const tl_profile *p)
{
    const tl_trace *t = tl_source_trace(s);
    unsigned has = tl_source_is_profile(s) ? 0 : EVENTS | THREADS;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        has |= class_has(tl_trace_class(t, i));
    has |= tl_samples_wanted(t) ? SAMPLES : 0u;
    has |= tl_insn_calls_wanted(t) ? INSNS | CALLS | DURATIONS : 0u;
    if (!p || !(has & (CALLS | SAMPLES) || tl_source_is_profile(s)))
        return has;
    has &= ~(unsigned)(CALLS | DURATIONS | SAMPLES);
    has |= p->per_thread ? THREADS : 0u;
    if (tl_profile_weights(p))
        return has | SAMPLES;
    return has | CALLS | (tl_profile_has_histogram(p) ? DURATIONS : 0u);
}

static bool fits(const tl_table_kind *kind, unsigned has)
{
    const unsigned of = kind->profile;
    if (!of)
        return kind->of_any || has & (kind->pass ? INSNS : kind->of_runtime ? RUNTIME : EVENTS);
    return has & (CALLS | SAMPLES) && (has & DURATIONS || !(of & TL_PROFILE_NEEDS_DURATIONS)) &&
           (has & SAMPLES || !(of & TL_PROFILE_NEEDS_SAMPLES)) && (has & THREADS || !(of & TL_PROFILE_PER_THREAD));
}

/* "calls and a managed runtime" */
static void name_what(char *buf, size_t size, unsigned has)
{
    const struct {
        unsigned has;
        const char *text;
    } word[] = {{INSNS, "instructions"},
                {has & INSNS ? 0 : CALLS, has & DURATIONS ? "calls" : "sums of calls"},
                {SAMPLES, "samples"},
                {RUNTIME, "a managed runtime"},
                {has & (INSNS | CALLS | SAMPLES | RUNTIME) ? 0 : EVENTS,
                 has & NOTHING ? "no events" : "events of other kinds"}};
    size_t at = 0;
    for (size_t i = 0; i < TL_COUNT(word); i++)
        if (has & word[i].has)
            tl_words_add(buf, size, &at, " and ", word[i].text);
    if (!(has & THREADS))
        tl_words_add(buf, size, &at, " ", "of all threads together");
}

/* Are there events at all? Reads up to the first one. */
static bool has_events(tl_source *s)
{
    const tl_trace *t = tl_source_trace(s);
    bool found = false;
    for (uint32_t i = 0; !found && i < tl_source_streams(s); i++) {
        tl_cursor *c = NULL;
        const tl_batch *b;
        tl_error ignored = {0};
        if (tl_cursor_open(&c, s, i, &ignored) < 0)
            return true;
        while (!found && tl_cursor_next(c, &b, &ignored) > 0)
            for (uint32_t k = 0; k < b->n && !found; k++)
                found = tl_trace_class(t, b->cls[k])->kind != TL_FORMAT;
        tl_cursor_close(c);
    }
    return found;
}

/* By their names in SQL, or those after --by. */
static void list_tables(char *buf, size_t size, const tl_trace *t, unsigned has, bool in_sql)
{
    size_t n, at = 0;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = in_sql ? kind[i]->sql : kind[i]->info.name;
        if (name && !kind[i]->only_of && !kind[i]->of_any && fits(tl_table_find(kind[i]->info.name, t), has))
            tl_words_add(buf, size, &at, ", ", name);
    }
}

/* What a source has, and the tables made from that. */
static int look(tl_source *s, const tl_profile *p, bool in_sql, char what[static TL_WHAT_SIZE],
                char tables[static TL_TABLES_SIZE], tl_error *e)
{
    const bool is_profile = tl_source_is_profile(s);
    tl_profile *own = NULL;
    what[0] = tables[0] = '\0';
    if (is_profile) { /* whatever p was made for, the file may have more */
        const int status = tl_profile_from_source(&own, s, &(tl_profile_options){.per_thread = true}, e);
        if (status < 0)
            return status;
    }
    unsigned has = source_has(s, own ? own : p);
    tl_profile_free(own);
    if (!is_profile && !(has & (INSNS | CALLS | SAMPLES | RUNTIME)) && !has_events(s))
        has |= NOTHING;
    name_what(what, TL_WHAT_SIZE, has);
    list_tables(tables, TL_TABLES_SIZE, tl_source_trace(s), has, in_sql);
    return 0;
}

int tl_source_look(tl_source *s, char what[static TL_WHAT_SIZE], char tables[static TL_TABLES_SIZE], tl_error *e)
{
    return look(s, NULL, true, what, tables, e);
}

int tl_table_fits(const tl_table_kind *kind, tl_source *s, const tl_profile *p, tl_error *e)
{
    const bool is_profile = tl_source_is_profile(s);
    const unsigned has = source_has(s, p);
    char what[TL_WHAT_SIZE] = "", tables[TL_TABLES_SIZE] = "";
    if (fits(kind, has) || (kind->profile && !p && (is_profile || has & SAMPLES))) /* which may have calls */
        return 0;
    const int status = look(s, p, false, what, tables, e);
    if (status < 0)
        return status;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s needs %s; this %s has %s; its tables: %s", kind->info.name,
                   kind->info.needs, is_profile ? "profile" : "trace", what, tables);
}
