/* The interface between rt_fdr.c (slots) and rt_fdr_file.c (the file as a whole). */
#ifndef TL_RT_FDR_FILE_H
#define TL_RT_FDR_FILE_H

#include "format/xray/fdr_layout.h"
#include "rt/rt_lane.h"
#include "rt/rt_store.h"

extern rt_store tl_rt_fdr_store;

enum { FDR_PREAMBLE_SIZE = 5 * FDR_METADATA_SIZE };

/* Writes a preamble at `at`, for a buffer that goes to `end`. */
void tl_rt_fdr_begin_buffer(char *at, char *end, uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t now);
/* Empties a used slot for new records. */
void tl_rt_fdr_wipe(const rt_slot *s);
/* Fills the rest of a buffer, 24 bytes or more, with a filler event. */
void tl_rt_fdr_pad(char *at, const char *end);

#endif
