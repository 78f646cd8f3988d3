/* Fuzz target: files whose format is found by content, compressed ones, too: every probe sees every input. */
#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_source(data, size, NULL);
}
