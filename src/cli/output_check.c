/* Checks, before anything is read, whether the output may be written. */
#include "cli/formats_of.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is this input the output, or in the folder that is the output? */
static bool is_input(const char *input, const struct stat *output)
{
    struct stat st;
    char path[PATH_MAX];
    if (strcmp(input, "-") == 0)
        return fstat(STDIN_FILENO, &st) == 0 && same(&st, output);
    if (stat(input, &st) == 0 && same(&st, output))
        return true;
    if (!S_ISDIR(output->st_mode) || !realpath(input, path))
        return false;
    for (char *slash; (slash = strrchr(path, '/')) && slash > path;) {
        *slash = '\0';
        if (stat(path, &st) == 0 && same(&st, output))
            return true;
    }
    return false;
}

/* Devices and pipes may be both. */
static bool can_be_lost(const struct stat *st)
{
    return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

int tl_check_output(const tl_cli *c)
{
    const tl_arguments *a = c->args;
    const bool is_stdout = tl_to_stdout(a);
    struct stat st;
    if ((is_stdout ? fstat(STDOUT_FILENO, &st) : stat(a->output, &st)) != 0 || !can_be_lost(&st))
        return TL_EXIT_DONE;
    const char *name = is_stdout ? "standard output" : a->output;
    for (size_t i = 0; i < a->file.n; i++)
        if (is_input(a->file.word[i], &st)) {
            tl_say_error(name, "is also the input %s; write to another file", tl_path_name(a->file.word[i]));
            return TL_EXIT_USAGE;
        }
    if (!is_stdout && a->exe && is_input(a->exe, &st)) {
        tl_say_error(name, "is the binary of -e; write to another file");
        return TL_EXIT_USAGE;
    }
    if (is_stdout || a->force || !S_ISREG(st.st_mode))
        return TL_EXIT_DONE;
    tl_say_error(name, "the file exists; -f replaces it");
    return TL_EXIT_USAGE;
}
