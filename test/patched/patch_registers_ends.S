/* Functions whose last instruction is of each kind that can be replaced by a jump, and jumps of all kinds, for
 * patch_registers.c; what they get is said in patch_registers.S. */
#include "patch_registers.inc"

        .section .data.rel.ro, "aw"
        .p2align 3
pointers:
        .quad   r_leaf_a, r_leaf_b, inside_2, inside_3
        .text

/* ---- ends ---- */
        FN      r_ret
        ret
        ENDS     r_ret
        FN      r_rep_ret
        rep ret
        ENDS     r_rep_ret
        FN      r_xor_ret
        xor     %eax, %eax
        ret
        ENDS     r_xor_ret
        FN      r_two_rets
        cmp     $1, %rsi
        jb      1f
        ret
1:      ret
        ENDS     r_two_rets
        PART    r_pops_16
        ret     $16
        ENDS     r_pops_16
        PART    r_pops_8
        KEEP    %rbx
        GIVE     %rbx
        ret     $8
        ENDS     r_pops_8
        FN      r_call_pops
        KEEP    %rdi
        KEEP    %rdi
        call    r_pops_16
        .cfi_adjust_cfa_offset -16
        KEEP    %rdi
        call    r_pops_8
        .cfi_adjust_cfa_offset -8
        ret
        ENDS     r_call_pops

/* ---- calls as first instruction ---- */
        FN      r_call
        call    r_leaf_a
        ret
        ENDS     r_call
        FN      r_call_rip
        call    *registers_pointer(%rip)
        ret
        ENDS     r_call_rip
        FN      r_call_register
        call    *%rdx
        ret
        ENDS     r_call_register
        FN      r_call_far_register
        call    *%r11
        ret
        ENDS     r_call_far_register
        PART    r_reads_return
        mov     (%rsp), %rax
        ret
        ENDS     r_reads_return
        FN      r_call_reads             /* what it returns to is seen: by unwinders, for instance */
        call    r_reads_return
1:      lea     1b(%rip), %r8
        sub     %r8, %rax
        ret
        ENDS     r_call_reads
        FN      r_call_next
        call    1f
1:      pop     %rax
        lea     1b(%rip), %r8
        sub     %r8, %rax
        ret
        ENDS     r_call_next

/* ---- jumps to others ---- */
        FN      r_jmp
        .byte   0xe9
        .long   r_leaf_a - . - 4
        ENDS     r_jmp
        FN      r_jmp_register
        jmp     *%rdx
        ENDS     r_jmp_register
        FN      r_jmp_far_register
        jmp     *%r11
        ENDS     r_jmp_far_register
        FN      r_notrack_jmp
        notrack jmp *%rdx
        ENDS     r_notrack_jmp
        FN      r_tail
        add     $16, %rax
        jmp     r_leaf_b
        ENDS     r_tail
        FN      r_tail_of_frame
        KEEP    %rbx
        lea     3(%rax), %rax
        GIVE     %rbx
        jmp     r_leaf_a
        ENDS     r_tail_of_frame
        FN      r_tail_memory            /* linkage is no function, so not as the first one */
        add     $16, %rax
        jmp     *registers_pointer(%rip)
        ENDS     r_tail_memory
        FN      r_tail_table
        lea     pointers(%rip), %r8
        mov     %rsi, %r9
        and     $1, %r9d
        jmp     *(%r8,%r9,8)
        ENDS     r_tail_table
        FN      r_tail_short
        add     $5, %rax
        jmp     r_near
        ENDS     r_tail_short
        PART    r_near
        lea     7(%rax), %rax
        ret
        ENDS     r_near
        FN      r_jmp_short
        jmp     r_near_b
        ENDS     r_jmp_short
        PART    r_near_b
        lea     9(%rax), %rax
        ret
        ENDS     r_near_b
        FN      r_tail_if
        cmp     $2, %rsi
        je      r_leaf_a
        seta    %al
        ret
        ENDS     r_tail_if
        FN      r_tail_if_short
        cmp     $2, %rsi
        jb      r_near_c
        sete    %al
        ret
        ENDS     r_tail_if_short
        PART    r_near_c
        lea     11(%rax), %rax
        ret
        ENDS     r_near_c
        FN      r_tails_if
        cmp     $2, %rsi
        je      r_leaf_a
        jb      r_leaf_b
        jmp     r_near_c
        ENDS     r_tails_if
        FN      r_red_zone               /* a tail that is not taken may change nothing */
        mov     %rdi, -8(%rsp)
        mov     %rsi, -16(%rsp)
        mov     %rcx, -24(%rsp)
        mov     %r12, -128(%rsp)
        cmp     $3, %rsi
        je      r_leaf_a
        mov     -8(%rsp), %r8
        sub     %rdi, %r8
        mov     -16(%rsp), %r9
        mov     -24(%rsp), %r10
        mov     -128(%rsp), %rax
        ret
        ENDS     r_red_zone

