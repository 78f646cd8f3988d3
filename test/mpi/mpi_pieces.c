/* Content of many sizes goes through messages of a few bytes: from rank 0 to all, and from each back to rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/rank_bytes.h"

enum { SIZES = 40 };

static uint8_t byte_of(size_t size, size_t at)
{
    return (uint8_t)(size * 31 + at * 7 + 1);
}

static void fill(tl_rank_bytes *b, size_t size)
{
    b->n = size;
    b->data = malloc(size + 1);
    for (size_t i = 0; b->data && i < size; i++)
        b->data[i] = byte_of(size, i);
}

static int check(const tl_rank_bytes *b, size_t size)
{
    int wrong = b->n != size;
    for (size_t i = 0; !wrong && i < size; i++)
        wrong = b->data[i] != byte_of(size, i);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t size = 0; size < SIZES; size++) {
        tl_rank_bytes b = {0};
        if (rank == 0)
            fill(&b, size);
        tl_rank_share(&b);
        wrong += check(&b, size);
        if (rank != 0)
            tl_rank_send(0, &b);
        for (int r = 1; rank == 0 && r < ranks; r++) {
            tl_rank_bytes back = {0};
            tl_rank_receive(r, &back);
            wrong += check(&back, size);
            free(back.data);
        }
        free(b.data);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d sizes, %d ranks, %d wrong\n", SIZES, ranks, all);
    MPI_Finalize();
    return rank == 0 && all != 0;
}
