/* Mutations of a whole folder that is packed into one block, as tl_folder_open_memory() takes it: changes the content
 * of one file, and keeps the packing valid. */
#ifndef TL_FUZZ_FOLDER_H
#define TL_FUZZ_FOLDER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* From libFuzzer; absent, and not called, where inputs are only replayed. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { FILES_MAX = 32 };

typedef struct packed {
    const uint8_t *name, *data;
    size_t name_size, size; /* of the name with its NUL */
} packed;

static size_t unpack(const uint8_t *p, size_t n, packed out[FILES_MAX])
{
    size_t count = 0;
    while (n > 0 && count < FILES_MAX) {
        const uint8_t *nul = memchr(p, 0, n);
        if (!nul || n - (size_t)(nul - p) < 5)
            break;
        packed *f = &out[count++];
        f->name = p;
        f->name_size = (size_t)(nul - p) + 1;
        f->data = nul + 5;
        n -= f->name_size + 4;
        f->size = tl_load32(nul + 1, false);
        f->size = f->size < n ? f->size : n;
        p = f->data + f->size;
        n -= f->size;
    }
    return count;
}

/* Puts the files back together, without those that do not fit. */
static size_t repack(uint8_t *out, size_t max_size, const packed *file, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (file[i].name_size + 4 + file[i].size > max_size - n)
            continue;
        memcpy(out + n, file[i].name, file[i].name_size);
        n += file[i].name_size;
        tl_store32(out + n, (uint32_t)file[i].size, false);
        memcpy(out + n + 4, file[i].data, file[i].size);
        n += 4 + file[i].size;
    }
    return n;
}

/* Changes the content of one file, and keeps the packing valid; now and then removes or duplicates a file. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    packed file[FILES_MAX + 1];
    size_t count = unpack(data, size, file);
    uint8_t *copy = malloc(2 * max_size + 2);
    if (count == 0 || !copy) {
        free(copy);
        return LLVMFuzzerMutate(data, size, max_size);
    }
    uint8_t *mutated = copy + max_size;
    packed *victim = &file[(seed >> 8) % count];
    const unsigned choice = seed % 32;
    if (choice == 0 && count > 1) {
        *victim = file[--count];
    } else if (choice == 1 && victim->name_size < 64 && count < FILES_MAX) {
        memcpy(mutated, victim->name, victim->name_size);
        mutated[victim->name_size - 1] = '9'; /* another name */
        mutated[victim->name_size] = 0;
        file[count] = *victim;
        file[count].name = mutated;
        file[count++].name_size++;
    } else if (choice == 2 && count > 1) {
        const packed other = file[count - 1];
        file[count - 1].data = victim->data;
        file[count - 1].size = victim->size;
        victim->data = other.data;
        victim->size = other.size;
    } else {
        const size_t others = size - victim->size, room = max_size > others ? max_size - others : 1;
        memcpy(mutated, victim->data, victim->size < room ? victim->size : room);
        victim->size = LLVMFuzzerMutate(mutated, victim->size < room ? victim->size : room, room);
        victim->data = mutated;
    }
    const size_t n = repack(copy, max_size, file, count);
    memcpy(data, copy, n);
    free(copy);
    return n;
}

#endif
