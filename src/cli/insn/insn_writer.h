/* Writes what the plugin in QEMU records: owns the memory that both share, and takes blocks out of it in a thread. */
#ifndef TL_CLI_INSN_WRITER_H
#define TL_CLI_INSN_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu/insn_layout.h"
#include "traceloom/error.h"

typedef struct tl_insn_writer tl_insn_writer;

/* What was written, and what was not. */
typedef struct tl_insn_totals {
    uint64_t threads, insns, loads, stores, calls, snapshots;
    uint64_t lost;    /* instructions that were executed while recording, and could not be written */
    uint32_t running; /* threads of processes that still run: recorded up to now */
} tl_insn_totals;

/* How to record. */
typedef struct tl_insn_wanted {
    uint32_t interval; /* instructions between snapshots */
    bool packed;       /* files are compressed */
    insn_slice slice;
    /* Where is that function in a library? As an insn_question answers; may be NULL. */
    uint64_t (*find)(void *arg, const char *path);
    void *arg;
} tl_insn_wanted;

/* `folder` exists, and is for the files of this recording. */
int tl_insn_writer_new(tl_insn_writer **out, const char *folder, const tl_insn_wanted *wanted, tl_error *e);
void tl_insn_writer_free(tl_insn_writer *w);
/* The memory, and its descriptor, which the recorded process inherits. */
const insn_shared *tl_insn_writer_memory(const tl_insn_writer *w);
int tl_insn_writer_fd(const tl_insn_writer *w);

/* Begins a thread, which ends with tl_insn_writer_end(). */
int tl_insn_writer_begin(tl_insn_writer *w, tl_error *e);
/* The program has ended: writes what is left, and nothing that still comes. TL_EIO: the first failure to write. */
int tl_insn_writer_end(tl_insn_writer *w, long program, tl_insn_totals *totals, tl_error *e);

#endif
