/* Reads the environment variable TRACELOOM. */
#include "rt/rt_settings.h"

#include "rt/rt_say.h"

enum { ERROR_SIZE = 256, SHOWN = 80, RING_MIN = 64 << 10, DEPTH_MAX = 1 << 20 };

/* State of reading, and its destination. */
typedef struct reader {
    rt_settings *s;
    char *error;
    const char *value; /* of the current pair, for messages */
    bool live;         /* while the program runs: some settings cannot change */
} reader;

static bool wrong(reader *r, const char *key, const char *what)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, key);
    if (r->value) {
        tl_rt_line_text(&l, "=");
        tl_rt_line_text(&l, r->value);
    }
    if (l.n > SHOWN) { /* the message matters more than the whole value */
        l.n = SHOWN;
        tl_rt_line_text(&l, "...");
    }
    tl_rt_line_text(&l, ": ");
    tl_rt_line_text(&l, what);
    size_t n = l.n < ERROR_SIZE - 1 ? l.n : ERROR_SIZE - 1;
    rt_copy(r->error, l.text, n);
    r->error[n] = 0;
    return false;
}

void tl_rt_settings_default(rt_settings *s)
{
    rt_zero(s, sizeof *s);
    s->modes = RT_MODE_PROFILE;
    s->out = "%e.%p";
    s->clock = "auto";
    s->start = s->control = true;
}

const char *tl_rt_settings_mode(unsigned modes)
{
    static const char *const name[] = {[RT_MODE_FDR] = "fdr",
                                       [RT_MODE_PROFILE] = "profile",
                                       [RT_MODE_FDR | RT_MODE_PROFILE] = "fdr,profile",
                                       [RT_MODE_CTF] = "ctf"};
    return modes < sizeof name / sizeof name[0] && name[modes] ? name[modes] : "none";
}

/* Strings are stored one after another; the end of the last one within the settings' own text. */
static char *text_end(rt_settings *s)
{
    char *end = s->text;
    const char *in_use[2 + 3 * RT_GLOBS];
    unsigned n = 0;
    in_use[n++] = s->out;
    in_use[n++] = s->clock;
    for (unsigned i = 0; i < s->nfunc; i++)
        in_use[n++] = s->func[i];
    for (unsigned i = 0; i < s->nnot; i++)
        in_use[n++] = s->not_func[i];
    for (unsigned i = 0; i < s->nlibs; i++)
        in_use[n++] = s->libs[i];
    for (unsigned i = 0; i < n; i++)
        if (in_use[i] >= end && in_use[i] < s->text + RT_TEXT)
            end = s->text + (in_use[i] - s->text) + rt_length(in_use[i]) + 1;
    return end;
}

/* Keeps a string; NULL if there is no room. */
static const char *keep(rt_settings *s, const char *value)
{
    char *at = text_end(s);
    size_t n = rt_length(value) + 1;
    if (n > (size_t)(s->text + RT_TEXT - at))
        return NULL;
    rt_copy(at, value, n);
    return at;
}

/* A string of `from` for the copy: a constant, or moved to the copy's text, which has the same room. */
static const char *carry(rt_settings *to, const rt_settings *from, const char *s)
{
    return s >= from->text && s < from->text + RT_TEXT ? keep(to, s) : s;
}

void tl_rt_settings_copy(rt_settings *to, const rt_settings *from)
{
    rt_copy(to, from, sizeof *to);
    to->out = to->clock = "";
    to->nfunc = to->nnot = to->nlibs = 0;
    to->out = carry(to, from, from->out);
    to->clock = carry(to, from, from->clock);
    for (unsigned i = 0; i < from->nfunc; i++) {
        to->func[i] = carry(to, from, from->func[i]);
        to->nfunc = i + 1;
    }
    for (unsigned i = 0; i < from->nnot; i++) {
        to->not_func[i] = carry(to, from, from->not_func[i]);
        to->nnot = i + 1;
    }
    for (unsigned i = 0; i < from->nlibs; i++) {
        to->libs[i] = carry(to, from, from->libs[i]);
        to->nlibs = i + 1;
    }
}

static bool read_mode(reader *r, const char *key, const char *value)
{
    for (unsigned modes = 1; modes <= RT_MODE_CTF; modes++)
        if (tl_rt_same(value, tl_rt_settings_mode(modes))) {
            r->s->modes = modes;
            return r->s->has_mode = true;
        }
    if (tl_rt_same(value, "profile,fdr")) {
        r->s->modes = RT_MODE_FDR | RT_MODE_PROFILE;
        return r->s->has_mode = true;
    }
    return wrong(r, key, "expected fdr, profile, ctf or fdr,profile");
}

