/* Lines that are typed at a terminal. */
#include "cli/query/query_line.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/query/query_history.h"
#include "cli/query/query_stop.h"

#ifdef TL_HAVE_LIBEDIT
#include <histedit.h>
#endif

struct tl_line {
    tl_line_words *words;
    void *arg;
    char *plain; /* the last line without libedit */
    size_t capacity;
    const char *prompt;
#ifdef TL_HAVE_LIBEDIT
    char *edited; /* the last line of libedit */
    EditLine *el; /* NULL: this terminal cannot */
    History *history;
    bool cancelled;
#endif
};

#ifdef TL_HAVE_LIBEDIT

static char *prompt_of(EditLine *el)
{
    static char none[] = "";
    tl_line *l = NULL;
    el_get(el, EL_CLIENTDATA, &l);
    return l && l->prompt ? (char *)(uintptr_t)l->prompt : none;
}

static unsigned char cancel(EditLine *el, int key)
{
    tl_line *l = NULL;
    (void)key;
    el_get(el, EL_CLIENTDATA, &l);
    l->cancelled = true;
    fputs("^C\n", stdout);
    return CC_NEWLINE;
}

static unsigned char complete(EditLine *el, int key)
{
    tl_line *l = NULL;
    const LineInfo *line = el_line(el);
    const size_t n = (size_t)(line->cursor - line->buffer);
    tl_completion c = {0};
    unsigned char result = CC_ERROR;
    (void)key;
    el_get(el, EL_CLIENTDATA, &l);
    char *before = malloc(n + 1);
    if (!before)
        return CC_ERROR;
    memcpy(before, line->buffer, n);
    before[n] = '\0';
    l->words(l->arg, before, &c);
    if (c.n > 0) {
        char *more = tl_completion_common(&c);
        if (more && *more && el_insertstr(el, more) == 0) {
            result = CC_REFRESH;
        } else if (more && c.n > 1) {
            fputs("\n", stdout);
            tl_completion_print(&c, stdout);
            fflush(stdout);
            result = CC_REDISPLAY;
        }
        free(more);
    }
    tl_completion_fini(&c);
    free(before);
    return result;
}

static bool can_edit(void)
{
    const char *term = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static void open_editor(tl_line *l)
{
    HistEvent event;
    l->el = can_edit() ? el_init("traceloom", stdin, stdout, stderr) : NULL;
    l->history = l->el ? history_init() : NULL;
    if (!l->history) {
        if (l->el)
            el_end(l->el);
        l->el = NULL;
        return;
    }
    history(l->history, &event, H_SETSIZE, TL_HISTORY_LINES);
    history(l->history, &event, H_SETUNIQUE, 1);
    el_set(l->el, EL_CLIENTDATA, l);
    el_set(l->el, EL_PROMPT, prompt_of);
    el_set(l->el, EL_HIST, history, l->history);
    el_set(l->el, EL_EDITOR, "emacs");
    el_set(l->el, EL_ADDFN, "tl-complete", "completes a word", complete);
    el_set(l->el, EL_ADDFN, "tl-cancel", "cancels the line", cancel);
    el_source(l->el, NULL); /* the user's ~/.editrc */
    el_set(l->el, EL_BIND, "^I", "tl-complete", NULL);
    el_set(l->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(l->el, EL_BIND, "^C", "tl-cancel", NULL);
    el_set(l->el, EL_SETTY, "-d", "-isig", NULL); /* while a line is edited, ^C is a key */
    /* A ^D that was typed while a statement ran comes as this. */
    el_set(l->el, EL_BIND, "^@", "em-delete-or-list", NULL);
}

static tl_line_end read_edited(tl_line *l, const char **text)
{
    int n = 0;
    l->cancelled = false;
    const char *line = el_gets(l->el, &n);
    if (l->cancelled)
        return TL_LINE_CANCELLED;
    if (!line || n <= 0)
        return TL_LINE_EOF;
    free(l->edited);
    l->edited = strdup(line);
    if (!l->edited)
        return TL_LINE_EOF;
    l->edited[strcspn(l->edited, "\r\n")] = '\0';
    *text = l->edited;
    return TL_LINE_READ;
}

#endif

/* Waits for a line, or for the end of input; false: ^C. It counts from when the prompt was made, not only while we
 * wait: it is blocked until then. */
static bool wait_for_line(void)
{
    sigset_t interrupt, before;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    while (!tl_query_is_stopped() && ppoll(&input, 1, NULL, &before) < 0 && errno == EINTR)
        continue;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !tl_query_is_stopped();
}

static tl_line_end read_plain(tl_line *l, const char **text)
{
    fputs(l->prompt, stdout);
    fflush(stdout);
    if (!wait_for_line()) {
        fputs("\n", stdout);
        return TL_LINE_CANCELLED;
    }
    const ssize_t n = getline(&l->plain, &l->capacity, stdin);
    if (n < 0)
        return TL_LINE_EOF;
    l->plain[strcspn(l->plain, "\r\n")] = '\0';
    *text = l->plain;
    return TL_LINE_READ;
}

tl_line *tl_line_open(tl_line_words *words, void *arg)
{
    tl_line *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->words = words;
    l->arg = arg;
#ifdef TL_HAVE_LIBEDIT
    open_editor(l);
#endif
    return l;
}

tl_line_end tl_line_read(tl_line *l, const char *prompt, const char **text)
{
    l->prompt = prompt;
#ifdef TL_HAVE_LIBEDIT
    if (l->el)
        return read_edited(l, text);
#endif
    return read_plain(l, text);
}

void tl_line_remember(tl_line *l, const char *text)
{
#ifdef TL_HAVE_LIBEDIT
    HistEvent event;
    if (l->el)
        history(l->history, &event, H_ENTER, text);
#endif
    (void)l;
    (void)text;
}

void tl_line_close(tl_line *l)
{
    if (!l)
        return;
#ifdef TL_HAVE_LIBEDIT
    if (l->el) {
        el_end(l->el);
        history_end(l->history);
    }
    free(l->edited);
#endif
    free(l->plain);
    free(l);
}
