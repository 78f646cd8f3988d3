/* Text within markup: of a page, of JUnit's XML. */
#ifndef TL_VIEW_MARKUP_TEXT_H
#define TL_VIEW_MARKUP_TEXT_H

#include "base/io/output.h"

/* Writes n bytes as the text of an element or an attribute. A character that is no UTF-8, that is not shown
 * (tl_utf8_shown()), or that XML does not allow becomes a question mark. */
void tl_put_markup(tl_output *out, const char *s, size_t n);

#endif
