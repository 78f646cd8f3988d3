/* Fields of events as Perfetto's debug annotations. */
#ifndef TL_FORMAT_PERFETTO_ANNOTATION_H
#define TL_FORMAT_PERFETTO_ANNOTATION_H

#include "base/protobuf.h"
#include "traceloom/model.h"

/* Appends the key of event i, if it is no function, and its fields to a TrackEvent. */
void perfetto_annotations(tl_pb *event, const tl_class *c, const tl_batch *b, uint32_t i);

/* Appends a field of type double. */
void perfetto_double(tl_pb *p, unsigned field, double v);

#endif
