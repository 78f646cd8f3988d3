/* Opens the other file of a pair: the snapshots of a stream, or the stream of snapshots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xtrace/xtrace_read.h"

/* Suffixes that may differ within a pair. */
static const char *const suffix[] = {"", ".zst", ".gz", ".bz2"};

/* The length of a path without a compression suffix. */
static size_t bare_length(const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 1; i < TL_COUNT(suffix); i++) {
        const size_t m = strlen(suffix[i]);
        if (n > m && strcmp(path + n - m, suffix[i]) == 0)
            return n - m;
    }
    return n;
}

/* 1: opened; 0: does not exist; < 0: error. */
static int try_path(tl_input **out, const char *path, tl_error *e)
{
    tl_error why = {0};
    int status = tl_input_open_beside(out, path, &why);
    if (status >= 0)
        return 1;
    if (why.code == TL_EIO && why.sys_errno == ENOENT)
        return 0;
    if (e)
        *e = why;
    return status;
}

int xtrace_partner_open(tl_input **out, const char *path, tl_error *e)
{
    xtrace_name name;
    xtrace_name_parse(&name, path);
    *out = NULL;
    if (name.kind == XTRACE_NO_KIND)
        return 0; /* without the word, nothing can be replaced */
    char *const other = xtrace_name_partner(path);
    int status = other ? try_path(out, other, e) : TL_ENOMEM;
    const size_t bare = other ? bare_length(other) : 0;
    char *const longer = other ? malloc(bare + sizeof ".bz2") : NULL;
    for (size_t i = 0; status == 0 && longer && i < TL_COUNT(suffix); i++) {
        memcpy(longer, other, bare);
        strcpy(longer + bare, suffix[i]);
        status = try_path(out, longer, e);
    }
    if (!longer && status == 0)
        status = TL_ENOMEM;
    free(other);
    free(longer);
    return status == TL_ENOMEM && !*out ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the name of a file")
                                        : status;
}
