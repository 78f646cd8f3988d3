/* Looks at a program: its loader, its notes, what it needs and calls. */
#include "cli/record/record_facts.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/elf/elf_file.h"
#include "base/elf/elf_segments.h"
#include "base/io/base_name.h"

#define NOTE_SECTION ".note.traceloom" /* of the recorder, see rt/control/rt_control.c */
#ifdef __GLIBC__
#define LOADER "ld-linux"
#else
#define LOADER "ld-musl"
#endif
#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__s390x__)
#define MACHINE EM_S390
#elif defined(__i386__)
#define MACHINE EM_386
#else
#define MACHINE EM_NONE /* where nothing is patched, which is said without this name */
#endif

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* A runtime that must be loaded first, and keeps its own account of memory. */
static const struct {
    const char *symbol, *library, *name;
} sanitizers[] = {{"__asan_init", "libasan.so", "AddressSanitizer"},
                  {"__tsan_init", "libtsan.so", "ThreadSanitizer"},
                  {"__msan_init", "libmsan.so", "MemorySanitizer"},
                  {"__hwasan_init", "libhwasan.so", "HWAddressSanitizer"},
                  {"__lsan_init", "liblsan.so", "LeakSanitizer"}};

static int see_symbol(void *arg, const tl_elf_symbol *s)
{
    tl_record_facts *f = arg;
    const bool elsewhere = s->section == SHN_UNDEF;
    f->has_runtime =
        f->has_runtime || strcmp(s->name, "__xray_patch") == 0 || strcmp(s->name, "__xray_log_select_mode") == 0;
    f->calls_hooks = f->calls_hooks || (elsewhere && strcmp(s->name, "__cyg_profile_func_enter") == 0);
    f->profiled = f->profiled || (elsewhere && (strcmp(s->name, "mcount") == 0 || strcmp(s->name, "_mcount") == 0 ||
                                                strcmp(s->name, "__fentry__") == 0));
    for (size_t i = 0; i < TL_COUNT(sanitizers); i++)
        if (strcmp(s->name, sanitizers[i].symbol) == 0)
            snprintf(f->sanitizer, sizeof f->sanitizer, "%s", sanitizers[i].name);
    return 0;
}

/* What only sections and symbols say. Programs without them are recorded, too, so that faults in them do not matter. */
static void read_sections(tl_record_facts *f, const char *path)
{
    tl_elf *elf = NULL;
    tl_error ignored = {0};
    if (tl_elf_open(&elf, path, &ignored) < 0)
        return;
    f->has_recorder = f->has_recorder || tl_elf_section_find(elf, NOTE_SECTION);
    f->has_sleds = tl_elf_section_find(elf, "xray_instr_map") != NULL;
    f->go = f->go || tl_elf_section_find(elf, ".go.buildinfo") || tl_elf_section_find(elf, ".note.go.buildid");
    tl_elf_each_symbol(elf, see_symbol, f, &ignored);
    tl_elf_close(elf);
}

static void read_dynamic(tl_record_facts *f, const tl_elf_segments *s, bool *is_program)
{
    for (uint32_t i = 0; i < s->ndynamic; i++) {
        const tl_elf_dynamic *d = &s->dynamic[i];
        if (d->tag == DT_FLAGS_1 && d->value & DF_1_PIE)
            *is_program = true;
        if (d->tag != DT_NEEDED || !d->text)
            continue;
        f->has_recorder = f->has_recorder || begins(d->text, TL_RECORD_SHARED);
        for (size_t k = 0; k < TL_COUNT(sanitizers); k++)
            if (begins(d->text, sanitizers[k].library))
                snprintf(f->sanitizer, sizeof f->sanitizer, "%s", sanitizers[k].name);
    }
}

int tl_record_facts_read(tl_record_facts *f, const char *path, tl_error *e)
{
    tl_elf_segments s;
    *f = (tl_record_facts){0};
    const int status = tl_elf_segments_read(&s, path, e);
    if (status < 0)
        return status;
    if (stat(path, &f->file) != 0)
        f->file = (struct stat){0};
    f->machine = s.machine;
    f->is64 = s.is64;
    f->big = s.big;
    f->go = s.go;
    bool is_program = s.type == ET_EXEC;
    read_dynamic(f, &s, &is_program);
    if (s.interpreter) {
        const char *name = tl_base_name(s.interpreter);
        snprintf(f->loader, sizeof f->loader, "%s", name);
        f->foreign_loader = !begins(name, LOADER);
    } else {
        f->is_library = s.type == ET_DYN && !is_program && s.ndynamic > 0;
        f->linked_statically = !f->is_library;
    }
    tl_elf_segments_free(&s);
    if (f->is64)
        read_sections(f, path);
    return TL_OK;
}

static const char *machine_name(uint16_t machine, char buf[32])
{
    static const struct {
        uint16_t machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "AArch64"}, {EM_386, "x86"},     {EM_ARM, "ARM"},
                 {EM_S390, "s390x"},    {EM_PPC64, "POWER"},     {EM_RISCV, "RISC-V"}};
    for (size_t i = 0; i < TL_COUNT(names); i++)
        if (names[i].machine == machine)
            return names[i].name;
    snprintf(buf, 32, "machine %u", machine);
    return buf;
}

#define RECIPE "pkg-config --libs traceloom-rt-functions"

const char *tl_record_cannot(const tl_record_facts *f, char *why, size_t size)
{
    char theirs[32], ours[32];
    *why = 0;
    if (MACHINE != EM_NONE && f->machine != MACHINE)
        snprintf(why, size, "is for %s, which cannot be recorded on %s", machine_name(f->machine, theirs),
                 machine_name(MACHINE, ours));
    else if (!f->is64)
        snprintf(why, size, "is a 32-bit program, which cannot be recorded");
    else if (f->go)
        snprintf(why, size, "is a Go program, whose stacks move: its functions cannot be recorded");
    else if (f->linked_statically)
        snprintf(why, size, "is linked statically: it can be recorded if it is linked with the recorder: " RECIPE);
    else if (f->foreign_loader)
        snprintf(why, size,
                 "is started by %s: the recorder that is loaded needs " LOADER
                 "; it can be recorded if it is linked with the recorder: " RECIPE,
                 f->loader);
    else if (*f->sanitizer)
        snprintf(
            why, size,
            "is built with %s, whose memory cannot be shared with patched code; it can be recorded if it is linked "
            "with the recorder: " RECIPE,
            f->sanitizer);
    return why;
}

const char *tl_record_may_not(const tl_record_facts *f, const char *path, char *why, size_t size)
{
    struct statvfs v;
    char unused[1];
    *why = 0;
    if (statvfs(path, &v) == 0 && v.f_flag & ST_NOSUID) /* the kernel ignores them, too */
        return why;
    if (f->file.st_mode & S_ISUID && f->file.st_uid != getuid())
        snprintf(why, size, "set-user-id programs cannot be recorded by another user");
    else if ((f->file.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && f->file.st_gid != getgid())
        snprintf(why, size, "set-group-id programs cannot be recorded by another group");
    else if (getuid() != 0 && getxattr(path, "security.capability", unused, 0) > 0)
        snprintf(why, size, "programs with file capabilities can be recorded by root only");
    return why;
}
