/* Fields of events as Perfetto's debug annotations. */
#ifndef TL_FORMAT_PERFETTO_ANNOTATION_H
#define TL_FORMAT_PERFETTO_ANNOTATION_H

#include "base/protobuf.h"
#include "model/field_text.h"

/* Names as they are. Of zeroed memory; tl_fields_fini() is needed in any case. */
bool perfetto_fields_init(tl_fields *fields, uint32_t ncls);

/* Appends the key of event i, if it is not a function, and its fields to a TrackEvent. */
void perfetto_annotations(tl_pb *event, tl_fields *fields, const tl_class *c, const tl_batch *b, uint32_t i);

/* The same for the fields of the payload that another class lacks. */
void perfetto_new_annotations(tl_pb *event, tl_fields *fields, const tl_class *c, const tl_class *other,
                              const tl_batch *b, uint32_t i);

/* Appends a field of type double. */
void perfetto_double(tl_pb *p, unsigned field, double v);

#endif
