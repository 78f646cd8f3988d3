/* Messages on standard error, and the exit status for an error. */
#include "cli/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 8192u /* the longest path, and a message about it */

static struct {
    void (*take)(void *arg, const char *line); /* NULL: standard error */
    void *arg;
} lines;

static void print_line(const char *subject, const char *format, va_list list) TL_PRINTF(2, 0);

static void print_line(const char *subject, const char *format, va_list list)
{
    char line[LINE_SIZE], clean[LINE_SIZE];
    int n = snprintf(line, sizeof line, "%s: ", subject ? tl_path_name(subject) : "traceloom");
    if (n < 0 || (size_t)n >= sizeof line)
        n = 0;
    vsnprintf(line + n, sizeof line - (size_t)n, format, list);
    tl_text_clean(clean, sizeof clean, line);
    if (lines.take)
        lines.take(lines.arg, clean);
    else
        fprintf(stderr, "%s\n", clean);
}

void tl_messages_to(void (*take)(void *arg, const char *line), void *arg)
{
    lines.take = take;
    lines.arg = arg;
}

void tl_say_error(const char *subject, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_line(subject, format, list);
    va_end(list);
}

void tl_say(const tl_cli *c, const char *subject, const char *format, ...)
{
    if (c->args->quiet)
        return;
    va_list list;
    va_start(list, format);
    print_line(subject, format, list);
    va_end(list);
}

void tl_say_more(const tl_cli *c, const char *subject, const char *format, ...)
{
    if (!c->args->verbose)
        return;
    va_list list;
    va_start(list, format);
    print_line(subject, format, list);
    va_end(list);
}

void tl_say_line(const char *line, size_t n)
{
    fprintf(stderr, "%.*s\n", (int)n, line);
}

static int status_of(const tl_error *e)
{
    switch (e->code) {
    case TL_OK:
        return TL_EXIT_DONE;
    case TL_EINVAL:
    case TL_EEXIST:
    case TL_ENOMATCH:
    case TL_EUNSUPPORTED:
    case TL_ESYNTAX:
        return TL_EXIT_USAGE;
    case TL_ELIMIT:
        return TL_EXIT_LIMIT;
    default:
        return TL_EXIT_DAMAGED;
    }
}

/* What follows "NAME: " in a message; all of it if it does not begin with the name. In a message the control characters
 * of a name have become "?", and a long name may end in "...". */
static const char *behind_name(const char *text, const char *name)
{
    size_t n = 0;
    while (name[n] && (text[n] == name[n] || (text[n] == '?' && ((unsigned char)name[n] < 0x20 || name[n] == 0x7f))))
        n++;
    if (!name[n])
        return strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
    return n && strncmp(text + n, "...: ", 5) == 0 ? text + n + 5 : text;
}

int tl_say_failure(const char *path, const tl_error *e)
{
    if (e->code == TL_EIO && e->sys_errno == EPIPE)
        return TL_EXIT_DAMAGED;
    const char *subject = path && *path ? tl_path_name(path) : "traceloom";
    const char *text = behind_name(e->message, subject);
    if (e->offset != TL_NO_OFFSET && !strstr(text, "byte "))
        tl_say_error(subject, "byte %" PRIu64 ": %s", e->offset, text);
    else
        tl_say_error(subject, "%s", text);
    return status_of(e);
}

int tl_say_option_failure(const char *path, const char *before, const tl_error *e)
{
    tl_say_error(path, "%s%s", before, e->message);
    return status_of(e);
}

int tl_exit_worse(int a, int b)
{
    static const int rank[] = {[TL_EXIT_DONE] = 0,    [TL_EXIT_NO] = 1,    [TL_EXIT_LOST] = 2,
                               [TL_EXIT_DAMAGED] = 3, [TL_EXIT_LIMIT] = 4, [TL_EXIT_USAGE] = 5};
    return rank[a] >= rank[b] ? a : b;
}
