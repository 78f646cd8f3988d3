/* Which files named in a trace may be opened. */
#include "op/symbols/named_file.h"

#include <string.h>

tl_named tl_named_file(const char *path, struct stat *st)
{
    if (strcmp(path, "-") == 0 || stat(path, st) < 0)
        return TL_NAMED_MISSING;
    return S_ISREG(st->st_mode) ? TL_NAMED_GOOD : TL_NAMED_IRREGULAR;
}

bool tl_named_fits(uint64_t *room, const struct stat *st)
{
    const uint64_t size = (uint64_t)st->st_size;
    if (size > *room)
        return false;
    *room -= size;
    return true;
}
