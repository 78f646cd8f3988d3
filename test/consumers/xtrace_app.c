/* A small real program that is recorded as an instruction stream (xtrace.sh, bench/xtrace.py):
 *
 *     xtrace_app NUMBERS ORDER ROUNDS [THREADS]
 *
 * Each thread sorts that many numbers, multiplies matrices of that order, works with strings and counts with exclusive
 * accesses. Prints how often each function was called, in one writev(). Build without outlined atomics and without
 * sibling calls: each call has to stay a call. The work is between two HINT #9, without the start of the C library. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define CALLED __attribute__((noinline, noclone))
enum { THREADS_MOST = 8, WORDS = 64 };

typedef struct work {
    uint32_t numbers, order, rounds;
    uint64_t sorts, cells, strings, adds; /* calls */
    uint64_t result;
} work;

static _Atomic uint64_t counter;

void sort_numbers(work *w, uint32_t *a, uint32_t n);
double multiply_cell(work *w, const double *a, const double *b, uint32_t row, uint32_t column);
uint64_t join_words(work *w, const char *word, uint32_t seed);
void add_one(work *w);

CALLED void sort_numbers(work *w, uint32_t *a, uint32_t n)
{
    w->sorts++;
    if (n < 2)
        return;
    const uint32_t pivot = a[n / 2];
    uint32_t i = 0, j = n - 1;
    for (;; i++, j--) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i >= j)
            break;
        const uint32_t swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
    sort_numbers(w, a, i);
    sort_numbers(w, a + j + 1, n - j - 1);
}

CALLED double multiply_cell(work *w, const double *a, const double *b, uint32_t row, uint32_t column)
{
    double sum = 0;
    w->cells++;
    for (uint32_t k = 0; k < w->order; k++)
        sum += a[row * w->order + k] * b[k * w->order + column];
    return sum;
}

CALLED uint64_t join_words(work *w, const char *word, uint32_t seed)
{
    char text[WORDS * 8] = "", number[16];
    w->strings++;
    for (uint32_t i = 0; i < WORDS / 4; i++) {
        snprintf(number, sizeof number, "%u", seed * (i + 1) % 1000);
        strcat(text, i % 2 ? word : number);
    }
    return strlen(text) + (strstr(text, "777") != NULL);
}

CALLED void add_one(work *w)
{
    w->adds++;
    atomic_fetch_add(&counter, 1);
}

static void *run(void *data)
{
    work *const w = data;
    uint32_t *const numbers = malloc(w->numbers * sizeof *numbers), seed = 12345;
    double *const m = calloc(3 * (size_t)w->order * w->order, sizeof *m), *const product =
                                                                              m + 2 * (size_t)w->order * w->order;
    if (!numbers || !m)
        abort();
    __asm__ volatile("hint #9");
    for (uint32_t round = 0; round < w->rounds; round++) {
        for (uint32_t i = 0; i < w->numbers; i++)
            numbers[i] = seed = seed * 1664525 + 1013904223;
        sort_numbers(w, numbers, w->numbers);
        for (uint32_t i = 0; i < 2 * w->order * w->order; i++)
            m[i] = (double)(i % 17 + round);
        for (uint32_t i = 0; i < w->order * w->order; i++)
            product[i] = multiply_cell(w, m, m + w->order * w->order, i / w->order, i % w->order);
        for (uint32_t i = 0; i < 100; i++) {
            w->result += join_words(w, "word", seed + i);
            add_one(w);
        }
        w->result += numbers[w->numbers / 2] + (uint64_t)product[1];
    }
    __asm__ volatile("hint #9");
    free(numbers);
    free(m);
    return NULL;
}

int main(int argc, char **argv)
{
    work all[THREADS_MOST] = {0}, sum = {0};
    const uint32_t n = argc > 4 ? (uint32_t)atoi(argv[4]) : 1;
    pthread_t others[THREADS_MOST];
    if (argc < 4 || n < 1 || n > THREADS_MOST)
        return 2;
    for (uint32_t i = 0; i < n; i++)
        all[i] = (work){
            .numbers = (uint32_t)atoi(argv[1]), .order = (uint32_t)atoi(argv[2]), .rounds = (uint32_t)atoi(argv[3])};
    for (uint32_t i = 1; i < n; i++)
        if (pthread_create(&others[i], NULL, run, &all[i]))
            return 1;
    run(&all[0]);
    for (uint32_t i = 1; i < n; i++)
        pthread_join(others[i], NULL);
    for (uint32_t i = 0; i < n; i++) {
        sum.sorts += all[i].sorts;
        sum.cells += all[i].cells;
        sum.strings += all[i].strings;
        sum.adds += all[i].adds;
        sum.result += all[i].result;
    }
    char calls[256], result[64];
    struct iovec parts[2] = {{calls, 0}, {result, 0}};
    parts[0].iov_len = (size_t)snprintf(calls, sizeof calls,
                                        "sort_numbers\t%" PRIu64 "\nmultiply_cell\t%" PRIu64 "\njoin_words\t%" PRIu64
                                        "\nadd_one\t%" PRIu64 "\n",
                                        sum.sorts, sum.cells, sum.strings, sum.adds);
    parts[1].iov_len = (size_t)snprintf(result, sizeof result, "result\t%" PRIu64 "\n", sum.result);
    return writev(1, parts, 2) < 0 || counter != sum.adds;
}
