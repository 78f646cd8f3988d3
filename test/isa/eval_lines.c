/* Reads lines "opcode nzcv x0 .. x15" in hexadecimal and prints the results of a64_eval(): flags and registers, "?" if
 * unknown. */
#include <inttypes.h>
#include <stdio.h>

#include "isa/a64_eval.h"

#define REGISTERS 16u
#define PC        UINT64_C(0x400000)

int main(void)
{
    uint32_t op, nzcv;
    while (scanf("%" SCNx32 " %" SCNx32, &op, &nzcv) == 2) {
        a64_state s = {.nzcv = nzcv, .has_nzcv = true};
        for (unsigned i = 0; i < REGISTERS; i++) {
            uint64_t x;
            if (scanf("%" SCNx64, &x) != 1)
                return 2;
            a64_know(&s, i, x);
        }
        a64_eval(&s, PC, op, &(a64_seen){0});
        if (s.has_nzcv)
            printf("%" PRIx32, s.nzcv);
        else
            printf("?");
        for (unsigned i = 0; i < REGISTERS; i++)
            if (s.known >> i & 1)
                printf(" %" PRIx64, s.x[i]);
            else
                printf(" ?");
        printf("\n");
    }
    return 0;
}
