/* How hand-written programs read a file: mapped as a whole, with unaligned loads. */
#ifndef LIMIT_FILE_H
#define LIMIT_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOAD(name, type)                                                                                               \
    static inline type name(const uint8_t *p)                                                                          \
    {                                                                                                                  \
        type v;                                                                                                        \
        memcpy(&v, p, sizeof(v));                                                                                      \
        return v;                                                                                                      \
    }
LOAD(load64, uint64_t)
LOAD(load32, uint32_t)
LOAD(load16, uint16_t)

/* The bytes of a file, all pages present; ends the program with status 2 on failure. */
static inline uint8_t *map_file(const char *path, size_t *size)
{
    struct stat st;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) {
        fprintf(stderr, "%s: not a file with content\n", path);
        exit(2);
    }
    *size = (size_t)st.st_size;
    void *const map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (map == MAP_FAILED)
        exit(2);
    close(fd);
    return map;
}

#endif
