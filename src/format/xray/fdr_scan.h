/* The scan of a part of an FDR log: finds buffers, checks every record, and notes damage. docs/format/xray-fdr.md has
 * the rules for damage, and for where reading continues. */
#ifndef TL_FORMAT_FDR_SCAN_H
#define TL_FORMAT_FDR_SCAN_H

#include <string.h>

#include "base/io/window.h"
#include "format/xray/fdr_index.h"
#include "format/xray/fdr_layout.h"

typedef struct fdr_damage {
    uint64_t offset, bytes;
    const char *rule;
    char what[120];
} fdr_damage;

/* Text about the recording: its place in the file. */
typedef struct fdr_note {
    uint64_t offset;
    uint32_t size;
} fdr_note;

/* Findings in one part of the file. */
typedef struct fdr_scan {
    const fdr_index *index; /* version, byte order, size */
    tl_window window;
    uint64_t from, next;        /* the part scanned: [from, next) */
    uint64_t slot, slot_before; /* bytes of a version 1 slot, from the last header: after the part, and before it */
    uint64_t give_up; /* a guess that leads beyond this offset is wrong: the scan fails. UINT64_MAX: no guess */
    fdr_buffer *buffer;
    size_t nbuffer, buffer_capacity;
    fdr_damage *damage;
    size_t ndamage, damage_capacity;
    fdr_note *note;
    size_t nnote, note_capacity;
    uint64_t ndamage_all; /* including those beyond TL_DAMAGE_KEPT */
    bool has_event;
    uint64_t first, last; /* smallest and largest time of all events */
} fdr_scan;

int fdr_scan_init(fdr_scan *s, const fdr_index *x, tl_input *in, tl_error *e);
void fdr_scan_fini(fdr_scan *s);

/* Scans from an offset on until a buffer begins at or after `until`. s->next is then that place, or the file's end. */
int fdr_scan_run(fdr_scan *s, uint64_t from, uint64_t until, tl_error *e);

/* The first place in [from, until) with the signature of a buffer (BufferExtents, NewBuffer and Walltime bytes at
 * distance 16), or `until`, rounded up to the file's end. */
int fdr_scan_find(fdr_scan *s, uint64_t from, uint64_t until, uint64_t *found, tl_error *e);

/* Is there such a start? 1, 0, or a negative code. */
int fdr_scan_is_buffer(fdr_scan *s, uint64_t position, tl_error *e);

/* A further header, where a buffer may begin: with the version, byte order and frequency of the first one, or not. */
typedef struct fdr_header {
    bool same;
    uint64_t slot;
} fdr_header;
/* 1: found; 0: none; or a negative code. */
int fdr_scan_header(fdr_scan *s, uint64_t position, fdr_header *h, tl_error *e);

/* A buffer during its scan. */
typedef struct fdr_scanned {
    uint64_t position, end, stop; /* end: by its extents; stop: the same, limited to the file */
    uint64_t tsc;
    uint64_t next;    /* where the next buffer should begin */
    uint64_t payload; /* if has_payload: the first event with one */
    uint32_t typed;   /* typed events seen */
    bool after_entry, has_event, has_payload;
    bool overwritten; /* payloads have no room */
    bool zero_id;     /* versions 1 and 2: there was a function 0 */
    fdr_buffer found;
} fdr_scanned;

/* In a live file zeros mean that the rest is not written yet; at the end of a buffer there may be fewer than 8. */
TL_ALWAYS_INLINE bool fdr_is_unwritten(const fdr_index *x, const uint8_t *p, uint64_t available)
{
    static const uint8_t zeros[FDR_FUNCTION_SIZE];
    return x->live && memcmp(p, zeros, available < sizeof zeros ? (size_t)available : sizeof zeros) == 0;
}

extern const char *const fdr_kind_name[FDR_KINDS];

/* fdr_scan.c: the records of a buffer after its preamble. Sets b->next. */
int fdr_scan_body(fdr_scan *s, fdr_scanned *b, tl_error *e);
/* Records damage at b->position and gives up the rest of the buffer. */
int fdr_give_up(fdr_scan *s, fdr_scanned *b, tl_error *e, const char *rule, const char *format, ...) TL_PRINTF(5, 6);
/* The same for a record cut by the end of its buffer or of the file. */
int fdr_give_up_truncated(fdr_scan *s, fdr_scanned *b, const char *record, uint64_t needs, tl_error *e);

/* fdr_found.c: add to the lists of a scan. */
int fdr_found_buffer(fdr_scan *s, const fdr_buffer *buffer, tl_error *e);
int fdr_found_note(fdr_scan *s, uint64_t offset, uint32_t size, tl_error *e);
int fdr_found_damage(fdr_scan *s, tl_error *e, uint64_t offset, uint64_t bytes, const char *rule, const char *format,
                     ...) TL_PRINTF(6, 7);

#endif
