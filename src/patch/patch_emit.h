/* Blocks: the code that the jump at a site leads to. It tells the recorder, does what the replaced instruction did, and
 * goes on behind it.
 *
 *   entry      number -> -16(%rsp); call enter; the instruction; jmp back
 *   ret        number -> -8(%rsp); jmp exit, which returns
 *   tail       number -> -16(%rsp); call tail; jmp target
 *   indirect   is the target inside of the function? Then jump; else as a tail
 *   self       the function's first instruction; jmp behind that one
 *
 * The size of a block does not depend on where it is. Numbers lie below the stack pointer, where at an entry, and at an
 * end, nothing of the function is. */
#ifndef TL_PATCH_EMIT_H
#define TL_PATCH_EMIT_H

#include "patch/patch_place.h"

#define PATCH_BLOCK_MAX 192

/* Bytes of code that will be at an address. */
typedef struct patch_emit {
    uint64_t at;
    uint32_t n;
    bool good; /* false: an instruction that cannot be moved, or something is out of reach from here */
    uint8_t bytes[PATCH_BLOCK_MAX];
} patch_emit;

/* What a block is made of. */
typedef struct patch_block {
    const patch_plan *plan;
    const patch_site *site; /* NULL: an instruction that gave way, which is only moved */
    uint64_t begin;         /* of the instructions that are moved ... */
    uint32_t length;        /* ... and their bytes, as the object has them; an end is the last of them */
    uint64_t table;         /* of stubs */
    uint8_t pushes;         /* of an entry that is told after so many registers were pushed */
} patch_block;

/* Order of the table. */
enum {
    PATCH_STUB_ENTER, /* and behind it those for entries with 1, 2, ... pushes */
    PATCH_STUB_EXIT = PATCH_STUB_ENTERS,
    PATCH_STUB_TAIL,
    PATCH_STUB_LEAVE,
    PATCH_STUB_COUNT
};

/* False: out->good is. */
bool patch_emit_block(patch_emit *out, const patch_block *block, uint64_t at);         /* x86-64 */
bool patch_emit_block_aarch64(patch_emit *out, const patch_block *block, uint64_t at); /* has a site */
/* x86-64: a jump of 5 bytes, or of 14 where the target is out of its reach. */
void patch_emit_jump(patch_emit *out, uint64_t at, uint64_t target);

#endif
