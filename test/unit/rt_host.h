/* For tests that compile parts of the recorder into themselves: only on its platforms, and where writes of its own
 * copies and system calls are seen (MemorySanitizer does not look into assembly). */
#ifndef TL_TEST_RT_HOST_H
#define TL_TEST_RT_HOST_H

#include "check.h"

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define RT_BLIND 1
#endif
#endif

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(RT_BLIND)
#define RT_HERE 1
#else
#define RT_HERE 0
#endif

/* Replaces a case where it cannot run. */
#define RT_SKIPPED_BECAUSE(name, reason)                                                                               \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        skip_because(reason);                                                                                          \
    }
#define RT_SKIPPED(name) RT_SKIPPED_BECAUSE(name, "the recorder is for x86-64 and AArch64 Linux")

#endif
