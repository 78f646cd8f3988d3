/* What the recorder's assembler code for x86-64 has in common; for .S files alone. */
#ifndef TL_RT_ASM_X86_64_H
#define TL_RT_ASM_X86_64_H

/* clang-format off */

    /* rt_handlers */
#define ENTER 0
#define EXIT 8
#define TAIL 16

    .macro keep register
    pushq %\register
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \register, 0
    .endm

    .macro back register
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endm

    /* At the end of a file: the stack is not executable, and the code is good for processors that check indirect jumps
     * and returns (CET). */
    .macro notes
    .section .note.GNU-stack, "", @progbits
    .section .note.gnu.property, "a", @note
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000002, 4, 3, 0
    .endm

/* clang-format on */

#endif
