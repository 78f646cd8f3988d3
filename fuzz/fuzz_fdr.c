/* Fuzz target: the reader of xray-fdr files. */
#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_source(data, size, "xray-fdr");
}
