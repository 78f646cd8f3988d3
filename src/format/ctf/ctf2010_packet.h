/* Packets of the dialect of 2010: shared by the walk over them and the reading of their content. */
#ifndef TL_FORMAT_CTF_CTF2010_PACKET_H
#define TL_FORMAT_CTF_CTF2010_PACKET_H

#include "format/ctf/read/ctf_file.h"

/* Schemes in packet headers. */
enum { CTF2010_NO_CHECKSUM, CTF2010_MD5, CTF2010_SHA1, CTF2010_CRC32 };
enum { CTF2010_NOT_COMPRESSED, CTF2010_BZIP2, CTF2010_GZIP };
enum { CTF2010_NOT_ENCRYPTED, CTF2010_AES };

#define CTF2010_BOTH (TL_DAMAGE_FAULT | TL_DAMAGE_LOSS)

/* The place of a problem, as in tl_damage. */
typedef struct ctf2010_place {
    unsigned kind;
    uint64_t at, offset, bytes;
    const char *rule;
} ctf2010_place;

/* Reports a problem, if the walk reports at all. Fails if the list cannot take it, or in strict mode. */
__attribute__((format(printf, 4, 5))) int ctf2010_report(const ctf_walk *w, const ctf2010_place *where, tl_error *e,
                                                         const char *format, ...);

/* Do n bytes begin with the magic number, and in which byte order? */
bool ctf2010_magic(const uint8_t *p, size_t n, bool *big);

/* As ctf_2010_content(), but a truncated compressed packet is not skipped if all of its content is there. */
int ctf2010_content(ctf_walk *w, const ctf_packet *p, uint8_t **content, size_t *n, bool *skip, tl_error *e);

#endif
