/* Fuzz target: memory images, and the check of a stream against one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/xtrace/xtrace_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

/* The input is the image; its first bytes are the stream, too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_input *image = NULL, *stream = NULL;
    tl_shadow *memory = NULL;
    tl_trace t = {0};
    tl_error e = {0};
    const char *what = NULL;
    tl_trace_init(&t);
    if (tl_input_open_memory(&image, data, size, "image", &e) == 0 &&
        tl_input_open_memory(&stream, data, size < 64 ? size : 64, "stream", &e) == 0 &&
        tl_shadow_new(&memory, &e) == 0) {
        int rc = xtrace_core_read(image, memory, &what, &e);
        promise(rc >= 0 || e.code == rc, "an error carries the code that is returned");
        promise(rc != 1 || what, "what is wrong is said");
        promise(tl_shadow_pages(memory) <= XTRACE_CORE_PAGES * 2, "pages are limited");
        rc = xtrace_image_check(stream, "stream", image, "image", &t, &e);
        promise(rc >= 0 || e.code == rc, "an error carries the code that is returned");
    }
    tl_shadow_free(memory);
    tl_input_close(stream);
    tl_input_close(image);
    tl_trace_fini(&t);
    return 0;
}
