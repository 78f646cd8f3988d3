/* The event classes of XRay logs. Their numbers are the actions in the files. */
#ifndef TL_FORMAT_XRAY_CLASSES_H
#define TL_FORMAT_XRAY_CLASSES_H

#include "model/format_impl.h"

enum { XRAY_ENTER, XRAY_EXIT, XRAY_TAIL_EXIT, XRAY_ENTER_ARGS, XRAY_CUSTOM, XRAY_TYPED, XRAY_CLASSES };

extern const tl_class xray_classes[XRAY_CLASSES];

/* The index of thread (pid, tid): looks it up, or adds it to the trace. `threads` belongs to the reader. */
typedef struct xray_threads {
    tl_hash with_pid, without_pid;
} xray_threads;
bool xray_thread_known(const xray_threads *threads, bool has_pid, int64_t pid, int64_t tid, uint32_t *track);
int xray_thread(xray_threads *threads, tl_trace *t, bool has_pid, int64_t pid, int64_t tid, uint32_t *track,
                tl_error *e);
void xray_threads_fini(xray_threads *threads);

/* Adds functions of an instrumented binary: the `functions` member of every XRay format. Those of shared libraries have
 * packed ids, signed 32-bit numbers: 8 bits of object, 24 of function. */
int xray_functions(void *reader, tl_elf *elf, uint32_t object, tl_trace *t, tl_error *e);
/* The same for logs that keep 28 bits of an id. */
int xray_functions_28(void *reader, tl_elf *elf, uint32_t object, tl_trace *t, tl_error *e);

#endif
