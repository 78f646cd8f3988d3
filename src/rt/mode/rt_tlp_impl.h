/* What the parts of the writer of .tlp files share. One tlp_writer is one file that is being written.
 *
 *   rt_tlp_notes.c    clock, program, objects and functions, from the notes in the image
 *   rt_tlp_tree.c     lanes and nodes of the image -> threads and places
 *   rt_tlp_names.c    functions: addresses, names, their order; the table of strings
 *   rt_tlp_order.c    places in the order of the file
 *   rt_tlp_numbers.c  the numbers of each place, copied at one moment
 *   rt_tlp_encode.c   the body
 *   rt_tlp.c          memory, the file
 *
 * Threads go on recording meanwhile. Links between nodes are only ever added, so the tree is copied first; then each
 * node's numbers are read once, and what is written depends on the copy alone. */
#ifndef TL_RT_TLP_IMPL_H
#define TL_RT_TLP_IMPL_H

#include "format/tlp/live_layout.h"
#include "rt/mode/rt_tlp.h"
#include "rt/rt_sys.h"

enum { TLP_NONE = UINT32_MAX };
enum { TLP_FUNCTION = 1u << 31 }; /* in the table of places: this is the index of a function */

/* Strings are numbers: index + 1 in tlp_writer.text, 0 for none. */
typedef struct tlp_text {
    const char *s;
    uint32_t n;
    uint32_t rank; /* in the file: 1 .. nstring, after tl_rt_tlp_rank() */
} tlp_text;

typedef struct tlp_object { /* from a note */
    uint32_t id, base, count;
    const char *build_id, *path; /* NULL: unknown */
    bool used;                   /* a function is in it: the following are known */
    uint32_t module, library;    /* strings */
    struct rt_symbols *symbols;  /* NULL: there are none */
} tlp_object;

typedef struct tlp_note { /* a function that has a note of its own, or a thread that has a name */
    uint32_t id, object;
    uint64_t address;
    const char *name;
} tlp_note;

typedef struct tlp_function {
    uint32_t id;
    uint32_t object;                /* index, TLP_NONE: not known */
    uint32_t module, library, name; /* strings; its linkage name is its name */
    uint64_t address;
} tlp_function;

typedef struct tlp_thread {
    uint32_t pid, tid;
    bool has_tid;
    uint32_t name; /* string */
} tlp_thread;

typedef struct tlp_lane {
    uint32_t at;     /* reference of the lane */
    uint32_t thread; /* index */
    tlp_thread key;
} tlp_lane;

typedef struct tlp_place {
    uint32_t parent;   /* place 0 is the root of all */
    uint32_t function; /* index; of threads the index of the thread */
    uint32_t nodes;    /* first of its nodes in tlp_writer.node, TLP_NONE: none */
} tlp_place;

typedef struct tlp_node {
    uint32_t at;   /* reference */
    uint32_t next; /* another node of the same place, TLP_NONE: none */
    uint32_t lane; /* reference of its lane */
} tlp_node;

typedef struct tlp_numbers {
    uint64_t calls, total, inner, outer, min, max;
} tlp_numbers;

typedef struct tlp_bytes { /* a column that is encoded before its turn */
    struct tlp_bytes *next;
    uint32_t used;
    uint8_t byte[];
} tlp_bytes;

typedef struct tlp_writer {
    const uint8_t *image;
    const uint64_t *image_size; /* may grow: what was linked already lies within it */
    int error;                  /* the first one: -errno */

    struct tlp_chunk *chunk; /* all memory, given back at the end */
    char *room;
    size_t left;

    const char *clock, *exe;
    uint64_t hz;
    bool has_utc;
    int64_t utc;         /* of tick 0, in ns since 1970 */
    uint64_t lost_noted; /* what the notes say */
    tlp_object *object;  /* ascending by id */
    uint32_t nobject;
    uint32_t program;       /* id of the object that is the program itself; 0: not known */
    tlp_note *note, *named; /* functions, threads; ascending by id */
    uint32_t nnote, nnamed;

    tlp_lane *lane; /* in the order that they were made in */
    uint32_t nlane;
    uint64_t exits, open, lost;
    tlp_thread *thread; /* in the order of the file */
    uint32_t nthread;
    tlp_place *place;                 /* threads are places 1 .. nthread */
    uint32_t nplace, nnode, capacity; /* capacity: of both */
    tlp_node *node;
    uint32_t *known; /* hash table: index + 1 of the place of (parent, function); of a function, if parent is none */
    uint32_t known_mask;

    tlp_function *function;                   /* in the order of first use ... */
    uint32_t *function_order, *function_code; /* ... index by code - nthread, and back */
    uint32_t nfunction;
    bool extended; /* something is in the file that version 1 has no place for */
    tlp_text *text;
    uint32_t *text_order; /* [nstring] index of a text of each distinct string, ascending */
    uint32_t ntext, nstring;
    uint32_t clock_text, build_id_text, exe_text;

    uint32_t *order;      /* [nplace] places as they stand in the file */
    uint32_t *least;      /* [nplace] scratch: least code that the next child may have */
    tlp_numbers *numbers; /* [nplace] by position in the file */
    tlp_bytes *bucket_first, *bucket_last;
} tlp_writer;

