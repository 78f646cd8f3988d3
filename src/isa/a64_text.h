/* Text of an instruction of A64 without any library: the common integer, memory, branch and system instructions.
 *
 * Written as LLVM writes it, with one space behind the mnemonic: "ldr x0, [sp, #16]". What is not known exactly is
 * ".inst 0x4e20b800 // simd", with the class that it belongs to: a listing may say less, but nothing wrong. Pure; any
 * thread. */
#ifndef TL_ISA_A64_TEXT_H
#define TL_ISA_A64_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define A64_TEXT_MAX 192u /* bytes of the longest text, with its NUL */

/* Writes the text, terminated; returns its length. Places in the code, which an instruction names by their distance,
 * are shown as addresses if has_pc, else as the distance: "b 0x400580", "b #16". */
size_t a64_text(uint32_t op, bool has_pc, uint64_t pc, char text[static A64_TEXT_MAX]);
/* The ".inst" text alone. */
size_t a64_text_unknown(uint32_t op, char text[static A64_TEXT_MAX]);
/* The place that the last operand names by its distance: direct branches, ADR, ADRP, loads of literals, and signed
 * return addresses. */
bool a64_text_place(uint32_t op, uint64_t pc, uint64_t *address);

#endif
