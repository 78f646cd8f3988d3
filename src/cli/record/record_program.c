/* Finds the program to record, and checks whether it contains a recorder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf/elf_file.h"
#include "base/endian.h"
#include "cli/message.h"
#include "cli/record/record.h"

#define NOTE_SECTION  ".note.traceloom" /* of the recorder, see rt/control/rt_control.c */
#define SHARED_NAME   "libtraceloom-rt.so"
#define DYNAMIC_ENTRY 16u
#define TAG_NEEDED    1u

/* Can the file be run? If not, errno says why. */
static bool can_run(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    if (S_ISREG(st.st_mode))
        return access(path, X_OK) == 0;
    errno = EACCES;
    return false;
}

/* Searches PATH as execvp() does. errno is ENOENT, or EACCES if one is found that cannot be run. */
static bool search(tl_record *r, const char *name)
{
    const char *folder = getenv("PATH");
    bool found = false;
    for (folder = folder ? folder : "/bin:/usr/bin";; folder++) {
        const size_t n = strcspn(folder, ":");
        const int size = snprintf(r->program, sizeof r->program, "%.*s%s%s", (int)n, folder, n ? "/" : "./", name);
        if (size > 0 && (size_t)size < sizeof r->program) {
            if (can_run(r->program))
                return true;
            found = found || errno == EACCES;
        }
        folder += n;
        if (!*folder)
            break;
    }
    errno = found ? EACCES : ENOENT;
    return false;
}

int tl_record_find(tl_record *r)
{
    const char *name = r->cli->args->file.word[0];
    bool ok;
    if (strchr(name, '/')) {
        snprintf(r->program, sizeof r->program, "%s", name);
        ok = can_run(name);
    } else {
        errno = ENOENT;
        ok = *name && search(r, name);
    }
    if (ok)
        return TL_EXIT_DONE;
    const int why = errno;
    char here[PATH_MAX];
    if (why == ENOENT && !strchr(name, '/') && snprintf(here, sizeof here, "./%s", name) > 0 && can_run(here))
        tl_say_error(name, "there is no such program in PATH; did you mean ./%s?", name);
    else
        tl_say_error(name, "cannot be run: %s", strerror(why));
    return why == ENOENT || why == ENOTDIR ? TL_EXIT_NOT_FOUND : TL_EXIT_CANNOT_RUN;
}

/* Other features of the program. */
typedef struct traits {
    bool other;     /* the compiler's own runtime for sleds */
    bool functions; /* hooks of -finstrument-functions */
} traits;

static int see_symbol(void *arg, const tl_elf_symbol *s)
{
    traits *t = arg;
    t->other = t->other || strcmp(s->name, "__xray_patch") == 0 || strcmp(s->name, "__xray_log_select_mode") == 0;
    t->functions = t->functions || strcmp(s->name, "__cyg_profile_func_enter") == 0;
    return 0;
}

/* Does it need the shared recorder? */
static bool needs_shared(tl_elf *elf)
{
    const tl_elf_section *dynamic = tl_elf_section_find(elf, ".dynamic");
    const uint8_t *entry, *string;
    size_t n, size;
    tl_error e = {0};
    if (!dynamic || dynamic->link >= tl_elf_sections(elf) || tl_elf_big_endian(elf) ||
        tl_elf_section_data(elf, dynamic, &entry, &n, &e) < 0 ||
        tl_elf_section_data(elf, tl_elf_section_get(elf, dynamic->link), &string, &size, &e) < 0)
        return false;
    for (; n >= DYNAMIC_ENTRY; entry += DYNAMIC_ENTRY, n -= DYNAMIC_ENTRY) {
        const uint64_t name = tl_load64(entry + 8, false);
        if (tl_load64(entry, false) == TAG_NEEDED && name < size && size - name > sizeof SHARED_NAME &&
            memcmp(string + name, SHARED_NAME, sizeof SHARED_NAME - 1) == 0)
            return true;
    }
    return false;
}

static void say_recipes(const tl_record *r, const traits *t, bool sleds)
{
    const char *name = r->cli->args->file.word[0];
    if (sleds && t->other)
        tl_say_error(name,
                     "has sleds and the compiler's runtime for them, but no recorder; link the recorder as well:");
    else if (sleds)
        tl_say_error(name, "has sleds, but no recorder; link it with the recorder:");
    else if (t->functions)
        tl_say_error(name,
                     "calls the hooks of -finstrument-functions, but has no recorder; link it with the recorder:");
    else
        tl_say_error(name, "has no recorder in it; build it with one of these:");
    if (sleds && t->other)
        fputs("  clang ... $(pkg-config --libs traceloom-rt-llvm)\n", stderr);
    else if (sleds)
        fputs("  clang ... $(pkg-config --libs traceloom-rt-xray)\n", stderr);
    else if (t->functions)
        fputs("  gcc ... $(pkg-config --libs traceloom-rt-functions)\n"
              "or preload it: LD_PRELOAD=libtraceloom-rt.so traceloom record ...\n",
              stderr);
    else
        fputs("  all functions, clang:  clang -O2 app.c $(pkg-config --cflags --libs traceloom-rt-xray)\n"
              "  all functions, gcc:    gcc -O2 app.c $(pkg-config --cflags --libs traceloom-rt-functions)\n"
              "  spans by hand:         #include <traceloom/rt.h>\n"
              "                         cc -O2 app.c $(pkg-config --cflags --libs traceloom-rt)\n",
              stderr);
    fputs("If it starts or loads another program or library that has the recorder, add --any.\n", stderr);
}

int tl_record_look(tl_record *r)
{
    const char *preload = getenv("LD_PRELOAD");
    tl_elf *elf = NULL;
    tl_error e = {0};
    traits t = {0};
    if (r->cli->args->any || (preload && strstr(preload, SHARED_NAME)))
        return TL_EXIT_DONE;
    if (tl_elf_open(&elf, r->program, &e) < 0) /* a script, for example: what it starts is unknown */
        return TL_EXIT_DONE;
    int status = TL_EXIT_DONE;
    r->certain = tl_elf_section_find(elf, NOTE_SECTION) || needs_shared(elf);
    if (!r->certain && tl_elf_sections(elf) > 1) {
        tl_elf_each_symbol(elf, see_symbol, &t, &e);
        say_recipes(r, &t, tl_elf_section_find(elf, "xray_instr_map") != NULL);
        status = TL_EXIT_RECORD;
    }
    tl_elf_close(elf);
    return status;
}
