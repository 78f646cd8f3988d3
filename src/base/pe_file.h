/* Headers of PE files, which programs and libraries of .NET are. Whatever the file holds: nothing outside it is read.
 */
#ifndef TL_BASE_PE_FILE_H
#define TL_BASE_PE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_PE_DEBUG = 6, TL_PE_CLI = 14 /* directories */ };

typedef struct tl_pe {
    int fd;
    uint64_t directories, sections; /* where they are */
    unsigned nsections;
} tl_pe;

/* False: it is no regular file, or has no such headers; nothing is open then. */
bool tl_pe_open(tl_pe *f, const char *path);
void tl_pe_close(tl_pe *f);
/* All n bytes; false: the file ends before. */
bool tl_pe_read(const tl_pe *f, uint64_t offset, void *to, size_t n);
/* A directory by its number. False: there is none. */
bool tl_pe_directory(const tl_pe *f, unsigned number, uint32_t *address, uint32_t *size);
/* Where in the file an address of the loaded one is; 0: nowhere. */
uint64_t tl_pe_offset(const tl_pe *f, uint32_t address);

#endif
