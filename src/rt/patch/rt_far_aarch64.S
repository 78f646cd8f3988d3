/* Where pages of jumps near an object's sleds lead to on AArch64 (hook_sleds_found.c): they have pushed x16 and x30,
 * since a far jump takes a register, and none is free. Here both are taken back; then the trampoline goes on as if the
 * sled had called it. */
#if defined(__aarch64__)

    .macro far name, trampoline
    .globl tl_rt_far_\name
    .hidden tl_rt_far_\name
    .type tl_rt_far_\name, %function
    .p2align 4
tl_rt_far_\name:
    .cfi_startproc
    hint 34 /* bti c: the jump is through x16 */
    ldp x16, x30, [sp], 16
    b \trampoline
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

    .section .note.GNU-stack, "", %progbits

    /* Good for processors that check indirect jumps (BTI). */
    .section .note.gnu.property, "a", %note
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 1, 0

#endif
