/* Fuzz target: the binary given with -e, as a file: its symbols, and the lines in its debug information, which libdw
 * reads. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/elf/elf_file.h"
#include "op/symbols/dwarf_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 64 };

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

typedef struct found {
    uint64_t address[ADDRESSES];
    size_t n, lines;
} found;

static int keep_address(void *arg, const tl_elf_symbol *s)
{
    found *f = arg;
    if (f->n < ADDRESSES && s->value)
        f->address[f->n++] = s->value;
    return 0;
}

static int keep_line(void *arg, size_t i, const char *file, uint32_t line)
{
    (void)line;
    found *f = arg;
    promise(i < f->n && file, "a line is that of an address, and of a file");
    f->lines++;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[32];
    tl_elf *elf = NULL;
    tl_error e = {0};
    found f = {.n = 0};
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    promise(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "there is a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (tl_elf_open(&elf, path, &e) < 0)
        return 0;
    (void)tl_elf_each_symbol(elf, keep_address, &f, NULL);
    tl_elf_close(elf);
    qsort(f.address, f.n, sizeof *f.address, compare);
    size_t n = 0;
    for (size_t i = 0; i < f.n; i++)
        if (n == 0 || f.address[i] != f.address[n - 1])
            f.address[n++] = f.address[i];
    f.n = n;
    promise(tl_dwarf_lines(path, f.address, f.n, keep_line, &f) == 0, "whatever is wrong means that less is found");
    promise(f.lines <= f.n, "at most one line for each address");
    return 0;
}
