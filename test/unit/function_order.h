/* The order of functions in written profiles, by comparing texts; src/model/profile_order.c uses ranks. */
#ifndef TL_TEST_FUNCTION_ORDER_H
#define TL_TEST_FUNCTION_ORDER_H

#include <string.h>

#include "traceloom/trace.h"

static inline int function_compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static inline int function_compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static inline int function_compare_text(const char *a, const char *b)
{
    if (a == b)
        return 0;
    return !a ? -1 : !b ? 1 : strcmp(a, b);
}

/* Ids shown in hexadecimal are unsigned; they come after the others. */
static inline int function_compare_ids_of(uint32_t flags_a, int64_t a, uint32_t flags_b, int64_t b)
{
    const bool hex_a = flags_a & TL_FUNCTION_HEX_ID, hex_b = flags_b & TL_FUNCTION_HEX_ID;
    if (hex_a != hex_b)
        return hex_a - hex_b;
    return hex_a ? ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b) : function_compare_i64(a, b);
}

static inline int function_compare(const tl_function *a, const tl_function *b)
{
    int c = function_compare_text(a->module, b->module);
    if (!c)
        c = function_compare_ids_of(a->flags, a->id, b->flags, b->id);
    if (!c)
        c = function_compare_text(a->name, b->name);
    if (!c)
        c = function_compare_text(a->file, b->file);
    if (!c)
        c = function_compare_u32(a->line, b->line);
    if (!c)
        c = function_compare_text(a->library, b->library);
    if (!c)
        c = function_compare_text(a->renamed, b->renamed);
    if (!c)
        c = function_compare_u32(a->offset, b->offset);
    return c ? c : function_compare_u32(a->flags, b->flags);
}

#endif
