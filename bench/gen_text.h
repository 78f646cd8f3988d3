/* Text for a benchmark's generator: one buffer in front of standard output, and numbers in the style of trace logs. */
#ifndef BENCH_GEN_TEXT_H
#define BENCH_GEN_TEXT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, ROOM_FOR_A_LINE = 16384 };

static char buffer[BUFFER], *at = buffer;
static uint64_t flushed; /* bytes */

static void flush(void)
{
    for (const char *p = buffer; p < at;) {
        const ssize_t n = write(STDOUT_FILENO, p, (size_t)(at - p));
        if (n <= 0)
            exit(1);
        p += n;
    }
    flushed += (uint64_t)(at - buffer);
    at = buffer;
}

/* For rare records; samples avoid printf. */
static void __attribute__((format(printf, 1, 2))) put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(at, (size_t)(buffer + BUFFER - at), format, arguments);
    va_end(arguments);
    if (n < 0 || n >= buffer + BUFFER - at)
        abort();
    at += n;
}

static void decimal(char before, uint64_t v)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    *at++ = before;
    while (n > 0)
        *at++ = digits[--n];
}

static void padded(char before, uint64_t v, int digits)
{
    *at++ = before;
    *at++ = '0';
    *at++ = 'x';
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        *at++ = "0123456789ABCDEF"[v >> shift & 15];
}

static void hex(char before, uint64_t v)
{
    int shift = 0;
    while (shift < 60 && v >> (shift + 4) != 0)
        shift += 4;
    *at++ = before;
    *at++ = '0';
    *at++ = 'x';
    for (; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[v >> shift & 15];
}

#endif
