/* What a program is, as far as it decides how it can be recorded. */
#ifndef TL_CLI_RECORD_FACTS_H
#define TL_CLI_RECORD_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "traceloom/error.h"

/* Code is patched on this machine. */
#if defined(__x86_64__) || defined(__aarch64__)
#define TL_RECORD_PATCHES true
#else
#define TL_RECORD_PATCHES false
#endif

/* The recorder that is loaded into programs; its file's name may go on with a version. */
#define TL_RECORD_SHARED "libtraceloom-rt.so"
/* Debian's folder of libraries of this machine. */
#if defined(__x86_64__)
#define TL_RECORD_TRIPLET "x86_64-linux-gnu"
#else
#define TL_RECORD_TRIPLET "aarch64-linux-gnu"
#endif

typedef struct tl_record_facts {
    uint16_t machine; /* EM_* */
    bool is64, big;
    bool linked_statically; /* the kernel starts it without a loader */
    bool is_library;        /* the same, but made to be loaded */
    bool foreign_loader;    /* not that of the C library that the recorder needs */
    bool go;
    char loader[64];             /* its file name; "": none */
    char sanitizer[32];          /* what is needed from its runtime; "": none */
    bool has_recorder;           /* ours, in it or needed by it */
    bool has_sleds, has_runtime; /* the compiler's runtime for them */
    bool calls_hooks;            /* of -finstrument-functions */
    bool profiled;               /* by gprof: -pg */
    struct stat file;
} tl_record_facts;

/* Reads them from a program or library. TL_EFORMAT: not ELF. Nothing has to be freed. */
int tl_record_facts_read(tl_record_facts *f, const char *path, tl_error *e);

/* Why code of this program cannot be patched, nor the recorder loaded into it: "is linked statically: ...". "": it can
 * be. Returns `why`. */
const char *tl_record_cannot(const tl_record_facts *f, char *why, size_t size);
/* The same for who may start it: set-user-id programs ignore the recorder if another user starts them. */
const char *tl_record_may_not(const tl_record_facts *f, const char *path, char *why, size_t size);

#endif
