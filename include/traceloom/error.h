/* Errors: one struct that the caller owns, filled by the function that failed.
 *
 * Every function that can fail returns >= 0 on success and a negative tl_code on failure, and takes a tl_error * as its
 * last argument (NULL if the details do not matter). On failure the out-parameters are left as they were. TL_ENOMEM can
 * come from each of them; the others are named at the function.
 * Thread rule: a tl_error belongs to one thread at a time; the functions here keep no state of their own. */
#ifndef TRACELOOM_ERROR_H
#define TRACELOOM_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum tl_code {
    TL_OK = 0,
    TL_ENOMEM = -1,       /* memory ran out, or a stated limit on it was reached */
    TL_EIO = -2,          /* the operating system failed a read, write or open; sys_errno says how */
    TL_EFORMAT = -3,      /* unrecognised format, or not the one asked for */
    TL_EDAMAGED = -4,     /* the file breaks its format's rules at `offset` */
    TL_EUNSUPPORTED = -5, /* right, but outside what this build or this function does */
    TL_EINVAL = -6,       /* the caller's arguments make no sense */
    TL_EEXIST = -7,       /* an output file exists and may not be overwritten */
    TL_ENOMATCH = -8,     /* a selection that matches nothing */
    TL_ELIMIT = -9,       /* a limit of the caller was reached, or the caller interrupted it */
    TL_ESYNTAX = -10      /* a statement that does not parse, or names what is not there */
} tl_code;

#define TL_NO_OFFSET UINT64_MAX

typedef struct tl_error {
    tl_code code;
    int sys_errno;     /* errno of the failed call, or 0 */
    uint64_t offset;   /* byte offset in the input (after decompression), or TL_NO_OFFSET */
    char message[232]; /* one line, no full stop, no newline; context first: "a.xray: fdr: buffer 17: ..." */
} tl_error;

/* Fills *e (if e is not NULL) and returns `code`, which is negative, so that a failing function can end with
 * `return tl_fail(...)`. The text is printf's; what does not fit is cut, control characters become '?'. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int tl_fail(tl_error *e, tl_code code, uint64_t offset, const char *format, ...);

/* The same for a failed system call: appends ": " and the text of `sys_errno`. Returns TL_EIO (TL_ENOMEM for ENOMEM).
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int tl_fail_errno(tl_error *e, int sys_errno, const char *format, ...);

/* Puts "context: " in front of the message of *e, which was filled before, and returns its code (TL_EINVAL if e is
 * NULL). Where both do not fit, the end of the context goes first. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int tl_error_context(tl_error *e, const char *format, ...);

/* A short name of a code: "damaged", "out of memory". Never NULL; static storage. */
const char *tl_code_name(int code);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
