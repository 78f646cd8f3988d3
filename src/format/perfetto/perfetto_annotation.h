/* Fields of events as Perfetto's debug annotations. */
#ifndef TL_FORMAT_PERFETTO_ANNOTATION_H
#define TL_FORMAT_PERFETTO_ANNOTATION_H

#include "base/protobuf.h"
#include "model/field_text.h"

typedef struct perfetto_fields {
    tl_field_texts texts; /* names as they are */
} perfetto_fields;

bool perfetto_fields_init(perfetto_fields *fields, uint32_t ncls); /* after zeroing; fini is needed in any case */
void perfetto_fields_fini(perfetto_fields *fields);

/* Appends the key of event i, if it is not a function, and its fields to a TrackEvent. */
void perfetto_annotations(tl_pb *event, perfetto_fields *fields, const tl_class *c, const tl_batch *b, uint32_t i);

/* The same for the fields of the payload that another class lacks. */
void perfetto_new_annotations(tl_pb *event, perfetto_fields *fields, const tl_class *c, const tl_class *other,
                              const tl_batch *b, uint32_t i);

/* Appends a field of type double. */
void perfetto_double(tl_pb *p, unsigned field, double v);

#endif
