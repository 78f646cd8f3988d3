/* Can this process be entered? Everything that speaks against it is found before a thread is stopped. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/attach_symbols.h"
#include "cli/message.h"
#include "cli/record/process_status.h"
#include "cli/record/record_facts.h"

enum { FILE_PATH = PATH_MAX + 64 };

/* A path as the process sees it, for us. */
static char *its_path(const tl_attach *a, const char *path, char out[static FILE_PATH])
{
    snprintf(out, FILE_PATH, "/proc/%ld/root%.*s", a->pid, PATH_MAX, path);
    return out;
}

static int refuse(const tl_attach *a, const char *why)
{
    tl_say_error(a->name, "%s", why);
    return TL_EXIT_RECORD;
}

static int check_status(const tl_attach *a)
{
    char text[TL_PROCESS_VALUE];
    if (!*tl_process_value(a->pid, 0, "State", text))
        return refuse(a, "there is no such process");
    const char state = *text;
    if (a->pid == (long)getpid())
        return refuse(a, "is this command itself");
    if (strtol(tl_process_value(a->pid, 0, "Tgid", text), NULL, 10) != a->pid) {
        tl_say_error(a->name, "is a thread of process %s, which can be attached to", text);
        return TL_EXIT_RECORD;
    }
    if (state == 'Z' || state == 'X')
        return refuse(a, "has ended");
    if (strtol(tl_process_value(a->pid, 0, "TracerPid", text), NULL, 10) != 0) {
        tl_say_error(a->name, "cannot be attached to: process %s traces it, such as a debugger", text);
        return TL_EXIT_RECORD;
    }
    if (state == 'T' || state == 't')
        return refuse(a, "cannot be attached to while it is stopped (kill -CONT lets it go on)");
    if (strtol(tl_process_value(a->pid, 0, "Seccomp", text), NULL, 10) != 0)
        return refuse(
            a, "limits its system calls by seccomp, which could kill it for those of the recorder: start it with "
               "traceloom record");
    if (strstr(tl_process_value(a->pid, 0, "x86_Thread_features", text), "shstk"))
        return refuse(a, "has a shadow stack, on which no call can be put: start it with traceloom record");
    return TL_EXIT_DONE;
}

/* The kernel adds this to the path of a file that was removed or replaced; a file may also be called so. */
static bool is_replaced(const tl_attach *a, const char *exe)
{
    static const char mark[] = " (deleted)";
    const size_t n = strlen(a->program), cut = sizeof mark - 1;
    char path[FILE_PATH];
    struct stat its, now;
    if (n <= cut || strcmp(a->program + n - cut, mark) != 0)
        return false;
    return stat(exe, &its) != 0 || stat(its_path(a, a->program, path), &now) != 0 || its.st_dev != now.st_dev ||
           its.st_ino != now.st_ino;
}

static int check_program(tl_attach *a)
{
    char path[64], why[512];
    tl_record_facts f;
    tl_error e = {0};
    snprintf(path, sizeof path, "/proc/%ld/exe", a->pid);
    const ssize_t n = readlink(path, a->program, sizeof a->program - 1);
    if (n < 0) {
        if (errno == ENOENT)
            return refuse(a, "is part of the kernel");
        tl_attach_say_refused(a->name, errno == EACCES ? EPERM : errno);
        return TL_EXIT_RECORD;
    }
    a->program[n] = 0;
    if (is_replaced(a, path)) {
        tl_say_error(a->name, "cannot be attached to: its program, %s, was replaced since it began; start it again",
                     a->program);
        return TL_EXIT_RECORD;
    }
    if (tl_record_facts_read(&f, path, &e) < 0) {
        tl_say_error(a->name, "cannot be attached to: %s", e.message);
        return TL_EXIT_RECORD;
    }
    if (*tl_record_cannot(&f, why, sizeof why))
        return refuse(a, why);
    if (f.has_recorder)
        return refuse(a, "has the recorder in it, which is off: start it with traceloom record --start off, or with "
                         "TRACELOOM=start=off");
    return TL_EXIT_DONE;
}

/* TRACELOOM in its environment would have a second recording begun as soon as the library is loaded. */
static bool has_settings(const tl_attach *a)
{
    static const char key[] = "TRACELOOM=";
    char path[64], *word = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/environ", a->pid);
    FILE *f = fopen(path, "re");
    while (f && !found && getdelim(&word, &room, 0, f) > 0)
        found = strncmp(word, key, sizeof key - 1) == 0 && word[sizeof key - 1];
    free(word);
    if (f)
        fclose(f);
    return found;
}

/* Is the library, and not another file, at its path in the process's world? */
static int check_library(const tl_attach *a)
{
    char path[FILE_PATH];
    struct stat ours, its;
    if (stat(a->library, &ours) == 0 && stat(its_path(a, a->library, path), &its) == 0 && ours.st_dev == its.st_dev &&
        ours.st_ino == its.st_ino)
        return TL_EXIT_DONE;
    tl_say_error(a->name, "cannot be attached to: it does not see %s, being in a container or changed root",
                 a->library);
    return TL_EXIT_RECORD;
}

