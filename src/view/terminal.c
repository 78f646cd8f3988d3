/* Width and abilities of the terminal, and text made to fit it. */
#include "view/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text/number.h"

static unsigned window_width(int fd)
{
    uint64_t columns = 0;
    const char *text = getenv("COLUMNS");
    if (!text || !tl_parse_u64(text, &columns) || columns == 0) {
        struct winsize size;
        if (ioctl(fd, TIOCGWINSZ, &size) == 0)
            columns = size.ws_col;
    }
    if (columns == 0)
        return TL_WIDTH_DEFAULT;
    if (columns < TL_WIDTH_MIN)
        return TL_WIDTH_MIN;
    return columns > TL_WIDTH_MAX ? TL_WIDTH_MAX : (unsigned)columns;
}

static bool is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void tl_terminal_init(tl_terminal *t, int fd, tl_color color)
{
    t->tty = isatty(fd) == 1;
    t->unicode = is_utf8();
    /* Colour through a pipe is for less -R: on the terminal of the messages. */
    const int window = t->tty ? fd : color == TL_COLOR_ALWAYS && isatty(STDERR_FILENO) ? STDERR_FILENO : -1;
    t->fit = window >= 0;
    t->width = t->fit ? window_width(window) : TL_WIDTH_DEFAULT;
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    bool automatic = t->tty && !(none && *none) && term && *term && strcmp(term, "dumb") != 0;
    t->color = color == TL_COLOR_ALWAYS || (color == TL_COLOR_AUTO && automatic);
}

void tl_terminal_file(tl_terminal *t)
{
    *t = (tl_terminal){.unicode = is_utf8(), .width = TL_WIDTH_DEFAULT};
}

char *tl_text_bar(const tl_terminal *t, char *buf, size_t size, double share, unsigned width)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const unsigned steps = t->unicode ? 8 : 1;
    const char *full = t->unicode ? "█" : "#";
    if (!(share > 0))
        share = 0;
    if (share > 1)
        share = 1;
    unsigned n = (unsigned)(share * width * steps + 0.5);
    if (n == 0 && share > 0 && t->unicode)
        n = 1;
    size_t at = 0;
    for (unsigned i = 0; i < n / steps && at + strlen(full) < size; i++) {
        memcpy(buf + at, full, strlen(full));
        at += strlen(full);
    }
    const char *rest = t->unicode ? eighth[n % steps] : "";
    if (*rest && at + strlen(rest) < size) {
        memcpy(buf + at, rest, strlen(rest));
        at += strlen(rest);
    }
    buf[at] = 0;
    return buf;
}
