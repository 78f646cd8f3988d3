/* The memory image of a stream: memory before its first instruction, as far as the stream needs it; see xtrace_core.h
 * for the file. */
#ifndef TL_XTRACE_IMAGE_H
#define TL_XTRACE_IMAGE_H

#include "format/xtrace/xtrace_core.h"
#include "format/xtrace/xtrace_encode.h"
#include "format/xtrace/xtrace_touch.h"

/* An image being collected from the events of a stream. */
typedef struct xtrace_image {
    xtrace_touch touch;
    tl_shadow *memory;
    size_t most;    /* pages that may be touched */
    bool too_large; /* collecting has stopped */
    bool any;       /* there was an instruction */
    bool has_registers, has_pc;
    xtrace_registers registers;
} xtrace_image;

int xtrace_image_init(xtrace_image *m, tl_error *e);
void xtrace_image_fini(xtrace_image *m); /* also after zeroing */

/* Registers before the first instruction: ignored after it. */
void xtrace_image_registers(xtrace_image *m, const uint8_t *record, uint32_t vl);
/* Events from .. to-1 of the stream; `how` as of its encoder. */
int xtrace_image_add(xtrace_image *m, const xtrace_how *how, const tl_batch *b, uint32_t from, uint32_t to,
                     tl_error *e);
/* Number of pages that hold memory. */
size_t xtrace_image_pages(const xtrace_image *m);
/* Frees the memory: there will be no image. */
void xtrace_image_give_up(xtrace_image *m);
int xtrace_image_write(xtrace_image *m, tl_output *out, uint32_t thread, tl_error *e);

/* "xtrace.1.2.hint9.xmemory.core" for the name of a stream; to be freed. NULL if it is not one, or without memory. */
char *xtrace_image_name(const char *stream_name);
/* Checks that an image has everything that a stream loads and executes without having stored it, and reports what is
 * missing (rule "xtrace.image", at the token in the stream, or at the begin of an unreadable image). Names are those in
 * the folder, or NULL. Returns < 0 for errors other than damage. */
int xtrace_image_check(tl_input *stream, const char *stream_name, tl_input *image, const char *image_name, tl_trace *t,
                       tl_error *e);
/* The same with the image beside the stream, if it exists. */
int xtrace_image_check_beside(tl_input *stream, const char *stream_name, tl_trace *t, tl_error *e);

#endif
