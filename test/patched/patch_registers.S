/* Functions whose first instruction is of each kind that can be replaced by a jump, for patch_registers.c; those about
 * ends are in patch_registers_ends.S. Each leaves all registers alone but those that it is about, so that a recorder that
 * changed one is seen.
 *
 * A function gets: rdi 4 KiB of memory; rsi 0..3; rcx 1..3, or 0 in turns for those of FN0; rdx and r11 the addresses of
 * r_leaf_a and r_leaf_b; patterns in all others. With PACKED there are no bytes between functions. */
#include "patch_registers.inc"

        .pushsection registers_entries, "aw"
        .globl  registers_table
        .p2align 3
registers_table:
        .popsection

        .section .data.rel.ro, "aw"
        .p2align 3
        .globl  registers_pointer
registers_pointer:
        .quad   r_leaf_a
        .data
        .p2align 4
        .globl  registers_datum
registers_datum:  .quad   5, 6, 7, 8
half:   .double 2.5
        .quad   0
        .text

/* ---- the whole state around a call: registers_probe(function) ---- */
        .globl  registers_probe
        .type   registers_probe, @function
registers_probe:
        .cfi_startproc
        KEEP    %rbx
        KEEP    %rbp
        KEEP    %r12
        KEEP    %r13
        KEEP    %r14
        KEEP    %r15
        KEEP    %rdi
        sub     $16, %rsp
        .cfi_adjust_cfa_offset 16
        lea     registers_in(%rip), %rax
        lea     1024(%rax), %rbx
        fxrstor (%rax)
        cmpl    $0, registers_wide(%rip)
        je      1f
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu 32*\n(%rbx), %ymm\n
        .endr
1:      mov     %rsp, registers_sp(%rip)
        pushq   512+8*4(%rax)           /* flags, in the place of rsp */
        popfq
        mov     512+8*1(%rax), %rcx
        mov     512+8*2(%rax), %rdx
        mov     512+8*3(%rax), %rbx
        mov     512+8*5(%rax), %rbp
        mov     512+8*6(%rax), %rsi
        mov     512+8*7(%rax), %rdi
        mov     512+8*8(%rax), %r8
        mov     512+8*9(%rax), %r9
        mov     512+8*10(%rax), %r10
        mov     512+8*11(%rax), %r11
        mov     512+8*12(%rax), %r12
        mov     512+8*13(%rax), %r13
        mov     512+8*14(%rax), %r14
        mov     512+8*15(%rax), %r15
        mov     512(%rax), %rax
        call    *16(%rsp)
        .globl  registers_return
registers_return:
        mov     %rax, registers_out+512(%rip)
        mov     %rsp, %rax
        mov     registers_sp(%rip), %rsp
        pushfq
        pushq   %rbx
        lea     registers_out(%rip), %rbx
        fxsave  (%rbx)
        popq    512+8*3(%rbx)
        popq    512+8*4(%rbx)
        mov     %rcx, 512+8*1(%rbx)
        mov     %rdx, 512+8*2(%rbx)
        mov     %rbp, 512+8*5(%rbx)
        mov     %rsi, 512+8*6(%rbx)
        mov     %rdi, 512+8*7(%rbx)
        mov     %r8, 512+8*8(%rbx)
        mov     %r9, 512+8*9(%rbx)
        mov     %r10, 512+8*10(%rbx)
        mov     %r11, 512+8*11(%rbx)
        mov     %r12, 512+8*12(%rbx)
        mov     %r13, 512+8*13(%rbx)
        mov     %r14, 512+8*14(%rbx)
        mov     %r15, 512+8*15(%rbx)
        sub     %rsp, %rax              /* flags are saved */
        mov     %rax, registers_moved(%rip)
        lea     1024(%rbx), %rax
        cmpl    $0, registers_wide(%rip)
        je      1f
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu %ymm\n, 32*\n(%rax)
        .endr
        vzeroupper
1:      cld
        fninit
        ldmxcsr registers_mxcsr(%rip)
        add     $16, %rsp
        .cfi_adjust_cfa_offset -16
        GIVE     %rdi
        GIVE     %r15
        GIVE     %r14
        GIVE     %r13
        GIVE     %r12
        GIVE     %rbp
        GIVE     %rbx
        ret
        .cfi_endproc
        .size   registers_probe, . - registers_probe

/* ---- callees of the others ---- */
        FN      r_leaf_a
        add     $1, %rax
        ret
        ENDS     r_leaf_a
        FN      r_leaf_b
        lea     2(%rax), %rax
        ret
        ENDS     r_leaf_b

