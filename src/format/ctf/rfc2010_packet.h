/* Packets of the dialect of 2010: what walking over them and reading their content share. */
#ifndef TL_FORMAT_CTF_RFC2010_PACKET_H
#define TL_FORMAT_CTF_RFC2010_PACKET_H

#include "format/ctf/read/ctf_file.h"

/* Schemes in packet headers. */
enum { RFC2010_NO_CHECKSUM, RFC2010_MD5, RFC2010_SHA1, RFC2010_CRC32 };
enum { RFC2010_NOT_COMPRESSED, RFC2010_BZIP2, RFC2010_GZIP };
enum { RFC2010_NOT_ENCRYPTED, RFC2010_AES };

#define RFC2010_BOTH (TL_DAMAGE_FAULT | TL_DAMAGE_LOSS)

/* Where a problem is, as in tl_damage. */
typedef struct rfc2010_place {
    unsigned kind;
    uint64_t at, offset, bytes;
    const char *rule;
} rfc2010_place;

/* Reports a problem, if the walk reports at all. Fails if the list of them cannot hold it, or may not. */
__attribute__((format(printf, 4, 5))) int rfc2010_report(const ctf_walk *w, const rfc2010_place *where, tl_error *e,
                                                         const char *format, ...);

/* Do n bytes begin with the magic number, and in which byte order? */
bool rfc2010_magic(const uint8_t *p, size_t n, bool *big);

/* As ctf_2010_content(), but a compressed packet that is cut off is not skipped if all of its content is there. */
int rfc2010_content(ctf_walk *w, const ctf_packet *p, uint8_t **content, size_t *n, bool *skip, tl_error *e);

#endif
