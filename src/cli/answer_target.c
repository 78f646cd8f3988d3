/* Chooses how an answer is shown, and writes it. */
#include "cli/answer_target.h"

#include <string.h>

#include "base/text/words.h"
#include "cli/formats_of.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/service.h"

int tl_asked_view(const tl_cli *c, const tl_view **view)
{
    const tl_arguments *a = c->args;
    *view = a->to ? tl_view_find(a->to) : a->json ? &tl_view_json : a->output ? tl_view_of_path(a->output) : NULL;
    if (!*view || !a->to || !a->json || *view == &tl_view_json)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "--json does not go with --to %s", a->to);
    return TL_EXIT_USAGE;
}

const char *tl_view_names(char text[static TL_VIEW_NAMES])
{
    size_t n, at = 0;
    const tl_view *const *view = tl_views(&n);
    for (size_t i = 0; i < n; i++)
        tl_words_add(text, TL_VIEW_NAMES, &at, ", ", view[i]->name);
    return text;
}

tl_target tl_target_of(const tl_cli *c, const tl_view *view, const char *path)
{
    tl_target t = {.view = view, .path = path, .terminal = c->out};
    if (strcmp(path, "-") != 0)
        tl_terminal_file(&t.terminal);
    t.ask = (tl_ask){.for_programs = view->for_programs,
                     .has_top = c->args->has_top,
                     .top = c->args->top,
                     .sort = c->args->sort,
                     .no_fold = c->args->no_fold,
                     .tty = t.terminal.tty,
                     .unicode = t.terminal.unicode,
                     .width = t.terminal.width};
    return t;
}

int tl_answer_open(const tl_cli *c, const tl_target *to, tl_output **out)
{
    tl_error e = {0};
    *out = c->service ? c->service->out : NULL;
    return c->service                                                           ? TL_EXIT_DONE
           : tl_output_open(out, to->path, c->args->force, TL_PLAIN, 0, &e) < 0 ? tl_say_failure(NULL, &e)
                                                                                : TL_EXIT_DONE;
}

int tl_answer_close(const tl_cli *c, const tl_target *to, tl_output *out, bool failed)
{
    tl_error e = {0};
    if (c->service)
        return TL_EXIT_DONE; /* it is the service's */
    const int status = failed ? 0 : tl_output_finish(out, &e);
    tl_output_close(out);
    if (status < 0)
        return tl_say_failure(NULL, &e);
    if (!failed && strcmp(to->path, "-") != 0)
        tl_say_written(c, to->path);
    return TL_EXIT_DONE;
}

int tl_answer_write(const tl_target *to, const char *path, tl_answer *a, int status, tl_error *e, tl_output *out)
{
    if (status == 0)
        status = to->view->show(&(tl_showing){a, &to->ask, &to->terminal, out}, e);
    tl_answer_fini(a);
    return status < 0 ? tl_say_failure(path, e) : TL_EXIT_DONE;
}

int tl_keep_damage(const tl_target *to, tl_catalog *damage, size_t i, const tl_trace *t, tl_error *e)
{
    damage->number = i;
    return to->view == &tl_view_json ? tl_catalog_add_damage(damage, t, e) : 0;
}

int tl_show_answer(const tl_cli *c, tl_answer *a, int status, tl_error *e, const tl_target *to,
                   const tl_catalog *damage)
{
    if (status == 0)
        tl_info_add_damage(a, &to->ask, damage, false);
    tl_output *out = NULL;
    if (strcmp(to->path, "-") == 0)
        tl_pager_start(c);
    int exit = status < 0 ? TL_EXIT_DONE : tl_answer_open(c, to, &out);
    if (exit == TL_EXIT_DONE)
        exit = tl_answer_write(to, NULL, a, status, e, out);
    if (out)
        exit = tl_exit_worse(exit, tl_answer_close(c, to, out, exit != TL_EXIT_DONE));
    tl_answer_fini(a);
    return exit;
}
