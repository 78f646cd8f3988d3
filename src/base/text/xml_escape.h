/* Characters that markup, XML and HTML, gives another meaning. */
#ifndef TL_BASE_TEXT_XML_ESCAPE_H
#define TL_BASE_TEXT_XML_ESCAPE_H

#include <stddef.h>

/* What stands for the character in text and in attributes; NULL: itself. */
static inline const char *tl_xml_escape(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

#endif
