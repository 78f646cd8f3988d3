/* Reading folders of the Common Trace Format: 1.8, 2, and the proposal of 2010.
 *
 *   FOLDER/metadata        what packets and events look like (text, or packets of text)
 *   FOLDER/NAME            data stream files: packets, one after the other
 *     packet               header and context (magic number, uuid, stream class, sizes, times, counters), then events
 *       event              header (class, time), contexts, fields; aligned to bits as their types say
 *   FOLDER/index/          LTTng's index of packets: not used, see ctf_walk.c
 *
 * A folder may hold several such folders at any depth: they are read as one trace. Opening reads all metadata
 * (ctf_units.c), finds the files (ctf_files.c), puts their clocks onto one (ctf_clocks.c), and looks at the headers of
 * all packets (ctf_index.c). A stream is a file, or several of which each goes on where the one before ends
 * (ctf_joined.c); its events are decoded by ctf_cursor.c. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/io/base_name.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/read/ctf_cursor.h"
#include "format/ctf/read/ctf_reader.h"
#include "format/ctf/write/ctf_write.h"
#include "model/format_impl.h"

/* Bits of evidence for a file called "metadata". */
#define FOLDER_BITS 16

/* Whether n bytes begin with white space and then a text. */
static bool begins(const uint8_t *p, size_t n, const char *text)
{
    const size_t m = strlen(text);
    while (n > 0 && (*p == ' ' || (*p >= '\t' && *p <= '\r'))) {
        p++;
        n--;
    }
    return n >= m && memcmp(p, text, m) == 0;
}

/* A file of a trace: it cannot be read alone, but a user who names one should get advice. */
static int probe(const tl_probe *p)
{
    if (p->size >= 4)
        for (int big = 0; big < 2; big++) {
            const uint32_t word = tl_load32(p->head, big);
            if (word == (uint32_t)CTF_MAGIC_PACKET || word == (uint32_t)CTF_MAGIC_METADATA ||
                word == (uint32_t)CTF_MAGIC_INDEX)
                return 32;
        }
    if (begins(p->head, p->size, "/* CTF 1.8"))
        return 64;
    /* The begin of a sequence of JSON texts, whatever their subject. */
    return p->size > 2 && p->head[0] == 0x1e && begins(p->head + 1, p->size - 1, "{") ? 8 : 0;
}

static int open_file(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    uint8_t head[16] = {0};
    size_t got = 0;
    (void)reader;
    (void)t;
    (void)want;
    (void)progress;
    const int status = tl_input_read(in, 0, head, sizeof head, &got, e);
    if (status < 0)
        return status;
    const uint32_t little = tl_load32(head, false), big = tl_load32(head, true);
    const char *what;
    if (little == (uint32_t)CTF_MAGIC_PACKET || big == (uint32_t)CTF_MAGIC_PACKET)
        what = "a data stream or the metadata";
    else if (little == (uint32_t)CTF_MAGIC_INDEX || big == (uint32_t)CTF_MAGIC_INDEX)
        what = "an index";
    else if (probe(&(tl_probe){.head = head, .size = got}))
        what = "the metadata";
    else
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "a trace of this format is a folder; give that, not a file");
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this is %s of a trace; give the folder that holds it", what);
}

static int probe_folder(const tl_folder *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (strcmp(tl_base_name(f->file[i].name), "metadata") == 0)
            return FOLDER_BITS;
    return 0;
}

static int open_folder(void *reader, const tl_folder *f, tl_trace *t, const tl_want *want, uint64_t *progress,
                       tl_error *e)
{
    ctf_reader *r = reader;
    r->folder = f;
    r->trace = t;
    r->want = *want;
    r->want.packets = want->packets && want->fields; /* decides what the classes have */
    r->progress = progress;
    if (probe_folder(f) == 0)
        return tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "no file called metadata in the folder or those below it");
    t->bytes = 0;
    int status = ctf_units_open(r, e);
    if (status == 0)
        status = ctf_files_open(r, e);
    if (status == 0)
        status = ctf_uuids_open(r, e);
    if (status == 0)
        status = ctf_clocks_open(r, e);
    if (status == 0)
        status = ctf_table_open(r, e);
    if (status == 0)
        status = ctf_index_open(r, e);
    if (status == 0)
        ctf_table_name_tracks(r);
    return status;
}

static uint32_t streams(void *reader)
{
    return ((const ctf_reader *)reader)->nstream;
}

static uint64_t stream_weight(void *reader, uint32_t stream)
{
    uint64_t bytes = 0;
    for (const ctf_file *f = ((const ctf_reader *)reader)->stream[stream]; f; f = f->next)
        bytes += f->size;
    return bytes;
}

static int stream_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    const ctf_reader *r = reader;
    return ctf_cursor_open(cursor, r->stream[stream], r->trace, &r->want, r->progress, e);
}

static void stream_tally(void *cursor, tl_tally *t)
{
    ((ctf_cursor *)cursor)->tally = t;
}

static void close_reader(void *reader)
{
    ctf_reader *r = reader;
    for (uint32_t i = 0; r->file && i < r->nfile; i++)
        free(r->file[i].point);
    free(r->file);
    r->file = NULL;
    ctf_units_close(r);
    tl_arena_fini(&r->arena);
}

const tl_format tl_format_ctf = {
    .name = "ctf",
    .summary = "Common Trace Format, versions 1.8 and 2, and the proposal of 2010: a folder",
    .suffixes = ".ctf",
    .reader = &(const tl_reader){.size = sizeof(ctf_reader),
                                 .cursor_size = sizeof(ctf_cursor),
                                 .probe = probe,
                                 .open = open_file,
                                 .probe_folder = probe_folder,
                                 .open_folder = open_folder,
                                 .streams = streams,
                                 .stream_weight = stream_weight,
                                 .stream_open = stream_open,
                                 .skips = TL_SKIPS_BEFORE | TL_SKIPS_AFTER,
                                 .stream_limit = ctf_cursor_limit,
                                 .stream_next = ctf_cursor_next,
                                 .stream_tally = stream_tally,
                                 .stream_close = ctf_cursor_close,
                                 .close = close_reader},
    .event_writer = &(const tl_event_writer){.track_order = true,
                                             .time_order = true,
                                             .wants = {.fields = true, .cpu = true, .packets = true, .calls = true},

                                             .seals = true,
                                             .folder = true,
                                             .size = sizeof(ctf_writer),
                                             .create = ctf_create,
                                             .accept = ctf_accept,
                                             .write = ctf_write,
                                             .written = ctf_written,
                                             .finish = ctf_finish,
                                             .discard = ctf_discard},
};
