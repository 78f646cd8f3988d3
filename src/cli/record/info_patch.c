/* Plans a program, and the libraries that patterns select, in the memory of a pretended process. */
#include "cli/record/info_patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/glob.h"
#include "cli/answer_target.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/record/record.h"
#include "cli/record/record_facts.h"
#include "cli/record/record_needed.h"
#include "cli/record/record_shell.h"
#include "patch/patch_select.h"

/* Where Linux puts things without randomization. */
#define PROGRAM   UINT64_C(0x555555554000)
#define LIBRARIES UINT64_C(0x7ffff7fc0000) /* below the loader and the kernel's pages */
#define HEAP_ROOM (UINT64_C(64) << 20)     /* behind the program */

typedef struct dry_run {
    const tl_record *r;
    const tl_arguments *a;
    tl_patch_info info;
    tl_pretended space;
    uint64_t next; /* the next library lies below */
    bool *matched; /* [a->libs.n] */
} dry_run;

static bool is_wanted(dry_run *d, const char *path)
{
    bool wanted = false;
    for (size_t i = 0; i < d->a->libs.n; i++)
        if (patch_selects_library(d->a->libs.word[i], path, tl_glob))
            wanted = d->matched[i] = true;
    return wanted;
}

/* Gives a file its place. All have theirs before the first one is planned. */
static int place(dry_run *d, tl_patch_file *f, bool program, tl_error *e)
{
    uint64_t bias = PROGRAM - f->low;
    const uint64_t size = f->high - f->low, room = program ? LIBRARIES - PROGRAM : d->next - PROGRAM;
    if (size > room && !(program && f->fixed))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: is larger than memory", f->path);
    if (!program) {
        d->next -= size;
        bias = d->next - f->low;
    }
    tl_patch_file_place(f, bias);
    return tl_pretend_use(&d->space, f->low, program ? f->high + HEAP_ROOM : f->high)
               ? TL_OK
               : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory", f->path);
}

/* An object that keeps its code although a pattern selects it; says why. */
static bool keeps_code(const tl_record *r, const char *path)
{
    tl_record_facts f;
    tl_error ignored = {0};
    char why[512] = "";
    if (tl_record_facts_read(&f, path, &ignored) == 0 && !*tl_record_cannot(&f, why, sizeof why) && !f.has_sleds)
        return false;
    if (*why)
        tl_say_error(path, "%s", why);
    else
        tl_say(r->cli, path, "has sleds, through which it is recorded: it is not patched");
    return true;
}

/* Places libraries that the program loads, and reads those that are patched. Files that are no libraries are left
 * out. */
static int open_libraries(dry_run *d, const tl_needed *needed, tl_patch_file *file, bool *wanted, tl_error *e)
{
    for (size_t i = 0; i < needed->n; i++) {
        tl_error why = {0};
        const bool selected = is_wanted(d, needed->path[i]);
        int status = tl_patch_file_open(&file[i], needed->path[i], &why);
        if (status == 0)
            status = place(d, &file[i], false, &why);
        wanted[i] = status == 0 && selected && !keeps_code(d->r, needed->path[i]);
        if (wanted[i])
            status = tl_patch_file_read(&file[i], &why);
        if (status == TL_ENOMEM)
            return *e = why, status;
        if (status < 0 && selected)
            tl_say_error(needed->path[i], "is left out: %s", why.message);
        wanted[i] = wanted[i] && status == 0;
        if (!wanted[i]) /* its place stays in use */
            tl_patch_file_close(&file[i]);
    }
    return TL_OK;
}

static int plan_libraries(dry_run *d, const tl_needed *needed, tl_patch_file *file, const bool *wanted, tl_error *e)
{
    for (size_t i = 0; i < needed->n; i++) {
        tl_error error = {0};
        const int status = wanted[i] ? tl_patch_info_add(&d->info, &file[i], &d->space, d->a, &error) : 0;
        if (status == TL_EUNSUPPORTED)
            tl_say_error(NULL, "%s", error.message);
        else if (status < 0)
            return *e = error, status;
    }
    return TL_OK;
}

static int plan_program(dry_run *d, tl_patch_file *program, tl_error *e)
{
    const int status = tl_patch_file_read(program, e);
    return status == 0 ? tl_patch_info_add(&d->info, program, &d->space, d->a, e) : status;
}

