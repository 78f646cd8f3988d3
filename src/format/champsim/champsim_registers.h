/* Registers of A64 as ChampSim numbers them, and which of them an instruction reads and writes.
 *
 * ChampSim infers what kind of branch an instruction is from these: jumps write IP; conditional ones read IP and the
 * flags or another register; calls read and write IP and SP; returns read SP, and write it and IP. 0: no register. */
#ifndef TL_FORMAT_CHAMPSIM_REGISTERS_H
#define TL_FORMAT_CHAMPSIM_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CHAMPSIM_SP = 6,
    CHAMPSIM_FLAGS = 25,
    CHAMPSIM_IP = 26,
    CHAMPSIM_X0 = 32, /* to X30 = 62; numbers below 32 are left alone, because some of them have a meaning */
    CHAMPSIM_V0 = 64, /* to V31 = 95; the vectors of SVE are the same */
    CHAMPSIM_SOURCES = 4,
    CHAMPSIM_DESTINATIONS = 2
};

typedef struct champsim_operands {
    uint8_t destination[CHAMPSIM_DESTINATIONS];
    uint8_t source[CHAMPSIM_SOURCES];
    bool is_branch, is_conditional;
} champsim_operands;

/* Simplified where a trace of this kind has no use for more: see docs/format/champsim.md. */
champsim_operands champsim_operands_of(uint32_t op);

#endif
