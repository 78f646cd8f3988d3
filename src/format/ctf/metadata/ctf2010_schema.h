/* A schema from the metadata of 2010 in the making. */
#ifndef TL_FORMAT_CTF_CTF2010_SCHEMA_H
#define TL_FORMAT_CTF_CTF2010_SCHEMA_H

#include "format/ctf/metadata/ctf2010_types.h"

typedef enum ctf2010_header { CTF2010_NO_HEADER, CTF2010_TYPE1, CTF2010_TYPE2 } ctf2010_header;

/* The natural alignments of the fixed headers, in bits; at least 8. */
typedef struct ctf2010_natural {
    uint32_t u32, u64;
} ctf2010_natural;

/* The event header of a section, in the arena of the schema. NULL when memory runs out. */
const ctf_type *ctf2010_event_header(ctf_schema *s, ctf2010_header header, ctf2010_natural natural);

/* A copy of a context in which an integer named payload_size has its role. NULL when memory runs out. */
const ctf_type *ctf2010_context(ctf_schema *s, const ctf_type *context);

#endif
