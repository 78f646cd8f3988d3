/* Puts a comparison into a page. */
#include "cli/report/diff_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/function/profile_answer.h"
#include "cli/formats_of.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "view/page/answer_section.h"
#include "view/page/page_union.h"

#define PAGE_ROWS  5000u
#define PART       3u /* of the bytes of a page, for each of its two answers at most */
#define TITLE_SIZE 512u

enum { COMPARE, UNION, PATHS, SECTIONS };
static const char *const names[SECTIONS] = {"compare", "union", "paths"};

typedef struct making {
    char *json[SECTIONS];
    tl_html_section section[SECTIONS];
    tl_profile_table table; /* of NEW */
    tl_profile *copy;
} making;

static uint64_t limit_of(const tl_cli *c)
{
    return c->args->page_limit ? c->args->page_limit : TL_HTML_SIZE_USUAL;
}

static int make_compare(making *m, int section, const tl_compare_show *show, const tl_cli *c, tl_error *e)
{
    tl_json_limit limit = {.rows = PAGE_ROWS, .bytes = limit_of(c) / PART};
    tl_answer answer = {0};
    int status = tl_compare_answer(show, &(tl_ask){.for_programs = true}, &answer, e);
    if (status == 0)
        status = tl_html_answer(&answer, &limit, &m->json[section], &m->section[section].n, e);
    m->section[section].left_out = limit.left_out;
    m->section[section].what = "rows of the comparison";
    tl_answer_fini(&answer);
    return status;
}

/* All runs in the first one. */
static int add_up(making *m, const tl_diff_side *side, bool per_thread, tl_error *e)
{
    tl_profile *sum = (tl_profile *)(uintptr_t)side->run[0].profile;
    int status = 0;
    for (size_t i = 1; i < side->nrun && status == 0; i++)
        status = tl_profile_merge(sum, side->run[i].profile, e);
    m->table.profile = sum;
    return status == 0 ? tl_profile_group(&tl_table_tree, &m->table, per_thread, side->nrun > 1, &m->copy, e) : status;
}

static int make(making *m, const tl_cli *c, const tl_compare_show *show, const tl_compare *paths,
                const tl_diff_side *side, tl_error *e)
{
    tl_compare_show by_path = *show;
    int status = make_compare(m, COMPARE, show, c, e);
    if (status == 0)
        status = tl_html_union(show, limit_of(c), &m->json[UNION], &m->section[UNION].n, e);
    by_path.compare = paths;
    by_path.ngate = 0;
    if (status == 0 && paths)
        status = make_compare(m, PATHS, &by_path, c, e);
    for (int i = 0; i < SECTIONS; i++) {
        m->section[i].name = names[i];
        m->section[i].json = m->json[i];
    }
    return status == 0 ? add_up(m, side, c->args->per_thread, e) : status;
}

int tl_diff_page(const tl_cli *c, const tl_compare_show *show, const tl_compare *paths, tl_diff_sides *s,
                 const char *again)
{
    const tl_arguments *a = c->args;
    const tl_diff_side *side = &s->side[1];
    const char *path = a->output ? a->output : "-";
    const tl_catalog no_damage = {0};
    char title[TITLE_SIZE], facts[TITLE_SIZE];
    making m = {0};
    tl_error e = {0};
    int status = make(&m, c, show, paths, side, &e);
    snprintf(title, sizeof title, "%s and %s", show->side[0], show->side[1]);
    snprintf(facts, sizeof facts, "%zu + %zu runs compared; NEW, %s", s->side[0].nrun, side->nrun,
             side->nrun > 1 ? "all runs added up" : "its run");
    if (status == 0) {
        const tl_html_page page = {.table = &m.table,
                                   .inputs = &s->inputs,
                                   .damage = &no_damage,
                                   .more = m.section,
                                   .nmore = paths ? SECTIONS : PATHS,
                                   .title = a->title ? a->title : title,
                                   .facts = facts,
                                   .again = again,
                                   .limit = limit_of(c),
                                   .overwrite = a->force,
                                   .drops = tl_say_drop,
                                   .arg = (void *)(uintptr_t)c};
        status = tl_html_page_write(&page, path, &e);
    }
    for (int i = 0; i < SECTIONS; i++)
        free(m.json[i]);
    tl_profile_free(m.copy);
    if (status < 0)
        return tl_say_failure(NULL, &e);
    tl_say_written(c, path);
    return TL_EXIT_DONE;
}
