/* Digests of bytes that come in pieces: MD5 (RFC 1321), SHA-1 (RFC 3174), SHA-256 (RFC 6234), and CRC-32.
 *
 * Why not a library? Every command would load libcrypto, even those that make no checksum, and it crashes when memory
 * runs out. Here MD5 and SHA-1 are only checksums of packets, and protect nothing; SHA-256 tells traces apart. */
#ifndef TL_BASE_DIGEST_H
#define TL_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef enum tl_digest_kind { TL_DIGEST_CRC32, TL_DIGEST_MD5, TL_DIGEST_SHA1, TL_DIGEST_SHA256 } tl_digest_kind;

#define TL_DIGEST_MOST  32u /* bytes of the longest */
#define TL_DIGEST_BLOCK 64u /* bytes that all but CRC-32 process at once */

typedef struct tl_digest {
    tl_digest_kind kind;
    uint32_t state[8]; /* CRC-32: the first */
    uint64_t n;        /* bytes so far */
    uint8_t block[TL_DIGEST_BLOCK];
} tl_digest;

/* Cannot fail; nothing has to be freed. */
void tl_digest_begin(tl_digest *d, tl_digest_kind kind);
void tl_digest_add(tl_digest *d, const void *data, size_t n);
/* The digest, followed by zeros if shorter; for CRC-32 the number, most significant byte first. */
void tl_digest_end(tl_digest *d, uint8_t out[TL_DIGEST_MOST]);

#endif
