/* Fuzz target: the reader of .tlp profiles. Reads the input with corrected size and checksum, since a fuzzer that
 * guesses checksums finds nothing else, and then as it is. What is accepted must be written as the same bytes, and
 * survive merging. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/endian.h"
#include "base/io/input.h"
#include "base/io/output.h"
#include "format/tlp/tlp_layout.h"
#include "model/format_impl.h"

extern const tl_format tl_format_tlp;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding must stop the fuzzer. */
static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void check_profile(tl_profile *p, const uint8_t *data, size_t size)
{
    tl_output *out = NULL;
    tl_error e = {0};
    promise(tl_output_open_memory(&out, TL_PLAIN, &e) == 0, "memory output opens");
    const tl_write_context context = {.out = out};
    promise(tl_format_tlp.profile_writer->write(&context, p, &e) == 0, "what was read can be written");
    promise(tl_output_finish(out, &e) == 0, "memory output finishes");
    size_t n;
    uint8_t *again = tl_output_take_memory(out, &n);
    promise(n == size && memcmp(again, data, n) == 0, "what was read is written as the same bytes");
    free(again);
    tl_output_close(out);
    for (uint32_t i = 1; i < p->nplace; i++) {
        tl_stat s;
        tl_profile_stat(p, i, &s);
        uint64_t middle = tl_profile_percentile(p, i, 500);
        promise(p->place[i].parent < i, "parents come before children");
        promise(middle >= s.min && middle <= s.max, "a percentile lies between min and max");
    }
    uint32_t places = p->nplace, functions = p->nfunction;
    promise(tl_profile_merge(p, p, &e) == 0, "a profile merges with itself");
    promise(p->nplace == places && p->nfunction == functions, "and makes no new places by that");
}

static void read_bytes(const uint8_t *data, size_t size)
{
    tl_trace t;
    tl_input *in = NULL;
    tl_profile *p = NULL;
    tl_error e = {0};
    void *reader = calloc(1, tl_format_tlp.reader->size);
    tl_trace_init(&t);
    promise(reader && tl_input_open_memory(&in, data, size, "fuzz.tlp", &e) == 0, "memory input opens");
    int status = tl_format_tlp.reader->open(reader, in, &t, &(tl_want){0}, NULL, &e);
    promise(status >= 0 || (e.code == status && *e.message), "an error says what it is");
    if (status >= 0) {
        promise(tl_profile_new(&p, tl_trace_clock(&t), &e) == 0, "memory suffices");
        promise(tl_format_tlp.reader->profile(reader, p, &e) == 0, "open has looked at everything");
        check_profile(p, data, size);
    }
    tl_profile_free(p);
    tl_format_tlp.reader->close(reader);
    tl_input_close(in);
    tl_trace_fini(&t);
    free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size);
    if (size < TLP_LEAST)
        return 0;
    uint8_t *copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    memcpy(copy, TLP_MAGIC, TLP_MAGIC_BYTES);
    const unsigned version = tl_load16(copy + TLP_OFFSET_VERSION, false);
    tl_store16(copy + TLP_OFFSET_VERSION, version & 1 ? TLP_VERSION : TLP_VERSION_SAMPLES, false);
    tl_store64(copy + TLP_OFFSET_SIZE, size, false);
    tl_store32(copy + size - TLP_CHECKSUM_BYTES, tl_crc32(0, copy, size - TLP_CHECKSUM_BYTES), false);
    read_bytes(copy, size);
    free(copy);
    return 0;
}
