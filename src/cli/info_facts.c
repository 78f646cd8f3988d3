/* Texts that both ways of showing `info` share. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/compiler.h"
#include "cli/verb_info.h"

const char *tl_kind_name(tl_kind kind)
{
    static const char *const name[] = {"enter", "exit", "instant", "counter", "sample", "insn",
                                       "mem",   "regs", "state",   "loss",    "format"};
    return (size_t)kind < TL_COUNT(name) ? name[kind] : "instant";
}

char *tl_utc_text(char *buf, size_t size, int64_t ns)
{
    int64_t second = ns / 1000000000, rest = ns % 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        second--;
    }
    time_t when = (time_t)second;
    struct tm tm;
    size_t n = 0;
    if ((int64_t)when == second && gmtime_r(&when, &tm))
        n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(buf + n, size - n, ".%09" PRId64 "Z", rest);
    return buf;
}
