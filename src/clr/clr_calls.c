/* Every call: the runtime compiles calls of the stubs (clr_stub_*.S) into the methods that are chosen. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "clr/clr_door.h"
#include "clr/clr_info.h"
#include "managed/managed_calls.h"

/* The stubs. */
void clr_stub_enter(void);
void clr_stub_leave(void);
void clr_stub_tail(void);

/* Modules that were asked for, and whether their methods are recorded: not the class library, which is in the folder of
 * the runtime. */
static struct known {
    clr_id module;
    bool own;
} * modules;
static uint32_t nmodules, modules_room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool look_at(clr_id module)
{
    uintptr_t base;
    clr_id assembly;
    char *path = clr_info_module(module, &base, &assembly);
    const bool own = path && (managed_calls_library(path) || !strstr(path, "/Microsoft.NETCore.App/"));
    free(path);
    return own;
}

static bool is_own(clr_id module)
{
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < nmodules && modules[i].module != module)
        i++;
    const bool known = i < nmodules;
    bool own = known && modules[i].own;
    pthread_mutex_unlock(&lock);
    if (known)
        return own;
    own = look_at(module); /* without the lock: it asks the runtime */
    pthread_mutex_lock(&lock);
    if (TL_GROW(modules, nmodules, 1, modules_room))
        modules[nmodules++] = (struct known){module, own};
    pthread_mutex_unlock(&lock);
    return own;
}

/* A method that is recorded is not inlined: it would be no call. */
static clr_status inlining(void *self, clr_id caller, clr_id callee, int32_t *may)
{
    (void)self, (void)caller;
    const clr_id module = clr_info_module_of(callee);
    *may = !module || !is_own(module);
    return CLR_OK;
}

/* The number that the hooks of a function get; when it is compiled. */
static uintptr_t number_of(clr_id function, void *unused, int32_t *wanted)
{
    clr_function f;
    uint32_t id = 0;
    (void)unused;
    if (clr_info_function(function, &f) && is_own(f.module))
        id = managed_calls_number(f.name);
    free(f.name);
    *wanted = id != 0;
    return id ? id : function;
}

bool clr_calls_wanted(void)
{
    return managed_calls_wanted();
}

bool clr_calls_begin(clr_callback_function **table)
{
    table[CLR_ON_INLINING] = CLR_CALLBACK(inlining);
    return clr_info_hooks(number_of, clr_stub_enter, clr_stub_leave, clr_stub_tail) &&
           clr_info_tell(CLR_TELL_JIT | CLR_TELL_CALLS, 0, false);
}
