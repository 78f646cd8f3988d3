/* What methods call at their begin and end, with their number in r14 at the begin and in rdi at the end: keeps all
 * registers, and hands on the place on the stack. Vector registers are kept by what is called, which has none. */
    .text

.macro stub name, to, number
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    push %rax
    .cfi_adjust_cfa_offset 8
    push %rcx
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %r8
    .cfi_adjust_cfa_offset 8
    push %r9
    .cfi_adjust_cfa_offset 8
    push %r10
    .cfi_adjust_cfa_offset 8
    push %r11
    .cfi_adjust_cfa_offset 8
    mov \number, %rdi
    lea 80(%rsp), %rsi
    call \to
    pop %r11
    .cfi_adjust_cfa_offset -8
    pop %r10
    .cfi_adjust_cfa_offset -8
    pop %r9
    .cfi_adjust_cfa_offset -8
    pop %r8
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rcx
    .cfi_adjust_cfa_offset -8
    pop %rax
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    stub clr_stub_enter, clr_entered, %r14
    stub clr_stub_leave, clr_left, %rdi
    stub clr_stub_tail, clr_replaced, %rdi

    .section .note.GNU-stack, "", @progbits
