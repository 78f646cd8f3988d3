/* What methods call at their begin and end, with their number in r14 at the begin and in rdi at the end: hands on the
 * number, and the place on the stack. The registers that the compiled code expects to be kept are those that the
 * runtime's own helpers keep: at the begin arguments, rax and rdx; at the end what is returned, rax and rdx. What is
 * called has no vector registers, and keeps the rest. */
    .text

.macro keep register
    push \register
    .cfi_adjust_cfa_offset 8
.endm

.macro give register
    pop \register
    .cfi_adjust_cfa_offset -8
.endm

.macro begin name
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
.endm

.macro end name
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    begin clr_stub_enter
    keep %rax
    keep %rcx
    keep %rdx
    keep %rsi
    keep %rdi
    keep %r8
    keep %r9
    mov %r14d, %edi
    lea 64(%rsp), %rsi
    call managed_call_enter
    give %r9
    give %r8
    give %rdi
    give %rsi
    give %rdx
    give %rcx
    give %rax
    end clr_stub_enter

.macro leaving name, to
    begin \name
    keep %rax
    keep %rdx
    sub $8, %rsp /* calls are aligned to 16 bytes */
    .cfi_adjust_cfa_offset 8
    lea 32(%rsp), %rsi
    call \to
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    give %rdx
    give %rax
    end \name
.endm

    leaving clr_stub_leave, managed_call_leave
    leaving clr_stub_tail, managed_call_replace

    .section .note.GNU-stack, "", @progbits
