/* The page's script, style and skeleton, made of the files in this folder by cmake/Page.cmake. */
#ifndef TL_VIEW_WEB_ASSETS_H
#define TL_VIEW_WEB_ASSETS_H

#include <stddef.h>

/* Terminated; the sizes are without the end. */
extern const char tl_page_script[], tl_page_style[], tl_page_shell[];
extern const size_t tl_page_script_size, tl_page_style_size, tl_page_shell_size;
/* "sha256-...=", of the text alone: it must lie between its tags without a byte more. */
extern const char tl_page_script_hash[], tl_page_style_hash[];

#endif
