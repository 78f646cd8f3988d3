/* Call frame information: which ranges of code have an entry in .eh_frame, and where the canonical frame address is at
 * an instruction. It is loaded with every object, stripped or not, since unwinding needs it.
 *
 * Source: LSB 5.0 Core, chapter 10 (.eh_frame, .eh_frame_hdr), and DWARF 5, section 6.4. Any bytes may be given: what
 * is malformed ends the walk, or makes a rule unknown. All functions are pure. */
#ifndef TL_PATCH_FRAMES_H
#define TL_PATCH_FRAMES_H

#include "patch/patch_image.h"

/* Instructions that are followed: of an entry, and of a common one, which any number of entries may refer to. */
#define PATCH_ROWS_MAX        65536
#define PATCH_COMMON_ROWS_MAX 1024

/* Instructions of call frame information: addresses in the image. */
typedef struct patch_rules {
    uint64_t begin, end;
} patch_rules;

/* One entry: a range of code. */
typedef struct patch_frame {
    uint64_t entry; /* address of it: a walk can begin there */
    uint64_t begin, size;
    bool signal;          /* of a signal handler's return: its caller is not a call */
    uint64_t code_factor; /* of the common entry */
    int64_t data_factor;
    uint64_t return_register; /* 16 is the return address */
    uint8_t pointers;         /* how DW_CFA_set_loc says an address */
    patch_rules common, own;
} patch_frame;

/* Where a walk over all entries is. */
typedef struct patch_frames {
    const patch_image *image;
    uint64_t at, end;
    bool damaged; /* it ended before the section did */
} patch_frames;

/* False: the image has no .eh_frame that can be read. */
bool patch_frames_begin(patch_frames *w, const patch_image *image);
/* The next entry, in the order of the section; false at the end. */
bool patch_frames_next(patch_frames *w, patch_frame *out);

/* How to find the canonical frame address, which is rsp + 8 where a function begins. */
typedef struct patch_cfa {
    bool known;   /* false: by an expression, or the entry is malformed */
    bool returns; /* false: the return address is undefined: nobody called */
    uint8_t reg;  /* DWARF's number: 7 is rsp */
    int64_t offset;
} patch_cfa;

/* Follows the rules of an entry once, from begin to end. */
#define PATCH_KEPT_MAX 16 /* rules that DW_CFA_remember_state may keep: compilers emit one */
typedef struct patch_cfa_walk {
    const patch_image *image;
    patch_frame frame;
    uint64_t here;                              /* where the next row begins */
    patch_cfa cfa, kept[PATCH_KEPT_MAX], first; /* first: behind the common rules */
    unsigned nkept, left;                       /* left: instructions that are still followed */
    bool common;                                /* in the common rules */
} patch_cfa_walk;

void patch_cfa_begin(patch_cfa_walk *w, const patch_image *image, const patch_frame *frame);
/* At an address that is not lower than that of the call before. */
patch_cfa patch_cfa_next(patch_cfa_walk *w, uint64_t address);
/* At any address: the cost of a walk. */
patch_cfa patch_cfa_at(const patch_image *image, const patch_frame *frame, uint64_t address);

static inline bool patch_cfa_is_entry(patch_cfa cfa)
{
    return cfa.known && cfa.returns && cfa.reg == 7 && cfa.offset == 8;
}

#endif
