/* Functions of AArch64 whose first instruction, or end, is of each kind that patching must move: see words_run.c. */
    .arch armv8.3-a

    .macro function name
    .globl \name
    .type \name, %function
    .p2align 2
\name:
    .cfi_startproc
    .endm

    .macro done name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .section .rodata
    .p2align 4
datum:
    .word 42
    .text
    .globl words_begin
    .p2align 12
words_begin:
    .p2align 4
literal:
    .quad 0x1122334455667788, 0x99aabbccddeeff00
negative:
    .word 0xfffffff9

    function f_adr
    adr x0, literal
    ldr x0, [x0]
    ret
    done f_adr

    function f_adr_ahead
    adr x0, 1f
    sub x0, x0, 4
    ret
1:
    nop
    done f_adr_ahead

    function f_adrp
    adrp x0, datum
    ldr w0, [x0, :lo12:datum]
    ret
    done f_adrp

    function f_literal_w
    ldr w0, literal
    ret
    done f_literal_w

    function f_literal_x
    ldr x0, literal + 8
    ret
    done f_literal_x

    function f_literal_sw
    ldrsw x0, negative
    ret
    done f_literal_sw

    function f_literal_s
    ldr s0, literal
    fmov w0, s0
    ret
    done f_literal_s

    function f_literal_d
    ldr d0, literal
    fmov x0, d0
    ret
    done f_literal_d

    function f_literal_q
    ldr q0, literal
    mov x0, v0.d[1]
    ret
    done f_literal_q

    function f_prefetch
    prfm pldl1keep, literal
    mov x0, 7
    ret
    done f_prefetch

    function f_condition
    b.ne 1f
    mov x0, 1
    ret
1:
    mov x0, 2
    ret
    done f_condition

    function f_cbz
    cbz x0, 1f
    mov x0, 1
    ret
1:
    mov x0, 2
    ret
    done f_cbz

    function f_tbnz
    tbnz x0, 33, 1f
    mov x0, 1
    ret
1:
    mov x0, 2
    ret
    done f_tbnz

    function f_jump
    b 1f
    udf 1
1:
    add x0, x0, 3
    ret
    done f_jump

    function get_return_address
    mov x0, x30
    ret
    done get_return_address

    /* Its caller has put the return address into x1, too. */
    function f_call
    bl get_return_address
    ret x1
    done f_call

    function f_nops
    nop
    nop
    nop
    add x0, x0, 1
    ret
    done f_nops

    function f_bti
    bti c
    add x0, x0, 1
    ret
    done f_bti

    function f_signed
    paciasp
    stp x29, x30, [sp, -16]!
    .cfi_def_cfa_offset 16
    bl f_ret
    ldp x29, x30, [sp], 16
    .cfi_def_cfa_offset 0
    autiasp
    ret
    done f_signed

    function f_signed_return
    paciasp
    add x0, x0, 5
    retaa
    done f_signed_return

    function f_ret
    ret
    done f_ret

    function f_self
    cbz x0, 1f
    sub x0, x0, 1
    b f_self
1:
    mov x0, 9
    ret
    done f_self

    function f_self_signed
    paciasp
    stp x29, x30, [sp, -16]!
    ldp x29, x30, [sp], 16
    autiasp
    subs x0, x0, 1
    b.gt f_self_signed
    ret
    done f_self_signed

    function f_tail
    add x0, x0, 1
    b f_bti
    done f_tail

    function f_only_tail
    b f_tail
    done f_only_tail

    function f_maybe_tail
    add x0, x0, 1
    cbnz x0, f_bti
    ret
    done f_maybe_tail

    function f_first_maybe_tail
    tbz x0, 0, f_bti
    ret
    done f_first_maybe_tail

    .irp reg, x0, x1, x2, x5, x16, x17
    function f_leave_\reg
    mov x3, x0
    adr \reg, f_three
    br \reg
    done f_leave_\reg

    /* The jump stays inside; flags and all registers stay, too. */
    function f_stay_\reg
    mov x3, x0
    cmp x0, 4
    adr \reg, 1f
    br \reg
    udf 1
1:
    cset x0, eq
    add x0, x0, x3
    ret
    done f_stay_\reg
    .endr

    function f_three
    add x0, x3, 3
    ret
    done f_three

    /* Adds up all registers that a call may change. */
    function f_sum
    add x0, x0, x1
    .irp reg, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17
    add x0, x0, \reg, lsl 1
    .endr
    ret
    done f_sum

    .globl words_end
words_end:

    /* x0: a function; x1: its argument; flags say `ne`. In x1 it gets its return address. */
    function call_one
    stp x29, x30, [sp, -16]!
    mov x9, x0
    mov x0, x1
    cmp sp, 0
    adr x1, 1f
    blr x9
1:
    ldp x29, x30, [sp], 16
    ret
    done call_one

    /* Gives each register its number, calls f_sum, then f_ret, and adds up how they differ behind that. */
    function call_all
    stp x29, x30, [sp, -16]!
    .macro numbers
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    mov x\n, \n + 100
    .endr
    .endm
    numbers
    bl f_sum
    str x0, [sp, -16]!
    numbers
    bl f_ret
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    sub x\n, x\n, \n + 100
    orr x0, x0, x\n, lsl 8
    .endr
    sub x0, x0, 100
    ldr x1, [sp], 16
    add x0, x0, x1
    ldp x29, x30, [sp], 16
    ret
    done call_all

    .section .note.GNU-stack, "", %progbits
