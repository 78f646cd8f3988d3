/* The program and its shared objects: where they lie, what they are called, and their sleds.
 *
 * Each object that is linked with the recorder's start file (rt_object_start.c) registers itself when it is loaded and
 * takes itself out when it is unloaded; objects without are added when a function by address is found in them, and
 * watched from then on (rt_unload.h). */
#ifndef TL_RT_OBJECTS_H
#define TL_RT_OBJECTS_H

#include "rt/rt_core.h"

struct rt_sled_map; /* of the start file, rt_object_start.h: trampolines and the bounds of xray_instr_map */

typedef struct rt_object {
    uint32_t id;   /* from 1 on, never used again */
    uint32_t base; /* functions base+1 .. base+count have sleds */
    uint32_t count;
    volatile bool gone;            /* unloaded: its memory is no longer there */
    uintptr_t bias, low, high;     /* loaded at [low, high); address in the file = address - bias */
    volatile uint32_t loaded;      /* later than those with lower numbers */
    uintptr_t header;              /* where its ELF header is */
    uint64_t apart;                /* added to its addresses where another object was before: they are nobody else's */
    const struct rt_sled_map *map; /* NULL: no sleds */
    const uint64_t *function;      /* [count] addresses without bias; in the recorder's own memory, stays */
    volatile uint8_t *wanted;      /* [count] is the function left by the patterns? */
    volatile uint32_t noted;       /* tl_rt.file of the latest file that has a note of it */
    bool refused;                  /* its code cannot be patched; a message said why */
    bool checked;                  /* its sleds were looked at, and odd ones told */
    bool writable;                 /* its code was writable when it was loaded */
    char build_id[65];             /* hex; "" unknown */
    char path[RT_PATH];            /* "" unknown */
} rt_object;

uint32_t tl_rt_objects(void);
const rt_object *tl_rt_object(uint32_t index); /* 0 .. tl_rt_objects()-1 */
/* After fork, in the child: locks that the parent's other threads held are free. */
void tl_rt_objects_child(void);
/* The object that an address lies in, added if it was not known; NULL: none. It is `gone` if it is just being unloaded:
 * one of its last destructors runs. From hooks, with the lane busy. */
const rt_object *tl_rt_object_at(uintptr_t address);

/* The object that an address lies in is about to be unloaded. Not from hooks. */
void tl_rt_object_leaves(uintptr_t address);

/* The name of a function in the object's file (symbol table, then dynamic symbols) by its address without bias;
 * NULL if there is none. Maps the file while an rt_symbols is open. Not from hooks. */
typedef struct rt_symbols rt_symbols;
rt_symbols *tl_rt_symbols_open(const rt_object *o);
const char *tl_rt_symbols_name(rt_symbols *s, uint64_t address); /* until close */
void tl_rt_symbols_close(rt_symbols *s);
/* A C++ name as people write it, without arguments: "net::Reader::read" of _ZN3net6Reader4readEi. False: not one. */
bool tl_rt_symbols_plain(const char *linkage_name, char *out, size_t size);

#endif
