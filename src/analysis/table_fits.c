/* Which tables can be made from a source, by its classes or its profile. */
#include <stdio.h>
#include <string.h>

#include "analysis/table_kind.h"
#include "base/text/words.h"
#include "op/needs.h"

/* Each has a word of its own in messages. */
#define NAMED (TL_HAS_INSNS | TL_HAS_CALLS | TL_HAS_SAMPLES | TL_HAS_RUNTIME | TL_HAS_SNAPSHOTS | TL_HAS_SWITCHES)

static bool fits(const tl_table_kind *kind, unsigned has)
{
    return tl_needs_met(kind->info.needs, has) && (has & TL_HAS_THREADS || !(kind->profile & TL_PROFILE_PER_THREAD));
}

/* "calls and a managed runtime" */
static void name_what(char *buf, size_t size, unsigned has, bool any)
{
    const struct {
        unsigned has;
        const char *text;
    } word[] = {{TL_HAS_INSNS, TL_NEEDS_INSNS},
                {has & TL_HAS_INSNS ? 0 : TL_HAS_CALLS, has & TL_HAS_DURATIONS ? TL_NEEDS_CALLS : "sums of calls"},
                {TL_HAS_SAMPLES, TL_NEEDS_SAMPLES},
                {TL_HAS_RUNTIME, TL_NEEDS_RUNTIME},
                {TL_HAS_SWITCHES, TL_NEEDS_SWITCHES},
                {has & TL_HAS_INSNS ? 0 : TL_HAS_SNAPSHOTS, TL_NEEDS_SNAPSHOTS},
                {has & NAMED ? 0 : TL_HAS_EVENTS, any ? "events of other kinds" : "no events"}};
    size_t at = 0;
    for (size_t i = 0; i < TL_COUNT(word); i++)
        if (has & word[i].has)
            tl_words_add(buf, size, &at, " and ", word[i].text);
    if (!(has & TL_HAS_THREADS))
        tl_words_add(buf, size, &at, " ", "of all threads together");
}

static bool is_event(const tl_class *c)
{
    return c->kind != TL_FORMAT;
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
    const unsigned has = tl_source_really_has(s, own ? own : p);
    tl_profile_free(own);
    name_what(what, TL_WHAT_SIZE, has, is_profile || has & NAMED || tl_source_any_event(s, is_event));
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
    const unsigned has = tl_source_has(s, p);
    char what[TL_WHAT_SIZE] = "", tables[TL_TABLES_SIZE] = "";
    if (fits(kind, has) || (kind->profile && !p && (is_profile || has & TL_HAS_SAMPLES))) /* which may have calls */
        return 0;
    const int status = look(s, p, false, what, tables, e);
    if (status < 0)
        return status;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s needs %s; this %s has %s; its tables: %s", kind->info.name,
                   kind->info.needs, is_profile ? "profile" : "trace", what, tables);
}
