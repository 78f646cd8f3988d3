/* index/NAME.idx beside the streams of 1.8 and 2: the places of packets, in the form of LTTng and its readers; see
 * ctf_layout.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/grow.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/write/ctf_write.h"

/* Entries kept in memory: few, because there may be very many streams. */
enum { LITTLE = false, BIG = true, MAJOR = 1, MINOR = 1, ENTRIES_MOST = 64 };

static int flush(ctf_writer *w, ctf_stream *s, tl_error *e)
{
    int r = 0;
    if (s->index_file == UINT32_MAX) {
        const size_t n = strlen(s->name) + sizeof "index/.idx";
        char *name = malloc(n);
        if (!name)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory for an index");
        snprintf(name, n, "index/%s.idx", s->name);
        r = tl_output_folder_add(w->context.folder, name, &s->index_file, e);
        free(name);
        uint8_t header[CTF_INDEX_HEADER];
        tl_store32(header, (uint32_t)CTF_MAGIC_INDEX, BIG);
        tl_store32(header + CTF_INDEX_MAJOR, MAJOR, BIG);
        tl_store32(header + CTF_INDEX_MINOR, MINOR, BIG);
        tl_store32(header + CTF_INDEX_ENTRY_SIZE, CTF_INDEX_ENTRY, BIG);
        if (r == 0)
            r = tl_output_folder_append(w->context.folder, s->index_file, header, sizeof header, e);
    }
    if (r == 0)
        r = tl_output_folder_append(w->context.folder, s->index_file, s->index, (size_t)s->nindex * CTF_INDEX_ENTRY, e);
    s->nindex = 0;
    return r;
}

int ctf_index_add(ctf_writer *w, ctf_stream *s, uint64_t offset, const uint8_t *packet, tl_error *e)
{
    const int r = s->nindex == ENTRIES_MOST ? flush(w, s, e) : 0;
    if (r < 0)
        return r;
    if (!TL_GROW(s->index, s->nindex, 1, s->index_capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory for an index");
    /* An entry has the numbers of the packet in another order. */
    const bool timeless = w->sc[s->cls].timeless;
    const size_t less = timeless ? CTF_WRITTEN_TIMES : 0;
    const uint64_t entry[] = {
        offset,
        tl_load64(packet + CTF_WRITTEN_PACKET_SIZE - less, LITTLE),
        tl_load64(packet + CTF_WRITTEN_CONTENT_SIZE - less, LITTLE),
        timeless ? 0 : tl_load64(packet + CTF_WRITTEN_BEGIN, LITTLE),
        timeless ? 0 : tl_load64(packet + CTF_WRITTEN_END, LITTLE),
        tl_load64(packet + CTF_WRITTEN_DISCARDED - less, LITTLE),
        tl_load32(packet + CTF_WRITTEN_STREAM, LITTLE),
        tl_load64(packet + CTF_WRITTEN_INSTANCE, LITTLE),
        tl_load64(packet + CTF_WRITTEN_SEQUENCE - less, LITTLE),
    };
    _Static_assert(sizeof entry == CTF_INDEX_ENTRY, "an entry is nine numbers");
    uint8_t *p = s->index[s->nindex++];
    for (size_t i = 0; i < TL_COUNT(entry); i++)
        tl_store64(p + 8 * i, entry[i], BIG);
    return 0;
}

int ctf_index_end(ctf_writer *w, ctf_stream *s, tl_error *e)
{
    return s->nindex > 0 ? flush(w, s, e) : 0;
}
