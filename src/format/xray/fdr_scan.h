/* The scan of a part of an FDR log: finds buffers, checks every record, and notes damage. The rules of what is damage
 * and where reading goes on are in docs/format/xray-fdr.md. */
#ifndef TL_FORMAT_FDR_SCAN_H
#define TL_FORMAT_FDR_SCAN_H

#include "base/window.h"
#include "format/xray/fdr_index.h"

typedef struct fdr_damage {
    uint64_t offset, bytes;
    const char *rule;
    char what[120];
} fdr_damage;

/* Text about the recording: where in the file. */
typedef struct fdr_note {
    uint64_t offset;
    uint32_t size;
} fdr_note;

/* What the scan of one part of the file found. */
typedef struct fdr_scan {
    const fdr_index *index; /* version, byte order, size */
    tl_window window;
    uint64_t from, next; /* the part scanned: [from, next) */
    uint64_t give_up; /* a guess that leads beyond this offset is a wrong one: the scan fails. UINT64_MAX: no guess */
    fdr_buffer *buffer;
    size_t nbuffer, buffer_capacity;
    fdr_damage *damage;
    size_t ndamage, damage_capacity;
    fdr_note *note;
    size_t nnote, note_capacity;
    uint64_t ndamage_all; /* also those beyond TL_DAMAGE_KEPT */
    bool has_event;
    uint64_t first, last; /* smallest and largest time of all events */
} fdr_scan;

int fdr_scan_init(fdr_scan *s, const fdr_index *x, tl_input *in, tl_error *e);
void fdr_scan_fini(fdr_scan *s);

/* Scans from an offset on until a buffer begins at or after `until`. s->next is then that place, or the file's end. */
int fdr_scan_run(fdr_scan *s, uint64_t from, uint64_t until, tl_error *e);

/* The first place in [from, until) that looks like the start of a buffer (BufferExtents, NewBuffer and Walltime bytes
 * at distance 16), or `until` rounded up to the file's end. */
int fdr_scan_find(fdr_scan *s, uint64_t from, uint64_t until, uint64_t *found, tl_error *e);

/* fdr_found.c: add to the lists of a scan. */
int fdr_found_buffer(fdr_scan *s, const fdr_buffer *buffer, tl_error *e);
int fdr_found_note(fdr_scan *s, uint64_t offset, uint32_t size, tl_error *e);
int fdr_found_damage(fdr_scan *s, tl_error *e, uint64_t offset, uint64_t bytes, const char *rule, const char *format,
                     ...) TL_PRINTF(6, 7);

#endif
