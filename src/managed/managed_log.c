/* Spells and writes the lines. A buffer of whole lines goes to the file at a time, so that a kill leaves whole ones,
 * except perhaps the last. */
#include "managed/managed_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "managed/managed_control.h"
#include "managed/managed_sampler.h"
#include "rt/rt_say.h"

enum { BUFFER = 1 << 18, FULL = 1 << 16, SHORT_TEXT = 512 };

managed_settings managed_set;
_Atomic bool managed_on, managed_paused;
_Atomic uint32_t managed_pauses;
bool managed_taken;

static int file = -1;
static off_t written;
static uint64_t start_ns, lost_facts;
static char buffer[BUFFER];
static size_t used, whole; /* bytes; and of these, in whole lines */
static pthread_mutex_t facts_lock = PTHREAD_MUTEX_INITIALIZER;
static char *facts;
static size_t facts_used, facts_room;

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t managed_now(void)
{
    return clock_ns(CLOCK_MONOTONIC) - start_ns;
}

void managed_say(const char *what, const char *path, int error)
{
    char text[2 * PATH_MAX];
    if (managed_set.attached)
        return;
    const int n = snprintf(text, sizeof text, "traceloom: %s%s%s%s%s\n", what, path ? " " : "", path ? path : "",
                           error ? ": " : "", error ? tl_rt_errno_text(error) : "");
    const ssize_t put = write(STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    (void)put;
}

/* ---- the file ---- */

static void fail(int error)
{
    managed_on = false;
    managed_say("later lines are missing in", managed_set.out, error);
    if (ftruncate(file, written) != 0) /* a line cut in the middle; if it stays, readers leave it out */
        used = 0;
    used = whole = 0;
    close(file);
    file = -1;
}

static bool write_all(const char *from, size_t n)
{
    while (n > 0) {
        const ssize_t put = write(file, from, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            fail(put < 0 ? errno : ENOSPC);
            return false;
        }
        from += put;
        n -= (size_t)put;
    }
    return true;
}

void managed_log_flush(void)
{
    if (file < 0 || whole == 0)
        return;
    if (!write_all(buffer, whole))
        return;
    written += (off_t)whole;
    used -= whole;
    memmove(buffer, buffer + whole, used);
    whole = 0;
}

/* ---- parts of a line ---- */

/* Room in the buffer. A line that is longer than all of it goes out in parts. */
static char *room(size_t n)
{
    if (used + n > BUFFER) {
        managed_log_flush();
        if (used + n > BUFFER) {
            if (file >= 0)
                write_all(buffer, used);
            used = whole = 0;
        }
    }
    return buffer + used;
}

void managed_text(const char *s)
{
    for (size_t n = strlen(s); n > 0;) {
        const size_t part = n < SHORT_TEXT ? n : SHORT_TEXT;
        memcpy(room(part), s, part);
        used += part;
        s += part;
        n -= part;
    }
}

void managed_number(uint64_t v)
{
    char digit[20];
    unsigned n = 0;
    do
        digit[n++] = (char)('0' + v % 10);
    while (v /= 10);
    char *at = room(n);
    for (unsigned i = 0; i < n; i++)
        at[i] = digit[n - 1 - i];
    used += n;
}

static void put_hex(uint64_t v, unsigned digits, const char *digit)
{
    char *at = room(digits + 2);
    at[0] = '0';
    at[1] = 'x';
    for (unsigned i = digits; i-- > 0; v >>= 4)
        at[2 + i] = digit[v & 15];
    used += digits + 2;
}

static unsigned digits_of(uint64_t v)
{
    return v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;
}

void managed_hex(uint64_t v, unsigned least)
{
    const unsigned n = digits_of(v);
    put_hex(v, n > least ? n : least, "0123456789ABCDEF");
}

void managed_item(uint64_t v)
{
    put_hex(v, digits_of(v), "0123456789abcdef");
}

void managed_line_end(void)
{
    *room(1) = '\n';
    used++;
    whole = used;
    if (used >= FULL)
        managed_log_flush();
}

/* ---- facts ---- */

const char *managed_clean(char *s)
{
    if (!s)
        return "";
    for (char *c = s; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    return s;
}

void managed_fact(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    pthread_mutex_lock(&facts_lock);
    if (n >= 0 && TL_GROW(facts, facts_used, (size_t)n, facts_room)) {
        memcpy(facts + facts_used, text, (size_t)n);
        facts_used += (size_t)n;
    } else {
        lost_facts++;
    }
    pthread_mutex_unlock(&facts_lock);
    if (n >= 0)
        free(text);
}

void managed_facts_write(void)
{
    pthread_mutex_lock(&facts_lock);
    char *from = facts;
    const size_t n = facts_used;
    facts = NULL;
    facts_used = facts_room = 0;
    pthread_mutex_unlock(&facts_lock);
    for (size_t at = 0; at < n;) {
        const size_t part = n - at < SHORT_TEXT ? n - at : SHORT_TEXT;
        memcpy(room(part), from + at, part);
        used += part;
        at += part;
        if (from[at - 1] == '\n')
            whole = used;
    }
    free(from);
}

/* ---- begin and end ---- */

static void put_setting(const char *name, const char *value)
{
    managed_text("prf cfg ");
    managed_text(name);
    managed_text(" ");
    managed_text(value);
    managed_line_end();
}

static void put_begin(const char *recorder, const char *runtime)
{
    struct timespec now;
    struct tm parts;
    char text[48], zone[8];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    const size_t n = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    strftime(zone, sizeof zone, "%z", &parts);
    snprintf(text + n, sizeof text - n, ".%03ld %.3s:%.2s", now.tv_nsec / 1000000, zone, zone + 3);
    managed_text("prf stm ");
    managed_text(text);
    managed_line_end();
    put_setting("Recorder", recorder);
    put_setting("Runtime", runtime);
    put_setting("CollectionMethod", "Sampling");
    snprintf(text, sizeof text, "%u", managed_set.period_ms);
    put_setting("SamplingTimeoutMs", text);
    put_setting("SamplingClock", managed_set.clock == MANAGED_CPU    ? "cpu"
                                 : managed_set.clock == MANAGED_WALL ? "wall"
                                                                     : "off");
    put_setting("CpuTraceProcessEnabled", "T");
    put_setting("CpuTraceThreadEnabled", "T");
    put_setting("CpuTraceTimeoutMs", "100");
    put_setting("StackTrackingEnabled", managed_set.alloc ? "T" : "F");
    put_setting("MemoryTraceEnabled", managed_set.alloc ? "T" : "F");
    if (managed_set.alloc > MANAGED_EVERY_OBJECT) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)managed_set.alloc);
        put_setting("AllocationSampling", text);
    }
    if (managed_paused)
        put_setting("TracingSuspendedOnStart", "T");
    put_setting("LineTraceEnabled", managed_set.lines ? "T" : "F");
}

