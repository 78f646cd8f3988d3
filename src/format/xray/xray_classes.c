/* The event classes of XRay logs, and their threads. */
#include "format/xray/xray_classes.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/xray/instr_map.h"

static const tl_field args_field[] = {{.name = "args", .type = TL_LIST}};
static const tl_field data_field[] = {{.name = "data", .type = TL_BYTES}};
static const tl_field typed_fields[] = {{.name = "type", .type = TL_U64}, {.name = "data", .type = TL_BYTES}};

const tl_class xray_classes[XRAY_CLASSES] = {
    {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "xray.enter"},
    {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "xray.exit"},
    {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "xray.tail_exit"},
    {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "xray.enter_args", .field = args_field, .nfield = 1},
    {.kind = TL_INSTANT, .key = TL_KEY_NONE, .name = "xray.custom", .field = data_field, .nfield = 1},
    {.kind = TL_INSTANT, .key = TL_KEY_NONE, .name = "xray.typed", .field = typed_fields, .nfield = 2},
};

static uint64_t thread_key(int64_t pid, int64_t tid)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

bool xray_thread_known(const xray_threads *threads, bool has_pid, int64_t pid, int64_t tid, uint32_t *track)
{
    *track = tl_hash_get(has_pid ? &threads->with_pid : &threads->without_pid, thread_key(pid, tid));
    return *track != TL_HASH_NONE;
}

int xray_thread(xray_threads *threads, tl_trace *t, bool has_pid, int64_t pid, int64_t tid, uint32_t *track,
                tl_error *e)
{
    uint32_t index;
    if (!xray_thread_known(threads, has_pid, pid, tid, &index)) {
        char name[40];
        snprintf(name, sizeof name, "thread %" PRId64, tid);
        tl_track new = {.name = name, .pid = pid, .tid = tid, .has_pid = has_pid, .has_tid = true};
        int status = tl_trace_add_track(t, &new, &index, e);
        if (status < 0)
            return status;
        if (!tl_hash_put(has_pid ? &threads->with_pid : &threads->without_pid, thread_key(pid, tid), index))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of threads");
    }
    *track = index;
    return 0;
}

void xray_threads_fini(xray_threads *threads)
{
    tl_hash_fini(&threads->with_pid);
    tl_hash_fini(&threads->without_pid);
}

int xray_functions(void *reader, tl_elf *elf, tl_trace *t, tl_error *e)
{
    (void)reader;
    return xray_instr_map_read(elf, t, e);
}
