/* Which programs are .NET's, and the command that runs them with the profiler. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "base/pe_file.h"
#include "cli/managed/managed_record.h"
#include "cli/message.h"

const char *tl_managed_only(const tl_arguments *a)
{
    return tl_first_given(a, "alloc heap lines jit classes sampling period mono");
}

/* Is it a PE file with a header of the common language runtime? */
static bool is_managed_file(const char *path)
{
    uint32_t address, size;
    tl_pe f;
    if (!tl_pe_open(&f, path))
        return false;
    const bool is = tl_pe_directory(&f, TL_PE_CLI, &address, &size);
    tl_pe_close(&f);
    return is;
}

/* What a program runs in, and how the profiler gets into that. */
typedef enum runtime {
    NO_RUNTIME,
    MONO,    /* a command in front of the program's file */
    DOTNET,  /* the same: its "dotnet exec" */
    APP_HOST /* an executable that loads the runtime by itself */
} runtime;

static bool is_command(const char *name, const char *of)
{
    return strcmp(tl_base_name(name), of) == 0;
}

static bool is_mono(const char *name)
{
    return is_command(name, "mono") || is_command(name, "mono-sgen");
}

/* Is there "app.runtimeconfig.json" beside app.dll, or beside the executable app? */
static bool has_configuration(const char *file, bool with_suffix)
{
    char path[PATH_MAX];
    const char *dot = strrchr(tl_base_name(file), '.');
    const int n = (int)(with_suffix && dot ? (size_t)(dot - file) : strlen(file));
    const int size = snprintf(path, sizeof path, "%.*s.runtimeconfig.json", n, file);
    return size > 0 && (size_t)size < sizeof path && access(path, R_OK) == 0;
}

static bool is_app_host(const char *file)
{
    char path[PATH_MAX];
    const int size = snprintf(path, sizeof path, "%s.dll", file);
    return size > 0 && (size_t)size < sizeof path && has_configuration(file, false) && is_managed_file(path);
}

static runtime runtime_of(const tl_arguments *a)
{
    const char *name = a->file.word[0];
    if (is_command(name, "dotnet"))
        return a->mono ? MONO : DOTNET;
    if (a->mono || is_mono(name))
        return MONO;
    if (is_managed_file(name))
        return has_configuration(name, true) ? DOTNET : MONO;
    return is_app_host(name) ? APP_HOST : NO_RUNTIME;
}

bool tl_managed_is(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    if (a->pid)
        return a->mono || tl_managed_runs((long)a->pid);
    if (a->how || a->any || a->file.n == 0)
        return a->mono;
    return runtime_of(a) != NO_RUNTIME;
}

bool tl_managed_samples(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    return !a->mode && !a->ring && !a->threshold && !(a->output && tl_record_mode_of(a->output));
}

/* The words behind the runtime's own. */
static size_t first_word(const tl_record *r)
{
    const char *name = r->cli->args->file.word[0];
    return is_mono(name) || is_command(name, "dotnet") ? 1 : 0;
}

/* The first word that is a program of .NET; else the first that is no option, as "build" of dotnet. */
static size_t program_word(const tl_record *r)
{
    const tl_words *word = &r->cli->args->file;
    size_t i = first_word(r);
    for (size_t k = i; k < word->n; k++)
        if (is_managed_file(word->word[k]))
            return k;
    while (i < word->n && (*word->word[i] == '-' || strcmp(word->word[i], "exec") == 0))
        i++;
    return i;
}

/* "app" for "mono --debug bin/app.exe": the name of what is run, for that of the recording. */
static void name_program(tl_record *r)
{
    const tl_words *word = &r->cli->args->file;
    const size_t i = program_word(r);
    const char *name = tl_base_name(word->word[i < word->n ? i : 0]), *dot = strrchr(name, '.');
    const size_t n = dot && dot > name && (strcmp(dot, ".exe") == 0 || strcmp(dot, ".dll") == 0) ? (size_t)(dot - name)
                                                                                                 : strlen(name);
    snprintf(r->target, sizeof r->target, "%.*s", (int)n, name);
    r->name = r->target;
}

