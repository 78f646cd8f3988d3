/* Bytes between ranks, of any size; and the end of all ranks where one of them fails. */
#ifndef TL_MPI_RANK_BYTES_H
#define TL_MPI_RANK_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a message: MPI counts in int. More go in several; tests make it small. */
#ifndef TL_RANK_MESSAGE
#define TL_RANK_MESSAGE ((size_t)64 << 20)
#endif

typedef struct tl_rank_bytes {
    uint8_t *data; /* free() */
    size_t n;
} tl_rank_bytes;

/* Memory ran out for `what`: says so, and ends all ranks, since the others would wait for this one. */
_Noreturn void tl_rank_no_memory(const char *what);

/* Fail only by ending all ranks. Gives all ranks the bytes of rank 0; sends bytes to another rank; receives them. */
void tl_rank_share(tl_rank_bytes *b);
void tl_rank_send(int rank, const tl_rank_bytes *b);
void tl_rank_receive(int rank, tl_rank_bytes *b);

#endif
