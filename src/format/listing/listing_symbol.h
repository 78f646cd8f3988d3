/* Names of code addresses: which function of the trace contains a pc. */
#ifndef TL_LISTING_SYMBOL_H
#define TL_LISTING_SYMBOL_H

#include "model/trace_impl.h"

enum { LISTING_SYMBOL = 32 /* width of the column */ };

typedef struct listing_symbols {
    const tl_trace *trace;
    uint32_t *order; /* functions that have a name, an address and a size, by address */
    uint32_t n;      /* 0: the listing has no column for them */
} listing_symbols;

bool listing_symbols_init(listing_symbols *s, const tl_trace *t); /* after zeroing; false: no memory */
void listing_symbols_fini(listing_symbols *s);
/* Writes LISTING_SYMBOL bytes at p: "main+0x1c", the begin of a long name, or only spaces. Returns the end. */
char *listing_put_symbol(const listing_symbols *s, char *p, uint64_t pc);
/* Enough bytes for the first `most` of a name. */
#define LISTING_NAME_BYTES(most) (4 * ((most) + 3))
/* Writes at most `most` bytes of a name, made safe for a terminal; returns how many bytes that makes. */
size_t listing_clean_name(char *out, const char *name, size_t most);

#endif