/* ---- first instructions that stay what they are ---- */
        FN      r_push_rbx
        KEEP    %rbx
        GIVE     %rbx
        ret
        ENDS     r_push_rbx
        FN      r_push_r12
        KEEP    %r12
        mov     $1, %r12d
        GIVE     %r12
        ret
        ENDS     r_push_r12
        FN      r_push_imm8
        KEEP    $-5
        GIVE     %rax
        ret
        ENDS     r_push_imm8
        FN      r_push_imm32
        KEEP    $0x12345678
        GIVE     %rax
        ret
        ENDS     r_push_imm32
        FN      r_push_rip
        KEEP    registers_datum(%rip)
        GIVE     %rax
        ret
        ENDS     r_push_rip
        FN      r_push_return
        KEEP    (%rsp)
        GIVE     %rax
        lea     registers_return(%rip), %r8
        sub     %r8, %rax
        ret
        ENDS     r_push_return
        FN      r_sub
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        mov     %rax, (%rsp)
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        ENDS     r_sub
        FN      r_sub_large
        sub     $0x1000, %rsp
        .cfi_adjust_cfa_offset 0x1000
        mov     %rax, 8(%rsp)
        add     $0x1000, %rsp
        .cfi_adjust_cfa_offset -0x1000
        ret
        ENDS     r_sub_large
        FN      r_mov_rsp
        mov     %rsp, %rax
        sub     registers_sp(%rip), %rax
        ret
        ENDS     r_mov_rsp
        FN      r_lea_rsp
        lea     8(%rsp), %r10
        sub     registers_sp(%rip), %r10
        ret
        ENDS     r_lea_rsp
        FN      r_mov_return
        mov     (%rsp), %rax
        lea     registers_return(%rip), %r8
        sub     %r8, %rax
        ret
        ENDS     r_mov_return
        FN      r_enter
        enter   $16, $0
        leave
        ret
        ENDS     r_enter
        FN      r_lea_rip
        lea     registers_datum(%rip), %rax
        lea     registers_datum+8(%rip), %r8
        sub     %r8, %rax
        ret
        ENDS     r_lea_rip
        FN      r_mov_rip
        mov     registers_datum(%rip), %rax
        ret
        ENDS     r_mov_rip
        FN      r_mov_rip_imm
        movl    $7, registers_datum+24(%rip)
        ret
        ENDS     r_mov_rip_imm
        FN      r_movb_rip_imm
        movb    $9, registers_datum+24(%rip)
        mov     registers_datum+24(%rip), %rax
        ret
        ENDS     r_movb_rip_imm
        FN      r_cmp_rip
        cmpl    $5, registers_datum(%rip)
        sete    %al
        ret
        ENDS     r_cmp_rip
        FN      r_cmpb_rip
        cmpb    $6, registers_datum+8(%rip)
        setne   %al
        ret
        ENDS     r_cmpb_rip
        FN      r_testb_rip
        testb   $2, registers_datum+8(%rip)
        setnz   %al
        ret
        ENDS     r_testb_rip
        FN      r_imul_rip
        imul    $0x10001, registers_datum(%rip), %rax
        ret
        ENDS     r_imul_rip
        FN      r_lock_rip
        lock incl registers_datum+16(%rip)
        ret
        ENDS     r_lock_rip
        FN      r_test
        test    %rdi, %rdi
        setne   %al
        ret
        ENDS     r_test
        FN      r_test_al
        test    %al, %al
        ret
        ENDS     r_test_al
        FN      r_movabs
        movabs  $0x1122334455667788, %rax
        ret
        ENDS     r_movabs
        FN      r_mov_imm
        mov     $1, %eax
        ret
        ENDS     r_mov_imm
        FN      r_fs
        mov     %fs:0, %rax
        sub     %fs:0, %rax
        ret
        ENDS     r_fs
        FN      r_xchg
        xchg    %rax, %rbx
        xchg    %rax, %rbx
        ret
        ENDS     r_xchg
        FN      r_stos
        rep stosb
        sub     $3, %rdi
        ret
        ENDS     r_stos
        FN      r_clc
        clc
        setc    %al
        ret
        ENDS     r_clc
        FN      r_pushfq
        cmp     $3, %rsi
        KEEP    $0
        popq    %r8
        .cfi_adjust_cfa_offset -8
        pushfq
        popq    %rax
        ret
        ENDS     r_pushfq
        FN      r_syscall
        syscall
        xor     %eax, %eax
        xor     %ecx, %ecx
        xor     %r11d, %r11d
        ret
        ENDS     r_syscall

/* ---- vectors, x87 ---- */
        FN      r_pxor
        pxor    %xmm3, %xmm3
        ret
        ENDS     r_pxor
        FN      r_movups_rip
        movups  %xmm0, registers_memory(%rip)
        ret
        ENDS     r_movups_rip
        FN      r_movsd_rip
        movsd   half(%rip), %xmm1
        ret
        ENDS     r_movsd_rip
        FN      r_pshufd_rip
        pshufd  $0x1b, registers_datum(%rip), %xmm2
        ret
        ENDS     r_pshufd_rip
        FN      r_cvtsi2sd
        cvtsi2sdq registers_datum(%rip), %xmm0
        ret
        ENDS     r_cvtsi2sd
        FN      r_fldl_rip
        fldl    half(%rip)
        fstp    %st(0)
        ret
        ENDS     r_fldl_rip
        FN      r_fstp
        fstpt   (%rdi)
        fldt    (%rdi)
        ret
        ENDS     r_fstp
        FN      r_fnstcw
        fnstcw  (%rdi)
        movzwl  (%rdi), %eax
        ret
        ENDS     r_fnstcw
        FN      r_fxch
        fxch    %st(1)
        ret
        ENDS     r_fxch
        .section .note.GNU-stack, "", @progbits
