/* Which programs are .NET's, and the command that runs them with the module. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/grow.h"
#include "base/io/base_name.h"
#include "cli/managed/managed_record.h"
#include "cli/message.h"

#define RUNTIME "mono"
#define PROFILE "--profile=traceloom"

const char *tl_managed_only(const tl_arguments *a)
{
    return a->mono       ? "mono"
           : a->alloc    ? "alloc"
           : a->heap     ? "heap"
           : a->lines    ? "lines"
           : a->sampling ? "sampling"
           : a->period   ? "period"
                         : NULL;
}

static bool read_at(int fd, uint64_t offset, uint8_t *to, size_t n)
{
    return pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

/* Is it a PE file with a header of the common language runtime? */
static bool is_managed_file(const char *path)
{
    enum { DOS = 64, DOS_PE = 60, PE = 24 + 2, PE_OPTIONAL = 24, DIRECTORY_32 = 96, DIRECTORY_64 = 112, CLI = 14 * 8 };
    uint8_t dos[DOS], pe[PE], entry[8];
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read_at(fd, 0, dos, DOS) && dos[0] == 'M' &&
              dos[1] == 'Z';
    const uint64_t at = is ? tl_load32(dos + DOS_PE, false) : 0;
    is = is && read_at(fd, at, pe, PE) && memcmp(pe, "PE\0", 4) == 0;
    const unsigned magic = is ? tl_load16(pe + PE_OPTIONAL, false) : 0;
    const uint64_t directory = at + PE_OPTIONAL + (magic == 0x20b ? DIRECTORY_64 : DIRECTORY_32);
    is = is && (magic == 0x10b || magic == 0x20b) && read_at(fd, directory + CLI, entry, sizeof entry) &&
         tl_load32(entry, false) != 0;
    if (fd >= 0)
        close(fd);
    return is;
}

static bool is_runtime(const char *name)
{
    name = tl_base_name(name);
    return strcmp(name, RUNTIME) == 0 || strcmp(name, RUNTIME "-sgen") == 0;
}

bool tl_managed_is(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    if (a->pid || a->how || a->any || a->file.n == 0)
        return a->mono;
    return a->mono || is_runtime(a->file.word[0]) || is_managed_file(a->file.word[0]);
}

bool tl_managed_samples(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    return !a->mode && !a->ring && !a->threshold && !(a->output && tl_record_mode_of(a->output));
}

/* The words behind the runtime's own. */
static size_t first_word(const tl_record *r)
{
    return is_runtime(r->cli->args->file.word[0]) ? 1 : 0;
}

/* "app" for "mono --debug bin/app.exe": the name of what is run, for that of the recording. */
static void name_program(tl_record *r)
{
    const tl_words *word = &r->cli->args->file;
    size_t i = first_word(r);
    while (i < word->n && *word->word[i] == '-')
        i++;
    const char *name = tl_base_name(i < word->n ? word->word[i] : RUNTIME), *dot = strrchr(name, '.');
    const size_t n = dot && dot > name && (strcmp(dot, ".exe") == 0 || strcmp(dot, ".dll") == 0) ? (size_t)(dot - name)
                                                                                                 : strlen(name);
    snprintf(r->target, sizeof r->target, "%.*s", (int)n, name);
    r->name = r->target;
}

static int make_command(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const size_t from = first_word(r);
    char **words = tl_alloc(a->file.n + 5, sizeof *words);
    size_t n = 0;
    if (!words) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    words[n++] = r->program;
    words[n++] = (char *)(uintptr_t)PROFILE;
    if (!tl_managed_samples(r)) /* code that was compiled before has no calls of ours */
        words[n++] = (char *)(uintptr_t) "-O=-aot";
    if (a->lines)
        words[n++] = (char *)(uintptr_t) "--debug";
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

/* The value of TRACELOOM_DOTNET, to be freed. NULL: no memory. */
static char *settings(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    char *text = NULL, here[PATH_MAX];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return NULL;
    fprintf(f, "strict=on:out=");
    const char *parts[] = {r->stem[0] != '/' && getcwd(here, sizeof here) ? here : "", r->stem[0] != '/' ? "/" : "",
                           r->stem, ".log" TL_RECORD_LIVE};
    for (size_t i = 0; i < TL_COUNT(parts); i++)
        for (const char *c = parts[i]; *c; c++)
            fprintf(f, *c == ':' || *c == '\\' ? "\\%c" : *c == '%' ? "%%%c" : "%c", *c);
    fprintf(f, ":sample=%s", a->sampling ? a->sampling : "cpu");
    if (a->period)
        fprintf(f, ":period=%" PRIu64 "ms", a->period / 1000000);
    fprintf(f, "%s%s%s", a->alloc ? ":alloc=on" : "", a->heap ? ":heap=on" : "", a->lines ? ":lines=on" : "");
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static bool prepare(const tl_record *r)
{
    const bool samples = tl_managed_samples(r);
    char *value = samples ? settings(r) : tl_record_settings(r);
    const bool ok = value && setenv(samples ? "TRACELOOM_DOTNET" : "TRACELOOM", value, 1) == 0 &&
                    unsetenv(samples ? "TRACELOOM" : "TRACELOOM_DOTNET") == 0 && put_search_path(r);
    free(value);
    return ok;
}

/* An option that goes neither with samples nor with calls of methods. */
static const char *stray(const tl_arguments *a)
{
    return a->pid        ? "pid"
           : a->how      ? "how"
           : a->any      ? "any"
           : a->dry_run  ? "dry-run"
           : a->min_size ? "min-size"
           : a->exact    ? "exact"
           : a->children ? "children"
                         : NULL;
}

int tl_managed_look(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const char *name = a->file.n ? a->file.word[0] : "record", *other = stray(a), *only = tl_managed_only(a);
    if (other) {
        tl_say_error(name, "is recorded by its runtime: --%s is for other programs", other);
        return TL_EXIT_RECORD;
    }
    if (!tl_managed_samples(r) && only && !a->mono) {
        tl_say_error(name, "--%s goes with samples, and every call is recorded here", only);
        return TL_EXIT_RECORD;
    }
    snprintf(r->program, sizeof r->program, "%s", name);
    const bool found =
        first_word(r) && strchr(name, '/') ? access(name, X_OK) == 0 : tl_record_search(RUNTIME, r->program);
    if (!found) {
        tl_say_error(name, "needs " RUNTIME " to run: it is in the package mono-runtime");
        return TL_EXIT_NOT_FOUND;
    }
    if (!first_word(r) && access(name, R_OK) != 0) {
        tl_say_error(name, "cannot be run: %s", strerror(errno));
        return TL_EXIT_NOT_FOUND;
    }
    const int status = tl_record_library(name, &tl_record_mono, r->library);
    if (status != TL_EXIT_DONE)
        return status;
    name_program(r);
    r->way = TL_WAY_MANAGED;
    r->certain = true;
    r->prepare = prepare;
    tl_say(r->cli, NULL, "%s is a program of .NET: %s is recorded by Mono (traceloom help record)", r->name,
           tl_managed_samples(r) ? "where its time goes" : "every call of its methods");
    return make_command(r);
}