static int make_command(tl_record *r, runtime of)
{
    const tl_arguments *a = r->cli->args;
    const size_t from = of == APP_HOST ? 1 : first_word(r);
    char **words = tl_alloc(a->file.n + 5, sizeof *words);
    size_t n = 0;
    if (!words) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    words[n++] = r->program;
    if (of == MONO)
        words[n++] = (char *)(uintptr_t) "--profile=traceloom";
    if (of == MONO && !tl_managed_samples(r)) /* code that was compiled before has no calls of ours */
        words[n++] = (char *)(uintptr_t) "-O=-aot";
    if (of == MONO && a->lines)
        words[n++] = (char *)(uintptr_t) "--debug";
    if (of == DOTNET && from == 0)
        words[n++] = (char *)(uintptr_t) "exec";
    for (size_t i = from; i < a->file.n; i++)
        words[n++] = (char *)(uintptr_t)a->file.word[i];
    words[n] = NULL;
    r->command = words;
    return TL_EXIT_DONE;
}

/* ---- what the program gets ---- */

/* Mono finds the module by its name alone. */
static bool put_search_path(const tl_record *r)
{
    static const char *const searched[] = {"/usr/lib", "/lib", "/usr/local/lib", "/usr/lib64", "/lib64"};
    const char *before = getenv("LD_LIBRARY_PATH");
    const int n = (int)(tl_base_name(r->library) - r->library) - 1;
    char *text = NULL;
    for (size_t i = 0; i < TL_COUNT(searched); i++)
        if (strncmp(r->library, searched[i], strlen(searched[i])) == 0)
            return true;
    if (asprintf(&text, "%.*s%s%s", n, r->library, before && *before ? ":" : "", before ? before : "") < 0)
        return false;
    const bool ok = setenv("LD_LIBRARY_PATH", text, 1) == 0;
    free(text);
    return ok;
}

