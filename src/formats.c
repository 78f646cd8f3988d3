/* The only list of formats. */
#include "model/format_impl.h"

#include <string.h>

#define TL_FORMAT(symbol) extern const tl_format symbol;
#include "formats.def"
#undef TL_FORMAT

const tl_format *const tl_format_list[] = {
#define TL_FORMAT(symbol) &symbol,
#include "formats.def"
#undef TL_FORMAT
    NULL};
