/* Decides by the program how it is recorded: through the recorder in it; else by loading the recorder, for the hooks
 * that it has, or to patch its code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/record/record.h"
#include "cli/record/record_facts.h"

static void say_recipes(const char *name, const tl_record_facts *f)
{
    if (f->has_sleds && f->has_runtime)
        tl_say_error(name,
                     "has sleds and the compiler's runtime for them, but no recorder; link the recorder as well:");
    else if (f->has_sleds)
        tl_say_error(name, "has sleds, but no recorder; link it with the recorder:");
    else if (f->calls_hooks)
        tl_say_error(name,
                     "calls the hooks of -finstrument-functions, but has no recorder; link it with the recorder:");
    else
        tl_say_error(name, "has no recorder in it%s; build it with one of these:",
                     TL_RECORD_PATCHES ? "" : ", and code is patched on x86-64 and AArch64 only");
    if (f->has_sleds && f->has_runtime)
        fputs("  clang ... $(pkg-config --libs traceloom-rt-llvm)\n", stderr);
    else if (f->has_sleds)
        fputs("  clang ... $(pkg-config --libs traceloom-rt-xray)\n", stderr);
    else if (f->calls_hooks)
        fputs("  gcc ... $(pkg-config --libs traceloom-rt-functions)\n", stderr);
    else
        fputs("  all functions, clang:  clang -O2 app.c $(pkg-config --cflags --libs traceloom-rt-xray)\n"
              "  all functions, gcc:    gcc -O2 app.c $(pkg-config --cflags --libs traceloom-rt-functions)\n"
              "  spans by hand:         #include <traceloom/rt.h>\n"
              "                         cc -O2 app.c $(pkg-config --cflags --libs traceloom-rt)\n",
              stderr);
    fputs("If it starts or loads another program or library that has the recorder, add --any.\n", stderr);
    if (TL_RECORD_PATCHES)
        fputs("Without --how linked the recorder is loaded into it.\n", stderr);
}

static bool is(const char *how, const char *word)
{
    return how && strcmp(how, word) == 0;
}

const char *tl_record_only_patched(const tl_arguments *a)
{
    return tl_first_given(a, "libs min-size exact children");
}

/* The recorder is in the program, or must be. */
static int look_linked(tl_record *r, const tl_record_facts *f, bool script)
{
    const tl_arguments *a = r->cli->args;
    const char *only = tl_record_only_patched(a);
    r->way = TL_WAY_LINKED;
    r->certain = f->has_recorder && !script;
    if (only) {
        tl_say_error(a->file.word[0], "--%s is for programs that are patched: %s", only,
                     f->has_recorder ? "this one has the recorder in it" : "leave out --how linked and --any");
        return TL_EXIT_RECORD;
    }
    if (f->has_recorder || script)
        return TL_EXIT_DONE;
    say_recipes(a->file.word[0], f);
    return TL_EXIT_RECORD;
}

static int say_cannot(const tl_record *r, const tl_record_facts *f, bool script)
{
    char why[512];
    const char *name = r->cli->args->file.word[0];
    if (!*tl_record_cannot(f, why, sizeof why))
        tl_record_may_not(f, r->target, why, sizeof why);
    if (!*why && f->is_library && !r->cli->args->dry_run) /* of these, code is shown */
        snprintf(why, sizeof why, "is a library, not a program");
    if (!*why)
        return TL_EXIT_DONE;
    if (script)
        tl_say_error(name, "is run by %s, which %s", r->target, why);
    else
        tl_say_error(name, "%s", why);
    return TL_EXIT_RECORD;
}

static void say_way(const tl_record *r, const tl_record_facts *f, bool script)
{
    char who[PATH_MAX + 256];
    const char *name = tl_base_name(r->target);
    snprintf(who, sizeof who, script ? "%s runs %s, and" : "%s", name, r->program);
    if (r->way == TL_WAY_PATCH)
        tl_say(r->cli, NULL,
               "%s has no recorder in it: its functions are patched while it runs (traceloom help record)", who);
    else
        tl_say(r->cli, NULL, "%s has %s, and no recorder in it: it is loaded (traceloom help record)", who,
               f->has_sleds ? "sleds" : "the calls of -finstrument-functions");
    if (f->profiled && r->way == TL_WAY_PATCH)
        tl_say(r->cli, NULL, "%s is built for gprof: a few ns of each call are gprof's", name);
}

/* The way of a program that has no recorder in it; false after a message. */
static bool choose(tl_record *r, const tl_record_facts *f)
{
    const tl_arguments *a = r->cli->args;
    const char *name = a->file.word[0];
    if (f->has_recorder) {
        tl_say_error(name, "has the recorder in it, which records it: --how %s is for others", a->how);
        return false;
    }
    r->way = f->calls_hooks ? TL_WAY_PRELOAD : f->has_sleds ? TL_WAY_SLEDS : TL_WAY_PATCH;
    if (is(a->how, "preload") && r->way == TL_WAY_PATCH) {
        tl_say_error(name, "has neither sleds nor the calls of -finstrument-functions: --how patch records it");
        return false;
    }
    if (is(a->how, "patch"))
        r->way = TL_WAY_PATCH;
    if (r->way == TL_WAY_PATCH && !TL_RECORD_PATCHES) {
        say_recipes(name, f);
        return false;
    }
    if (r->way == TL_WAY_PRELOAD && (a->libs.n || a->min_size || a->exact)) {
        tl_say_error(name, "has the calls of -finstrument-functions, and is not patched: --%s goes with --how patch",
                     tl_record_only_patched(a));
        return false;
    }
    return true;
}

int tl_record_choose(tl_record *r, tl_record_facts *f, bool *script)
{
    const tl_arguments *a = r->cli->args;
    const char *preload = getenv("LD_PRELOAD");
    tl_error e = {0};
    *f = (tl_record_facts){0};
    *script = true;
    snprintf(r->target, sizeof r->target, "%s", r->program);
    if (a->any || (!a->how && preload && strstr(preload, TL_RECORD_SHARED)))
        return look_linked(r, f, true);
    *script = tl_record_interpreter(r->program, r->target);
    if (tl_record_facts_read(f, r->target, &e) < 0) {                    /* what that starts is unknown */
        if ((e.code == TL_EFORMAT || *script) && !a->how && !a->dry_run) /* nor whether it can be run */
            return look_linked(r, f, true);
        tl_say_error(a->file.word[0], "cannot be %s: %s", a->dry_run ? "patched" : "recorded", e.message);
        return TL_EXIT_RECORD;
    }
    if (is(a->how, "linked") || (!a->how && f->has_recorder))
        return look_linked(r, f, *script);
    const int status = say_cannot(r, f, *script);
    if (status != TL_EXIT_DONE)
        return status;
    return choose(r, f) ? TL_EXIT_DONE : TL_EXIT_RECORD;
}

int tl_record_look(tl_record *r)
{
    tl_record_facts f;
    bool script;
    int status = tl_record_choose(r, &f, &script);
    if (status != TL_EXIT_DONE || r->way == TL_WAY_LINKED)
        return status;
    status = tl_record_library(r->cli->args->file.word[0], &tl_record_recorder, r->library);
    if (status != TL_EXIT_DONE)
        return status;
    r->device = (uint64_t)f.file.st_dev;
    r->inode = (uint64_t)f.file.st_ino;
    r->certain = true;
    say_way(r, &f, script);
    return TL_EXIT_DONE;
}
