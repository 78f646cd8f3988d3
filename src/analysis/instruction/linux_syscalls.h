/* System calls of Linux on AArch64, which are those of asm-generic: numbers, names, and kinds of arguments. */
#ifndef TL_ANALYSIS_LINUX_SYSCALLS_H
#define TL_ANALYSIS_LINUX_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#define TL_CALL_ARGUMENTS 6u   /* most arguments of a call */
#define TL_CALL_STRUCT    512u /* bytes of the largest struct that a call fills without an explicit size */

/* Kinds of arguments; the letters are used in tl_linux_call.arguments. */
enum tl_call_argument {
    TL_ARG_INT = 'd',   /* 32 bits, signed */
    TL_ARG_LONG = 'l',  /* 64 bits, signed: an offset */
    TL_ARG_SIZE = 'n',  /* 64 bits, unsigned */
    TL_ARG_HEX = 'x',   /* flags and other bits */
    TL_ARG_OCTAL = 'o', /* permissions of a file */
    TL_ARG_FD = 'f',
    TL_ARG_DIR = '@',      /* a file descriptor or AT_FDCWD */
    TL_ARG_STRING = 's',   /* ends with a byte 0 */
    TL_ARG_INPUT = 'b',    /* bytes; the next argument is the size */
    TL_ARG_OUTPUT = 'B',   /* buffer; the next argument is its size, the result what was written */
    TL_ARG_INPUTS = 'v',   /* iovecs to read; the next argument is their number */
    TL_ARG_OUTPUTS = 'V',  /* iovecs to write */
    TL_ARG_POINTER = 'p',  /* to something the call does not change */
    TL_ARG_STRUCT = 'q',   /* to something it may change: at most TL_CALL_STRUCT bytes */
    TL_ARG_MEMORY = 'Q',   /* to something it may change, of any size */
    TL_ARG_MAPPING = 'a',  /* an address whose mapping changes; the next argument is the size */
    TL_ARG_OPEN = 'O',     /* O_RDONLY, ... */
    TL_ARG_FD_FLAGS = 'C', /* flags of these other than access modes: O_CLOEXEC, ... */
    TL_ARG_ACCESS = 'R',   /* R_OK, ... */
    TL_ARG_PROT = 'P',
    TL_ARG_MAP = 'M',
    TL_ARG_WHENCE = 'w',
    TL_ARG_CLOCK = 'c',
    TL_ARG_SIGNAL = 'g',
    TL_ARG_AT = 'A',   /* AT_... */
    TL_ARG_FUTEX = 'F' /* FUTEX_... */
};

enum tl_syscall_flags { TL_SYSCALL_ADDRESS = 1 /* the result is an address */ };

typedef struct tl_linux_call {
    uint16_t number;
    uint8_t flags;
    const char *name;
    const char *arguments; /* a letter for each */
} tl_linux_call;

/* The call of a number, or NULL. */
const tl_linux_call *tl_linux_call_of(uint64_t number);

/* Did the call fail by its result, and with which error number? */
static inline bool tl_linux_is_error(uint64_t result)
{
    return result >= UINT64_MAX - 4094;
}
/* "ENOENT", "No such file or directory"; NULL if there is no such error. */
const char *tl_linux_error_name(unsigned number);
const char *tl_linux_error_text(unsigned number);

#endif
