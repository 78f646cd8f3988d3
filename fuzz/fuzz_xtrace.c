/* Fuzz target: instruction streams. An input is a stream; it is read every way there is, its tables are made, it is
 * checked for contradictions, and it is written: for simulators, as text, and as a stream again, which has to stay the
 * same. */
#include "fuzz_insns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "xtrace.1.2.hint9.xinsndata.bin"

static tl_source *open_stream(const uint8_t *data, size_t size, const tl_want *want)
{
    const tl_open_options options = {.from = "xtrace", .want = *want};
    tl_source *s = NULL;
    tl_error e = {0};
    const int status = tl_source_open_memory(&s, data, size, NAME, &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    promise(status >= 0 || want->strict, "whatever is wrong in it, it is a stream");
    return status < 0 ? NULL : s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_error e;
    /* With --resync all that is damaged is left out; the rest is read as carefully. */
    tl_source *s = open_stream(data, size, &(tl_want){.fields = true, .cpu = true, .resync = size % 2});
    if (s) {
        insns_read(s);
        insns_flow(s);
        insns_memory(s, size);
        insns_state(s, size);
        insns_write(s, NAME, size);
        fuzz_profile(s);
        promise(tl_source_check(s, 1, &e) >= 0, "every stream can be checked");
        insns_damages(s, size);
    }
    tl_source_close(s);
    s = open_stream(data, size, &(tl_want){.strict = true});
    if (s)
        fuzz_iterate(s);
    tl_source_close(s);
    return 0;
}
