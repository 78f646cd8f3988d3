/* Layout of Traceloom's own profile file, .tlp: a whole tl_profile, exactly. docs/format/profile.md is the
 * specification.
 *
 *    0        8       10      12               20
 *   +--------+-------+-------+----------------+------ - - - -----+-------+
 *   | magic  |version| flags | size of file   | body: varints     | CRC-32|      fixed numbers are little-endian
 *   +--------+-------+-------+----------------+------ - - - -----+-------+
 *
 *   version  1: calls. 2: what 1 cannot hold: samples, calls without an exit, patched objects, another clock, or
 *            functions with a library, another name later, or flags; marked (2) below
 *
 *   body     counts      strings, functions, threads, places (without the root of all)
 *            strings     length, bytes; ascending, each once. References: 0 is none, k is the k-th string
 *            head        clock name, hz, [UTC]; build-id, exe; unmatched exits and open; lost events, damaged bytes
 *            samples     (2) with samples only: counted, with an empty stack, while paused; [begin; end - begin]
 *            patched     (2) if there are any: how many; path, functions, patched, late, why of each
 *            functions   module, id (difference), name, file, line, address, linkage name; in canonical order;
 *                        (2) library, renamed, flags, [offset]
 *            threads     which ids, [pid], [tid], name; in canonical order
 *            tree        places depth-first, siblings in canonical order, as two columns: how many levels up from the
 *                        place before the parent is; and which thread or function, as the difference to the sibling
 *            sums        columns: calls; total; total - self; total - outer;
 *                        (2) of samples instead: the place's own samples; time; bytes and allocations
 *            unwound     (2) column of calls that the exit of an outer one closed, if there are any
 *            durations   with histogram only, of places with calls: columns of total/calls - min; max - min; buckets
 *
 * Everything has one way to be written, and a reader refuses any other: equal profiles are equal files. */
#ifndef TL_FORMAT_TLP_LAYOUT_H
#define TL_FORMAT_TLP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLP_MAGIC "\x8ftlprof\n" /* no text begins like this, and it reveals a change of line ends */

enum {
    TLP_OFFSET_MAGIC = 0,
    TLP_OFFSET_VERSION = 8,
    TLP_OFFSET_FLAGS = 10,
    TLP_OFFSET_SIZE = 12,
    TLP_OFFSET_BODY = 20,
    TLP_MAGIC_BYTES = 8,
    TLP_CHECKSUM_BYTES = 4, /* at the end of the file: CRC-32 of all bytes before */
    TLP_LEAST = TLP_OFFSET_BODY + TLP_CHECKSUM_BYTES
};

#define TLP_VERSION         1u /* of profiles of calls */
#define TLP_VERSION_SAMPLES 2u /* of those that version 1 cannot hold; the newest */

enum {
    TLP_HISTOGRAM = 1,  /* durations of single calls are known */
    TLP_PER_THREAD = 2, /* one tree for each thread */
    TLP_UTC = 4,        /* the clock's UTC is known */
    TLP_FLAGS = TLP_HISTOGRAM | TLP_PER_THREAD | TLP_UTC,
    TLP_SAMPLES = 8,    /* made of samples; from version 2 on, as the next one */
    TLP_SPAN = 16,      /* the time range of the events is known */
    TLP_UNWOUND = 32,   /* some calls were closed by the exit of an outer one */
    TLP_PATCHED = 64,   /* the recorder patched functions */
    TLP_RESCALED = 128, /* times were those of another clock */
    TLP_FLAGS_SAMPLES = TLP_FLAGS | TLP_SAMPLES | TLP_SPAN | TLP_UNWOUND | TLP_PATCHED | TLP_RESCALED,
    TLP_NEED_EXTENDED = TLP_SAMPLES | TLP_UNWOUND | TLP_PATCHED | TLP_RESCALED
};

/* The error in the flags, or NULL. */
static inline const char *tlp_flags_fault(unsigned flags, bool extended)
{
    if (flags & ~(unsigned)(extended ? TLP_FLAGS_SAMPLES : TLP_FLAGS))
        return "some are not known";
    if (flags & TLP_SAMPLES && flags & (TLP_HISTOGRAM | TLP_UNWOUND))
        return "samples have no durations and no exits";
    if (flags & TLP_SPAN && !(flags & TLP_SAMPLES))
        return "a time of samples, but there are none";
    return NULL;
}

/* Which ids of a thread are known. */
enum { TLP_HAS_PID = 1, TLP_HAS_TID = 2, TLP_HAS = TLP_HAS_PID | TLP_HAS_TID };

/* Fewest bytes of an entry: counts are checked against this before anything is allocated. */
enum {
    TLP_LEAST_STRING = 1,
    TLP_LEAST_FUNCTION = 7,
    TLP_LEAST_FUNCTION_SAMPLES = 10, /* in version 2 */
    TLP_LEAST_THREAD = 2,
    TLP_LEAST_PATCHED = 5,
    TLP_LEAST_PLACE = 6
};

/* Of a function, in version 2: tl_function_flags. */
enum { TLP_FUNCTION_FLAGS = 7 };

/* Larger files are neither written nor read: a reader holds the whole file in memory, and a sparse file of terabytes
 * costs nothing to make. */
#define TLP_SIZE_MAX ((uint64_t)4 << 30)

#define TLP_VARINT_MOST                                                                                                \
    10 /* bytes of a number: seven bits each, least significant first, top bit set except in the last */

/* Signed numbers with small absolute values become small numbers: 0, -1, 1, -2, ... */
static inline uint64_t tlp_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t tlp_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

#endif
