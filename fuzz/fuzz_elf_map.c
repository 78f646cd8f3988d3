/* Fuzz target: ELF files, the function map in them, and their symbols. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/xray/instr_map.h"
#include "op/symbols/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static int count(void *arg, const tl_elf_symbol *s)
{
    promise(s->name != NULL, "every symbol has a name, if only an empty one");
    ++*(uint64_t *)arg;
    return 0;
}

static void use_sections(tl_elf *elf)
{
    uint64_t symbols = 0, read = 0;
    for (uint32_t i = 0; i < tl_elf_sections(elf); i++) {
        const uint8_t *bytes;
        size_t n;
        if (tl_elf_section_data(elf, tl_elf_section_get(elf, i), &bytes, &n, NULL) < 0)
            continue;
        read += n;
        volatile uint8_t last = n > 0 ? bytes[n - 1] : 0;
        (void)last;
    }
    (void)tl_elf_each_symbol(elf, count, &symbols, NULL);
    promise(symbols <= read / 24, "symbols lie in the sections");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_elf *elf = NULL;
    tl_error e = {0};
    int rc = tl_elf_open_memory(&elf, data, size, "/nonexistent/app", &e);
    promise(rc >= 0 || (e.code == rc && elf == NULL), "an error carries the code that is returned");
    if (rc < 0)
        return 0;
    tl_trace t = {0};
    tl_trace_init(&t);
    rc = xray_instr_map_read(elf, &t, &e);
    promise(rc >= 0 || e.code == rc, "an error carries the code that is returned");
    if (rc >= 0) {
        promise(t.nfunction <= size / 32, "every function has a sled");
        for (uint32_t i = 0; i < t.nfunction; i++)
            promise(t.function[i].id == (int64_t)i + 1, "ids count from 1");
        (void)tl_symbolize(&t, elf, true, false, &e);
    }
    use_sections(elf);
    tl_trace_fini(&t);
    tl_elf_close(elf);
    return 0;
}
