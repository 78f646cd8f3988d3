/* The style and the script inside every flame graph. */
#ifndef TL_FORMAT_SVG_SCRIPT_H
#define TL_FORMAT_SVG_SCRIPT_H

/* Sizes that the writer and the script share, in points. */
#define SVG_WIDTH     1200
#define SVG_HEAD      96 /* title, note, tools, details */
#define SVG_ROW       18
#define SVG_COLOURS   24
#define SVG_NARROWEST "0.4" /* narrower boxes are not drawn until zoomed into */

extern const char *const svg_style[];  /* lines, NULL at the end */
extern const char *const svg_script[]; /* the same; @1 to @4 stand for words */

#endif
