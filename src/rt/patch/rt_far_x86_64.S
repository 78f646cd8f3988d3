/* Where pages of jumps near an object's sleds lead to on x86-64 (hook_sleds_found.c): the trampolines, behind a mark of
 * their own for processors that check indirect jumps. Registers, flags and the stack are as the sled left them. */
#if defined(__x86_64__)

#include "rt/rt_asm_x86_64.h"

    .macro far name, trampoline
    .globl tl_rt_far_\name
    .hidden tl_rt_far_\name
    .type tl_rt_far_\name, @function
    .p2align 4
tl_rt_far_\name:
    .cfi_startproc
    endbr64
    jmp \trampoline
    .cfi_endproc
    .size tl_rt_far_\name, . - tl_rt_far_\name
    .endm

    .text
    far entry, tl_rt_trampoline_entry
    far exit, tl_rt_trampoline_exit
    far tail, tl_rt_trampoline_tail
    far argument, tl_rt_trampoline_argument
    .hidden __xray_CustomEvent
    .hidden __xray_TypedEvent
    far custom, __xray_CustomEvent
    far typed, __xray_TypedEvent

    notes

#endif
