/* Reporting problems of packets: one list for all files of a trace. */
#include <stdarg.h>
#include <stdio.h>

#include "format/ctf/read/ctf_file.h"

int ctf_report(tl_trace *t, const ctf_file *f, unsigned kind, uint64_t at, uint64_t offset, uint64_t bytes,
               const char *rule, const char *format, ...)
{
    if (!t)
        return 0;
    char text[200];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    const tl_damage d = {.offset = offset, .bytes = bytes, .at = at, .kind = kind, .rule = rule, .file = f->name};
    return tl_trace_report(t, NULL, &d, "%s", text);
}
