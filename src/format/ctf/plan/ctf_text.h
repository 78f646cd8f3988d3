/* Text of any encoding as UTF-8. */
#ifndef TL_FORMAT_CTF_TEXT_H
#define TL_FORMAT_CTF_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "format/ctf/ctf_type.h"

/* Bytes of a code unit: 1, 2 or 4. */
unsigned ctf_text_unit(ctf_encoding e);
/* Bytes before the first NUL code unit among n bytes at p, n rounded down to whole units if there is none. */
size_t ctf_text_length(const uint8_t *p, size_t n, ctf_encoding e);
/* Writes n bytes of text as UTF-8; invalid characters become U+FFFD. `out` has room for 3 bytes for every two of UTF-16
 * text, otherwise for n. Returns the bytes written. UTF-8 is copied unchanged. */
size_t ctf_text_utf8(char *out, const uint8_t *p, size_t n, ctf_encoding e);

#endif
