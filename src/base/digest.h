/* Digests of bytes that come in pieces: MD5 and SHA-1 of libcrypto, and CRC-32. */
#ifndef TL_BASE_DIGEST_H
#define TL_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef enum tl_digest_kind { TL_DIGEST_CRC32, TL_DIGEST_MD5, TL_DIGEST_SHA1 } tl_digest_kind;

#define TL_DIGEST_MOST 20u /* bytes of the longest */

typedef struct tl_digest {
    tl_digest_kind kind;
    uint32_t crc;
    void *context; /* of libcrypto */
} tl_digest;

/* 1; 0 where this build, or the system's policy, has no such digest; TL_ENOMEM. If not 1, nothing has to be ended. */
int tl_digest_begin(tl_digest *d, tl_digest_kind kind, tl_error *e);
void tl_digest_add(tl_digest *d, const void *data, size_t n);
/* The digest; of CRC-32 the number, most significant byte first. Frees everything. False if it could not be made. */
bool tl_digest_end(tl_digest *d, uint8_t out[TL_DIGEST_MOST]);

#endif
