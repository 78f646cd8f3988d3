/* Formats system calls. */
#include "analysis/instruction/syscall_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/instruction/linux_names.h"
#include "base/compiler.h"

#define BYTES_SHOWN 32u
#define PATH_SHOWN  256u
#define O_CREATE    UINT64_C(0100) /* of AArch64 */
#define O_TMPFILE_  UINT64_C(020000000)

/* Text that is cut at the end of its buffer. */
typedef struct writer {
    char *buf;
    size_t size, at;
} writer;

static TL_PRINTF(2, 3) void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(w->buf + w->at, w->size - w->at, format, arguments);
    va_end(arguments);
    if (n > 0)
        w->at = (size_t)n < w->size - w->at ? w->at + (size_t)n : w->size - 1;
}

static void put_byte(writer *w, uint8_t c, bool digit_follows)
{
    static const char escape[] = "\a\b\t\n\v\f\r\"\\", letter[] = "abtnvfr\"\\";
    const char *found = c ? strchr(escape, c) : NULL;
    if (found)
        put(w, "\\%c", letter[found - escape]);
    else if (c >= ' ' && c < 0x7f)
        put(w, "%c", c);
    else
        put(w, digit_follows ? "\\%03o" : "\\%o", c);
}

static void put_bytes(writer *w, const uint8_t *data, size_t n, bool more)
{
    put(w, "\"");
    for (size_t i = 0; i < n; i++)
        put_byte(w, data[i], i + 1 < n && data[i + 1] >= '0' && data[i + 1] <= '9');
    put(w, more ? "\"..." : "\"");
}

static void put_pointer(writer *w, uint64_t v)
{
    if (v)
        put(w, "0x%" PRIx64, v);
    else
        put(w, "NULL");
}

static void put_hex(writer *w, uint64_t v)
{
    if (v)
        put(w, "0x%" PRIx64, v);
    else
        put(w, "0");
}

/* The content at an address, or the address if unknown. */
static void put_input(writer *w, uint64_t address, uint64_t size, const tl_shadow *memory)
{
    uint8_t data[BYTES_SHOWN];
    const size_t want = size < sizeof data ? (size_t)size : sizeof data;
    const size_t n = memory && want ? tl_shadow_get(memory, address, data, want) : 0;
    if (n || (size == 0 && address))
        put_bytes(w, data, n, n < size);
    else
        put_pointer(w, address);
}

static void put_string(writer *w, uint64_t address, const tl_shadow *memory)
{
    uint8_t data[PATH_SHOWN];
    const size_t n = memory && address ? tl_shadow_get(memory, address, data, sizeof data) : 0;
    const uint8_t *end = n ? memchr(data, 0, n) : NULL;
    if (n)
        put_bytes(w, data, end ? (size_t)(end - data) : n, !end);
    else
        put_pointer(w, address);
}

static void put_buffers(writer *w, const tl_call_values *c, unsigned i, bool input, const tl_shadow *memory)
{
    if (!c->has_buffers) {
        put_pointer(w, c->argument[i]);
        return;
    }
    put(w, "[");
    for (uint64_t k = 0; k < c->buffers && k < TL_CALL_BUFFERS; k++) {
        put(w, k ? ", {iov_base=" : "{iov_base=");
        put_input(w, c->buffer[k].base, c->buffer[k].bytes, input ? memory : NULL);
        put(w, ", iov_len=%" PRIu64 "}", c->buffer[k].bytes);
    }
    put(w, c->buffers > TL_CALL_BUFFERS ? ", ...]" : "]");
}

static void put_number(writer *w, char kind, uint64_t v)
{
    switch (kind) {
    case TL_ARG_INT:
    case TL_ARG_FD:
        put(w, "%" PRId32, (int32_t)(uint32_t)v);
        break;
    case TL_ARG_LONG:
        put(w, "%" PRId64, (int64_t)v);
        break;
    case TL_ARG_SIZE:
        put(w, "%" PRIu64, v);
        break;
    case TL_ARG_OCTAL:
        put(w, v & 0xffffffff ? "0%" PRIo32 : "%" PRIu32, (uint32_t)v);
        break;
    default:
        put_hex(w, v);
    }
}

static void put_argument(writer *w, const tl_call_values *c, char kind, unsigned i, const char *call,
                         const tl_shadow *memory)
{
    const uint64_t v = c->argument[i];
    char text[TL_LINUX_NAME_SIZE];
    switch (kind) {
    case TL_ARG_STRING:
        put_string(w, v, memory);
        break;
    case TL_ARG_INPUT:
        if (i + 1 < c->n)
            put_input(w, v, c->argument[i + 1], memory);
        else
            put_pointer(w, v);
        break;
    case TL_ARG_INPUTS:
    case TL_ARG_OUTPUTS:
        put_buffers(w, c, i, kind == TL_ARG_INPUTS, memory);
        break;
    case TL_ARG_POINTER:
    case TL_ARG_STRUCT:
    case TL_ARG_MEMORY:
    case TL_ARG_MAPPING:
    case TL_ARG_OUTPUT:
        put_pointer(w, v);
        break;
    default:
        if (tl_linux_value_name(text, kind, v, call))
            put(w, "%s", text);
        else
            put_number(w, kind, v);
    }
}

/* Permissions only apply to a file that is created. */
static bool is_said(const tl_call_values *c, const char *arguments, unsigned i)
{
    return !(i && arguments[i - 1] == TL_ARG_OPEN && arguments[i] == TL_ARG_OCTAL &&
             !(c->argument[i - 1] & (O_CREATE | O_TMPFILE_)));
}

size_t tl_call_text(char *buf, size_t size, const tl_call_values *c, const tl_shadow *memory)
{
    const tl_linux_call *call = tl_linux_call_of(c->number);
    writer w = {.buf = buf, .size = size};
    const char *arguments = call ? call->arguments : "xxxxxx";
    if (call)
        put(&w, "%s(", call->name);
    else
        put(&w, "syscall_0x%" PRIx64 "(", c->number);
    for (unsigned i = 0; arguments[i] && i < c->n; i++) {
        if (!is_said(c, arguments, i))
            continue;
        put(&w, i ? ", " : "");
        put_argument(&w, c, arguments[i], i, call ? call->name : "", memory);
    }
    put(&w, ")");
    return w.at;
}

size_t tl_call_result_text(char *buf, size_t size, uint64_t number, bool has_result, uint64_t result)
{
    const tl_linux_call *call = tl_linux_call_of(number);
    writer w = {.buf = buf, .size = size};
    if (!has_result) {
        put(&w, "?");
    } else if (tl_linux_is_error(result)) {
        const unsigned error = (unsigned)(0 - result);
        if (tl_linux_error_name(error))
            put(&w, "-1 %s (%s)", tl_linux_error_name(error), tl_linux_error_text(error));
        else
            put(&w, "-%u", error);
    } else if (call && call->flags & TL_SYSCALL_ADDRESS) {
        put_hex(&w, result);
    } else {
        put(&w, "%" PRId64, (int64_t)result);
    }
    return w.at;
}
