/* The constant part of an instruction's line, made once and cached: level, pc, opcode, text. */
#ifndef TL_LISTING_LINE_H
#define TL_LISTING_LINE_H

#include <string.h>

#include "base/compiler.h"
#include "format/listing/listing_symbol.h"
#include "isa/a64_disasm.h"
#include "traceloom/model.h"

enum {
    LISTING_LINES = 65536, /* cached ones: 12 MiB, of which a program touches only what it needs */
    LISTING_KEPT = 174,    /* bytes of one; longer ones are not cached */
    LISTING_HEAD = 72,     /* bytes that are always copied */
    LISTING_TEXT = 35,     /* where the text begins, after the number, without a column of symbols */
    LISTING_WIDTH = 32,    /* of the text, if something follows */
    LISTING_ROOM = 320     /* bytes that listing_put_line() may write to */
};

typedef struct listing_line {
    uint64_t pc, aux; /* key and aux of the instruction */
    uint8_t n;        /* bytes; 0: none yet */
    uint8_t padding;  /* spaces before what may follow */
    char text[LISTING_KEPT];
} listing_line;

typedef struct listing_lines {
    listing_line *line; /* [LISTING_LINES] */
    a64_disasm *disasm;
    listing_symbols symbols;
    unsigned width; /* of everything up to the end of the column of texts */
} listing_lines;

/* After zeroing; fini is needed in any case. Errors: TL_ENOMEM. */
int listing_lines_init(listing_lines *l, const tl_trace *t, tl_error *e);
void listing_lines_fini(listing_lines *l);
/* The rest of listing_put_line(): a line that is in its second slot, or not cached yet. */
char *listing_find_line(listing_lines *l, char *p, uint64_t pc, uint64_t aux, unsigned *padding);

/* The first slot of a line. Code that runs at one time is mostly adjacent. */
TL_ALWAYS_INLINE uint32_t listing_slot(uint64_t pc, uint64_t aux)
{
    const uint64_t key = TL_LIKELY(tl_insn_has_pc(aux)) ? pc >> 2 : (uint64_t)tl_insn_opcode(aux) * 0x9e3779b1u >> 16;
    return (uint32_t)(key % LISTING_LINES);
}

TL_ALWAYS_INLINE bool listing_is_line(const listing_line *k, uint64_t pc, uint64_t aux)
{
    return k->pc == pc && k->aux == aux && k->n > 0;
}

TL_ALWAYS_INLINE char *listing_copy_line(const listing_line *k, char *p, unsigned *padding)
{
    memcpy(p, k->text, LISTING_HEAD);
    if (k->n > LISTING_HEAD)
        memcpy(p + LISTING_HEAD, k->text + LISTING_HEAD, LISTING_KEPT - LISTING_HEAD);
    *padding = k->padding;
    return p + k->n;
}

/* Writes the line of an instruction at p, where there is room for LISTING_ROOM bytes. Returns the end, and how many
 * spaces are needed before anything that follows. */
TL_ALWAYS_INLINE char *listing_put_line(listing_lines *l, char *p, uint64_t pc, uint64_t aux, unsigned *padding)
{
    const listing_line *k = &l->line[listing_slot(pc, aux)];
    return TL_LIKELY(listing_is_line(k, pc, aux)) ? listing_copy_line(k, p, padding)
                                                  : listing_find_line(l, p, pc, aux, padding);
}

#endif
