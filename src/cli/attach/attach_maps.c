/* Reads /proc/PID/maps. */
#include "cli/attach/attach_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io/base_name.h"

#define DELETED " (deleted)"

/* The object of a path, which is usually that of the line before. */
static uint32_t object_of(tl_attach_maps *m, const char *path)
{
    const size_t n = strlen(path), cut = sizeof DELETED - 1;
    const bool deleted = n > cut && strcmp(path + n - cut, DELETED) == 0;
    const size_t length = deleted ? n - cut : n;
    for (uint32_t i = m->objects; i-- > 0;)
        if (strlen(m->object[i].path) == length && memcmp(m->object[i].path, path, length) == 0)
            return i;
    if (!TL_GROW(m->object, m->objects, 1, m->object_room))
        return TL_ATTACH_NO_OBJECT;
    tl_attach_object *o = &m->object[m->objects];
    *o = (tl_attach_object){.path = strndup(path, length), .deleted = deleted, .system = -1, .allocates = -1};
    return o->path ? m->objects++ : TL_ATTACH_NO_OBJECT;
}

static bool take_line(tl_attach_maps *m, char *line)
{
    char rights[8];
    int at = 0;
    tl_attach_map map = {.object = TL_ATTACH_NO_OBJECT};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s%n", &map.begin, &map.end, rights, &map.offset,
               &at) != 4 ||
        !at || !TL_GROW(m->map, m->n, 1, m->room))
        return false;
    line[strcspn(line, "\n")] = 0;
    const char *path = line + at + strspn(line + at, " ");
    map.code = strchr(rights, 'x') != NULL;
    if (*path && (map.object = object_of(m, path)) == TL_ATTACH_NO_OBJECT)
        return false;
    if (*path)
        m->object[map.object].is_code |= map.code;
    m->map[m->n++] = map;
    return true;
}

bool tl_attach_maps_read(tl_attach_maps *m, long pid)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool good = true;
    *m = (tl_attach_maps){0};
    snprintf(path, sizeof path, "/proc/%ld/maps", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    while (good && getline(&line, &room, f) > 0)
        good = take_line(m, line);
    if (!good)
        errno = ENOMEM;
    free(line);
    fclose(f);
    return good;
}

void tl_attach_maps_free(tl_attach_maps *m)
{
    for (uint32_t i = 0; i < m->objects; i++)
        free(m->object[i].path);
    free(m->object);
    free(m->map);
    *m = (tl_attach_maps){0};
}

const tl_attach_map *tl_attach_maps_at(const tl_attach_maps *m, uint64_t address)
{
    size_t low = 0, high = m->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->map[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->n && m->map[low].begin <= address ? &m->map[low] : NULL;
}

uint32_t tl_attach_maps_find(const tl_attach_maps *m, const char *begin)
{
    for (uint32_t i = 0; i < m->objects; i++)
        if (m->object[i].path[0] == '/' && m->object[i].is_code &&
            strncmp(tl_base_name(m->object[i].path), begin, strlen(begin)) == 0)
            return i;
    return TL_ATTACH_NO_OBJECT;
}
