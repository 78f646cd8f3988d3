/* Plans a program, and the libraries that patterns select, in the memory of a pretended process. */
#include "cli/record/info_patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/base_name.h"
#include "base/text/glob.h"
#include "cli/answer_target.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/record/record.h"
#include "cli/record/record_facts.h"
#include "cli/record/record_needed.h"

/* Where Linux puts things without randomization. */
#define PROGRAM   UINT64_C(0x555555554000)
#define LIBRARIES UINT64_C(0x7ffff7fc0000) /* below the loader and the kernel's pages */
#define HEAP_ROOM (UINT64_C(64) << 20)     /* behind the program */

typedef struct dry_run {
    const tl_arguments *a;
    tl_patch_info info;
    tl_pretended space;
    uint64_t next; /* the next library lies below */
    bool *matched; /* [a->libs.n] */
} dry_run;

/* libc, libpthread and libgcc_s must be named: "lib*" is not enough. As in rt/patch/rt_patch_image.c. */
static bool matches(const char *pattern, const char *path)
{
    static const char *const named[] = {"libc", "libpthread", "libgcc_s"};
    const char *base = tl_base_name(path);
    if (!tl_glob(pattern, base) && !tl_glob(pattern, path))
        return false;
    for (size_t i = 0; i < TL_COUNT(named); i++) {
        const size_t n = strlen(named[i]);
        if (strncmp(base, named[i], n) == 0 && base[n] == '.')
            return strncmp(tl_base_name(pattern), named[i], n) == 0;
    }
    return true;
}

static bool is_wanted(dry_run *d, const char *path)
{
    bool wanted = false;
    for (size_t i = 0; i < d->a->libs.n; i++)
        if (matches(d->a->libs.word[i], path))
            wanted = d->matched[i] = true;
    return wanted;
}

/* Places a file and, if it is wanted, plans it. All files are placed before the first one is planned. */
static int place(dry_run *d, tl_patch_file *f, bool program, tl_error *e)
{
    uint64_t bias = PROGRAM - f->low;
    if (!program) {
        const uint64_t size = f->high - f->low;
        if (size > d->next - PROGRAM)
            return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: is larger than memory", f->path);
        d->next -= size;
        bias = d->next - f->low;
    }
    if (program && !f->fixed && f->high - f->low > LIBRARIES - PROGRAM)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: is larger than memory", f->path);
    const int status = tl_patch_file_place(f, bias, e);
    if (status < 0)
        return status;
    return tl_pretend_use(&d->space, f->low, program ? f->high + HEAP_ROOM : f->high)
               ? TL_OK
               : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory", f->path);
}

/* Opens libraries that the program loads; files that are no libraries are left out. */
static int open_libraries(dry_run *d, const tl_needed *needed, tl_patch_file *file, bool *wanted, tl_error *e)
{
    for (size_t i = 0; i < needed->n; i++) {
        tl_error why = {0};
        wanted[i] = is_wanted(d, needed->path[i]);
        int status = tl_patch_file_open(&file[i], needed->path[i], &why);
        if (status == 0)
            status = place(d, &file[i], false, &why);
        if (status == TL_ENOMEM)
            return *e = why, status;
        if (status < 0 && wanted[i])
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
        tl_record_facts facts;
        char why[512] = "";
        tl_error error = {0};
        if (!wanted[i])
            continue;
        if (tl_record_facts_read(&facts, needed->path[i], &error) == 0)
            tl_record_cannot(&facts, needed->path[i], why, sizeof why);
        if (*why) {
            tl_say_error(needed->path[i], "%s", why);
            continue;
        }
        const int status = tl_patch_info_add(&d->info, &file[i], &d->space, d->a, &error);
        if (status == TL_EUNSUPPORTED)
            tl_say_error(NULL, "%s", error.message);
        else if (status < 0)
            return *e = error, status;
    }
    return TL_OK;
}

static int plan_all(dry_run *d, const char *path, tl_error *e)
{
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
    if (status == 0)
        status = tl_patch_info_add(&d->info, &program, &d->space, d->a, e);
    if (status == 0)
        status = plan_libraries(d, &needed, file, wanted, e);
    for (size_t i = 0; file && wanted && i < needed.n; i++)
        if (wanted[i])
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
static int find(tl_record *r, bool *script)
{
    const char *name = r->cli->args->file.word[0];
    tl_record_facts f;
    tl_error e = {0};
    char why[512];
    *script = false;
    if (strchr(name, '/') && access(name, R_OK) == 0)
        snprintf(r->program, sizeof r->program, "%s", name);
    else if (tl_record_find(r) != TL_EXIT_DONE)
        return TL_EXIT_RECORD;
    snprintf(r->target, sizeof r->target, "%s", r->program);
    *script = tl_record_interpreter(r->program, r->target);
    if (tl_record_facts_read(&f, r->target, &e) < 0) {
        tl_say_error(name, "cannot be patched: %s", e.message);
        return TL_EXIT_RECORD;
    }
    if (!*tl_record_cannot(&f, r->target, why, sizeof why) && !TL_RECORD_PATCHES)
        snprintf(why, sizeof why, "cannot be patched: code is patched on x86-64 and AArch64 only");
    else if (!*why)
        tl_record_may_not(&f, r->target, why, sizeof why);
    if (!*why)
        return TL_EXIT_DONE;
    tl_say_error(name, "%s", why);
    return TL_EXIT_RECORD;
}

int tl_record_dry_run(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    dry_run d = {.a = a, .next = LIBRARIES, .matched = calloc(a->libs.n + 1, sizeof *d.matched)};
    tl_target to;
    tl_error e = {0};
    bool script;
    if (!d.matched) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    int status = choose_target(r->cli, &to);
    if (status == TL_EXIT_DONE)
        status = find(r, &script);
    if (status == TL_EXIT_DONE && script)
        tl_say(r->cli, NULL, "%s runs %s", r->target, r->program);
    if (status == TL_EXIT_DONE && plan_all(&d, r->target, &e) < 0) {
        tl_say_failure(r->target, &e);
        status = TL_EXIT_RECORD;
    }
    if (status == TL_EXIT_DONE)
        status = show(r, &d, &to);
    tl_patch_info_fini(&d.info);
    free(d.matched);
    return status;
}
