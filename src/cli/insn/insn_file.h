/* A file of a recording of instructions, compressed or not. */
#ifndef TL_CLI_INSN_FILE_H
#define TL_CLI_INSN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io/compress.h"
#include "format/xtrace/xtrace_index.h"

typedef struct tl_insn_file {
    tl_target target; /* path NULL: not open */
    tl_compressor *z; /* NULL: plain */
    xtrace_index index;
} tl_insn_file;

/* Makes a file of this name in the folder. */
int tl_insn_file_open(tl_insn_file *f, int folder, const char *name, bool packed, tl_error *e);
bool tl_insn_file_is_open(const tl_insn_file *f);
int tl_insn_file_write(tl_insn_file *f, const void *data, size_t n, tl_error *e);
/* The same for bytes that begin with an instruction and its pc: they are a frame of their own. */
int tl_insn_file_put_frame(tl_insn_file *f, const void *data, size_t n, const xtrace_frame *at, tl_error *e);
/* Completes and closes it; also after a failure. */
int tl_insn_file_close(tl_insn_file *f, tl_error *e);

#endif
