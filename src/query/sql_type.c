/* Types of columns as SQL declares them. */
#include "query/sql_type.h"

#include <string.h>

#include "base/compiler.h"

static const struct {
    const char *declared;
    tl_column_type type;
    tl_column_unit unit;
} all[] = {{"INTEGER NS", TL_INTEGER, TL_UNIT_TIME}, {"INTEGER BYTES", TL_INTEGER, TL_UNIT_BYTES},
           {"INTEGER HEX", TL_INTEGER, TL_UNIT_HEX}, {"INTEGER BOOL", TL_INTEGER, TL_UNIT_BOOL},
           {"INTEGER UTC", TL_INTEGER, TL_UNIT_UTC}, {"TEXT JSON", TL_TEXT, TL_UNIT_JSON},
           {"BLOB", TL_TEXT, TL_UNIT_BLOB},          {"INTEGER", TL_INTEGER, TL_UNIT_NONE},
           {"REAL", TL_REAL, TL_UNIT_NONE},          {"TEXT", TL_TEXT, TL_UNIT_NONE}};

const char *tl_sql_type(const tl_column_info *c)
{
    const char *found = "TEXT";
    for (size_t i = TL_COUNT(all); i-- > 0;)
        if (all[i].type == c->type && (all[i].unit == c->unit || all[i].unit == TL_UNIT_NONE))
            found = all[i].declared;
    return found;
}

bool tl_sql_type_read(const char *declared, tl_column_type *type, tl_column_unit *unit)
{
    for (size_t i = 0; i < TL_COUNT(all); i++)
        if (strcmp(all[i].declared, declared) == 0) {
            *type = all[i].type;
            *unit = all[i].unit;
            return true;
        }
    return false;
}
