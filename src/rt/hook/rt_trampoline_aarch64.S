/* Where patched sleds go to on AArch64: registers are kept, and the recorder's handler is called.
 *
 * A sled (rt_sled_aarch64.c) has pushed x17 and x30, put the function's number into w17, and called. Below its two
 * registers lies sp as the function has it at its very begin and end: that place tells calls apart.
 *
 * Which registers matter there: arguments and x8, results, or, where a function ends by a jump to another, all that may
 * hold an argument or the jump's target. clang before 15 calls such an end an exit. So x0 to x18 are always kept.
 * Handlers touch no vector register (-mgeneral-regs-only), so none is kept here.
 *
 * The caller's x30 is in the sled's pair, and where the trampoline returns to in its own: for debuggers to find both,
 * the return address gets the column of x16, which is not needed. */
#if defined(__aarch64__)

    /* rt_handlers */
#define ENTER 0
#define EXIT 8
#define TAIL 16
#define ARGUMENT 24

#define FRAME 160 /* x0 to x16, x18, x30 and 8 bytes of nothing */

    .macro begin name, binding=globl
    .\binding \name
    .hidden \name
    .type \name, %function
    .p2align 5
\name:
    .cfi_startproc
    .endm

    .macro end name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .macro keep_registers
    stp x0, x1, [sp, -FRAME]!
    .cfi_adjust_cfa_offset FRAME
    stp x2, x3, [sp, 16]
    stp x4, x5, [sp, 32]
    stp x6, x7, [sp, 48]
    stp x8, x9, [sp, 64]
    stp x10, x11, [sp, 80]
    stp x12, x13, [sp, 96]
    stp x14, x15, [sp, 112]
    stp x16, x18, [sp, 128]
    str x30, [sp, 144]
    .endm

    .macro back_registers
    ldr x30, [sp, 144]
    ldp x16, x18, [sp, 128]
    ldp x14, x15, [sp, 112]
    ldp x12, x13, [sp, 96]
    ldp x10, x11, [sp, 80]
    ldp x8, x9, [sp, 64]
    ldp x6, x7, [sp, 48]
    ldp x4, x5, [sp, 32]
    ldp x2, x3, [sp, 16]
    ldp x0, x1, [sp], FRAME
    .cfi_adjust_cfa_offset -FRAME
    .endm

    .macro call_handler handler
    adrp x16, tl_rt_start_handlers
    ldr x16, [x16, :lo12:tl_rt_start_handlers]
    ldr x16, [x16, \handler]
    blr x16
    .endm

    /* `above`: 1 if what was called from the same place in the stack is gone. */
    .macro call name, handler, above
    begin \name
    .cfi_return_column 16
    .cfi_def_cfa sp, 16
    .cfi_offset 17, -16
    .cfi_offset 30, -8
    .cfi_register 16, 30
    hint 34 /* bti c: sleds call through a register */
    keep_registers
    .cfi_offset 16, -32
    mov x3, x0
    mov w0, w17
    add x1, sp, FRAME + 16
    add x2, x1, \above
    call_handler \handler
    back_registers
    .cfi_register 16, 30
    ret
    end \name
    .endm

    .text
    call tl_rt_trampoline_entry, ENTER, 1
    call tl_rt_trampoline_argument, ARGUMENT, 1
    call tl_rt_trampoline_tail, TAIL, 0
    call tl_rt_trampoline_exit, EXIT, 0

    /* Called by the compiler's own sled, after it pushed x0 to x2. It takes the sled for no call: all registers and the
     * flags are kept, but x30, which the function has saved. What the registers hold is for C to find out. */
    .macro event name, function
    begin \name, weak // a program that has LLVM's runtime, too, uses that one's
    hint 34 /* bti c: a linker may call through a register */
    keep_registers
    .cfi_offset 30, -16
    mov x0, sp
    mov x1, x30
    add x2, sp, FRAME
    mrs x16, nzcv
    stp x16, x17, [sp, -16]!
    .cfi_adjust_cfa_offset 16
    bl \function
    ldp x16, x17, [sp], 16
    .cfi_adjust_cfa_offset -16
    msr nzcv, x16
    back_registers
    .cfi_restore 30
    ret
    end \name
    .endm

    .hidden tl_rt_start_custom
    .hidden tl_rt_start_typed
    event __xray_CustomEvent, tl_rt_start_custom
    event __xray_TypedEvent, tl_rt_start_typed

    .section .note.GNU-stack, "", %progbits

    /* Good for processors that check indirect jumps (BTI). */
    .section .note.gnu.property, "a", %note
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 1, 0

#endif
