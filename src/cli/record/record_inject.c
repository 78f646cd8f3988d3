/* Loads the recorder into a program that has none: which file, and by which environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/record/record.h"
#include "cli/record/record_facts.h"

const tl_record_part tl_record_recorder = {.file = TL_RECORD_SHARED ".0",
                                           .package = "libtraceloom-rt0",
                                           .without = "has no recorder in it",
                                           .folder = "",
                                           .in_list = true};
const tl_record_part tl_record_plugin = {.file = "libtraceloom-qemu.so",
                                         .package = "traceloom-qemu",
                                         .without = "needs a plugin for QEMU to be recorded",
                                         .folder = "/traceloom"};
const tl_record_part tl_record_mono = {.file = "libmono-profiler-traceloom.so",
                                       .package = "traceloom-dotnet",
                                       .without = "needs a module for Mono to be recorded",
                                       .folder = "",
                                       .in_list = true};
const tl_record_part tl_record_clr = {.file = "libtraceloom-clr.so",
                                      .package = "traceloom-dotnet",
                                      .without = "needs a profiler for CoreCLR to be recorded",
                                      .folder = "/traceloom"};

/* Can somebody change it who could not change the command? What is loaded runs with the rights of the program. */
static bool is_safe(const char *path, uid_t owner)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    const bool ours = st.st_uid == 0 || st.st_uid == geteuid() || st.st_uid == owner;
    const bool group = st.st_mode & S_IWGRP && st.st_gid != 0 && st.st_gid != getegid();
    return ours && !group && (!(st.st_mode & S_IWOTH) || (S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX));
}

/* The folder of this command, without a slash at its end. */
static bool own_folder(char out[static PATH_MAX], uid_t *owner)
{
    struct stat st;
    const ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (n <= 0 || stat("/proc/self/exe", &st) != 0)
        return false;
    out[n] = 0;
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = 0;
    *owner = st.st_uid;
    return slash != NULL;
}

int tl_record_library(const char *name, const tl_record_part *part, char out[static PATH_MAX])
{
    /* The build's own folder; and where it is installed. */
    static const char *const places[] = {"", "/../lib", ("/../lib/" TL_RECORD_TRIPLET), "/../lib64"};
    char folder[PATH_MAX], path[PATH_MAX + 64];
    uid_t owner;
    *out = 0;
    for (size_t i = 0; own_folder(folder, &owner) && i < TL_COUNT(places); i++) {
        snprintf(path, sizeof path, "%s%s%s/%s", folder, places[i], *places[i] ? part->folder : "", part->file);
        if (!realpath(path, out)) {
            *out = 0;
            continue;
        }
        snprintf(folder, sizeof folder, "%s", out);
        *strrchr(folder, '/') = 0;
        if (!is_safe(out, owner) || !is_safe(*folder ? folder : "/", owner)) {
            tl_say_error(name, "%s is not loaded into it: others may change that file, or its folder", out);
            return TL_EXIT_RECORD;
        }
        if (part->in_list && strpbrk(out, ": ")) { /* LD_PRELOAD */
            tl_say_error(name, "%s cannot be loaded into it: its path has a space or a colon", out);
            return TL_EXIT_RECORD;
        }
        return TL_EXIT_DONE;
    }
    tl_say_error(name, "%s, and %s is not installed beside this command: it is in the package %s", part->without,
                 part->file, part->package);
    return TL_EXIT_RECORD;
}

char *tl_record_preload(const tl_record *r)
{
    const char *before = getenv("LD_PRELOAD");
    char *text = NULL;
    const bool both = before && *before;
    if (asprintf(&text, "%s%s%s", r->library, both ? ":" : "", both ? before : "") < 0)
        return NULL;
    return text;
}
