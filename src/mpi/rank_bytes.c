/* A message with the size, then pieces of at most TL_RANK_MESSAGE. */
#include "mpi/rank_bytes.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

enum { TAG_SIZE = 1, TAG_PIECE = 2 };

void tl_rank_no_memory(const char *what)
{
    fprintf(stderr, "traceloom: no memory for %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

static int piece_of(size_t left)
{
    return (int)(left < TL_RANK_MESSAGE ? left : TL_RANK_MESSAGE);
}

/* Room for what another rank has. */
static void make_room(tl_rank_bytes *b, uint64_t n)
{
    b->data = n < SIZE_MAX ? tl_alloc((size_t)n + 1, 1) : NULL;
    b->n = (size_t)n;
    if (!b->data)
        tl_rank_no_memory("what another rank sends");
}

void tl_rank_share(tl_rank_bytes *b)
{
    int rank;
    uint64_t n = b->n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&n, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank != 0)
        make_room(b, n);
    for (size_t at = 0; at < b->n; at += TL_RANK_MESSAGE)
        MPI_Bcast(b->data + at, piece_of(b->n - at), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void tl_rank_send(int rank, const tl_rank_bytes *b)
{
    const uint64_t n = b->n;
    MPI_Send(&n, 1, MPI_UINT64_T, rank, TAG_SIZE, MPI_COMM_WORLD);
    for (size_t at = 0; at < b->n; at += TL_RANK_MESSAGE)
        MPI_Send(b->data + at, piece_of(b->n - at), MPI_BYTE, rank, TAG_PIECE, MPI_COMM_WORLD);
}

void tl_rank_receive(int rank, tl_rank_bytes *b)
{
    uint64_t n;
    MPI_Recv(&n, 1, MPI_UINT64_T, rank, TAG_SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    make_room(b, n);
    for (size_t at = 0; at < b->n; at += TL_RANK_MESSAGE)
        MPI_Recv(b->data + at, piece_of(b->n - at), MPI_BYTE, rank, TAG_PIECE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