static bool read_switch(reader *r, const char *key, const char *value, bool *out)
{
    bool on = tl_rt_same(value, "on");
    if (!on && !tl_rt_same(value, "off"))
        return wrong(r, key, "expected on or off");
    *out = on;
    return true;
}

static bool read_pattern(reader *r, const char *key, const char *value, const char **list, unsigned *n)
{
    if (!*value && r->live)
        return true; /* the list was emptied, and nothing added */
    if (!*value)
        return wrong(r, key, "expected a pattern of names");
    if (*n == RT_GLOBS)
        return wrong(r, key, "there are too many patterns");
    list[*n] = keep(r->s, value);
    if (!list[*n])
        return wrong(r, key, "the settings are too long");
    ++*n;
    return true;
}

static bool read_string(reader *r, const char *key, const char *value, const char **out)
{
    const char *kept = keep(r->s, value);
    if (!*value)
        return wrong(r, key, "expected a path");
    if (!kept || rt_length(value) >= RT_PATH - 64) /* room for numbers and suffixes */
        return wrong(r, key, "is too long");
    *out = kept;
    return true;
}

static const char cannot_change[] = "cannot change while the program runs";

/* Keys whose values are numbers. */
static bool read_amount(reader *r, const char *key, const char *value)
{
    rt_settings *s = r->s;
    uint64_t v = 0;
    if (r->live && (tl_rt_same(key, "ring") || tl_rt_same(key, "limit") || tl_rt_same(key, "min-size")))
        return wrong(r, key, cannot_change);
    if (tl_rt_same(key, "ring")) {
        bool all = tl_rt_same(value, "all");
        if (!all && (!tl_rt_read_size(value, &v) || v < RING_MIN))
            return wrong(r, key, "expected a size from 64K on, such as 64M, or all");
        s->ring = v;
    } else if (tl_rt_same(key, "limit")) {
        if (!tl_rt_read_size(value, &v) || (v && v < RING_MIN))
            return wrong(r, key, "expected a size from 64K on, such as 1G");
        s->limit = v;
    } else if (tl_rt_same(key, "threshold")) {
        if (!tl_rt_read_time(value, &v))
            return wrong(r, key, "expected a time such as 5us");
        s->threshold_ns = v;
    } else if (tl_rt_same(key, "min-size")) {
        if (!tl_rt_read_size(value, &v) || v > UINT32_MAX)
            return wrong(r, key, "expected a number of bytes");
        s->min_size = (uint32_t)v;
    } else {
        if (!tl_rt_read_number(value, &v) || v > DEPTH_MAX)
            return wrong(r, key, "expected a number of calls");
        s->depth = (uint32_t)v;
    }
    return true;
}

static bool read_clock(reader *r, const char *key, const char *value)
{
    static const char *const clock[] = {"auto", "tsc", "monotonic"};
    for (size_t i = 0; i < sizeof clock / sizeof clock[0]; i++)
        if (tl_rt_same(value, clock[i])) {
            r->s->clock = clock[i];
            return true;
        }
    return wrong(r, key, "expected auto, tsc or monotonic");
}

static bool read_patch(reader *r, const char *key, const char *value)
{
    static const char *const word[] = {[RT_PATCH_OFF] = "off", [RT_PATCH_AUTO] = "auto", [RT_PATCH_ON] = "on"};
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        if (tl_rt_same(value, word[i])) {
            r->s->patch = (uint8_t)i;
            return true;
        }
    return wrong(r, key, "expected off, auto or on");
}

/* The program's file: device and inode, as stat() has them. */
static bool read_exe(reader *r, const char *key, const char *value)
{
    char device[24];
    size_t n = 0;
    while (value[n] && value[n] != ':')
        n++;
    if (value[n] != ':' || n >= sizeof device)
        return wrong(r, key, "expected DEVICE:INODE");
    rt_copy(device, value, n);
    device[n] = 0;
    if (!tl_rt_read_number(device, &r->s->exe_device) || !tl_rt_read_number(value + n + 1, &r->s->exe_inode))
        return wrong(r, key, "expected DEVICE:INODE");
    return r->s->has_exe = true;
}

