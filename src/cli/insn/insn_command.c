/* Finds QEMU and its plugin, and makes the command that runs the program in it. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf/elf_segments.h"
#include "base/grow.h"
#include "cli/insn/insn_record.h"
#include "cli/message.h"

#define QEMU         "qemu-aarch64"
#define DEFAULT_CPU  "neoverse-n1"
#define CROSS_FOLDER "/usr/aarch64-linux-gnu" /* of Debian's libraries for AArch64 on other hosts */

/* Processors with SVE, whose accesses the plugin does not see. */
static bool has_sve(const char *cpu)
{
    const bool with = strncmp(cpu, "max", 3) == 0 || strncmp(cpu, "a64fx", 5) == 0;
    return with && !strstr(cpu, "sve=off");
}

/* Is it for AArch64; and what does its loader need? False after a message. */
static bool look(const tl_record *r, bool *is_dynamic)
{
    const char *name = r->cli->args->file.word[0];
    tl_elf_segments s;
    tl_error e = {0};
    if (tl_elf_segments_read(&s, r->program, &e) < 0) {
        tl_say_error(name, "cannot be recorded: %s; --insn is for programs of AArch64", e.message);
        return false;
    }
    const bool fits = s.machine == EM_AARCH64 && s.is64 && !s.big;
    *is_dynamic = s.interpreter != NULL;
    tl_elf_segments_free(&s);
    if (!fits)
        tl_say_error(name, "is not a program for AArch64 (little-endian), which --insn needs");
    return fits;
}

/* A comma ends a value of -plugin, two are one. */
static char *plugin_words(const tl_record *r, int memory)
{
    const tl_arguments *a = r->cli->args;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return NULL;
    for (const char *p = r->library; *p; p++)
        fprintf(f, *p == ',' ? ",," : "%c", *p);
    fprintf(f, ",memory=%d%s%s", memory, a->hint ? ",hint=on" : "", a->order ? ",order=on" : "");
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static const char *sysroot(const tl_record *r, bool is_dynamic)
{
    if (r->cli->args->sysroot)
        return r->cli->args->sysroot;
#ifndef __aarch64__
    if (is_dynamic && !getenv("QEMU_LD_PREFIX") && access(CROSS_FOLDER "/lib/ld-linux-aarch64.so.1", F_OK) == 0)
        return CROSS_FOLDER;
#else
    (void)is_dynamic;
#endif
    return NULL;
}

static char **make_words(const tl_record *r, const char *qemu, int memory, bool is_dynamic)
{
    const tl_words *program = &r->cli->args->file;
    const char *folder = sysroot(r, is_dynamic), *cpu = r->cli->args->qemu_cpu;
    char *plugin = plugin_words(r, memory);
    char **words = tl_alloc(program->n + 16, sizeof *words);
    size_t n = 0;
    bool ok = words && plugin;
    if (ok) {
        const char *const first[] = {qemu, "-0", program->word[0], "-cpu", cpu ? cpu : DEFAULT_CPU, "-plugin", plugin};
        const char *const more[] = {folder ? "-L" : NULL, folder, r->cli->args->slice_at ? NULL : "-singlestep"};
        for (size_t i = 0; i < TL_COUNT(first) && ok; i++)
            ok = (words[n++] = strdup(first[i])) != NULL;
        for (size_t i = 0; i < TL_COUNT(more) && ok; i++)
            if (more[i])
                ok = (words[n++] = strdup(more[i])) != NULL;
        ok = ok && (words[n++] = strdup(r->program)) != NULL;
        for (size_t i = 1; i < program->n && ok; i++)
            ok = (words[n++] = strdup(program->word[i])) != NULL;
        words[n] = NULL;
    }
    free(plugin);
    if (ok)
        return words;
    tl_insn_command_free(words);
    tl_say_error(NULL, "out of memory");
    return NULL;
}

void tl_insn_command_free(char **words)
{
    for (char **w = words; w && *w; w++)
        free(*w);
    free(words);
}

char **tl_insn_command(tl_record *r, int memory, int *status)
{
    const tl_arguments *a = r->cli->args;
    char qemu[PATH_MAX];
    bool is_dynamic = false;
    *status = TL_EXIT_RECORD;
    if (a->qemu_cpu && has_sve(a->qemu_cpu)) {
        tl_say_error(NULL,
                     "record: --qemu-cpu %s has SVE, whose loads and stores QEMU does not show; %s,sve=off has not",
                     a->qemu_cpu, a->qemu_cpu);
        return NULL;
    }
    if (!look(r, &is_dynamic))
        return NULL;
    if (!tl_record_search(QEMU, qemu)) {
        tl_say_error(a->file.word[0], "needs " QEMU " to be recorded: it is in the package qemu-user");
        return NULL;
    }
    if (tl_record_library(a->file.word[0], &tl_record_plugin, r->library) != TL_EXIT_DONE)
        return NULL;
    tl_say(r->cli, NULL, "%s is recorded in " QEMU " as %s", tl_base_name(r->program),
           a->qemu_cpu ? a->qemu_cpu : DEFAULT_CPU);
    return make_words(r, qemu, memory, is_dynamic);
}
