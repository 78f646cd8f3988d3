/* Where patched sleds go to on x86-64: registers are kept, and the recorder's handler is called.
 *
 * A sled has put the function's number into r10d. It stands at the very begin or end of a function, where rsp points to
 * the return address: that place tells calls apart. Which registers matter there:
 *
 *   entry           arguments: rdi rsi rdx rcx r8 r9, al (how many vector registers a variadic call uses)
 *   exit            results: rax rdx
 *   tail            arguments, and r11 or rax, which may hold the target of the jump
 *   custom, typed   all, and the flags: the compiler does not take such a sled for a call
 *
 * Handlers touch no vector register (-mgeneral-regs-only), so none is kept here. rsp is odd times 8 in a function's
 * first and last instruction, and must be even times 8 where a call is made; events can stand anywhere. */
#if defined(__x86_64__)

#include "rt/rt_asm_x86_64.h"

#define ARGUMENT 24

    .macro begin name, binding=globl
    .\binding \name
    .hidden \name
    .type \name, @function
    .p2align 5
\name:
    .cfi_startproc
    .endm

    .macro end name
    .cfi_endproc
    .size \name, . - \name
    .endm

    /* Called by a sled: its return address lies below the function's. Eight registers and these two make rsp even. The
     * first argument goes along; only one handler looks at it. Frames at `keep` and above are still there. */
    .macro arguments name, handler, above
    begin \name
    keep rax
    keep rcx
    keep rdx
    keep rsi
    keep r8
    keep r9
    keep r11
    keep rdi
    movq %rdi, %rcx
    movl %r10d, %edi
    leaq 72(%rsp), %rsi
    leaq 72 + \above(%rsp), %rdx
    movq tl_rt_start_handlers(%rip), %rax
    call *\handler(%rax)
    back rdi
    back r11
    back r9
    back r8
    back rsi
    back rdx
    back rcx
    back rax
    ret
    end \name
    .endm

    .text
    /* A call that begins is a new one: what was called from the same place in the stack is gone. */
    arguments tl_rt_trampoline_entry, ENTER, 1
    arguments tl_rt_trampoline_argument, ARGUMENT, 1
    arguments tl_rt_trampoline_tail, TAIL, 0

    /* Jumped to in place of the function's ret. */
    begin tl_rt_trampoline_exit
    keep rax
    keep rdx
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    movl %r10d, %edi
    leaq 24(%rsp), %rsi
    movq %rsi, %rdx
    movq tl_rt_start_handlers(%rip), %rax
    call *EXIT(%rax)
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    back rdx
    back rax
    ret
    end tl_rt_trampoline_exit

    /* Called by the compiler's own sled, after it pushed what it moves. What the registers hold is for C to find out. */
    .macro event name, function
    begin \name, weak // a program that has LLVM's runtime, too, uses that one's
    pushfq
    .cfi_adjust_cfa_offset 8
    keep rax
    keep rcx
    keep r8
    keep r9
    keep r10
    keep r11
    keep rbp
    keep rdx
    keep rsi
    keep rdi
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    movq %rsp, %rdi
    movq 88(%rsp), %rsi
    leaq 96(%rsp), %rdx
    andq $-16, %rsp
    call \function
    movq %rbp, %rsp
    .cfi_def_cfa_register rsp
    back rdi
    back rsi
    back rdx
    back rbp
    back r11
    back r10
    back r9
    back r8
    back rcx
    back rax
    popfq
    .cfi_adjust_cfa_offset -8
    ret
    end \name
    .endm

    .hidden tl_rt_start_custom
    .hidden tl_rt_start_typed
    event __xray_CustomEvent, tl_rt_start_custom
    event __xray_TypedEvent, tl_rt_start_typed

    notes

#endif
