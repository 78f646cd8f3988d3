/* What is mapped in a process: /proc/PID/maps. */
#ifndef TL_CLI_ATTACH_MAPS_H
#define TL_CLI_ATTACH_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TL_ATTACH_NO_OBJECT UINT32_MAX

/* A file that is mapped, or "[stack]", "[vdso]". */
typedef struct tl_attach_object {
    char *path;
    bool deleted;             /* removed or replaced since */
    bool is_code;             /* some of it is executable */
    int8_t system, allocates; /* part of the loader and such; exports malloc(). -1: not known yet */
} tl_attach_object;

typedef struct tl_attach_map {
    uint64_t begin, end, offset;
    uint32_t object;
    bool code;
} tl_attach_map;

typedef struct tl_attach_maps {
    tl_attach_map *map;
    size_t n, room;
    tl_attach_object *object;
    uint32_t objects;
    size_t object_room;
} tl_attach_maps;

/* False: errno says why. To be freed in any case. */
bool tl_attach_maps_read(tl_attach_maps *m, long pid);
void tl_attach_maps_free(tl_attach_maps *m);
/* NULL: nothing is mapped there. */
const tl_attach_map *tl_attach_maps_at(const tl_attach_maps *m, uint64_t address);
/* The first object whose file name (without folders) begins so; TL_ATTACH_NO_OBJECT: none. */
uint32_t tl_attach_maps_find(const tl_attach_maps *m, const char *begin);

#endif
