/* Lines of instructions: making and caching them. */
#include "format/listing/listing_line.h"

#include <stdlib.h>

#include "base/text/number.h"

enum { LEVEL_WIDTH = 5, PC_WIDTH = 18, OPCODE_DIGITS = 8, MNEMONIC_WIDTH = 7, GAP = 2 };

int listing_lines_init(listing_lines *l, const tl_trace *t, tl_error *e)
{
    l->line = calloc(LISTING_LINES, sizeof *l->line);
    if (!l->line || !listing_symbols_init(&l->symbols, t))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for lines");
    l->width = LISTING_TEXT + LISTING_WIDTH + (l->symbols.n > 0 ? GAP + LISTING_SYMBOL : 0);
    return a64_disasm_new(&l->disasm, false, e);
}

void listing_lines_fini(listing_lines *l)
{
    a64_disasm_free(l->disasm);
    listing_symbols_fini(&l->symbols);
    free(l->line);
}

static char *put_spaces(char *p, size_t n)
{
    memset(p, ' ', n);
    return p + n;
}

static char *put_right(char *p, const char *text, size_t n, size_t width)
{
    if (n < width)
        p = put_spaces(p, width - n);
    memcpy(p, text, n);
    return p + n;
}

/* The mnemonic in a column of its own. */
static char *put_text(char *p, const char *text, size_t n)
{
    const char *space = memchr(text, ' ', n);
    const size_t mnemonic = space ? (size_t)(space - text) : n;
    memcpy(p, text, mnemonic);
    p += mnemonic;
    if (!space)
        return p;
    if (mnemonic < MNEMONIC_WIDTH)
        p = put_spaces(p, MNEMONIC_WIDTH - mnemonic);
    memcpy(p, space, n - mnemonic);
    return p + (n - mnemonic);
}

/* Writes the line at p, and into *k if it is short enough. Returns the end. */
static char *make(listing_lines *l, char *p, uint64_t pc, uint64_t aux, listing_line *k, unsigned *padding)
{
    const uint32_t op = tl_insn_opcode(aux);
    const bool has_pc = tl_insn_has_pc(aux);
    char *const begin = p, number[24] = "0x", text[A64_TEXT_MAX];
    p = put_spaces(p, LEVEL_WIDTH);
    if (tl_insn_level(aux) > 0) {
        memcpy(begin + 1, "el", 2);
        begin[3] = (char)('0' + tl_insn_level(aux));
    }
    if (has_pc)
        p = put_right(p, number, (size_t)(tl_put_hex(number + 2, pc) - number), PC_WIDTH);
    else
        p = put_right(p, "-", 1, PC_WIDTH);
    p = put_spaces(p, GAP);
    if (l->symbols.n > 0) {
        p = has_pc ? listing_put_symbol(&l->symbols, p, pc) : put_spaces(p, LISTING_SYMBOL);
        p = put_spaces(p, GAP);
    }
    for (unsigned i = 0; i < OPCODE_DIGITS; i++)
        *p++ = "0123456789abcdef"[op >> (28 - 4 * i) & 15];
    p = put_spaces(p, GAP);
    p = put_text(p, text, a64_disasm_text(l->disasm, op, has_pc, pc, text));

    const size_t n = (size_t)(p - begin);
    *padding = (unsigned)(n + GAP <= l->width ? l->width - n : GAP);
    if (n <= LISTING_KEPT) {
        *k = (listing_line){.pc = pc, .aux = aux, .n = (uint8_t)n, .padding = (uint8_t)*padding};
        memcpy(k->text, begin, n);
    }
    return p;
}

/* In a program larger than the cache, two places with the same first slot have different second ones. */
static uint32_t second_slot(uint32_t first, uint64_t pc)
{
    return first ^ (uint32_t)(((pc >> 18) * 0x9e3779b97f4a7c15u >> 40 | 1) % LISTING_LINES);
}

char *listing_find_line(listing_lines *l, char *p, uint64_t pc, uint64_t aux, unsigned *padding)
{
    const uint32_t slot = listing_slot(pc, aux);
    listing_line *first = &l->line[slot], *second = &l->line[second_slot(slot, pc)];
    if (listing_is_line(second, pc, aux))
        return listing_copy_line(second, p, padding);
    return make(l, p, pc, aux, first->n > 0 && second->n == 0 ? second : first, padding);
}