bool tl_attach_find_libc(tl_attach *a)
{
    a->libc = tl_attach_maps_find(&a->maps, "libc.so.6");
    if (a->libc == TL_ATTACH_NO_OBJECT)
        a->libc = tl_attach_maps_find(&a->maps, "libc-2");
    return a->libc != TL_ATTACH_NO_OBJECT;
}

/* Its C library: what can be called there. */
static int look_at_libc(tl_attach *a)
{
    char path[FILE_PATH];
    uint32_t others[] = {tl_attach_maps_find(&a->maps, "libdl.so"), tl_attach_maps_find(&a->maps, "libdl-2"),
                         tl_attach_maps_find(&a->maps, "libpthread"), TL_ATTACH_NO_OBJECT};
    if (!tl_attach_find_libc(a))
        return refuse(a, "cannot be attached to: its C library is not glibc, or is linked statically");
    others[TL_COUNT(others) - 1] = a->libc;
    for (size_t i = 0; i < TL_COUNT(others); i++) {
        if (others[i] == TL_ATTACH_NO_OBJECT)
            continue;
        const tl_attach_object *o = &a->maps.object[others[i]];
        uint64_t bias = 0;
        for (size_t k = a->maps.n; k-- > 0;)
            if (a->maps.map[k].object == others[i] && a->maps.map[k].offset == 0)
                bias = a->maps.map[k].begin;
        if (others[i] == a->libc)
            a->libc_bias = bias;
        if (o->deleted || !bias || !tl_attach_symbols_add(a, its_path(a, o->path, path), bias)) {
            tl_say_error(a->name, "cannot be attached to: %s, which it uses, was %s", o->path,
                         o->deleted ? "replaced since it began; start it again" : "not readable");
            return TL_EXIT_RECORD;
        }
    }
    for (size_t i = 0; i < TL_ATTACH_FUNCTIONS; i++)
        if (!a->function[i])
            return refuse(a, "cannot be attached to: its C library has no dlopen(), being older than glibc 2.34 and "
                             "without libdl");
    return TL_EXIT_DONE;
}

/* mov $15,%rax; syscall: unwinders know a signal's frame by these bytes, so they never change. */
static bool find_sigreturn(tl_attach *a)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    for (size_t i = 0; i < a->maps.n && !a->sigreturn; i++) {
        const tl_attach_map *m = &a->maps.map[i];
        if (m->object != a->libc || !m->code)
            continue;
        const size_t n = (size_t)(m->end - m->begin);
        uint8_t *bytes = malloc(n), *at = NULL;
        if (bytes && tl_attach_read(a, m->begin, bytes, n))
            at = memmem(bytes, n, code, sizeof code);
        if (at)
            a->sigreturn = m->begin + (uint64_t)(at - bytes);
        free(bytes);
    }
    return a->sigreturn != 0;
}

bool tl_attach_read(const tl_attach *a, uint64_t address, void *to, size_t n)
{
    return pread(a->memory, to, n, (off_t)address) == (ssize_t)n;
}

bool tl_attach_write(const tl_attach *a, uint64_t address, const void *from, size_t n)
{
    return pwrite(a->memory, from, n, (off_t)address) == (ssize_t)n;
}

int tl_attach_look(tl_attach *a, long pid)
{
    char path[64];
    a->pid = pid;
    int status = check_status(a);
    if (status == TL_EXIT_DONE)
        status = check_program(a);
    if (status == TL_EXIT_DONE)
        status = check_library(a);
    if (status != TL_EXIT_DONE)
        return status;
    snprintf(path, sizeof path, "/proc/%ld/mem", pid);
    a->memory = open(path, O_RDWR | O_CLOEXEC);
    if (a->memory < 0 || !tl_attach_maps_read(&a->maps, pid)) {
        tl_attach_say_refused(a->name, errno == EACCES ? EPERM : errno);
        return TL_EXIT_RECORD;
    }
    if (tl_attach_maps_find(&a->maps, tl_base_name(a->library)) == TL_ATTACH_NO_OBJECT && has_settings(a))
        return refuse(a, "cannot be attached to: TRACELOOM is in its environment, and would begin another recording");
    status = look_at_libc(a);
    if (status == TL_EXIT_DONE && !find_sigreturn(a))
        return refuse(a, "cannot be attached to: the end of signal handlers was not found in its C library");
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    a->own_malloc = tl_attach_symbols_allocate(path);
    return status;
}

void tl_attach_free(tl_attach *a)
{
    tl_attach_maps_free(&a->maps);
    free(a->waits);
    if (a->memory >= 0)
        close(a->memory);
}
