/* Reads the environment variable TRACELOOM_DOTNET. */
#include "managed/managed_settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "managed/managed_sampler.h"
#include "rt/rt_say.h"

enum { PERIOD_MS = 4, PERIOD_MOST_MS = 10000 };

/* Copies the path, with the process in place of %p. False: it is too long. */
static bool read_path(managed_settings *s, const char *value)
{
    char number[16];
    size_t n = 0;
    snprintf(number, sizeof number, "%d", (int)getpid());
    for (; *value; value++) {
        const bool pid = value[0] == '%' && value[1] == 'p';
        const size_t more = pid ? strlen(number) : 1;
        if (n + more >= sizeof s->out)
            return false;
        memcpy(s->out + n, pid ? number : value, more);
        n += more;
        value += pid || (value[0] == '%' && value[1] == '%');
    }
    s->out[n] = 0;
    return n > 0;
}

static bool read_switch(const char *value, bool *out)
{
    *out = strcmp(value, "on") == 0;
    return *out || strcmp(value, "off") == 0;
}

/* All objects, none, or one for so many bytes. */
static bool read_allocations(const char *value, uint64_t *out)
{
    bool all;
    if (!read_switch(value, &all))
        return tl_rt_read_size(value, out) && *out >= MANAGED_EVERY_OBJECT && *out <= MANAGED_EVERY_MOST;
    *out = all ? MANAGED_EVERY_OBJECT : 0;
    return true;
}

/* The place of a word in a list that ends with NULL; -1: it is not there. */
static int place_of(const char *value, const char *const *word)
{
    for (int i = 0; word[i]; i++)
        if (strcmp(value, word[i]) == 0)
            return i;
    return -1;
}

static bool read_clock(const char *value, managed_clock *out)
{
    static const char *const word[] = {
        [MANAGED_CPU] = "cpu", [MANAGED_WALL] = "wall", [MANAGED_NO_SAMPLES] = "off", NULL};
    const int place = place_of(value, word);
    *out = place < 0 ? *out : (managed_clock)place;
    return place >= 0;
}

static bool read_jit(const char *value, managed_jit *out)
{
    static const char *const word[] = {[MANAGED_JIT] = "on", [MANAGED_JIT_ALL] = "all", [MANAGED_NO_JIT] = "off", NULL};
    const int place = place_of(value, word);
    *out = place < 0 ? *out : (managed_jit)place;
    return place >= 0;
}

/* NULL, or what is expected. */
static const char *read_pair(managed_settings *s, const char *key, const char *value)
{
    const struct {
        const char *key;
        bool *value;
    } switches[] = {{"heap", &s->heap},
                    {"classes", &s->classes},
                    {"lines", &s->lines},
                    {"attached", &s->attached},
                    {"strict", &s->strict}};
    uint64_t ns = 0;
    for (size_t i = 0; i < TL_COUNT(switches); i++)
        if (strcmp(key, switches[i].key) == 0)
            return read_switch(value, switches[i].value) ? NULL : "expected on or off";
    if (strcmp(key, "alloc") == 0)
        return read_allocations(value, &s->alloc) ? NULL : "expected on, off, or a size of up to 1G, such as 64K";
    if (strcmp(key, "jit") == 0)
        return read_jit(value, &s->jit) ? NULL : "expected on, all or off";
    if (strcmp(key, "start") == 0) {
        const bool fine = read_switch(value, &s->paused);
        s->paused = !s->paused;
        return fine ? NULL : "expected on or off";
    }
    if (strcmp(key, "out") == 0)
        return read_path(s, value) ? NULL : "expected a path, and not too long a one";
    if (strcmp(key, "sample") == 0)
        return read_clock(value, &s->clock) ? NULL : "expected cpu, wall or off";
    if (strcmp(key, "period") != 0)
        return "unknown; there are out, sample, period, alloc, heap, lines, jit, classes, start, attached and strict";
    if (!tl_rt_read_time(value, &ns) || ns % 1000000 || ns == 0 || ns / 1000000 > PERIOD_MOST_MS)
        return "expected whole milliseconds, 1ms to 10s";
    s->period_ms = (uint32_t)(ns / 1000000);
    return NULL;
}

/* Takes the next pair out of the text; a word that is too long is cut, and then no key or value that is known. */
static const char *take_pair(const char *text, char word[static PATH_MAX + 32], char **value)
{
    size_t n = 0;
    *value = NULL;
    for (; *text && *text != ':'; text++) {
        if (*text == '\\' && text[1])
            text++;
        else if (*text == '=' && !*value) {
            word[n++] = 0;
            *value = word + n;
            continue;
        }
        if (n < PATH_MAX + 30)
            word[n++] = *text;
    }
    word[n] = 0;
    return *text ? text + 1 : text;
}

bool managed_settings_read(managed_settings *s, const char *text, char error[static 256])
{
    char word[PATH_MAX + 32], *value;
    *s = (managed_settings){.clock = MANAGED_CPU, .period_ms = PERIOD_MS};
    snprintf(s->out, sizeof s->out, "mono.%d.log", (int)getpid());
    while (text && *text) {
        text = take_pair(text, word, &value);
        if (!*word && !value)
            continue;
        const char *why = value ? read_pair(s, word, value) : "expected KEY=VALUE";
        if (why) {
            snprintf(error, 256, "TRACELOOM_DOTNET: %.40s%s%.80s: %s", word, value ? "=" : "", value ? value : "", why);
            return false;
        }
    }
    return true;
}
