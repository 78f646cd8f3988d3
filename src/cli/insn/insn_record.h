/* `traceloom record --insn`: runs a program of AArch64 in QEMU, whose plugin records its instructions. */
#ifndef TL_CLI_INSN_RECORD_H
#define TL_CLI_INSN_RECORD_H

#include "cli/record/record.h"

/* The option that only --insn obeys, if it is given; NULL: none. */
const char *tl_insn_only(const tl_arguments *a);
/* One run from its names to its report. An exit status of record. */
int tl_insn_record(tl_record *r);

/* Names and the folder of the recording: STEM.xtrace, made as STEM.xtrace.live. Reports failures; an exit status. */
#define TL_INSN_SUFFIX ".xtrace"
int tl_insn_plan(tl_record *r);
/* Removes a folder that has nothing but files of recordings. */
bool tl_insn_remove(const char *path);

/* Where --slice-at says that recording begins. Reports failures; an exit status. */
struct insn_slice;
int tl_insn_find_slice(const tl_record *r, struct insn_slice *out);
/* Where the function that --slice-at names is in a library, behind its begin in memory; 0: it has none. */
uint64_t tl_insn_find_in_library(void *record, const char *path);

/* The words of the command that runs the program in QEMU; to be freed with tl_insn_command_free(). NULL after a
 * message, with an exit status. */
char **tl_insn_command(tl_record *r, int memory, int *status);
void tl_insn_command_free(char **words);

#endif