bool managed_log_open(const char *recorder, const char *runtime)
{
    const int make = managed_set.attached ? O_NOFOLLOW : O_CREAT | (managed_set.strict ? O_EXCL : O_TRUNC);
    file = open(managed_set.out, O_WRONLY | make | O_CLOEXEC | O_NOCTTY, 0666);
    managed_taken = managed_set.strict && file < 0 && errno == EEXIST;
    if (managed_taken)
        return false;
    if (file < 0) {
        managed_say("cannot record to", managed_set.out, errno);
        return false;
    }
    start_ns = clock_ns(CLOCK_MONOTONIC);
    managed_paused = managed_set.paused;
    put_begin(recorder, runtime);
    managed_log_flush();
    managed_on = file >= 0;
    return managed_on;
}

void managed_log_pause(bool pause)
{
    managed_pauses += pause;
    managed_paused = pause;
    managed_text(pause ? "prf tps " : "prf trs ");
    managed_number(managed_now() / 1000000);
    managed_line_end();
}

uint64_t managed_log_bytes(void)
{
    return (uint64_t)written;
}

bool managed_log_is_left(void)
{
    return managed_set.attached && file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
}

void managed_log_close(void)
{
    if (lost_facts) {
        char text[24];
        snprintf(text, sizeof text, "%llu", (unsigned long long)lost_facts);
        put_setting("LostFacts", text);
    }
    managed_log_flush();
    if (file >= 0 && close(file) != 0)
        managed_say("later lines are missing in", managed_set.out, errno);
    file = -1;
}

void managed_log_child(void)
{
    managed_on = false;
    managed_control_end();
    close(file);
    file = -1;
    used = whole = 0;
}
