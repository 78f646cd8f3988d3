/* Temporary files of SQLite, in memory. */
#ifdef TL_HAVE_SQLITE

#include "query/sqlite/sqlite_temporary.h"

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

#define CHUNK ((sqlite3_int64)1 << 18) /* bytes of a piece of a file */

/* A file: pieces from SQLite's allocator, whose limit so holds for all of them together. */
typedef struct file {
    sqlite3_file base;
    uint8_t **chunk; /* [n] */
    int n, capacity;
    sqlite3_int64 size;
} file;

/* The bytes from `at` on that are in one piece, `left` at most. */
static int piece_of(const file *f, sqlite3_int64 at, int left, uint8_t **out)
{
    const sqlite3_int64 in = CHUNK - at % CHUNK;
    *out = f->chunk[at / CHUNK] + at % CHUNK;
    return left < in ? left : (int)in;
}

/* What is beyond the end is zero, which SQLite wants to be told. */
static int read_file(sqlite3_file *base, void *to, int n, sqlite3_int64 at)
{
    const file *f = (file *)base;
    const sqlite3_int64 there = at < f->size ? f->size - at : 0;
    const int have = there < n ? (int)there : n;
    uint8_t *piece;
    for (int done = 0; done < have;) {
        const int bytes = piece_of(f, at + done, have - done, &piece);
        memcpy((uint8_t *)to + done, piece, (size_t)bytes);
        done += bytes;
    }
    memset((uint8_t *)to + have, 0, (size_t)(n - have));
    return have < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int grow(file *f, sqlite3_int64 size)
{
    while (f->n * CHUNK < size) {
        if (f->n == f->capacity) {
            const int capacity = f->capacity ? 2 * f->capacity : 16;
            uint8_t **larger = sqlite3_realloc64(f->chunk, (sqlite3_uint64)capacity * sizeof *larger);
            if (!larger)
                return SQLITE_IOERR_NOMEM;
            f->chunk = larger;
            f->capacity = capacity;
        }
        f->chunk[f->n] = sqlite3_malloc64((sqlite3_uint64)CHUNK);
        if (!f->chunk[f->n])
            return SQLITE_IOERR_NOMEM;
        memset(f->chunk[f->n++], 0, (size_t)CHUNK);
    }
    return SQLITE_OK;
}

static int write_file(sqlite3_file *base, const void *from, int n, sqlite3_int64 at)
{
    file *f = (file *)base;
    uint8_t *piece;
    if (grow(f, at + n) != SQLITE_OK)
        return SQLITE_IOERR_NOMEM;
    for (int done = 0; done < n;) {
        const int bytes = piece_of(f, at + done, n - done, &piece);
        memcpy(piece, (const uint8_t *)from + done, (size_t)bytes);
        done += bytes;
    }
    f->size = at + n > f->size ? at + n : f->size;
    return SQLITE_OK;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    file *f = (file *)base;
    if (size >= f->size)
        return SQLITE_OK;
    while (f->n > 0 && (f->n - 1) * CHUNK >= size)
        sqlite3_free(f->chunk[--f->n]);
    if (size % CHUNK) /* what may be read again later */
        memset(f->chunk[f->n - 1] + size % CHUNK, 0, (size_t)(CHUNK - size % CHUNK));
    f->size = size;
    return SQLITE_OK;
}

static int close_file(sqlite3_file *base)
{
    file *f = (file *)base;
    (void)truncate_file(base, 0);
    while (f->n > 0) /* nothing was written to them */
        sqlite3_free(f->chunk[--f->n]);
    sqlite3_free(f->chunk);
    f->chunk = NULL;
    return SQLITE_OK;
}

static int size_of_file(sqlite3_file *base, sqlite3_int64 *size)
{
    *size = ((file *)base)->size;
    return SQLITE_OK;
}

static int sync_file(sqlite3_file *f, int flags)
{
    (void)f;
    (void)flags;
    return SQLITE_OK;
}

static int lock_file(sqlite3_file *f, int lock)
{
    (void)f;
    (void)lock;
    return SQLITE_OK;
}

static int is_locked(sqlite3_file *f, int *out)
{
    (void)f;
    *out = 0;
    return SQLITE_OK;
}

static int control_file(sqlite3_file *f, int what, void *arg)
{
    (void)f;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int sector_of_file(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

static int traits_of_file(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL | SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {.iVersion = 1,
                                           .xClose = close_file,
                                           .xRead = read_file,
                                           .xWrite = write_file,
                                           .xTruncate = truncate_file,
                                           .xSync = sync_file,
                                           .xFileSize = size_of_file,
                                           .xLock = lock_file,
                                           .xUnlock = lock_file,
                                           .xCheckReservedLock = is_locked,
                                           .xFileControl = control_file,
                                           .xSectorSize = sector_of_file,
                                           .xDeviceCharacteristics = traits_of_file};

/* ---- the file system ---- */

/* A file with a name would be one that somebody else has. */
static int open_file(sqlite3_vfs *v, const char *name, sqlite3_file *base, int flags, int *done)
{
    (void)v;
    memset(base, 0, sizeof(file));
    if (name)
        return SQLITE_CANTOPEN;
    base->pMethods = &methods;
    if (done)
        *done = flags;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *v, const char *name, int sync)
{
    (void)v;
    (void)name;
    (void)sync;
    return SQLITE_IOERR_DELETE_NOENT;
}

static int is_there(sqlite3_vfs *v, const char *name, int flags, int *out)
{
    (void)v;
    (void)name;
    (void)flags;
    *out = 0;
    return SQLITE_OK;
}

static int full_name(sqlite3_vfs *v, const char *name, int room, char *out)
{
    (void)v;
    sqlite3_snprintf(room, out, "%s", name);
    return SQLITE_OK;
}

/* The rest is that of the system. */
static int random_bytes(sqlite3_vfs *v, int n, char *out)
{
    sqlite3_vfs *system = v->pAppData;
    return system->xRandomness(system, n, out);
}

static int sleep_for(sqlite3_vfs *v, int us)
{
    sqlite3_vfs *system = v->pAppData;
    return system->xSleep(system, us);
}

static int time_now(sqlite3_vfs *v, double *out)
{
    sqlite3_vfs *system = v->pAppData;
    return system->xCurrentTime(system, out);
}

static int last_error(sqlite3_vfs *v, int room, char *out)
{
    (void)v;
    if (room > 0)
        out[0] = '\0';
    return 0;
}

const char *tl_sqlite_temporary(void)
{
    static sqlite3_vfs vfs = {.iVersion = 1,
                              .szOsFile = (int)sizeof(file),
                              .mxPathname = 512,
                              .zName = "traceloom-memory",
                              .xOpen = open_file,
                              .xDelete = delete_file,
                              .xAccess = is_there,
                              .xFullPathname = full_name,
                              .xRandomness = random_bytes,
                              .xSleep = sleep_for,
                              .xCurrentTime = time_now,
                              .xGetLastError = last_error};
    if (sqlite3_initialize() != SQLITE_OK)
        return NULL;
    /* Sessions of several threads may begin at once. */
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS1);
    sqlite3_mutex_enter(mutex);
    bool known = sqlite3_vfs_find(vfs.zName) != NULL;
    if (!known) {
        vfs.pAppData = sqlite3_vfs_find(NULL);
        known = vfs.pAppData && sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
    }
    sqlite3_mutex_leave(mutex);
    return known ? vfs.zName : NULL;
}

#endif
