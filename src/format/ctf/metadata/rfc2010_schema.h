/* A schema from the metadata of 2010, while it is being made. */
#ifndef TL_FORMAT_CTF_RFC2010_SCHEMA_H
#define TL_FORMAT_CTF_RFC2010_SCHEMA_H

#include "format/ctf/metadata/rfc2010_types.h"

typedef enum rfc2010_header { RFC2010_NO_HEADER, RFC2010_TYPE1, RFC2010_TYPE2 } rfc2010_header;

/* The natural alignments of the fixed headers, in bits; at least 8. */
typedef struct rfc2010_natural {
    uint32_t u32, u64;
} rfc2010_natural;

/* The event header of a section, in the arena of the schema. NULL when memory runs out. */
const ctf_type *rfc2010_event_header(ctf_schema *s, rfc2010_header header, rfc2010_natural natural);

/* A context as it is, but with the role of an integer named payload_size. NULL when memory runs out. */
const ctf_type *rfc2010_context(ctf_schema *s, const ctf_type *context);

#endif
