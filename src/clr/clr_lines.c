/* Lines of the source: the runtime says which piece of native code is of which place in the intermediate one, and the
 * portable PDB beside a module, app.pdb for app.dll, which line that is. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "clr/clr_door.h"
#include "clr/clr_info.h"
#include "managed/managed_names.h"
#include "managed/pe_debug.h"

#define PDB_BYTES_MOST 67108864 /* of a file: those of the largest programs have some ten MiB */

/* Modules that were looked at, by their files. */
static struct module {
    char *path;
    portable_pdb pdb;
    bool has_pdb;
    char **document; /* names that were asked for; index = number */
    uint32_t ndocument;
} * *modules;
static uint32_t nmodules, modules_room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* All of a file, into memory: it might be cut off while it is mapped. */
static void *read_whole(const char *path, size_t *size)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const bool ok =
        fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= PDB_BYTES_MOST;
    char *bytes = ok ? tl_alloc((size_t)st.st_size, 1) : NULL;
    *size = 0;
    while (bytes && *size < (size_t)st.st_size) {
        const ssize_t n = read(fd, bytes + *size, (size_t)st.st_size - *size);
        if (n <= 0)
            break;
        *size += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

static bool open_pdb(const char *module, portable_pdb *pdb)
{
    const char *dot = strrchr(module, '.');
    const int n = dot && !strchr(dot, '/') ? (int)(dot - module) : (int)strlen(module);
    uint8_t id[PORTABLE_PDB_ID];
    char path[PATH_MAX];
    size_t size;
    if ((size_t)snprintf(path, sizeof path, "%.*s.pdb", n, module) >= sizeof path || !pe_debug_id(module, id))
        return false;
    void *bytes = read_whole(path, &size);
    if (bytes && portable_pdb_open(pdb, bytes, size) && memcmp(pdb->id, id, PORTABLE_PDB_ID) == 0)
        return true; /* the bytes stay */
    free(bytes);
    return false;
}

/* Takes the path. NULL: no memory. */
static struct module *module_of(char *path)
{
    for (uint32_t i = 0; i < nmodules; i++)
        if (strcmp(modules[i]->path, path) == 0) {
            free(path);
            return modules[i];
        }
    struct module *m = TL_GROW(modules, nmodules, 1, modules_room) ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        free(path);
        return NULL;
    }
    m->path = path;
    m->has_pdb = open_pdb(path, &m->pdb);
    return modules[nmodules++] = m;
}

static const char *document_of(struct module *m, uint32_t number)
{
    if (number < m->ndocument && m->document[number])
        return m->document[number];
    char *name = portable_pdb_document(&m->pdb, number);
    if (name && TL_GROW_TO(m->document, m->ndocument, number, UINT32_MAX))
        return m->document[number] = name;
    free(name);
    return NULL;
}

/* What belongs to no line is of the one before. */
static void fill_hidden(portable_point *p, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t offset = p[i].offset;
        if (p[i].hidden)
            p[i] = p[i - 1];
        p[i].offset = offset;
    }
}

/* The last place at or before an offset; NULL: none. */
static const portable_point *point_at(const portable_point *p, uint32_t n, uint32_t offset)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &p[low - 1] : NULL;
}

static int by_begin(const void *a, const void *b)
{
    const clr_map *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* What has no place in the intermediate code, as a method's begin, is of the line of what follows or precedes. */
static struct managed_source *join(struct module *m, clr_map *map, uint32_t nmap, portable_point *point,
                                   uint32_t npoint, uint32_t *n)
{
    struct managed_source *source = tl_alloc(nmap, sizeof *source);
    fill_hidden(point, npoint);
    qsort(map, nmap, sizeof *map, by_begin);
    for (uint32_t i = 0; source && i < nmap; i++) {
        const portable_point *p = map[i].il < (uint32_t)CLR_NO_IL ? point_at(point, npoint, map[i].il)
                                  : *n == 0                       ? point
                                                                  : NULL;
        const char *file = p && !p->hidden ? document_of(m, p->document) : NULL;
        if (file)
            source[(*n)++] = (struct managed_source){map[i].begin, p->row, p->column, file};
    }
    return source;
}

struct managed_source *clr_lines(clr_id function, clr_id module, uint32_t token, uint32_t *n)
{
    uintptr_t base;
    clr_id assembly;
    uint32_t nmap = 0, npoint = 0;
    struct managed_source *source = NULL;
    char *path = clr_info_module(module, &base, &assembly);
    *n = 0;
    if (!path)
        return NULL;
    pthread_mutex_lock(&lock);
    struct module *m = module_of(path);
    portable_point *point = m && m->has_pdb ? portable_pdb_points(&m->pdb, token, &npoint) : NULL;
    pthread_mutex_unlock(&lock);
    clr_map *map = npoint ? clr_info_map(function, &nmap) : NULL; /* without the lock: it asks the runtime */
    if (nmap) {
        pthread_mutex_lock(&lock);
        source = join(m, map, nmap, point, npoint, n);
        pthread_mutex_unlock(&lock);
    }
    free(map);
    free(point);
    return source;
}
