/* The only list of formats, and lookup in it. */
#include <pthread.h>
#include <string.h>

#include "model/format_impl.h"

#define TL_FORMAT(symbol) extern const tl_format symbol;
#include "formats.def"
#undef TL_FORMAT

const tl_format *const tl_format_list[] = {
#define TL_FORMAT(symbol) &symbol,
#include "formats.def"
#undef TL_FORMAT
    NULL};

/* A format's capabilities follow from its roles. */
static unsigned capabilities(const tl_format *f)
{
    unsigned can = 0;
    if (f->reader && f->reader->stream_next)
        can |= TL_CAN_READ_EVENTS;
    if (f->reader && f->reader->profile)
        can |= TL_CAN_READ_PROFILE;
    if (f->event_writer)
        can |= TL_CAN_WRITE_EVENTS;
    if (f->profile_writer)
        can |= TL_CAN_WRITE_PROFILE;
    return can;
}

const tl_format *tl_format_by_name(const char *name)
{
    for (const tl_format *const *f = tl_format_list; *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

/* Does the path, before any compression suffix, end in one of the format's suffixes? Returns the length of that. */
static size_t match_suffix(const char *suffixes, const char *path, size_t length)
{
    size_t longest = 0;
    for (const char *s = suffixes; s && *s;) {
        size_t n = strcspn(s, " ");
        if (n <= length && n > longest && memcmp(path + length - n, s, n) == 0)
            longest = n;
        s += n;
        s += strspn(s, " ");
    }
    return longest;
}

/* The format whose suffix ends the path, among those that can do `can`, or those that may be empty. */
static const tl_format *find_by_suffix(const char *path, unsigned can, bool empty)
{
    static const char *const compressions[] = {"", ".gz", ".zst"};
    const tl_format *best = NULL;
    size_t longest = 0;
    for (size_t c = 0; c < TL_COUNT(compressions); c++) {
        size_t length = strlen(path), tail = strlen(compressions[c]);
        if (tail > length || strcmp(path + length - tail, compressions[c]) != 0)
            continue;
        for (const tl_format *const *f = tl_format_list; *f; f++) {
            const bool fits = capabilities(*f) & can && (!empty || (*f)->reader->may_be_empty);
            size_t n = fits ? match_suffix((*f)->suffixes, path, length - tail) : 0;
            if (n > longest) {
                longest = n;
                best = *f;
            }
        }
    }
    return best;
}

const tl_format *tl_format_by_suffix(const char *path, unsigned can)
{
    return find_by_suffix(path, can, false);
}

const tl_format *tl_format_of_empty(const char *path)
{
    return find_by_suffix(path, TL_CAN_READ_EVENTS, true);
}

static tl_format_info info[TL_COUNT(tl_format_list)];
static pthread_once_t info_once = PTHREAD_ONCE_INIT;

static void fill_info(void)
{
    for (uint32_t i = 0; tl_format_list[i]; i++) {
        const tl_format *f = tl_format_list[i];
        info[i] =
            (tl_format_info){.name = f->name, .summary = f->summary, .suffixes = f->suffixes, .can = capabilities(f)};
    }
}

uint32_t tl_formats(void)
{
    return (uint32_t)TL_COUNT(tl_format_list) - 1;
}

const tl_format_info *tl_format_get(uint32_t index)
{
    pthread_once(&info_once, fill_info);
    return index < tl_formats() ? &info[index] : NULL;
}
