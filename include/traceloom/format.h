/* The list of formats that this build can read and write, and what else is in it.
 *
 * Thread rule: everything here may be called from any thread. All strings are static. */
#ifndef TRACELOOM_FORMAT_H
#define TRACELOOM_FORMAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { TL_CAN_READ_EVENTS = 1, TL_CAN_WRITE_EVENTS = 2, TL_CAN_READ_PROFILE = 4, TL_CAN_WRITE_PROFILE = 8 };

typedef struct tl_format_info {
    const char *name;     /* "xray-fdr" */
    const char *summary;  /* one line */
    const char *suffixes; /* space-separated, most usual first: ".xray .fdr" */
    unsigned can;         /* TL_CAN_* */
} tl_format_info;

/* How many formats there are. */
uint32_t tl_formats(void);
/* One of them, in the order in which help lists them. Static; NULL past the end. */
const tl_format_info *tl_format_get(uint32_t index);

/* The version of the library: "0.1.0". Static, never NULL. */
const char *tl_version(void);
/* What was built in, space-separated: "zlib zstd bzip2 libdw demangle sqlite"; "" if nothing. Static, never NULL. */
const char *tl_build_options(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
