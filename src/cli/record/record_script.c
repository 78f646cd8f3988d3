/* Scripts: which program runs them, by their first lines, as the kernel and env(1) find it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/record/record.h"

#define LINE_SIZE    256u /* of a first line: what the kernel looks at */
#define SCRIPTS_DEEP 5u   /* as the kernel allows */

/* The first line without "#!", or false: it is none. */
static bool first_line(const char *path, char line[static LINE_SIZE])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const ssize_t got = fd < 0 ? -1 : read(fd, line, LINE_SIZE - 1);
    if (fd >= 0)
        close(fd);
    if (got < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[got] = 0;
    line[strcspn(line, "\n")] = 0;
    memmove(line, line + 2, strlen(line + 2) + 1);
    return true;
}

/* The program that `env` is to run: the first word that is neither an option nor a setting. */
static const char *program_of_env(char *words)
{
    char *rest = NULL;
    for (char *w = strtok_r(words, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest)) {
        if (strncmp(w, "-S", 2) == 0 && w[2])
            return w + 2;
        if (strcmp(w, "-u") == 0 || strcmp(w, "-C") == 0) {
            strtok_r(NULL, " \t", &rest);
            continue;
        }
        if (*w != '-' && !strchr(w, '='))
            return w;
    }
    return NULL;
}

bool tl_record_interpreter(const char *path, char out[static PATH_MAX])
{
    char line[LINE_SIZE], now[PATH_MAX];
    bool found = false;
    snprintf(now, sizeof now, "%s", path);
    for (unsigned i = 0; i < SCRIPTS_DEEP && first_line(now, line); i++) {
        char *word = line + strspn(line, " \t");
        char *rest = word + strcspn(word, " \t");
        if (*rest)
            *rest++ = 0;
        if (!*word)
            return false;
        snprintf(now, sizeof now, "%s", word);
        if (strcmp(tl_base_name(word), "env") == 0) {
            const char *program = program_of_env(rest);
            if (!program || !tl_record_search(program, now))
                return false;
        }
        found = true;
    }
    if (found)
        snprintf(out, PATH_MAX, "%s", now);
    return found;
}
