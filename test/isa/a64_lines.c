/* Decodes A64 words with src/isa: our side of test/isa/compare.py. Words in hexadecimal from stdin, one a line.
 *
 * TL_ISA_WORDS and TL_ISA_TRIES in the environment set how many words compare.py tries.
 *
 * Out, with tabs between them: word, class, reads, writes, memory (its struct in order, then letters for its flags),
 * target of a direct branch at 0x100000000, and the register of a system instruction. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/a64_system.h"

#include "a64_system_names.h"

static void registers(const a64_regs *r)
{
    printf("\t%" PRIx32 ",%" PRIx32 ",%" PRIx32, r->x, r->v, r->p);
}

static void memory(const a64_memory *m)
{
    printf("\t%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%" PRId32 ",", m->access, m->mode, m->base, m->index, m->extend,
           m->shift, m->registers, m->element, m->lane, m->atomic, m->size, m->imm);
    printf("%s%s%s%s%s%s%s%s", m->base_vector ? "b" : "", m->index_vector ? "i" : "", m->imm_vectors ? "v" : "",
           m->exclusive ? "x" : "", m->acquire ? "a" : "", m->release ? "r" : "", m->tags ? "t" : "",
           m->guarded ? "g" : "");
}

static void system_of(uint32_t op)
{
    a64_system s;
    char name[A64_SYSTEM_NAME_MAX] = "";
    if (a64_system_of(op, &s) && (s.kind == A64_MRS || s.kind == A64_MSR))
        a64_system_register_name(s.number, name);
    printf("\t%u,%u,%u,%u,%s", s.kind, s.gpr, s.value, s.number, name);
}

int main(void)
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        uint32_t op = (uint32_t)strtoul(line, NULL, 16);
        uint64_t target;
        a64_operands o;
        a64_operands_of(op, &o);
        printf("%08" PRIx32 "\t%s", op, a64_class_name(a64_class_of(op)));
        registers(&o.reads);
        registers(&o.writes);
        memory(&o.memory);
        printf("\t");
        if (a64_direct_target(0x100000000, op, &target))
            printf("%" PRIx64, target);
        system_of(op);
        printf("\n");
    }
    return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
