/* A sum of profiles as bytes: for other ranks, and for the parts that a later run takes. */
#ifndef TL_MPI_SUM_BYTES_H
#define TL_MPI_SUM_BYTES_H

#include "cli/report/report_sum.h"
#include "mpi/rank_bytes.h"

#define TL_SUM_FORMAT "tlp"

/* Errors: TL_ENOMEM, and those of writing a profile. b->data is the caller's. */
int tl_sum_pack(const tl_report_sum *s, tl_rank_bytes *b, tl_error *e);
/* Errors: TL_ENOMEM, TL_EDAMAGED and others of reading a profile. */
int tl_sum_unpack(tl_report_sum *s, const uint8_t *data, size_t n, tl_error *e);

#endif
