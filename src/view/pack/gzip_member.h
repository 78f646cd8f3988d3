/* Bytes as a gzip member, in every build. */
#ifndef TL_VIEW_GZIP_MEMBER_H
#define TL_VIEW_GZIP_MEMBER_H

#include "base/protobuf.h"
#include "traceloom/error.h"

/* Appends a member with n bytes of content: compressed, or stored if this build cannot compress or it would not help.
 * The result depends only on the content. Errors: TL_ENOMEM. */
int tl_gzip_member_put(tl_pb *out, const void *data, size_t n, tl_error *e);

#endif
