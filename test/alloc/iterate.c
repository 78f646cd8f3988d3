/* Counts the allocations of reading all batches of a trace: iterate FILE prints "<events> <allocations>".
 * Linked with --wrap, so that every call of the library's code is counted, with sanitizers too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "traceloom/traceloom.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static uint64_t allocations;

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const tl_open_options options = {.want = {.fields = true, .cpu = true}};
    tl_source *source = NULL;
    tl_error error;
    if (tl_source_open(&source, argv[1], &options, &error) < 0) {
        fprintf(stderr, "iterate: %s\n", error.message);
        return 1;
    }
    const tl_batch *batch;
    uint64_t events = 0, before = 0;
    int status, batches = 0;
    while ((status = tl_source_next(source, &batch, &error)) > 0) {
        events += batch->n;
        if (++batches == 8) /* by then the buffers have their final size */
            before = allocations;
    }
    /* Opening the later streams is no reading: it may allocate, but a fixed number for each stream. */
    printf("%" PRIu64 " %" PRIu64 " %" PRIu32 "\n", events, allocations - before, tl_source_streams(source));
    tl_source_close(source);
    return status < 0;
}
