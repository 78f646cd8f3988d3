/* The program and its shared objects: their addresses, names and sleds.
 *
 * Each object that is linked with the recorder's start file (rt_object_start.c) registers itself when loaded, and
 * unregisters when unloaded. Other objects are added when a function by address is found in them, or when their sleds
 * are found (patch/hook_sleds_found.c), and watched from then on (rt_unload.h). */
#ifndef TL_RT_OBJECTS_H
#define TL_RT_OBJECTS_H

#include "rt/rt_core.h"
#include "rt/rt_sys.h"

struct rt_sled_found; /* of objects that were not linked with it, rt_sled.h */
struct rt_sled_map;   /* of the start file, rt_object_start.h: trampolines and the bounds of xray_instr_map */

typedef struct rt_object {
    uint32_t id;   /* from 1, never reused */
    uint32_t base; /* functions base+1 .. base+count have sleds, or are patched */
    uint32_t count;
    volatile bool gone;        /* unloaded: its memory is no longer there */
    uintptr_t bias, low, high; /* loaded at [low, high); address in the file = address - bias */
    volatile uint32_t loaded;  /* order of loading: later ones are greater */
    uintptr_t header;          /* where its ELF header is */
    uint64_t apart;            /* added to its addresses if another object was at its place before: makes them unique */
    const struct rt_sled_map *map;     /* NULL: no sleds */
    const struct rt_sled_found *found; /* has sleds, but no start file; else NULL */
    const uint64_t *function; /* [count] addresses without bias; in the recorder's memory, never freed. Without a map
                                 its functions are patched, and the addresses ascend */
    volatile uint8_t *wanted; /* [count] do the patterns leave the function? */
    volatile uint32_t noted;  /* tl_rt.file of the latest file with a note of it */
    const struct rt_line *patched; /* the line "patched", for every file; NULL: none */
    bool refused;                  /* its code cannot be patched; a message said why */
    bool checked;                  /* its sleds were checked, and odd ones reported */
    bool writable;                 /* its code was writable when it was loaded */
    char build_id[65];             /* hex; "" unknown */
    char path[RT_PATH];            /* "" unknown */
} rt_object;

RT_INLINE bool rt_object_has(const rt_object *o, uintptr_t address)
{
    return address - o->low < o->high - o->low;
}

uint32_t tl_rt_objects(void);
const rt_object *tl_rt_object(uint32_t index); /* 0 .. tl_rt_objects()-1 */
/* After fork, in the child: locks that the parent's other threads held are free. */
void tl_rt_objects_child(void);
/* The object that contains an address, added if not known; NULL: none. It is `gone` while one of its last destructors
 * runs. From hooks, with the lane busy. */
const rt_object *tl_rt_object_at(uintptr_t address);

/* Notes an object again whose functions are known only now: with their addresses, and `patched`, if recording is on.
 * With the thread's lane busy, or without a lane. */
void tl_rt_object_note(rt_object *o);

/* The object that contains an address is about to be unloaded. Not from hooks. */
void tl_rt_object_leaves(uintptr_t address);

/* Names of functions, from the symbol table of the object's file, or of the debug file with its build-id, and from the
 * dynamic symbols. All are in memory while an rt_symbols is open. From anywhere, with the lane busy; takes some ms. */
typedef struct rt_symbols rt_symbols;
rt_symbols *tl_rt_symbols_open(const rt_object *o); /* NULL: none */
/* The name of the function at an address without bias; NULL: none. Until close. */
const char *tl_rt_symbols_name(rt_symbols *s, uint64_t address);
/* All names, by address; a function may have several. */
size_t tl_rt_symbols_count(const rt_symbols *s);
const char *tl_rt_symbols_get(const rt_symbols *s, size_t i, uint64_t *address);
void tl_rt_symbols_close(rt_symbols *s);
/* Does the file import the function, by its dynamic symbols? Not from hooks. */
bool tl_rt_symbols_import(const char *path, const char *function);
/* The plain form of a C++ name, without arguments: "net::Reader::read" for _ZN3net6Reader4readEi. False: none. */
bool tl_rt_symbols_plain(const char *linkage_name, char *out, size_t size);

#endif
