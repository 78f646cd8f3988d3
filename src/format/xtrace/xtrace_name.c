/* Names of recordings, and of the two files of a pair. */
#include "format/xtrace/xtrace_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/base_name.h"

static const char stream_word[] = "xinsndata", snapshot_word[] = "xsnapshot";

/* Skips digits; false if there are none, or more than fit an int64_t. */
static bool digits(const char **at, int64_t *number)
{
    const char *p = *at;
    int64_t n = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
            return false;
    const bool some = p > *at;
    *at = p;
    *number = n;
    return some;
}

static bool skip(const char **at, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Only a compression suffix may follow. */
static bool ends(const char *p)
{
    return !*p || strcmp(p, ".zst") == 0 || strcmp(p, ".gz") == 0 || strcmp(p, ".bz2") == 0;
}

/* "xtrace.<time>.<who>.hint<n>." at p? */
static bool parse_parts(xtrace_name *n, const char *p)
{
    int64_t hint = 0;
    if (!skip(&p, "xtrace."))
        return false;
    n->time = p;
    n->time_length = strcspn(p, ".");
    p += n->time_length;
    if (n->time_length == 0 || !skip(&p, "."))
        return false;
    const char *who = p;
    if (!digits(&p, &n->number) || (size_t)(p - who) >= sizeof n->who)
        return false;
    memcpy(n->who, who, (size_t)(p - who));
    n->who[p - who] = '\0';
    if (!skip(&p, ".hint") || !digits(&p, &hint) || (hint != 9 && hint != 13) || *p != '.')
        return false;
    n->hint = (unsigned)hint;
    p++;
    if ((!skip(&p, stream_word) && !skip(&p, snapshot_word)) || !skip(&p, ".bin"))
        return false;
    n->is_file = ends(p);
    return true;
}

/* Does the name contain the word, and end after ".bin"? Otherwise it belongs to a file about the other. */
static bool has_word(const char *name, const char *word)
{
    const char *p = strstr(name, word);
    if (!p)
        return false;
    p += strlen(word);
    return !skip(&p, ".bin") || ends(p);
}

void xtrace_name_parse(xtrace_name *n, const char *path)
{
    const char *name = tl_base_name(path);
    *n = (xtrace_name){.kind = has_word(name, snapshot_word) ? XTRACE_SNAPSHOTS
                               : has_word(name, stream_word) ? XTRACE_STREAM
                                                             : XTRACE_NO_KIND};
    for (const char *p = strstr(name, "xtrace."); p && !n->complete; p = strstr(p + 1, "xtrace."))
        n->complete = parse_parts(n, p);
    if (!n->complete)
        *n = (xtrace_name){.kind = n->kind, .who = "0", .hint = 9};
}

char *xtrace_name_partner(const char *path)
{
    const char *name = tl_base_name(path), *word = strstr(name, snapshot_word);
    const char *other = stream_word;
    if (!word) {
        word = strstr(name, stream_word);
        other = snapshot_word;
    }
    char *partner = word ? malloc(strlen(path) + 1) : NULL;
    if (!partner)
        return NULL;
    strcpy(partner, path);
    memcpy(partner + (word - path), other, sizeof stream_word - 1); /* both words have nine letters */
    return partner;
}
