/* Where an answer goes, and how it is shown there: --to, --json, and -o with its suffix. */
#ifndef TL_CLI_ANSWER_TARGET_H
#define TL_CLI_ANSWER_TARGET_H

#include "analysis/trace/catalog.h"
#include "cli/verbs.h"
#include "view/view.h"

typedef struct tl_target {
    const tl_view *view;
    const char *path;     /* "-": standard output */
    tl_terminal terminal; /* its, or what suits a file */
    tl_ask ask;           /* the request to the table */
} tl_target;

/* The view that is asked for; NULL: none is. Says if two are asked for; exit status. */
int tl_asked_view(const tl_cli *c, const tl_view **view);
/* "table, json, ...": all of them. Returns `text`. */
#define TL_VIEW_NAMES 64u
const char *tl_view_names(char text[static TL_VIEW_NAMES]);
/* A view of what the command line asks for, in a file or on standard output ("-"). */
tl_target tl_target_of(const tl_cli *c, const tl_view *view, const char *path);

/* Opens the target; finishes and closes it unless `failed`, and says if a file was written. Return a tl_exit. */
int tl_answer_open(const tl_cli *c, const tl_target *to, tl_output **out);
int tl_answer_close(const tl_cli *c, const tl_target *to, tl_output *out, bool failed);
/* Writes an answer, if it could be made (status 0, else *e says why not), and frees it. `path` is what it is about, or
 * NULL. Returns a tl_exit. */
int tl_answer_write(const tl_target *to, const char *path, tl_answer *a, int status, tl_error *e, tl_output *out);
/* Keeps the damage of input number i, counted from 0, if the view shows it. Errors: TL_ENOMEM. */
int tl_keep_damage(const tl_target *to, tl_catalog *damage, size_t i, const tl_trace *t, tl_error *e);
/* All of that for one answer, with the damage of its inputs. */
int tl_show_answer(const tl_cli *c, tl_answer *a, int status, tl_error *e, const tl_target *to,
                   const tl_catalog *damage);

#endif
