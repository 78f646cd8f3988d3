/* The thread that an event names by context fields, as LTTng's do ("vtid" or "tid", "vpid" or "pid"): it replaces the
 * event's track. */
#ifndef TL_MODEL_EVENT_THREAD_H
#define TL_MODEL_EVENT_THREAD_H

#include "model/trace_impl.h"

#define TL_NO_FIELD UINT32_MAX

/* Indices of these fields in a class, or TL_NO_FIELD. */
typedef struct tl_thread_fields {
    uint32_t tid, pid;
} tl_thread_fields;

typedef struct tl_event_thread {
    int64_t tid, pid; /* pid: 0 if unknown */
    bool has_pid;
} tl_event_thread;

/* The index of a context or payload field by name; TL_NO_FIELD if there is none. */
uint32_t tl_class_find_field(const tl_class *c, bool context, const char *name);
/* The value of a field of event i; NULL for TL_NO_FIELD, or if the event lacks it. */
const tl_value *tl_event_value(const tl_batch *b, uint32_t i, uint32_t field);

tl_thread_fields tl_thread_fields_of(const tl_class *c);
/* The same for all classes, by id; free(). NULL when memory runs out. */
tl_thread_fields *tl_thread_fields_new(const tl_trace *t);
/* The thread of event i; false if the event does not name it. */
bool tl_event_thread_get(const tl_thread_fields *f, const tl_batch *b, uint32_t i, tl_event_thread *out);

#define TL_THREAD_NAME_ROOM 32
/* The name of the thread's track, written into `room`. */
const char *tl_event_thread_name(int64_t tid, char room[static TL_THREAD_NAME_ROOM]);

#endif
