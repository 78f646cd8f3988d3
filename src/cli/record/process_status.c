/* Reads /proc/PID/status and its like. */
#include "cli/record/process_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line that begins with `key`, without that, blanks and its end. */
static bool read_line(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    const size_t n = strlen(key);
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = strncmp(line, key, n) == 0;
    if (f)
        fclose(f);
    if (!found)
        return false;
    line[strcspn(line, "\n")] = 0;
    snprintf(out, size, "%.*s", (int)size - 1, line + n + strspn(line + n, n ? "\t " : ""));
    return true;
}

char *tl_process_value(long pid, long thread, const char *key, char out[static TL_PROCESS_VALUE])
{
    char path[80], begin[64];
    if (thread)
        snprintf(path, sizeof path, "/proc/%ld/task/%ld/status", pid, thread);
    else
        snprintf(path, sizeof path, "/proc/%ld/status", pid);
    snprintf(begin, sizeof begin, "%s:", key);
    if (!read_line(path, begin, out, TL_PROCESS_VALUE))
        *out = 0;
    return out;
}

char tl_process_state(long pid, long thread)
{
    char value[TL_PROCESS_VALUE];
    return *tl_process_value(pid, thread, "State", value) ? *value : 'X';
}

bool tl_process_has_ended(long pid, long thread)
{
    const char state = tl_process_state(pid, thread);
    return state == 'X' || state == 'Z';
}

long tl_process_inner(long pid, long thread)
{
    char ids[TL_PROCESS_VALUE];
    if (!*tl_process_value(pid, thread, "NSpid", ids)) /* a system without containers */
        return tl_process_state(pid, thread) == 'X' ? 0 : thread ? thread : pid;
    const char *last = strrchr(ids, '\t');
    return strtol(last ? last + 1 : ids, NULL, 10);
}

bool tl_process_start(long pid, unsigned long long *ticks)
{
    enum { FIELD = 22, BEHIND_NAME = 2 };
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    char *at = strrchr(text, ')'); /* the name may hold anything */
    for (int field = BEHIND_NAME; at && field < FIELD; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %llu", ticks) == 1;
}

bool tl_process_name(long pid, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    return read_line(path, "", out, size);
}
