/* Fuzz target: the reader of profiles in the making. Its header is a page of mostly zeros, where a fuzzer would waste
 * its time: inputs have its first 28 bytes, then what follows the page. Any profile that is read must survive writing
 * and reading. */
#include <string.h>

#include "base/io/output.h"
#include "format/tlp/live_layout.h"
#include "fuzz_source.h"
#include "model/format_impl.h"

enum { KEPT = 28, INPUT_MAX = 1 << 20 };

extern const tl_format tl_format_tlp;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_profile(tl_source *s)
{
    tl_profile *p = NULL;
    tl_output *out = NULL;
    tl_error e = {0};
    size_t n;
    promise(tl_profile_from_source(&p, s, NULL, &e) == 0, "open has looked at everything");
    promise(tl_output_open_memory(&out, TL_PLAIN, &e) == 0, "memory output opens");
    const tl_write_context context = {.out = out};
    promise(tl_format_tlp.profile_writer->write(&context, p, &e) == 0, "what was read can be written");
    promise(tl_output_finish(out, &e) == 0, "memory output finishes");
    uint8_t *bytes = tl_output_take_memory(out, &n);
    tl_output_close(out);
    tl_source *again = NULL;
    promise(tl_source_open_memory(&again, bytes, n, "written", NULL, &e) == 0, "what was written is a profile");
    tl_source_close(again);
    free(bytes);
    tl_profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < KEPT || size > INPUT_MAX)
        return 0;
    const size_t whole = size - KEPT + LIVE_HEADER_SIZE;
    uint8_t *file = calloc(1, whole);
    if (!file)
        return 0;
    memcpy(file, data, KEPT);
    memcpy(file, LIVE_MAGIC, 8);
    memcpy(file + LIVE_HEADER_SIZE, data + KEPT, size - KEPT);
    fuzz_source(file, whole, "tlp-live");
    tl_source *s = fuzz_open(file, whole, "tlp-live", false);
    if (s)
        write_profile(s);
    tl_source_close(s);
    free(file);
    return 0;
}
