/* Which events XRay files can hold, and in which form: shared by the writers of basic and FDR files. */
#ifndef TL_FORMAT_XRAY_WRITE_MAP_H
#define TL_FORMAT_XRAY_WRITE_MAP_H

#include "model/format_impl.h"

/* The first four have the numbers in the files. */
typedef enum xray_action {
    XRAY_WRITE_ENTER,
    XRAY_WRITE_EXIT,
    XRAY_WRITE_TAIL_EXIT,
    XRAY_WRITE_ENTER_ARGS,
    XRAY_WRITE_CUSTOM,
    XRAY_WRITE_TYPED,
    XRAY_WRITE_NOTHING
} xray_action;

/* By kind, key and fields, so that functions of any format can be written. Where kinds do not suffice, the last word of
 * the name decides: ".tail_exit", ".custom", ".typed". */
xray_action xray_write_action(const tl_class *c);

/* The actions of all classes of a trace, by class id; the caller frees it. NULL when memory runs out. */
uint8_t *xray_write_actions(const tl_trace *t);

/* Arguments of an entry: a buffer that grows. Zeroed is empty. */
typedef struct xray_arguments {
    uint64_t *v;
    uint32_t n, capacity;
} xray_arguments;

/* Takes the integers of the first field of event i, a list; *others counts its other values. False when memory runs
 * out. */
bool xray_write_arguments(xray_arguments *a, const tl_batch *b, uint32_t i, uint64_t *others);

/* The version to write: the requested one, or the trace's if it has the same format, else the newest. */
int xray_write_version(const tl_write_context *c, const char *format, int newest, int *version, tl_error *e);

/* The thread id of a track: its own, or its index from 1; truncated to 32 bits, which *cut counts. */
uint32_t xray_write_tid(const tl_trace *t, uint32_t track, uint64_t *cut);
/* The process id, truncated in the same way; false if there is none. */
bool xray_write_pid(const tl_trace *t, uint32_t track, uint32_t *pid, uint64_t *cut);

/* How many functions have names that only the trace knows: these formats hold only numbers. Names from a binary are not
 * lost. */
uint64_t xray_write_names(const tl_trace *t);

#endif
