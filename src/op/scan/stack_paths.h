/* The stacks that samples of one source set, as text: the function on top and the functions below it. */
#ifndef TL_OP_STACK_PATHS_H
#define TL_OP_STACK_PATHS_H

#include "model/scan_block.h"
#include "model/stack_nodes.h"
#include "op/scan/scan.h"

/* The stack of a sample, or of a track since its last one. */
typedef struct tl_stack_path {
    uint32_t node; /* of tl_stack_nodes; TL_HASH_NONE: not known, as there are too many */
    bool has_function;
    int64_t function;    /* the number of that on top */
    const tl_frame *top; /* without nodes: the frame, of this batch; NULL: the stack is empty */
} tl_stack_path;

/* Finds the stack of a sample; `nodes`: its path is needed, or its name after this batch. False when memory runs out.
 */
bool tl_stack_path_get(tl_stack_path *out, tl_stack_nodes *s, const tl_sample *sample, bool nodes);

/* Where a table has them. */
typedef struct tl_stack_columns {
    uint32_t function, name, depth, path;
} tl_stack_columns;

/* Puts those that somebody looks at. Names live as long as the nodes. */
void tl_stack_path_put(const tl_stack_path *p, const tl_stack_nodes *s, const tl_stack_columns *c, tl_scan_block *b,
                       uint32_t row);

#endif
