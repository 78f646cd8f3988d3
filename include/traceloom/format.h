/* The list of formats that this build can read and write. All strings are static. */
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

uint32_t tl_formats(void);
const tl_format_info *tl_format_get(uint32_t index); /* NULL past the end */

/* "0.1.0", and what was built in: "zlib zstd bzip2 libdw demangle". */
const char *tl_version(void);
const char *tl_build_options(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