static int plan_all(dry_run *d, bool own, tl_error *e)
{
    const char *path = d->r->target;
    tl_needed needed = {0};
    tl_patch_file program, *file = NULL;
    bool *wanted = NULL;
    int status = tl_patch_file_open(&program, path, e);
    if (status < 0)
        return status;
    status = tl_pretend_begin(&d->space, program.fixed ? program.low : PROGRAM)
                 ? place(d, &program, true, e)
                 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory", path);
    if (status == 0)
        status = tl_needed_find(&needed, path, e);
    file = calloc(needed.n + 1, sizeof *file);
    wanted = calloc(needed.n + 1, sizeof *wanted);
    if (status == 0 && (!file || !wanted))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for its libraries", path);
    if (status == 0)
        status = open_libraries(d, &needed, file, wanted, e);
    if (status == 0 && own)
        status = plan_program(d, &program, e);
    if (status == 0)
        status = plan_libraries(d, &needed, file, wanted, e);
    for (size_t i = 0; file && i < needed.n; i++)
        tl_patch_file_close(&file[i]);
    free(file);
    free(wanted);
    tl_needed_free(&needed);
    tl_patch_file_close(&program);
    tl_pretend_end(&d->space);
    return status;
}

static int choose_target(const tl_cli *c, tl_target *to)
{
    const tl_arguments *a = c->args;
    const tl_view *view;
    char names[TL_VIEW_NAMES];
    const int status = tl_asked_view(c, &view);
    if (status == TL_EXIT_DONE && !view && (a->to || a->output))
        tl_say_error(NULL, "%s %s: --dry-run writes %s", a->to ? "--to" : "-o", a->to ? a->to : a->output,
                     tl_view_names(names));
    if (status != TL_EXIT_DONE || (!view && (a->to || a->output)))
        return TL_EXIT_RECORD;
    *to = tl_target_of(c, view ? view : &tl_view_table, a->output ? a->output : "-");
    return TL_EXIT_DONE;
}

static int show(tl_record *r, dry_run *d, const tl_target *to)
{
    tl_answer answer = {0};
    tl_error e = {0};
    tl_output *out = NULL;
    tl_patch_info_answer(&d->info, d->a, &to->ask, &answer);
    if (strcmp(to->path, "-") == 0)
        tl_pager_start(r->cli);
    int status = tl_answer_open(r->cli, to, &out);
    if (status == TL_EXIT_DONE)
        status = tl_answer_write(to, NULL, &answer, 0, &e, out);
    if (out)
        status = tl_exit_worse(status, tl_answer_close(r->cli, to, out, status != TL_EXIT_DONE));
    tl_answer_fini(&answer);
    for (size_t i = 0; i < d->a->libs.n; i++)
        if (!d->matched[i])
            tl_say(r->cli, NULL, "no library that it needs matches %s; those that it opens later are not listed",
                   d->a->libs.word[i]);
    return status == TL_EXIT_DONE ? TL_EXIT_DONE : TL_EXIT_RECORD;
}

/* The file: as when it is run, but a library need not be executable. */
static int find(tl_record *r)
{
    const char *name = r->cli->args->file.word[0];
    if (!strchr(name, '/') || access(name, R_OK) != 0)
        return tl_record_find(r) == TL_EXIT_DONE ? TL_EXIT_DONE : TL_EXIT_RECORD;
    snprintf(r->program, sizeof r->program, "%s", name);
    return TL_EXIT_DONE;
}

/* Is the program's own code patched? If not, says which other way it is recorded. */
static bool patches_program(const tl_record *r, const tl_record_facts *f)
{
    if (r->way == TL_WAY_LINKED)
        tl_say(r->cli, r->target, "%s: nothing is patched",
               f->has_recorder ? "has the recorder in it, which records it"
                               : "is recorded by recorders that are linked into what it starts");
    else if (r->way == TL_WAY_PRELOAD)
        tl_say(r->cli, r->target,
               "has the calls of -finstrument-functions, through which it is recorded: it is not "
               "patched without --how patch");
    else if (f->has_sleds)
        tl_say(r->cli, r->target, "has sleds, through which it is recorded: it is not patched");
    else
        return true;
    return false;
}

static int plan(tl_record *r, dry_run *d)
{
    tl_record_facts f;
    tl_error e = {0};
    bool script;
    int status = find(r);
    if (status == TL_EXIT_DONE)
        status = tl_record_choose(r, &f, &script);
    if (status != TL_EXIT_DONE)
        return status;
    if (script && strcmp(r->target, r->program) != 0)
        tl_say(r->cli, NULL, "%s runs %s", r->target, r->program);
    const bool own = patches_program(r, &f);
    if (r->way == TL_WAY_LINKED)
        return TL_EXIT_DONE;
    if (plan_all(d, own, &e) == 0) {
        if (own && d->info.nobject)
            tl_record_say_shell(r, r->target, d->info.object[0].functions);
        return TL_EXIT_DONE;
    }
    tl_say_failure(r->target, &e);
    return TL_EXIT_RECORD;
}

int tl_record_dry_run(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    dry_run d = {.r = r, .a = a, .next = LIBRARIES, .matched = calloc(a->libs.n + 1, sizeof *d.matched)};
    tl_target to;
    if (!d.matched) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    int status = choose_target(r->cli, &to);
    if (status == TL_EXIT_DONE)
        status = plan(r, &d);
    if (status == TL_EXIT_DONE)
        status = show(r, &d, &to);
    tl_patch_info_fini(&d.info);
    free(d.matched);
    return status;
}
