/* What a column of a table is in files of columns. */
#include "model/stored_column.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/text/utf8.h"

const char *tl_unit_word(const tl_column_info *c, bool is_ns)
{
    static const char *const name[] = {[TL_UNIT_BYTES] = "bytes",
                                       [TL_UNIT_HEX] = "hex",
                                       [TL_UNIT_BOOL] = "bool",
                                       [TL_UNIT_JSON] = "json",
                                       [TL_UNIT_UTC] = "utc"};
    if (c->unit == TL_UNIT_TIME)
        return is_ns ? "ns" : "ticks";
    return c->unit < TL_COUNT(name) ? name[c->unit] : NULL;
}

tl_store tl_store_of(const tl_column_info *c)
{
    if (c->type == TL_TEXT)
        return c->unit == TL_UNIT_BLOB ? TL_STORE_BLOB : TL_STORE_TEXT;
    if (c->type == TL_REAL)
        return TL_STORE_REAL;
    return c->unit == TL_UNIT_BOOL ? TL_STORE_BOOL : TL_STORE_INT;
}

static bool is_taken(const tl_stored_as *as, uint32_t before, const char *name)
{
    uint32_t i = 0;
    while (i < before && strcasecmp(as[i].name, name) != 0)
        i++;
    return i < before;
}

/* Its name, in UTF-8, not empty, and different from those before it without regard to case: readers need that. */
static const char *name_of(tl_arena *arena, const tl_stored_as *as, uint32_t i, const char *name)
{
    const size_t n = strlen(name), room = 2 * n + 32;
    char *text = n < SIZE_MAX / 4 ? tl_arena_alloc(arena, room) : NULL;
    if (!text)
        return NULL;
    size_t size = tl_utf8_repair(text, name, n);
    text[size] = '\0';
    if (size == 0)
        size = (size_t)snprintf(text, room, "column_%" PRIu32, i + 1);
    for (unsigned k = 2; is_taken(as, i, text); k++)
        snprintf(text + size, room - size, "_%u", k);
    return text;
}

bool tl_stored_describe(tl_arena *arena, tl_stored_as *as, uint32_t i, const tl_column_info *info, tl_store store,
                        bool is_ns, bool is_compound)
{
    const char *name = name_of(arena, as, i, info->name);
    const bool is_as_declared = info->type == TL_TEXT ? tl_column_is_text(store) : !tl_column_is_text(store);
    as[i] = (tl_stored_as){.name = name,
                           .store = store,
                           .is_utc = store == TL_STORE_INT && info->unit == TL_UNIT_UTC,
                           .is_json = store == TL_STORE_TEXT && info->unit == TL_UNIT_JSON && !is_compound,
                           .unit = is_as_declared ? tl_unit_word(info, is_ns) : NULL};
    return name != NULL;
}