char *tl_managed_settings(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    char *text = NULL, here[PATH_MAX];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return NULL;
    fprintf(f, "%sstrict=on:out=", a->pid ? "attached=on:" : "");
    const char *parts[] = {r->stem[0] != '/' && getcwd(here, sizeof here) ? here : "", r->stem[0] != '/' ? "/" : "",
                           r->stem, ".log" TL_RECORD_LIVE};
    for (size_t i = 0; i < TL_COUNT(parts); i++)
        for (const char *c = parts[i]; *c; c++)
            fprintf(f, *c == ':' || *c == '\\' ? "\\%c" : *c == '%' ? "%%%c" : "%c", *c);
    fprintf(f, ":sample=%s", a->sampling ? a->sampling : "cpu");
    if (a->period)
        fprintf(f, ":period=%" PRIu64 "ms", a->period / 1000000);
    if (a->start)
        fprintf(f, ":start=%s", a->start);
    if (a->alloc)
        fprintf(f, ":alloc=%s", *a->alloc ? a->alloc : "on");
    if (a->jit)
        fprintf(f, ":jit=%s", a->jit);
    fprintf(f, "%s%s%s", a->classes ? ":classes=on" : "", a->heap ? ":heap=on" : "", a->lines ? ":lines=on" : "");
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* CoreCLR is told by its environment; a program that it starts finds the recording taken. */
static bool put_profiler(const tl_record *r)
{
    const char *const names[][2] = {{"CORECLR_ENABLE_PROFILING", "1"},
                                    {"CORECLR_PROFILER", "{74726163-656c-6f6f-6d2d-636c72000001}"},
                                    {"CORECLR_PROFILER_PATH", r->library}};
    for (size_t i = 0; i < TL_COUNT(names); i++)
        if (setenv(names[i][0], names[i][1], 1) != 0)
            return false;
    /* Otherwise a method that is called often is compiled again, while its calls are recorded. */
    return tl_managed_samples(r) || setenv("COMPlus_TieredCompilation", "0", 0) == 0;
}

static bool prepare(const tl_record *r)
{
    const bool samples = tl_managed_samples(r);
    char *value = samples ? tl_managed_settings(r) : tl_record_settings(r);
    const bool ok = value && setenv(samples ? "TRACELOOM_DOTNET" : "TRACELOOM", value, 1) == 0 &&
                    unsetenv(samples ? "TRACELOOM" : "TRACELOOM_DOTNET") == 0 &&
                    (runtime_of(r->cli->args) == MONO ? put_search_path(r) : put_profiler(r));
    free(value);
    return ok;
}

/* An option that goes neither with samples nor with calls of methods. */
static const char *stray(const tl_arguments *a)
{
    return tl_first_given(a, "pid how any dry-run min-size exact children");
}

/* The command that runs it, in r->program. */
static int find_runtime(tl_record *r, runtime of, const char *name)
{
    const char *command = of == MONO ? "mono" : "dotnet";
    bool found;
    snprintf(r->program, sizeof r->program, "%s", name);
    if (of == APP_HOST || (first_word(r) && strchr(name, '/')))
        found = access(name, X_OK) == 0;
    else
        found = tl_record_search(command, r->program);
    if (!found && of == DOTNET)
        tl_say_error(name, "needs dotnet to run, which is not in PATH; --mono runs it with Mono");
    else if (!found)
        tl_say_error(name, of == MONO ? "needs mono to run: it is in the package mono-runtime" : "cannot be run");
    else if (!first_word(r) && access(name, R_OK) != 0)
        tl_say_error(name, "cannot be run: %s", strerror(errno));
    else
        return TL_EXIT_DONE;
    return TL_EXIT_NOT_FOUND;
}

/* "64K"; the recorder looks closer. */
static bool is_size(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits > 0 && (!text[digits] || (strchr("kKmMgG", text[digits]) && !text[digits + 1]));
}

static int check_options(const tl_arguments *a)
{
    if (!a->alloc || !*a->alloc || is_size(a->alloc))
        return TL_EXIT_DONE;
    tl_say_error(NULL, "record: --alloc %s: expected a size such as 64K", a->alloc);
    return TL_EXIT_RECORD;
}

int tl_managed_look(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const char *name = a->file.n ? a->file.word[0] : "record", *other = stray(a), *only = tl_managed_only(a);
    if (a->pid && !a->mono) {
        tl_say_error(r->name,
                     "runs in CoreCLR, which can count calls only from its start: traceloom record -m profile, and its "
                     "command; of a process that runs it has samples: without -m");
        return TL_EXIT_RECORD;
    }
    if (other) {
        tl_say_error(name, "is recorded by its runtime: --%s is for other programs", other);
        return TL_EXIT_RECORD;
    }
    if (!tl_managed_samples(r) && only && strcmp(only, "mono") != 0) {
        tl_say_error(name, "--%s goes with samples, and every call is recorded here", only);
        return TL_EXIT_RECORD;
    }
    const runtime of = runtime_of(a);
    int status = find_runtime(r, of, name);
    if (status == TL_EXIT_DONE)
        status = check_options(a);
    if (status == TL_EXIT_DONE)
        status = tl_record_library(name, of == MONO ? &tl_record_mono : &tl_record_clr, r->library);
    if (status != TL_EXIT_DONE)
        return status;
    name_program(r);
    r->way = TL_WAY_MANAGED;
    r->certain = true;
    r->prepare = prepare;
    tl_say(r->cli, NULL, "%s is a program of .NET: %s is recorded by %s (traceloom help record)", r->name,
           tl_managed_samples(r) ? "where its time goes" : "every call of its methods",
           of == MONO ? "Mono" : "CoreCLR");
    return make_command(r, of);
}
