/* Where the code of a method is in the source. */
#ifndef TEST_MONO_CODE_H
#define TEST_MONO_CODE_H

#include <mono/metadata/class.h>

#include "mono_log.h"

typedef struct code {
    char *map; /* il_map items, each after a space */
    size_t map_size;
    struct code_place *place;
    uint32_t nplaces;
} code;

extern bool code_wants_lines; /* call points are source lines, as in sessions saved by a viewer */

/* Call it without the mutex: the runtime takes locks of its own. */
void code_read(code *c, MonoMethod *m, u64 size);
/* With the mutex: writes the fil src and lin src lines of a function. */
void code_put_lines(code *c, uint32_t function);
/* The iid of the line at an offset; 0: not known. */
u64 code_line(const code *c, u64 offset);

#endif
