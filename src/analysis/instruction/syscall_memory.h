/* A track's memory as seen in its loads and stores, for the texts of its system calls. */
#ifndef TL_ANALYSIS_SYSCALL_MEMORY_H
#define TL_ANALYSIS_SYSCALL_MEMORY_H

#include "analysis/instruction/syscall_text.h"
#include "traceloom/model.h"

typedef struct tl_syscall_memory {
    tl_shadow *shadow;
    tl_call_buffer stored[2]; /* the last stores of this instruction, in case it is an exclusive one */
    unsigned nstored;
    unsigned pages_max;
} tl_syscall_memory;

/* A load or store with the bytes of its value. Errors: TL_ENOMEM. */
int tl_syscall_memory_access(tl_syscall_memory *m, const tl_class *c, const tl_value *v, const tl_value *end,
                             uint64_t address, bool store, tl_error *e);
/* An instruction begins; an exclusive store did not store. */
static inline void tl_syscall_memory_insn(tl_syscall_memory *m)
{
    m->nstored = 0;
}
void tl_syscall_memory_not_stored(tl_syscall_memory *m);
/* Makes `bytes` bytes unknown. */
void tl_syscall_memory_forget(tl_syscall_memory *m, uint64_t address, uint64_t bytes);
/* After a call has returned: forgets what it may have changed. */
void tl_syscall_memory_after(tl_syscall_memory *m, const tl_call_values *c, uint64_t result);

/* The buffers of a call, from the fields of an event of role TL_ROLE_CALL_BUFFERS. */
void tl_syscall_take_buffers(tl_call_values *to, const tl_class *c, const tl_value *v, const tl_value *end);

#endif