/* A pair that is only allowed before the program runs. */
static bool read_early(reader *r, const char *key, const char *value)
{
    rt_settings *s = r->s;
    const struct {
        const char *key;
        bool *value;
    } on_off[] = {{"start", &s->start},
                  {"strict", &s->strict},
                  {"control", &s->control},
                  {"quiet", &s->quiet},
                  {"exact", &s->exact}};
    bool mode = tl_rt_same(key, "mode"), out = tl_rt_same(key, "out"), clock = tl_rt_same(key, "clock");
    bool libs = tl_rt_same(key, "libs"), patch = tl_rt_same(key, "patch"), exe = tl_rt_same(key, "exe");
    bool *sw = NULL;
    for (size_t i = 0; i < sizeof on_off / sizeof on_off[0]; i++)
        if (tl_rt_same(key, on_off[i].key))
            sw = on_off[i].value;
    if (!mode && !out && !clock && !libs && !patch && !exe && !sw)
        return wrong(r, key,
                     r->live
                         ? "unknown; threshold, func, not and depth can be set"
                         : "unknown; there are mode, out, ring, limit, threshold, func, not, depth, start, control, "
                           "clock, strict, quiet, patch, libs, exe, min-size and exact");
    if (r->live)
        return wrong(r, key, cannot_change);
    if (mode)
        return read_mode(r, key, value);
    if (out)
        return read_string(r, key, value, &s->out);
    if (libs)
        return read_pattern(r, key, value, s->libs, &s->nlibs);
    if (patch)
        return read_patch(r, key, value);
    if (exe)
        return read_exe(r, key, value);
    return clock ? read_clock(r, key, value) : read_switch(r, key, value, sw);
}

static bool read_pair(reader *r, const char *key, const char *value)
{
    static const char *const amounts[] = {"ring", "limit", "threshold", "depth", "min-size"};
    r->value = value;
    if (tl_rt_same(key, "func"))
        return read_pattern(r, key, value, r->s->func, &r->s->nfunc);
    if (tl_rt_same(key, "not"))
        return read_pattern(r, key, value, r->s->not_func, &r->s->nnot);
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        if (tl_rt_same(key, amounts[i]))
            return read_amount(r, key, value);
    return read_early(r, key, value);
}

/* Takes one pair out of the text, and advances *p. "" is not a pair. The value is NULL without a '='. False: it is
 * longer than `word`. */
static bool split_pair(const char **p, char *word, size_t size, const char **value)
{
    size_t n = 0;
    const char *t = *p;
    *value = NULL;
    for (; *t && n + 2 < size; t++) {
        if (*t == '\\' && t[1])
            t++;
        else if (*t == ':' && t[1] == ':' && *value)
            word[n++] = *t++; /* the second one is copied below */
        else if (*t == ':')
            break;
        else if (*t == '=' && !*value) {
            word[n++] = 0;
            *value = word + n;
            continue;
        }
        word[n++] = *t;
    }
    word[n] = 0;
    bool whole = !*t || n + 2 < size;
    *p = *t ? t + 1 : t;
    return whole;
}

static bool read_pairs(reader *r, const char *text)
{
    enum { PAIR_SIZE = RT_PATH };
    char word[PAIR_SIZE];
    bool first_func = r->live, first_not = r->live; /* new values replace the old list */
    while (*text) {
        const char *value;
        bool whole = split_pair(&text, word, sizeof word, &value);
        r->value = value;
        if (!whole)
            return wrong(r, word, "is too long");
        r->value = NULL;
        if (!*word && !value)
            continue;
        if (!value)
            return wrong(r, word, "expected KEY=VALUE");
        if (first_func && tl_rt_same(word, "func")) {
            r->s->nfunc = 0;
            first_func = false;
        }
        if (first_not && tl_rt_same(word, "not")) {
            r->s->nnot = 0;
            first_not = false;
        }
        bool ok = read_pair(r, word, value);
        r->value = NULL;
        if (!ok)
            return false;
    }
    r->value = NULL;
    if (r->s->ring && !(r->s->modes & RT_MODE_FDR))
        return wrong(r, "ring", "is for mode=fdr");
    if (r->s->threshold_ns && !(r->s->modes & RT_MODE_FDR))
        return wrong(r, "threshold", "is for mode=fdr");
    return true;
}

bool tl_rt_settings_read(rt_settings *s, const char *text, char error[static 256])
{
    reader r = {s, error, NULL, false};
    return read_pairs(&r, text);
}

bool tl_rt_settings_set(rt_settings *s, const char *pairs, char error[static 256])
{
    static rt_settings changed; /* static: one thread takes all commands, on a small stack */
    tl_rt_settings_copy(&changed, s);
    reader r = {&changed, error, NULL, true};
    if (!*pairs) {
        wrong(&r, "set", "expected KEY=VALUE");
        return false;
    }
    if (!read_pairs(&r, pairs))
        return false;
    tl_rt_settings_copy(s, &changed);
    return true;
}
