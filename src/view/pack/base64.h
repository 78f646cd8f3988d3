/* Base64 as in RFC 4648, with padding, on one line. */
#ifndef TL_VIEW_BASE64_H
#define TL_VIEW_BASE64_H

#include "base/protobuf.h"

/* Appends n bytes as text. */
void tl_base64_put(tl_pb *out, const uint8_t *data, size_t n);

#endif
