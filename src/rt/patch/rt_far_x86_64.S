/* Where pages of jumps near an object's sleds lead to on x86-64 (hook_sleds_found.c): the trampolines, behind a mark of
 * their own for processors that check indirect jumps. Registers, flags and the stack are as the sled left them. */
#if defined(__x86_64__)

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

    .section .note.GNU-stack, "", @progbits

    /* Good for processors that check indirect jumps and returns (CET). */
    .section .note.gnu.property, "a", @note
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000002, 4, 3, 0

#endif
