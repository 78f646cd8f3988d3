/* Watches its registers while the thread may be borrowed: fills all of them, and the red zone, and compares in a loop.
 *
 * uint64_t attach_registers(uint64_t rounds, uint64_t sleeps, uint64_t avx): 0, or the number of what changed. If
 * `sleeps`, each round is a nanosleep() of no libc; if `avx`, the upper halves of vector registers are watched, too. */
        .text
        .globl  attach_registers
        .type   attach_registers, @function
#define TO_FAIL(n) movq $n, -8(%rsp); jmp 9f
#define CHECK(n, reg) cmpq values+8*n(%rip), %reg; je 1f; TO_FAIL(n+1); 1:
#define FILL(n, reg) movq values+8*n(%rip), %reg
#define VECTORS(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13)
#define FILL_Y(n) vmovdqu vectors+8*n(%rip), %ymm##n;
#define FILL_X(n) movdqu vectors+8*n(%rip), %xmm##n;
#define CHECK_Y(n) vpcmpeqb vectors+8*n(%rip), %ymm##n, %ymm15; vpmovmskb %ymm15, %eax; cmpl $-1, %eax; je 1f; TO_FAIL(100+n); 1:
#define CHECK_X(n) movdqu vectors+8*n(%rip), %xmm15; pcmpeqb %xmm##n, %xmm15; pmovmskb %xmm15, %eax; cmpl $0xffff, %eax; je 1f; TO_FAIL(100+n); 1:
#define ZONE(do) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15) do(16)
#define FILL_Z(n) movq $0x5a5a0000+n, -8*n(%rsp);
#define CHECK_Z(n) cmpq $0x5a5a0000+n, -8*n(%rsp); je 1f; TO_FAIL(200+n); 1:
attach_registers:
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        pushq   %rsi                    /* 8(%rsp): sleeps */
        .cfi_adjust_cfa_offset 8
        pushq   %rdx                    /* (%rsp): avx */
        .cfi_adjust_cfa_offset 8
        movq    %rdi, -16(%rsp)         /* rounds: in the red zone */
        fninit
        fldcw   control(%rip)
        ldmxcsr status(%rip)
        fildq   values(%rip)
        fildq   values+8(%rip)
        fildq   values+16(%rip)
        ZONE(FILL_Z)
        cmpq    $0, (%rsp)
        je      2f
        VECTORS(FILL_Y)
        jmp     3f
2:      VECTORS(FILL_X)
3:      FILL(1, rbx)
        FILL(2, rcx)
        FILL(3, rdx)
        FILL(4, rsi)
        FILL(5, rdi)
        FILL(6, rbp)
        FILL(7, r8)
        FILL(8, r9)
        FILL(9, r10)
        FILL(10, r11)
        FILL(11, r12)
        FILL(12, r13)
        FILL(13, r14)
        FILL(14, r15)
        FILL(0, rax)
4:      CHECK(0, rax)
        CHECK(1, rbx)
        CHECK(2, rcx)
        CHECK(3, rdx)
        CHECK(4, rsi)
        CHECK(5, rdi)
        CHECK(6, rbp)
        CHECK(7, r8)
        CHECK(8, r9)
        CHECK(9, r10)
        CHECK(10, r11)
        CHECK(11, r12)
        CHECK(12, r13)
        CHECK(13, r14)
        CHECK(14, r15)
        cmpq    $0, (%rsp)
        je      5f
        VECTORS(CHECK_Y)
        jmp     6f
5:      VECTORS(CHECK_X)
6:      cmpq    $0, 8(%rsp)
        je      7f
        movl    $35, %eax               /* nanosleep */
        leaq    moment(%rip), %rdi
        xorl    %esi, %esi
        syscall
        testq   %rax, %rax
        je      1f
        TO_FAIL(300)
1:      FILL(2, rcx)
        FILL(4, rsi)
        FILL(5, rdi)
        FILL(10, r11)
7:      FILL(0, rax)
        subq    $1, -16(%rsp)
        jne     4b
        movq    $0, -8(%rsp)
        fistpq  -24(%rsp)
        movq    -24(%rsp), %rax
        cmpq    values+16(%rip), %rax
        je      1f
        TO_FAIL(400)
1:      fistpq  -24(%rsp)
        movq    -24(%rsp), %rax
        cmpq    values+8(%rip), %rax
        je      1f
        TO_FAIL(401)
1:      fistpq  -24(%rsp)
        movq    -24(%rsp), %rax
        cmpq    values(%rip), %rax
        je      1f
        TO_FAIL(402)
1:      movq    $0x5a5a0000+3, -24(%rsp)
        ZONE(CHECK_Z)
        stmxcsr -24(%rsp)
        movl    -24(%rsp), %eax
        andl    $0xffc0, %eax           /* without the flags of results */
        cmpl    status(%rip), %eax
        je      1f
        TO_FAIL(403)
1:      fnstcw  -24(%rsp)
        movw    -24(%rsp), %ax
        cmpw    control(%rip), %ax
        je      1f
        TO_FAIL(404)
1:
9:      movq    -8(%rsp), %rax
        fninit
        ldmxcsr usual(%rip)
        cmpq    $0, (%rsp)
        je      1f
        vzeroupper
1:      addq    $16, %rsp
        .cfi_adjust_cfa_offset -16
        popq    %r15
        .cfi_adjust_cfa_offset -8
        popq    %r14
        .cfi_adjust_cfa_offset -8
        popq    %r13
        .cfi_adjust_cfa_offset -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   attach_registers, .-attach_registers

        .section .rodata
        .balign 16
values: .quad   0x1111222233334441, 0x0102030405060708, 0x7fffffff00000001, 0x123456789abcdef, 0x5555aaaa5555aaaa
        .quad   0x0f0e0d0c0b0a0908, 0x6666777788889999, 0x1234123412341234, 0x4321432143214321, 0x2222222222222222
        .quad   0x3333333333333333, 0x4444444444444444, 0x5555555555555555, 0x6666666666666666, 0x7777777777777777
vectors:
        .quad   1, 22, 333, 4444, 55555, 666666, 7777777, 88888888, 999999999, 0xaaaaaaaaaa, 0xbbbbbbbbbbb, 0xcccccccccccc
        .quad   0xddddddddddddd, 0xeeeeeeeeeeeeee, 0xfffffffffffffff, 0x1010101010101010, 0x2020202020202020
moment: .quad   0, 1000000
control: .word  0x27f
        .balign 4
status: .long   0x5f80
usual:  .long   0x1f80
        .section .note.GNU-stack, "", @progbits
