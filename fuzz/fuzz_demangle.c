/* Fuzz target: linkage names of functions. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    if (!name)
        return 0;
    memcpy(name, data, size);
    name[size] = 0;
    char *readable = tl_demangle(name);
    if (readable && (!*readable || strlen(readable) > 65536)) {
        fprintf(stderr, "broken promise: a readable name is there, and has its limit\n");
        abort();
    }
    free(readable);
    free(name);
    return 0;
}