/* ---- the image: every reference may be anything, and anything may change ---- */

/* The n bytes that a reference means, or NULL if they do not lie in the image. */
RT_INLINE const uint8_t *tlp_at(const tlp_writer *m, uint32_t reference, uint64_t n)
{
    const uint64_t offset = (uint64_t)reference * LIVE_UNIT, size = __atomic_load_n(m->image_size, __ATOMIC_RELAXED);
    return reference && n <= size && offset <= size - n ? m->image + offset : NULL;
}

RT_INLINE uint32_t tlp_load32(const uint8_t *p)
{
    return __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_ACQUIRE);
}

RT_INLINE uint64_t tlp_load64(const uint8_t *p)
{
    return __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_RELAXED);
}

RT_INLINE uint64_t tlp_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* ---- memory: zero, given back when the file is done; NULL and an error: out of memory ---- */

void *tl_rt_tlp_take(tlp_writer *m, uint64_t n);
/* n numbers: 0, 1, 2, ...; and as much behind them, for sorting. */
uint32_t *tl_rt_tlp_numbers(tlp_writer *m, uint32_t n);
/* A copy of n bytes with a zero behind them. */
const char *tl_rt_tlp_copy(tlp_writer *m, const char *s, size_t n);
void tl_rt_tlp_fail(tlp_writer *m, int error);
/* Room for one entry more in an array of n; it grows at powers of two. False: none. */
bool tl_rt_tlp_grow(tlp_writer *m, void *array, uint32_t n, uint64_t size);

/* Sorts numbers, stable. order[n] are sorted, scratch[n] is overwritten. */
typedef bool tlp_after(const tlp_writer *m, uint32_t a, uint32_t b); /* has a to stand behind b? */
void tl_rt_tlp_sort(const tlp_writer *m, uint32_t *order, uint32_t *scratch, uint32_t n, tlp_after *after);
/* < 0, 0, > 0 as bytes compare; none comes before everything. */
int tl_rt_tlp_compare(const tlp_writer *m, uint32_t a, uint32_t b);
/* A new string, kept by pointer; 0 for NULL. */
uint32_t tl_rt_tlp_string(tlp_writer *m, const char *s);

const tlp_note *tl_rt_tlp_find(const tlp_note *note, uint32_t n, uint32_t id);

/* ---- the parts, in this order; each does nothing after an error ---- */

void tl_rt_tlp_read_notes(tlp_writer *m);
void tl_rt_tlp_read_lanes(tlp_writer *m);
void tl_rt_tlp_read_tree(tlp_writer *m);
void tl_rt_tlp_name_functions(tlp_writer *m);
void tl_rt_tlp_close_symbols(tlp_writer *m);
void tl_rt_tlp_rank(tlp_writer *m); /* strings, then functions */
void tl_rt_tlp_order(tlp_writer *m);
void tl_rt_tlp_read_numbers(tlp_writer *m);

/* Where the file goes: once to nowhere, to learn its size, then to the disk. */
typedef struct tlp_sink {
    int fd; /* -1: only counts */
    int error;
    uint64_t size;
    uint32_t crc;
    uint32_t used;
    uint8_t *buffer;
} tlp_sink;

void tl_rt_tlp_put(tlp_sink *s, const void *data, size_t n);
void tl_rt_tlp_put_number(tlp_sink *s, uint64_t v);            /* varint */
uint32_t tl_rt_tlp_varint(uint64_t v, uint8_t out[static 10]); /* its length */
void tl_rt_tlp_put_body(const tlp_writer *m, tlp_sink *s);

#endif
