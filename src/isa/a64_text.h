/* Text of an instruction of A64 without any library: the common integer, memory, branch and system instructions.
 *
 * LLVM's syntax, with one space after the mnemonic: "ldr x0, [sp, #16]". Instructions not known exactly become ".inst
 * 0x4e20b800 // simd", with their class: a listing may say less, but nothing wrong. Pure; any thread. */
#ifndef TL_ISA_A64_TEXT_H
#define TL_ISA_A64_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define A64_TEXT_MAX 192u /* bytes of the longest text, with NUL */

/* Writes the text, terminated; returns its length. PC-relative operands are shown as addresses if has_pc, else as
 * offsets: "b 0x400580", "b #16". */
size_t a64_text(uint32_t op, bool has_pc, uint64_t pc, char text[static A64_TEXT_MAX]);
/* The ".inst" text alone. */
size_t a64_text_unknown(uint32_t op, char text[static A64_TEXT_MAX]);
/* The address that a PC-relative last operand means: direct branches, ADR, ADRP, literal loads, signed return
 * addresses. */
bool a64_text_place(uint32_t op, uint64_t pc, uint64_t *address);

#endif
