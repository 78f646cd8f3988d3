/* Finds libduckdb. */
#ifdef TL_HAVE_SQLITE

#include "query/duckdb/duckdb_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define OLDEST "1.1"

static tl_duckdb_api api;
static bool is_loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define F(result, name, arguments) {"duckdb_" #name, offsetof(tl_duckdb_api, name)},
    TL_DUCKDB_FUNCTIONS(F)
#undef F
};

/* POSIX allows conversion of an object pointer to a function pointer; C needs a copy. */
static int take(void *library, const char *file, tl_error *e)
{
    for (size_t i = 0; i < TL_COUNT(functions); i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s has no %s: libduckdb " OLDEST " or later is needed",
                           file, functions[i].name);
        memcpy((char *)&api + functions[i].offset, &found, sizeof found);
    }
    if (api.vector_size() != DUCK_VECTOR_ROWS)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s has vectors of another length than 2048", file);
    return 0;
}

static int load(tl_error *e)
{
    static const char *const usual[] = {"libduckdb.so", "libduckdb.so.1"};
    const char *asked = getenv("TRACELOOM_DUCKDB"), *file = NULL;
    void *library = NULL;
    if (asked && *asked)
        library = dlopen(file = asked, RTLD_LAZY | RTLD_LOCAL);
    else
        for (size_t i = 0; i < TL_COUNT(usual) && !library; i++)
            library = dlopen(file = usual[i], RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       asked && *asked ? "%s cannot be loaded: TRACELOOM_DUCKDB names libduckdb.so, " OLDEST " or later"
                                       : "%s is not installed: libduckdb " OLDEST
                                         " or later is needed; TRACELOOM_DUCKDB=FILE names one",
                       file);
    const int status = take(library, file, e);
    if (status < 0)
        dlclose(library);
    return status;
}

const tl_duckdb_api *tl_duckdb_load(tl_error *e)
{
    pthread_mutex_lock(&lock);
    const int status = is_loaded ? 0 : load(e);
    is_loaded = status == 0;
    pthread_mutex_unlock(&lock);
    return status == 0 ? &api : NULL;
}

#endif
