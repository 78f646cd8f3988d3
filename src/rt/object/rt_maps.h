/* What is loaded where: the process's mappings, and ELF files in memory. From anywhere. */
#ifndef TL_RT_MAPS_H
#define TL_RT_MAPS_H

#include "rt/object/rt_objects.h"

typedef struct rt_mapping {
    uintptr_t from, to, offset;
    bool readable, writable;
    const char *path; /* "[stack]", "[heap]"; "" without a file */
} rt_mapping;

/* Calls visit() for each mapping of the process, by address, until it returns false. 0 or -errno. */
typedef bool rt_mapping_visit(void *arg, const rt_mapping *m);
int tl_rt_maps_each(rt_mapping_visit *visit, void *arg);

/* The start of the file mapped at an address (of its first mapping, which has the ELF header), and its path. False: no
 * file there, its start is not mapped, out of memory, or no /proc. */
bool tl_rt_maps_find(uintptr_t address, uintptr_t *header, char path[static RT_PATH]);

/* Fills header, bias, low, high, writable and build_id from the ELF header at `header`. False: there is none. */
bool tl_rt_image_read(rt_object *o, uintptr_t header);

/* The build-id in n bytes of notes, as hex; false: not found. The bytes are not trusted. */
bool tl_rt_notes_build_id(const unsigned char *p, size_t n, char out[static 65]);

#endif
