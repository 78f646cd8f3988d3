/* The memory image of a stream: what memory was before its first instruction, as far as the stream needs it; see
 * xtrace_core.h for the file. */
#ifndef TL_XTRACE_IMAGE_H
#define TL_XTRACE_IMAGE_H

#include "format/xtrace/xtrace_core.h"
#include "format/xtrace/xtrace_encode.h"
#include "format/xtrace/xtrace_touch.h"

/* An image that is being collected from the events of a stream. */
typedef struct xtrace_image {
    xtrace_touch touch;
    tl_shadow *memory;
    size_t most;    /* pages that may be touched */
    bool too_large; /* nothing is collected any more */
    bool any;       /* there was an instruction */
    bool has_registers, has_pc;
    xtrace_registers registers;
} xtrace_image;

int xtrace_image_init(xtrace_image *m, tl_error *e);
void xtrace_image_fini(xtrace_image *m); /* also of zeroed memory */

/* Registers before the first instruction: only counts before it. */
void xtrace_image_registers(xtrace_image *m, const uint8_t *record, uint32_t vl);
/* Events from .. to-1 of the stream; `how` as of its encoder. */
int xtrace_image_add(xtrace_image *m, const xtrace_how *how, const tl_batch *b, uint32_t from, uint32_t to,
                     tl_error *e);
/* Pages of which memory is held. */
size_t xtrace_image_pages(const xtrace_image *m);
/* Gives the memory back: there will be no image. */
void xtrace_image_give_up(xtrace_image *m);
int xtrace_image_write(xtrace_image *m, tl_output *out, uint32_t thread, tl_error *e);

/* "xtrace.1.2.hint9.xmemory.core" of the name of a stream; to be freed. NULL if it is not one, or without memory. */
char *xtrace_image_name(const char *stream_name);
/* Looks whether an image has all that a stream loads and executes without having stored it, and tells what it lacks
 * (rule "xtrace.image", at the token in the stream, or at the begin of an image that cannot be read). Names are those
 * in the folder, or NULL. Returns < 0 for errors other than damage. */
int xtrace_image_check(tl_input *stream, const char *stream_name, tl_input *image, const char *image_name, tl_trace *t,
                       tl_error *e);
/* The same with the image that is beside the stream, if there is one. */
int xtrace_image_check_beside(tl_input *stream, const char *stream_name, tl_trace *t, tl_error *e);

#endif