/* ---- jumps that may stay or leave ---- */
        FN      r_switch
        mov     %rdi, -8(%rsp)
        mov     %rsi, -16(%rsp)
        mov     %r12, -128(%rsp)
        lea     table(%rip), %r8
        movslq  (%r8,%rsi,4), %rax
        add     %r8, %rax
        cmp     $2, %rsi
        jmp     *%rax
1:      setb    %al
        jmp     5f
2:      sete    %al
        jmp     5f
3:      seta    %al
        jmp     5f
4:      mov     $77, %eax
5:      mov     -8(%rsp), %r8
        sub     %rdi, %r8
        mov     -16(%rsp), %r9
        mov     -128(%rsp), %r10
        ret
        .pushsection .rodata
        .p2align 2
table:  .long   1b - table, 2b - table, 3b - table, 4b - table
        .popsection
        ENDS     r_switch
        FN      r_stays_or_leaves
        lea     pointers(%rip), %r8
        mov     (%r8,%rsi,8), %r8
        xor     %eax, %eax
        jmp     *%r8
inside_2:
        mov     $2, %eax
        ret
inside_3:
        mov     $3, %eax
        xor     %r8d, %r8d
        ret
        ENDS     r_stays_or_leaves

/* ---- conditions as first instruction: nobody promises flags there, so both ways do the same ---- */
        FN      r_jcc
        jz      1f
        nop
1:      ret
        ENDS    r_jcc
        FN      r_jcc_tail
        jc      r_near_f
        lea     1(%rax), %rax
        ret
        ENDS    r_jcc_tail
        PART    r_near_f
        lea     1(%rax), %rax
        ret
        ENDS    r_near_f
        FN      r_loop
        loop    1f
        mov     $1, %eax
1:      ret
        ENDS     r_loop
        FN0     r_jrcxz
        jrcxz   1f
        mov     $1, %eax
1:      ret
        ENDS     r_jrcxz
        FN0     r_jecxz
        jecxz   1f
        mov     $1, %eax
1:      ret
        ENDS     r_jecxz
        FN0     r_jrcxz_tail
        jrcxz   r_near_d
        mov     $1, %eax
        ret
        ENDS     r_jrcxz_tail
        PART    r_near_d
        lea     13(%rax), %rax
        ret
        ENDS     r_near_d
        FN      r_loop_tail
        loop    r_near_e
        mov     $1, %eax
        ret
        ENDS     r_loop_tail
        PART    r_near_e
        lea     17(%rax), %rax
        ret
        ENDS     r_near_e

/* ---- jumps to the own begin, which are no calls ---- */
        FN      r_self
        dec     %rcx
        jnz     r_self
        ret
        ENDS     r_self
        FN      r_self_near
        dec     %rcx
        .byte   0x0f, 0x85
        .long   r_self_near - . - 4
        ret
        ENDS     r_self_near
        FN      r_self_jump
        dec     %rcx
        jz      1f
        jmp     r_self_jump
