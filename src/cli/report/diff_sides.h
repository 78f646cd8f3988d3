/* The two sides of `report --diff`: which files are their runs, and their profiles. */
#ifndef TL_CLI_DIFF_SIDES_H
#define TL_CLI_DIFF_SIDES_H

#include "base/arena.h"
#include "cli/verbs.h"
#include "traceloom/compare.h"
#include "view/page/page.h"

typedef struct tl_diff_side {
    tl_words file; /* of its runs; freed with this */
    size_t capacity;
    tl_compare_run *run; /* [nrun], with profiles that belong to it */
    size_t nrun;
} tl_diff_side;

typedef struct tl_diff_sides {
    tl_diff_side side[2];
    tl_arena arena;        /* names of files */
    tl_html_inputs inputs; /* of a page */
    int losses;            /* the worst exit status of what was lost or damaged */
} tl_diff_sides;

/* Finds the files of both words of the command line: a file, a trace that is a folder, a folder of traces, or a
 * pattern. Reports mistakes, and returns an exit status. Either way call tl_diff_sides_fini(). */
int tl_diff_sides_find(tl_diff_sides *s, const tl_cli *c);
/* Reads all of them, each with the selection of the command line. For a page, `inputs` is filled, and runs have names
 * without folders. */
int tl_diff_sides_read(tl_diff_sides *s, const tl_cli *c, bool page);
void tl_diff_sides_fini(tl_diff_sides *s);

#endif
