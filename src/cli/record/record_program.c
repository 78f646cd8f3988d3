/* Finds the program to record. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/record/record.h"

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

bool tl_record_search(const char *name, char out[static PATH_MAX])
{
    const char *folder = getenv("PATH");
    bool found = false;
    for (folder = folder ? folder : "/bin:/usr/bin";; folder++) {
        const size_t n = strcspn(folder, ":");
        const int size = snprintf(out, PATH_MAX, "%.*s%s%s", (int)n, folder, n ? "/" : "./", name);
        if (size > 0 && (size_t)size < PATH_MAX) {
            if (can_run(out))
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
        ok = *name && tl_record_search(name, r->program);
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
