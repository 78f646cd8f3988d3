/* What all fuzz targets of readers do: read the bytes as one format through the public interface, in every way. */
#ifndef TL_FUZZ_SOURCE_H
#define TL_FUZZ_SOURCE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_promises.h"

/* Opens the bytes as a file in memory, so that the fuzzer does not touch the disk. */
static inline tl_source *fuzz_open(const uint8_t *data, size_t size, const char *format, bool strict)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    /* The fuzzer must not open files that an input names. */
    const tl_open_options options = {
        .from = format, .no_names = true, .want = {.fields = true, .cpu = true, .strict = strict}};
    tl_source *s = NULL;
    tl_error e = {0};
    const int status = tl_source_open(&s, path, &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    return status < 0 ? NULL : s;
}

static inline int fuzz_source(const uint8_t *data, size_t size, const char *format)
{
    tl_source *s = fuzz_open(data, size, format, false);
    if (s != NULL && !tl_source_is_profile(s)) {
        const uint64_t events = fuzz_iterate(s);
        tl_count count;
        tl_error e;
        if (tl_source_count(s, 1, &count, &e) >= 0) {
            promise(count.events == events, "counting and reading find the same events");
            tl_count_free(&count);
        }
        fuzz_merge(s, events);
    }
    if (s != NULL)
        fuzz_profile(s);
    tl_source_close(s);
    s = fuzz_open(data, size, format, true);
    if (s != NULL && !tl_source_is_profile(s))
        fuzz_iterate(s);
    tl_source_close(s);
    return 0;
}

#endif
