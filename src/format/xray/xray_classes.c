/* The event classes of XRay logs, and their threads. */
#include "format/xray/xray_classes.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/xray/instr_map.h"

#define FUNCTION_BITS 24u /* of a packed id, below those of the object */
#define FUNCTION_MASK ((1u << FUNCTION_BITS) - 1u)
#define OBJECT_MASK   (UINT32_MAX >> FUNCTION_BITS)

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

/* Adds the functions of a binary as those of an object; `bits` of an id are kept. */
static int add_object(tl_elf *elf, uint32_t object, uint32_t bits, tl_trace *t, tl_error *e)
{
    tl_trace map;
    if (object > OBJECT_MASK)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: object %" PRIu32 "; numbers of objects go up to %u",
                       tl_elf_path(elf), object, OBJECT_MASK);
    tl_trace_init(&map);
    int status = xray_instr_map_read(elf, &map, e);
    if (status == 0 && object > 0 && map.nfunction > FUNCTION_MASK)
        status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: %" PRIu32 " functions; a library has at most %u",
                         tl_elf_path(elf), map.nfunction, FUNCTION_MASK);
    for (uint32_t i = 0; status == 0 && i < map.nfunction; i++) {
        tl_function f = map.function[i];
        if (object > 0)
            f.id = (int32_t)((object << FUNCTION_BITS | (uint32_t)f.id) & bits);
        status = tl_trace_add_function(t, &f, e);
    }
    tl_trace_fini(&map);
    return status;
}

int xray_functions(void *reader, tl_elf *elf, uint32_t object, tl_trace *t, tl_error *e)
{
    (void)reader;
    return add_object(elf, object, UINT32_MAX, t, e);
}

int xray_functions_28(void *reader, tl_elf *elf, uint32_t object, tl_trace *t, tl_error *e)
{
    (void)reader;
    return add_object(elf, object, UINT32_MAX >> 4, t, e);
}
