/* Fuzz target: snapshots of registers. An input is a file of them: finds the layout, reads every record, and writes
 * everything again. */
#include "fuzz_insns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "xtrace.1.2.hint9.xsnapshot.bin"

static void read_file(const uint8_t *data, size_t size, bool strict)
{
    const tl_open_options options = {.from = "xtrace", .want = {.fields = true, .cpu = true, .strict = strict}};
    tl_source *s = NULL;
    tl_error e = {0};
    const int status = tl_source_open_memory(&s, data, size, NAME, &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    promise(status >= 0 || strict, "whatever is wrong in it, it is a file of snapshots");
    if (status < 0)
        return;
    if (strict) {
        fuzz_iterate(s);
    } else {
        /* Counts of instructions may be wrong, so parts of it need not agree with the whole. */
        const uint64_t events = fuzz_iterate(s);
        insns_values(s);
        fuzz_merge(s, events);
        insns_flow(s); /* of no instructions */
        insns_memory(s, size);
        insns_state(s, size);
        fuzz_profile(s);
        insns_write(s, NAME, size);
        promise(tl_source_check(s, 1, &e) >= 0, "every file can be checked");
        insns_damages(s, size);
    }
    tl_source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_file(data, size, false);
    read_file(data, size, true);
    return 0;
}
