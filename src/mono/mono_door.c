/* The module libmono-profiler-traceloom.so: what Mono calls first, and last.
 *
 *     TRACELOOM_DOTNET=out=app.log mono --profile=traceloom app.exe
 *
 * With TRACELOOM it records every call in place of samples (mono_calls.c). */
#include "mono/mono_door.h"

#include <mono/jit/jit.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "managed/managed_names.h"
#include "managed/managed_writer.h"

enum { STATUS_USELESS = 125 }; /* with "strict": nothing could be recorded */

_Atomic bool mono_is_up;

static void initialized(MonoProfiler *p)
{
    (void)p;
    mono_is_up = true;
}

static void finish(MonoProfiler *p)
{
    (void)p;
    managed_writer_end();
}

static void child(void)
{
    if (managed_on)
        managed_log_child();
}

static void begin(MonoProfilerHandle h)
{
    mono_profiler_set_runtime_shutdown_begin_callback(h, finish);
    mono_events_begin(h);
    mono_code_begin(h);
    mono_collections_begin(h);
    mono_stacks_begin(h);
    managed_thread_here();
    pthread_atfork(NULL, NULL, child);
}

static bool read_settings(void)
{
    char error[256];
    if (managed_settings_read(&managed_set, getenv("TRACELOOM_DOTNET"), error))
        return true;
    managed_say(error, NULL, 0);
    return false;
}

static bool open_log(void)
{
    char runtime[64];
    char *build = mono_get_runtime_build_info();
    snprintf(runtime, sizeof runtime, "mono %.*s", build ? (int)strcspn(build, " ") : 0, build ? build : "");
    mono_free(build);
    return managed_log_open("traceloom-mono " TL_VERSION, runtime);
}

__attribute__((visibility("default"))) void mono_profiler_init_traceloom(const char *options);
void mono_profiler_init_traceloom(const char *options)
{
    (void)options;
    MonoProfilerHandle h = mono_profiler_create(NULL);
    mono_profiler_set_runtime_initialized_callback(h, initialized);
    if (mono_calls_begin(h))
        return;
    if (read_settings() && open_log() && managed_writer_begin(managed_method_shown))
        begin(h);
    else if (managed_set.strict && !managed_taken)
        _exit(STATUS_USELESS);
}
