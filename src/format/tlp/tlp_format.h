/* Shared by the halves of the .tlp format. */
#ifndef TL_FORMAT_TLP_FORMAT_H
#define TL_FORMAT_TLP_FORMAT_H

#include "model/format_impl.h"

/* Reads the body of a .tlp file with correct size and checksum into an empty profile. TL_EDAMAGED, TL_ENOMEM; the
 * profile is then unusable. */
int tl_tlp_decode(const uint8_t *file, size_t size, tl_profile *p, tl_error *e);
int tl_tlp_write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e);

#endif
