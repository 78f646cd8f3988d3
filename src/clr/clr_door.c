/* The library libtraceloom-clr.so: what CoreCLR calls first, and last.
 *
 *     CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER={74726163-656c-6f6f-6d2d-636c72000001}
 *     CORECLR_PROFILER_PATH=.../libtraceloom-clr.so TRACELOOM_DOTNET=out=app.log dotnet app.dll
 *
 * With TRACELOOM it records every call in place of samples (clr_calls.c). */
#include "clr/clr_door.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clr/clr_info.h"
#include "managed/managed_writer.h"

enum { STATUS_USELESS = 125 };

static clr_callback_function *callbacks[CLR_CALLBACKS];
static clr_object profiler = {(void *const *)(void *)callbacks};
static bool calls;

static clr_status nothing(void)
{
    return CLR_OK;
}

static bool same(const clr_guid *a, uint32_t first, uint16_t second)
{
    return a->a == first && a->b == second;
}

/* Interfaces by the first words of their numbers. */
static bool is_ours(const clr_guid *id)
{
    static const struct {
        uint32_t a;
        uint16_t b;
    } known[] = {{0x00000000, 0x0000}, {0x176fbed1, 0xa55c}, {0x8a8cc829, 0xccf2}, {0x4fd2ed52, 0x7731},
                 {0x7b63b2e3, 0x107d}, {0x8dfba405, 0x8c9f}, {0xfc13df4b, 0x4448}, {0xf76a2dba, 0x1d52},
                 {0x5bed9b15, 0xc079}, {0x27583ec3, 0xc8f5}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (same(id, known[i].a, known[i].b))
            return true;
    return false;
}

static clr_status query(clr_object *self, const clr_guid *id, void **out)
{
    *out = is_ours(id) ? self : NULL;
    return *out ? CLR_OK : CLR_NO_INTERFACE;
}

static uint32_t count(void)
{
    return 1; /* it stays to the end */
}

static void child(void)
{
    if (managed_on)
        managed_log_child();
}

bool clr_log_open(void)
{
    if (!managed_log_open("traceloom-clr " TL_VERSION, "coreclr"))
        return false;
    pthread_atfork(NULL, NULL, child);
    return true;
}

static bool begin_log(void)
{
    char error[256];
    if (!managed_settings_read(&managed_set, getenv("TRACELOOM_DOTNET"), error)) {
        managed_say(error, NULL, 0);
        return false;
    }
    return clr_log_open() && managed_writer_begin(clr_frame);
}

static clr_status initialize(clr_object *self, clr_object *unknown)
{
    (void)self;
    bool good = clr_info_take(unknown);
    if (!good)
        managed_say("this runtime is older than .NET Core 3.1", NULL, 0);
    calls = good && clr_calls_wanted();
    if (calls)
        return clr_calls_begin(callbacks) ? CLR_OK : CLR_FAILED;
    good = good && begin_log();
    if (good) {
        clr_samples_begin();
        const uint32_t events =
            clr_events_begin(callbacks) | clr_allocations_begin(callbacks) | clr_heap_begin(callbacks);
        good = clr_info_tell(events, managed_set.lines ? CLR_COMPILE_ONCE : 0, true);
    }
    if (!good && managed_set.strict && !managed_taken)
        _exit(STATUS_USELESS);
    return good ? CLR_OK : CLR_FAILED;
}

static clr_status shut_down(clr_object *self)
{
    (void)self;
    managed_writer_end();
    return CLR_OK;
}

static clr_status create(clr_object *self, clr_object *outer, const clr_guid *id, void **out)
{
    (void)self;
    if (outer)
        return CLR_NO_AGGREGATION;
    return query(&profiler, id, out);
}

static clr_status query_factory(clr_object *self, const clr_guid *id, void **out)
{
    *out = same(id, 0, 0) || same(id, 1, 0) ? self : NULL;
    return *out ? CLR_OK : CLR_NO_INTERFACE;
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED clr_status DllGetClassObject(const clr_guid *class, const clr_guid *id, void **out);
EXPORTED clr_status DllCanUnloadNow(void);

clr_status DllGetClassObject(const clr_guid *class, const clr_guid *id, void **out)
{
    static clr_callback_function *const factory_table[] = {CLR_CALLBACK(query_factory), CLR_CALLBACK(count),
                                                           CLR_CALLBACK(count), CLR_CALLBACK(create),
                                                           CLR_CALLBACK(nothing)};
    static clr_object factory = {(void *const *)(const void *)factory_table};
    (void)class;
    for (int i = 0; i < CLR_CALLBACKS; i++)
        callbacks[i] = CLR_CALLBACK(nothing);
    callbacks[CLR_QUERY] = CLR_CALLBACK(query);
    callbacks[CLR_ADD_REF] = callbacks[CLR_RELEASE] = CLR_CALLBACK(count);
    callbacks[CLR_ON_INITIALIZE] = CLR_CALLBACK(initialize);
    callbacks[CLR_ON_SHUTDOWN] = CLR_CALLBACK(shut_down);
    clr_attach_offer(callbacks);
    return query_factory(&factory, id, out);
}

clr_status DllCanUnloadNow(void)
{
    return CLR_NO;
}
