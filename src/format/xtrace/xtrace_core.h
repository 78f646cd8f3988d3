/* Memory and registers as an ELF core file of AArch64, little-endian, as debuggers and simulators load it.
 *
 *     ELF header, type CORE; program headers: one NOTE, one LOAD for each run of pages
 *     (with 65535 program headers or more: a section header that holds their number)
 *     notes: with registers CORE PRSTATUS (x0 .. x30, sp, pc, pstate), CORE FPREGSET (v0 .. v31), LINUX ARM_TLS;
 *            TRACELOOM 0x544c0001: u32 version, u32 page size, u64 pages, then for each page u64 address, and a bit for
 *            each byte (a type that no system has, because debuggers look at the type alone)
 *     pages of 4096 bytes, at a multiple of that
 *
 * A byte without its bit is unknown, and 0. */
#ifndef TL_XTRACE_CORE_H
#define TL_XTRACE_CORE_H

#include "base/io/input.h"
#include "base/io/output.h"
#include "base/shadow.h"

/* Most pages of a file that is read. */
#define XTRACE_CORE_PAGES (1u << 18)

typedef struct xtrace_registers {
    uint64_t x[31], sp, pc, pstate;
    uint8_t v[32][16];
    uint64_t fpsr, fpcr, tpidr;
} xtrace_registers;

/* Takes them from a record of snapshots, which lacks the pc. */
void xtrace_registers_take(xtrace_registers *r, const uint8_t *record, uint32_t vl);

/* Writes the known memory; r: NULL if the registers are unknown. most: CORE_MANY, or less in tests: program headers,
 * beyond which their number is in a section header. */
int xtrace_core_write(tl_output *out, tl_shadow *memory, const xtrace_registers *r, uint32_t thread, uint64_t most,
                      tl_error *e);

/* Reads memory back; in files from other programs every byte counts as known. 0; 1: the file is malformed, and
 * *what says why (static); < 0: error. */
int xtrace_core_read(tl_input *in, tl_shadow *memory, const char **what, tl_error *e);

/* Numbers of the file, for reading and writing. */
enum {
    CORE_EHDR = 64,
    CORE_PHDR = 56,
    CORE_SHDR = 64,
    CORE_ET = 4,       /* ET_CORE */
    CORE_EM = 183,     /* EM_AARCH64 */
    CORE_LOAD = 1,     /* PT_LOAD */
    CORE_NOTE = 4,     /* PT_NOTE */
    CORE_MANY = 65535, /* PN_XNUM */
    CORE_NOTE_HEAD = 12,
    CORE_KNOWN_NAME = 10, /* "TRACELOOM" and its end */
    CORE_KNOWN_TYPE = 0x544c0001,
    CORE_KNOWN_HEAD = 16,
    CORE_KNOWN_PAGE = 8 + TL_SHADOW_PAGE / 8
};
#define CORE_KNOWN "TRACELOOM"

#endif