1:      ret
        ENDS     r_self_jump
        FN      r_self_loop
        loop    r_self_loop
        ret
        ENDS     r_self_loop
        FN      r_self_rip
        cmpl    $5, registers_datum(%rip)
        sete    %al
        dec     %rcx
        jnz     r_self_rip
        ret
        ENDS     r_self_rip
        FN      r_self_behind
        endbr64
1:      dec     %rcx
        jnz     1b
        ret
        ENDS     r_self_behind
        FN      r_self_framed
        KEEP    %rbx
        dec     %rcx
        GIVE     %rbx
        jnz     r_self_framed
        ret
        ENDS     r_self_framed

/* ---- endbr64, nops ---- */
        FN      r_endbr_ret
        endbr64
        ret
        ENDS     r_endbr_ret
        FN      r_endbr_push
        endbr64
        KEEP    %rbx
        GIVE     %rbx
        ret
        ENDS     r_endbr_push
        FN      r_endbr_jmp
        endbr64
        jmp     r_leaf_b
        ENDS     r_endbr_jmp
        FN      r_nop
        nop
        ret
        ENDS     r_nop
        FN      r_nops_3
        nop
        nop
        nop
        lea     1(%rax), %rax
        ret
        ENDS     r_nops_3
        FN      r_nops_5
        .fill   5, 1, 0x90
        KEEP    %rbx
        GIVE     %rbx
        ret
        ENDS     r_nops_5
        FN      r_nop_long
        nopl    0(%rax,%rax,1)
        ret
        ENDS     r_nop_long
        FN      r_nop_longest
        .byte   0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0
        ret
        ENDS     r_nop_longest
        FN      r_xchg_nop
        xchg    %ax, %ax
        ret
        ENDS     r_xchg_nop

/* ---- jumped into ---- */
        FN      r_begin_is_target        /* of a loop that does not begin at the first instruction */
        add     $1, %rax
1:      dec     %rcx
        jnz     1b
        ret
        ENDS     r_begin_is_target
        FN      r_target_behind          /* the second instruction, one byte behind the first, is a target */
        KEEP    %rbx
1:      dec     %rcx
        jnz     1b
        GIVE     %rbx
        ret
        ENDS     r_target_behind
        FN      r_skips_prefix           /* as the C library does */
        test    %rsi, %rsi
        je      1f
        lock
1:      incl    registers_datum+16(%rip)
        ret
        ENDS     r_skips_prefix

/* ---- fragments ---- */
        FN      r_has_cold
        cmp     $2, %rsi
        jae     r_has_cold.cold
r_back:
        lea     19(%rax), %rax
        ret
        ENDS     r_has_cold
        .pushsection .text.unlikely, "ax"
        .p2align 4                      /* where functions begin it would be one */
        nop
        COLD    r_has_cold.cold
        lea     23(%rax), %rax
        cmp     $2, %rsi
        jne     1f
        jmp     r_back
1:      ret
        ENDS     r_has_cold.cold
        .popsection
        FN      r_has_framed_cold
        KEEP    %rbx
        cmp     $2, %rsi
        jae     r_has_framed_cold.cold
r_framed_back:
        GIVE     %rbx
        ret
        ENDS     r_has_framed_cold
        .pushsection .text.unlikely, "ax"
        COLD    r_has_framed_cold.cold 16
        lea     29(%rax), %rax
        cmp     $2, %rsi
        jne     r_framed_back
        GIVE     %rbx
        jmp     r_leaf_b
        ENDS     r_has_framed_cold.cold
        .popsection

/* ---- tight code, at the end so that nothing is behind it ---- */
        FN      r_last
        ret
        ENDS     r_last

        .pushsection registers_entries, "aw"
        .quad   0, 0, 0
        .popsection
        .section .note.GNU-stack, "", @progbits
