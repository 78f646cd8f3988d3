/* Called by the block of the loader's function that tells debuggers about its list (rt_patch_later.c): keeps all
 * registers that a call may change, and goes to a stack of its own, since the program's may be small. One thread at a
 * time: the loader holds its lock. */
#if defined(__x86_64__)

#include "rt/rt_asm_x86_64.h"

    .text
    .hidden tl_rt_patch_changed
    .hidden tl_rt_patch_later_stack

    .globl tl_rt_patch_later
    .hidden tl_rt_patch_later
    .type tl_rt_patch_later, @function
    .p2align 5
tl_rt_patch_later:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    movq tl_rt_patch_later_stack(%rip), %rsp
    call tl_rt_patch_changed
    leaq -72(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popq %rbp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size tl_rt_patch_later, . - tl_rt_patch_later

    /* In place of the function's ret, and where nothing is to be done. */
    .globl tl_rt_patch_later_end
    .hidden tl_rt_patch_later_end
    .type tl_rt_patch_later_end, @function
    .p2align 4
tl_rt_patch_later_end:
    .cfi_startproc
    endbr64
    ret
    .cfi_endproc
    .size tl_rt_patch_later_end, . - tl_rt_patch_later_end

    notes

#endif
