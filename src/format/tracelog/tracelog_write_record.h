/* Lines of the records of a TraceLog, from its events. */
#ifndef TL_FORMAT_TRACELOG_WRITE_RECORD_H
#define TL_FORMAT_TRACELOG_WRITE_RECORD_H

#include "format/tracelog/tracelog_write.h"

/* Writes event i of a batch as its record. False when memory runs out. */
bool tracelog_put_record(tl_text_writer *tw, tracelog_writer *w, tracelog_record record, const tl_batch *b, uint32_t i);

#endif
