/* ChampSim's numbers of A64 registers, and which of them an instruction reads and writes.
 *
 * ChampSim infers the kind of a branch from these: jumps write IP; conditional ones read IP and the flags or another
 * register; calls read and write IP and SP; returns read SP, and write it and IP. 0: no register. */
#ifndef TL_FORMAT_CHAMPSIM_REGISTERS_H
#define TL_FORMAT_CHAMPSIM_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CHAMPSIM_SP = 6,
    CHAMPSIM_FLAGS = 25,
    CHAMPSIM_IP = 26,
    CHAMPSIM_X0 = 32, /* to X30 = 62; numbers below 32 are avoided, because some have a meaning */
    CHAMPSIM_V0 = 64, /* to V31 = 95; also the vectors of SVE */
    CHAMPSIM_SOURCES = 4,
    CHAMPSIM_DESTINATIONS = 2
};

typedef struct champsim_operands {
    uint8_t destination[CHAMPSIM_DESTINATIONS];
    uint8_t source[CHAMPSIM_SOURCES];
    bool is_branch, is_conditional;
} champsim_operands;

/* Simplified where such a trace does not need more: see docs/format/champsim.md. */
champsim_operands champsim_operands_of(uint32_t op);

#endif
