/* What blocks of patched code call and jump to on x86-64 (patch_emit.h): registers are kept, and the recorder's handler
 * is called.
 *
 * A block stands at the very begin or end of a function, where rsp points to the return address: that place tells calls
 * apart. The function's number is below rsp. Unlike at sleds, all registers that a call may change are kept: a caller
 * of a local function may know which of them that one leaves alone (gcc's -fipa-ra). Flags are dead at a begin and an
 * end. Handlers touch no vector register (-mgeneral-regs-only). */
#if defined(__x86_64__)

#include "rt/rt_asm_x86_64.h"

    /* Up to the handler: the number lies at the top of `room` bytes below rsp, and the function's return address
     * `above` bytes over the kept registers. Frames at `keep` and higher are still there. */
    .macro handle room, number, above, new, handler
    leaq -\room(%rsp), %rsp
    .cfi_adjust_cfa_offset \room
    keep rax
    keep rcx
    keep rdx
    keep rsi
    keep rdi
    keep r8
    keep r9
    keep r10
    keep r11
    movl 72 + \number(%rsp), %edi
    leaq 72 + \above(%rsp), %rsi
    leaq 72 + \above + \new(%rsp), %rdx
    call *tl_rt_handlers + \handler(%rip)
    back r11
    back r10
    back r9
    back r8
    back rdi
    back rsi
    back rdx
    back rcx
    back rax
    leaq \room(%rsp), %rsp
    .cfi_adjust_cfa_offset -\room
    ret
    .endm

    /* Called: the block's address is above the number, `pushes` registers above that, and above these the function's
     * return address. Nothing says how to unwind a block; so where all registers are as at the function's begin or
     * behind its end, the block is left out: for an unwinder the function's caller has called us. */
    .macro called name, handler, new, pushes=0
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 5
\name:
    .cfi_startproc
    .if \pushes == 0
    .cfi_def_cfa_offset 16
    .endif
    endbr64
    handle 8, 0, (16+8*\pushes), \new, \handler
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    .hidden tl_rt_handlers
    .irp pushes, 0, 1, 2, 3, 4, 5, 6
    called tl_rt_patch_enter_\pushes, ENTER, 1, \pushes
    .endr
    called tl_rt_patch_tail, TAIL, 0
    called tl_rt_patch_leave, EXIT, 0

    /* Jumped to in place of the function's ret. */
    .globl tl_rt_patch_exit
    .hidden tl_rt_patch_exit
    .type tl_rt_patch_exit, @function
    .p2align 5
tl_rt_patch_exit:
    .cfi_startproc
    endbr64
    handle 16, 8, 16, 0, EXIT
    .cfi_endproc
    .size tl_rt_patch_exit, . - tl_rt_patch_exit

    notes

#endif
