/* A thread of the recorded program, and where its tokens go. */
#ifndef TL_QEMU_INSN_THREAD_H
#define TL_QEMU_INSN_THREAD_H

#include <string.h>

#include "base/compiler.h"
#include "qemu/insn_examine.h"
#include "qemu/insn_layout.h"
#include "qemu/qemu_api1.h"

#define INSN_NO_PC UINT64_MAX

typedef struct insn_thread {
    bool on, finished;
    insn_stream *stream; /* NULL: none yet */
    insn_block *block;   /* the one that is filled */
    uint8_t *at, *full;  /* in its memory: the next token; the last place where an instruction may begin */
    uint8_t *memory;     /* of the stream's blocks */
    uint64_t expected;   /* an instruction here needs no pc; INSN_NO_PC: every one does */
    uint64_t quick;      /* the same, if nothing is due for the last one */
    const insn *last;    /* the last one executed, to compare only: it may be freed */
    insn copy;           /* of it */
    bool any;            /* there is a last one */
    bool loaded, swapped;
    unsigned swap_shift;
    uint64_t swap_address, target; /* target: where it goes, if it branches to a register */
    uint64_t count, before;        /* instructions in the stream; before the block */
    uint64_t next_state;           /* the one before which the next snapshot is taken */
    uint64_t next_look;            /* that, or the end of the slice */
    uint64_t before_slice;         /* instructions, if they are counted */
    uint64_t until, until_sp;      /* where the slice ends; until 0: elsewhere */
    uint64_t tls;
    uint64_t *x; /* X0 .. SP, in the emulator's CPU */
    void *env;   /* where that begins */
    qemu_bytes *answer;
} insn_thread;

typedef struct insn_settings {
    bool always; /* else between two HINT #9 */
    bool times;  /* a TIME before each access: from the start, or since there is a second thread */
    bool slice;  /* see insn_slice.c */
} insn_settings;

extern insn_settings insn_how;
extern insn_shared *insn_memory;
/* The calling thread; NULL: not seen yet. */
extern __thread insn_thread *insn_me;

/* Makes insn_me at the first instruction of a thread. */
insn_thread *insn_begin_thread(void);
/* Where the common case must stop next. */
void insn_plan_look(insn_thread *t);
/* Its stream, if there is one, has ended; nothing more of it is recorded. */
void insn_end_thread(insn_thread *t);
/* Takes a stream for it. False, and off: there is none. */
bool insn_open_stream(insn_thread *t);
/* Has the command that records ended? Also if nobody has waited for it yet. */
bool insn_command_is_gone(void);
void insn_wake_command(void);
/* Begins the next block, and waits for one if necessary. False, and off: nobody writes them any more. */
bool insn_next_block(insn_thread *t);
/* Before and after a fork. */
void insn_watch_forks(void);

/* Before and after a slice there are other callbacks, or none. False: it is now, or there is none. */
bool insn_slice_translates(struct qemu_plugin_tb *block);
/* The program maps a file, and where: a library may have the function at which the slice begins. */
void insn_slice_maps(int64_t number, uint64_t fd, uint64_t offset);
void insn_slice_mapped(int64_t address);
/* Is this instruction behind the slice? */
bool insn_slice_is_over(const insn_thread *t, uint64_t pc);
/* Nothing is recorded any more, and the program runs on at its usual speed. */
void insn_end_slice(insn_thread *t);
void insn_fork_slice(insn_thread *t);
/* At an instruction that is not recorded. */
void insn_leave_slice(void);

/* Ends the program, for a reason that the command reports. */
_Noreturn void insn_refuse(insn_refusal why);

void insn_find_registers(insn_thread *t);
uint64_t insn_flags(insn_thread *t);
/* TPIDR_EL0, which is not among the debugger's registers: found in the emulator's CPU where the program first sets it.
 */
void insn_before_tls(uint64_t value);
void insn_after_tls(void);
bool insn_knows_tls(void);
uint64_t insn_tls(void);
uint64_t insn_gdb_register(insn_thread *t, int number);
void insn_put_state(insn_thread *t);

/* Memory of the program at any address that it may name. False: there is none. */
bool insn_read_guest(uint64_t address, void *out, size_t n);

/* Of struct rt_sigframe, which is at SP when a signal's handler begins, and when it returns: X0 .. SP, pc, pstate. */
enum { INSN_FRAME_PC = 32, INSN_FRAME_PSTATE = 33, INSN_FRAME_WORDS = 34 };
bool insn_read_frame(const insn_thread *t, uint64_t frame[INSN_FRAME_WORDS]);

/* Callbacks. */
void insn_on_insn(unsigned cpu, void *data);
void insn_on_access(unsigned cpu, uint32_t info, uint64_t address, void *data);
qemu_syscall insn_on_syscall;
void insn_on_result(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result);

TL_ALWAYS_INLINE void insn_put64(uint8_t **at, uint8_t token, uint64_t value)
{
    **at = token;
    memcpy(*at + 1, &value, sizeof value);
    *at += 1 + sizeof value;
}

/* What is before `at` counts from now on, even if the process is killed. */
TL_ALWAYS_INLINE void insn_commit(insn_thread *t, uint8_t *at)
{
    const uint64_t bytes = (uint64_t)(at - (t->full + INSN_TOKENS_MOST - INSN_BLOCK_BYTES));
    t->at = at;
    __atomic_store_n(&t->block->filled, bytes | (t->count - t->before) << INSN_FILLED_BITS, __ATOMIC_RELEASE);
}

#endif
