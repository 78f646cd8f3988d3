/* Instants and counters placed by hand: typed events whose fields are in the notes of the recording.
 *
 *   payload   the fields in order, little-endian: i64, u64 and f64 take 8 bytes, a string its length (u32) and its
 *             bytes; without fields a byte 0 (llvm-xray refuses files with empty events), or nothing */
#ifndef TL_FORMAT_FDR_TYPED_H
#define TL_FORMAT_FDR_TYPED_H

#include "model/recording.h"

/* Whether a payload consists of exactly the fields of the event. */
bool fdr_typed_fits(const tl_recording_event *ev, const uint8_t *p, size_t n);
/* The values of a payload that fits: ev->nfield of them, which borrow from p. */
void fdr_typed_values(const tl_recording_event *ev, const uint8_t *p, tl_value *v);
/* Size of the payload with these values; UINT64_MAX if they do not match the fields. */
uint64_t fdr_typed_size(const tl_recording_event *ev, const tl_value *v, const tl_value *end);
void fdr_typed_put(const tl_recording_event *ev, const tl_value *v, uint8_t *p);

/* The event of a class of the trace, or NULL. */
const tl_recording_event *fdr_typed_event(const tl_trace *t, const tl_class *c);

#endif
