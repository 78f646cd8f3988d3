/* A system call as text: name, arguments and result, in the style of C. */
#ifndef TL_ANALYSIS_SYSCALL_TEXT_H
#define TL_ANALYSIS_SYSCALL_TEXT_H

#include "analysis/instruction/linux_syscalls.h"
#include "base/shadow.h"

#define TL_CALL_TEXT    2048u /* bytes of a call's text; the rest is cut */
#define TL_CALL_BUFFERS 8u    /* of an iovec: more are "..." */

typedef struct tl_call_buffer {
    uint64_t base, bytes;
} tl_call_buffer;

/* A call as it was recorded. */
typedef struct tl_call_values {
    uint64_t number;
    uint64_t argument[TL_CALL_ARGUMENTS];
    unsigned n;                             /* known arguments */
    tl_call_buffer buffer[TL_CALL_BUFFERS]; /* the first ones */
    uint64_t buffers;
    bool has_buffers; /* otherwise nothing is known of them */
} tl_call_values;

/* "write(1, \"hello\\n\", 6)", with strings and bytes from `memory`, which may be NULL; ASCII. Returns its length,
 * below size, which is at least 16. */
size_t tl_call_text(char *buf, size_t size, const tl_call_values *c, const tl_shadow *memory);
/* "6", "-1 ENOENT (No such file or directory)", "?"; the same. */
size_t tl_call_result_text(char *buf, size_t size, uint64_t number, bool has_result, uint64_t result);

#endif
