/* The image of mode "profile" as the recorder itself reads it: when a recording ends or is flushed. No reference can be
 * trusted, since the file is mapped and others may write to it. None from hooks. */
#ifndef TL_RT_PROFILE_IMAGE_H
#define TL_RT_PROFILE_IMAGE_H

#include "rt/mode/rt_profile.h"

typedef struct rt_image {
    char *at;
    const uint64_t *size; /* may grow; everything linked is within it */
} rt_image;

/* The n bytes at a reference, or NULL if they are not within the image. */
RT_INLINE char *rt_image_at(const rt_image *m, uint32_t reference, uint64_t n)
{
    const uint64_t offset = (uint64_t)reference * LIVE_UNIT, size = __atomic_load_n(m->size, __ATOMIC_RELAXED);
    return reference && n <= size && offset <= size - n ? m->at + offset : NULL;
}

RT_INLINE uint32_t rt_image_load(const char *p)
{
    return __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_ACQUIRE);
}

/* Calls with every node of every lane but the roots, parents first. */
void tl_rt_profile_each_node(const rt_image *m, void (*visit)(void *arg, rt_node *n), void *arg);

/* Notes the names of functions that are in the tree, or have a note, but no name yet. Names that find no memory or room
 * are left out: readers then look into the binaries. */
void tl_rt_profile_name(const rt_image *m);
/* Writes a copy of the image as a finished recording beside `path`, and renames it. 0 or -errno. */
int tl_rt_profile_copy(const rt_image *m, const char *path);

#endif
