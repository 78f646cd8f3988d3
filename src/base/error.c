/* Errors: filling a tl_error, and putting context in front of one. */
#include "traceloom/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

enum { MESSAGE_SIZE = sizeof((tl_error){0}.message), KEEP_OF_FRONT = 40 };

/* A message is one line of text for a terminal, but it may quote names and strings of hostile files. */
static void replace_controls(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}

/* Shortens text of length n to at most `room` bytes so that no UTF-8 sequence is cut through. */
static size_t fit(const char *s, size_t n, size_t room)
{
    if (n <= room)
        return n;
    while (room > 0 && ((unsigned char)s[room] & 0xc0) == 0x80)
        room--;
    return room;
}

/* Writes "front: back" to the message. If both do not fit, the front is cut first, because the back says what went
 * wrong; but a part of it stays, because it says where. */
static void join(char *message, const char *front, const char *back)
{
    char text[MESSAGE_SIZE];
    size_t nfront = strlen(front), nback = strlen(back), room = MESSAGE_SIZE - 1 - 2;
    bool cut = nfront + nback > room;
    size_t least = nfront < KEEP_OF_FRONT ? nfront : KEEP_OF_FRONT;

    if (cut) {
        nback = fit(back, nback, room - least);
        if (nfront > room - nback)
            nfront = room - nback < 3 ? 0 : fit(front, nfront, room - nback - 3);
        else
            cut = false;
    }
    snprintf(text, sizeof text, "%.*s%s: %.*s", (int)nfront, front, cut ? "..." : "", (int)nback, back);
    memcpy(message, text, strlen(text) + 1);
    replace_controls(message);
}

/* Formats at most MESSAGE_SIZE - 1 bytes, never directly into the message, since the arguments may point there. One
 * more byte shows whether the cut splits a UTF-8 sequence. */
TL_PRINTF(2, 0) static void format_text(char text[MESSAGE_SIZE + 1], const char *format, va_list ap)
{
    int n = vsnprintf(text, MESSAGE_SIZE + 1, format, ap);
    if (n < 0)
        text[0] = '\0';
    else if (n >= MESSAGE_SIZE)
        text[fit(text, MESSAGE_SIZE, MESSAGE_SIZE - 1)] = '\0';
}

int tl_fail(tl_error *e, tl_code code, uint64_t offset, const char *format, ...)
{
    assert(code < 0);
    if (!e)
        return code;

    char text[MESSAGE_SIZE + 1];
    va_list ap;
    va_start(ap, format);
    format_text(text, format, ap);
    va_end(ap);
    e->code = code;
    e->sys_errno = 0;
    e->offset = offset;
    memcpy(e->message, text, strlen(text) + 1);
    replace_controls(e->message);
    return code;
}

/* strerror_r() has two versions: POSIX fills the buffer and returns an int, GNU returns the text. */
static const char *text_of_posix(int result, const char *buffer)
{
    return result == 0 ? buffer : "unknown error";
}

static const char *text_of_gnu(const char *result, const char *buffer)
{
    (void)buffer;
    return result;
}

int tl_fail_errno(tl_error *e, int sys_errno, const char *format, ...)
{
    tl_code code = sys_errno == ENOMEM ? TL_ENOMEM : TL_EIO;
    if (!e)
        return code;

    char front[MESSAGE_SIZE + 1], buffer[128];
    va_list ap;
    va_start(ap, format);
    format_text(front, format, ap);
    va_end(ap);
    const char *back = _Generic(strerror_r(0, buffer, 0), int
                                : text_of_posix, default
                                : text_of_gnu)(strerror_r(sys_errno, buffer, sizeof buffer), buffer);
    join(e->message, front, back);
    e->code = code;
    e->sys_errno = sys_errno;
    e->offset = TL_NO_OFFSET;
    return code;
}

int tl_error_context(tl_error *e, const char *format, ...)
{
    if (!e)
        return TL_EINVAL;

    char front[MESSAGE_SIZE + 1];
    va_list ap;
    va_start(ap, format);
    format_text(front, format, ap);
    va_end(ap);
    join(e->message, front, e->message);
    return e->code;
}

const char *tl_code_name(int code)
{
    switch (code) {
    case TL_OK:
        return "ok";
    case TL_ENOMEM:
        return "out of memory";
    case TL_EIO:
        return "input/output error";
    case TL_EFORMAT:
        return "unknown format";
    case TL_EDAMAGED:
        return "damaged";
    case TL_EUNSUPPORTED:
        return "unsupported";
    case TL_EINVAL:
        return "invalid argument";
    case TL_EEXIST:
        return "file exists";
    case TL_ENOMATCH:
        return "no match";
    case TL_ELIMIT:
        return "limit reached";
    case TL_ESYNTAX:
        return "syntax error";
    default:
        return code > 0 ? "ok" : "unknown error";
    }
}
