/* Fuzz target: folders of instruction streams, snapshots and memory images. An input is a whole folder packed into one
 * block; see fuzz_folder.h. */
#include "fuzz_folder.h"
#include "fuzz_insns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const tl_open_options options = {
        .from = "xtrace", .want = {.fields = true, .cpu = true, .resync = size % 5 == 0, .strict = size % 11 == 0}};
    tl_source *s = NULL;
    tl_error e = {0};
    const int status = tl_source_open_folder_memory(&s, data, size, "fuzz", &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    if (status < 0)
        return 0;
    if (options.want.strict) {
        fuzz_iterate(s);
    } else {
        const uint64_t events = fuzz_iterate(s);
        insns_values(s);
        fuzz_merge(s, events);
        insns_flow(s);
        insns_memory(s, size);
        insns_state(s, size);
        insns_write(s, NULL, size);
        fuzz_profile(s);
        promise(tl_source_check(s, 1, &e) >= 0, "every folder can be checked");
        insns_damages(s, size);
    }
    tl_source_close(s);
    return 0;
}
