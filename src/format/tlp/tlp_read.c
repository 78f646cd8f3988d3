/* The .tlp format: recognising and opening a profile file. See tlp_layout.h for the layout. open() decodes the whole
 * file, so that a damaged one is refused early: half a tree is not a profile. The first read_profile() gets the result;
 * later ones decode again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/endian.h"
#include "format/tlp/tlp_format.h"
#include "format/tlp/tlp_layout.h"
#include "model/patched.h"

typedef struct tlp_reader {
    uint8_t *file;
    size_t size;
    tl_profile *decoded; /* from open(), for the first read; then NULL */
} tlp_reader;

static int probe(const tl_probe *p)
{
    return p->size >= TLP_MAGIC_BYTES && memcmp(p->head, TLP_MAGIC, TLP_MAGIC_BYTES) == 0 ? 8 * TLP_MAGIC_BYTES : 0;
}

/* Checks before reading: is it a profile, and complete? */
static int check_header(const uint8_t *header, size_t n, uint64_t size, tl_error *e)
{
    if (n < TLP_MAGIC_BYTES || memcmp(header, TLP_MAGIC, TLP_MAGIC_BYTES) != 0)
        return tl_fail(e, TL_EFORMAT, TLP_OFFSET_MAGIC, "not a profile file: it does not begin with its magic number");
    if (n < TLP_OFFSET_BODY)
        return tl_fail(e, TL_EDAMAGED, n, "tlp.truncated: the file has %zu bytes, its header alone takes %d", n,
                       TLP_OFFSET_BODY);
    uint64_t said = tl_load64(header + TLP_OFFSET_SIZE, false);
    if (said < TLP_LEAST)
        return tl_fail(e, TL_EDAMAGED, TLP_OFFSET_SIZE,
                       "tlp.bad-size: the header says %" PRIu64 " bytes, at least %d are needed", said, TLP_LEAST);
    if (size < said)
        return tl_fail(e, TL_EDAMAGED, size, "tlp.truncated: the file has %" PRIu64 " bytes, its header says %" PRIu64,
                       size, said);
    if (size > said)
        return tl_fail(e, TL_EDAMAGED, said, "tlp.too-long: the file has %" PRIu64 " bytes, its header says %" PRIu64,
                       size, said);
    if (size > TLP_SIZE_MAX || size > SIZE_MAX / 2)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "the file has %" PRIu64 " bytes, at most %" PRIu64 " are read",
                       size, TLP_SIZE_MAX);
    return 0;
}

/* Checks the content: the checksum first, since nothing else can be trusted without it. */
static int check_content(const tlp_reader *r, tl_error *e)
{
    size_t end = r->size - TLP_CHECKSUM_BYTES;
    uint32_t said = tl_load32(r->file + end, false), is = tl_crc32(0, r->file, end);
    if (is != said)
        return tl_fail(e, TL_EDAMAGED, end, "tlp.checksum: the file's CRC-32 is 0x%08" PRIx32 ", it says 0x%08" PRIx32,
                       is, said);
    unsigned version = tl_load16(r->file + TLP_OFFSET_VERSION, false);
    if (version != TLP_VERSION && version != TLP_VERSION_SAMPLES)
        return tl_fail(e, TL_EUNSUPPORTED, TLP_OFFSET_VERSION, "the file is of version %u, only %u and %u are known",
                       version, TLP_VERSION, TLP_VERSION_SAMPLES);
    return 0;
}

/* Reads the whole content. */
static int load(tlp_reader *r, tl_input *in, tl_error *e)
{
    uint8_t header[TLP_OFFSET_BODY];
    uint64_t size = tl_input_size(in);
    size_t got;
    int status = tl_input_read(in, 0, header, sizeof header, &got, e);
    if (status >= 0)
        status = check_header(header, got, size, e);
    if (status < 0)
        return status;
    r->size = (size_t)size;
    r->file = malloc(r->size);
    if (!r->file)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a file of %" PRIu64 " bytes", size);
    status = tl_input_read(in, 0, r->file, r->size, &got, e);
    if (status < 0)
        return status;
    if (got != r->size)
        return tl_fail(e, TL_EDAMAGED, got, "tlp.truncated: only %zu of %zu bytes could be read", got, r->size);
    return check_content(r, e);
}

/* Describes the trace from the profile. */
static int describe(const tl_profile *p, unsigned version, tl_trace *t, tl_error *e)
{
    const char *clock = p->clock.name ? tl_trace_intern(t, p->clock.name) : NULL;
    t->build_id = p->build_id ? tl_trace_intern(t, p->build_id) : NULL;
    t->exe = p->exe ? tl_trace_intern(t, p->exe) : NULL;
    if ((p->clock.name && !clock) || (p->build_id && !t->build_id) || (p->exe && !t->exe))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the profile's names");
    tl_trace_set_clock(t, clock ? clock : "ticks", p->clock.hz);
    t->clock.has_utc = p->clock.has_utc;
    t->clock.utc_offset_ns = p->clock.utc_offset_ns;
    t->version = version == TLP_VERSION ? "1" : "2";
    t->byte_order = "little";
    t->lost_events = p->lost_events;
    t->profile_threads = tl_profile_threads(p);
    t->profile_trees = p->ntrack;
    t->profile_paths = p->nplace - 1 - p->ntrack;
    t->profile_sampled = p->nweight > 0;
    t->profile_calls = p->samples.counted;
    for (uint32_t i = 1; i < p->nplace; i++) {
        if (!p->nweight)
            t->profile_calls = tl_add_saturated(t->profile_calls, p->stat[i].calls);
        t->profile_self = tl_add_saturated(t->profile_self, p->stat[i].self);
    }
    return tl_trace_set_patched(t, p->patched, p->npatched, e);
}

static int open_file(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    (void)want; /* strict or not, a damaged profile is refused */
    tlp_reader *r = reader;
    int status = load(r, in, e);
    if (status >= 0)
        status = tl_profile_new(&r->decoded, &(tl_clock){.hz = 0}, e);
    if (status >= 0)
        status = tl_tlp_decode(r->file, r->size, r->decoded, e);
    if (status >= 0)
        status = describe(r->decoded, tl_load16(r->file + TLP_OFFSET_VERSION, false), t, e);
    if (status >= 0 && progress)
        __atomic_fetch_add(progress, r->size, __ATOMIC_RELAXED);
    return status;
}

static uint32_t streams(void *reader)
{
    (void)reader;
    return 0;
}

static int read_profile(void *reader, tl_profile *p, tl_error *e)
{
    tlp_reader *r = reader;
    if (!r->decoded)
        return tl_tlp_decode(r->file, r->size, p, e);
    tl_profile_swap(p, r->decoded);
    tl_profile_free(r->decoded);
    r->decoded = NULL;
    return 0;
}

static void close_file(void *reader)
{
    tlp_reader *r = reader;
    tl_profile_free(r->decoded);
    free(r->file);
}

const tl_format tl_format_tlp = {
    .name = "tlp",
    .summary = "Traceloom's own profile: the call tree with exact sums and histograms",
    .suffixes = ".tlp",
    .reader = &(const tl_reader){.size = sizeof(tlp_reader),
                                 .probe = probe,
                                 .open = open_file,
                                 .streams = streams,
                                 .profile = read_profile,
                                 .close = close_file},
    .profile_writer = &(const tl_profile_writer){.lines = true, .write = tl_tlp_write_profile},
};
