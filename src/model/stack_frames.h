/* The frames of a TL_STACK value in display order: the links go the other way. */
#ifndef TL_MODEL_STACK_FRAMES_H
#define TL_MODEL_STACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/model.h"

#define TL_FRAME_MEMBERS    3u  /* function, number, ip: the members of a stack field */
#define TL_FRAME_LABEL_ROOM 24u /* "0x0123456789abcdef" */

/* The latest stack. Zeroed is empty; keeps its memory from stack to stack. */
typedef struct tl_stack_frames {
    const tl_frame **frame; /* [n], innermost first: read it from its end */
    uint32_t n, capacity;
} tl_stack_frames;

/* False when memory runs out: then there are no frames. */
bool tl_stack_frames_set(tl_stack_frames *s, const tl_value *stack);
void tl_stack_frames_fini(tl_stack_frames *s);

/* The text of a frame: the name of its function, else its number ("0x5"), else "?". */
const char *tl_frame_label(const tl_frame *f, char buf[static TL_FRAME_LABEL_ROOM]);

#endif
