/* Counts system calls, and lists them. */
#include "analysis/instruction/syscall_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/syscall_memory.h"
#include "base/grow.h"

#define ZEROED_BLOCK UINT64_C(2048) /* the most that DC ZVA may zero */

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of system calls");
}

static int init(void *table, const void *options, tl_error *e)
{
    tl_syscalls *s = table;
    s->waiting = TL_HASH_NONE;
    s->list = options && ((const tl_syscall_options *)options)->list;
    s->most = options ? ((const tl_syscall_options *)options)->most : 0;
    if (!s->list)
        return 0;
    s->memory = calloc(1, sizeof *s->memory);
    if (!s->memory)
        return fail_memory(e);
    s->memory->pages_max = TL_SYSCALL_PAGES_MAX;
    return tl_shadow_new(&s->memory->shadow, e);
}

static int begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_syscalls *s = table;
    const char *path = tl_trace_path(t);
    tl_insn_classes_find(&s->classes, t);
    s->trace = t;
    s->inside = false;
    s->waiting = TL_HASH_NONE;
    s->stage = TL_CALL_NONE;
    if (!s->list)
        return 0;
    tl_shadow_clear(s->memory->shadow);
    tl_syscall_memory_insn(s->memory);
    path = path ? path : "";
    s->path = tl_strings_get(&s->names, path, strlen(path));
    return s->path ? 0 : fail_memory(e);
}

/* Index of the row of a number, new or not; TL_HASH_NONE when memory runs out, or there are too many. */
static uint32_t find(tl_syscalls *s, uint64_t number)
{
    const uint32_t at = tl_hash_get(&s->index, number);
    if (at != TL_HASH_NONE)
        return at;
    if (s->n >= TL_SYSCALL_ROWS_MAX || !TL_GROW(s->row, s->n, 1, s->capacity) || !tl_hash_put(&s->index, number, s->n))
        return TL_HASH_NONE;
    s->row[s->n] = (tl_syscall_row){.number = number};
    return s->n++;
}

/* The list */

static int append(tl_syscalls *s, const tl_syscall *call, size_t length, tl_error *e)
{
    if (s->most && s->ncalls >= s->most)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "more than %" PRIu32 " system calls: allow more memory", s->most);
    if (s->ncalls >= TL_SYSCALL_LIST_MAX)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "more than %u system calls in a list: choose a part of the trace",
                       TL_SYSCALL_LIST_MAX);
    if (!TL_GROW(s->call, s->ncalls, 1, s->call_capacity))
        return fail_memory(e);
    tl_syscall *to = &s->call[s->ncalls];
    *to = *call;
    to->text = tl_arena_strndup(&s->texts, call->text, length);
    if (!to->text)
        return fail_memory(e);
    s->ncalls++;
    return 0;
}

/* The call is complete: what its pointers point to has not changed since. */
static int put_on_list(tl_syscalls *s, tl_error *e)
{
    char text[TL_CALL_TEXT];
    if (s->stage != TL_CALL_TOLD)
        return 0;
    const size_t n = tl_call_text(text, sizeof text, &s->now, s->memory->shadow);
    s->stage = TL_CALL_LISTED;
    s->head.text = text;
    for (unsigned i = 0; i < s->now.n; i++)
        s->head.argument[i] = s->now.argument[i];
    s->head.n = (uint8_t)s->now.n;
    const int status = append(s, &s->head, n, e);
    s->head.text = NULL;
    return status;
}

static int begin_call(tl_syscalls *s, const tl_batch *b, uint32_t i, tl_error *e)
{
    const tl_track *track = tl_trace_track(s->trace, b->track[i]);
    const char *name = track && track->name ? track->name : "";
    const int status = put_on_list(s, e);
    if (status < 0)
        return status;
    name = tl_strings_get(&s->names, name, strlen(name));
    if (!name)
        return fail_memory(e);
    s->now = (tl_call_values){.number = b->key[i]};
    s->head = (tl_syscall){.ts = b->ts[i],
                           .rank = b->rank ? b->rank[i] : 0,
                           .number = b->key[i],
                           .path = s->path,
                           .track = name,
                           .track_index = b->track[i]};
    s->stage = TL_CALL_TOLD;
    return 0;
}

static int list_result(tl_syscalls *s, uint64_t result, tl_error *e)
{
    const int status = put_on_list(s, e);
    if (status < 0)
        return status;
    if (s->stage != TL_CALL_LISTED) {
        tl_shadow_clear(s->memory->shadow); /* an unknown call may change anything */
        return 0;
    }
    s->call[s->ncalls - 1].has_result = true;
    s->call[s->ncalls - 1].result = result;
    s->stage = TL_CALL_NONE;
    tl_syscall_memory_after(s->memory, &s->now, result);
    return 0;
}

/* What a list needs beyond counting. */
static int look(tl_syscalls *s, const tl_batch *b, uint32_t i, tl_insn_what what, tl_error *e)
{
    const tl_class *c = tl_trace_class(s->trace, b->cls[i]);
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    int status = 0;
    switch (what) {
    case TL_IS_INSN:
        tl_syscall_memory_insn(s->memory);
        return put_on_list(s, e);
    case TL_IS_LOAD:
    case TL_IS_STORE:
        status = put_on_list(s, e);
        return status < 0 ? status : tl_syscall_memory_access(s->memory, c, v, end, b->key[i], what == TL_IS_STORE, e);
    case TL_IS_STORED:
        if (b->key[i])
            tl_syscall_memory_not_stored(s->memory);
        return 0;
    case TL_IS_CACHE_ADDRESS: /* may zero memory */
        tl_syscall_memory_forget(s->memory, b->key[i] & ~(ZEROED_BLOCK - 1), ZEROED_BLOCK);
        return 0;
    case TL_IS_CALL_ARGUMENT:
        if (!s->inside)
            return begin_call(s, b, i, e);
        if (s->now.n < TL_CALL_ARGUMENTS)
            s->now.argument[s->now.n++] = b->key[i];
        return 0;
    case TL_IS_CALL_BUFFERS:
        if (s->stage == TL_CALL_TOLD)
            tl_syscall_take_buffers(&s->now, c, v, end);
        return 0;
    case TL_IS_CALL_RESULT:
        return list_result(s, b->key[i], e);
    default:
        return 0;
    }
}

static int forget_open(tl_syscalls *s, tl_error *e)
{
    int status = 0;
    s->inside = false;
    s->waiting = TL_HASH_NONE;
    if (s->list) {
        status = put_on_list(s, e);
        s->stage = TL_CALL_NONE;
        tl_shadow_clear(s->memory->shadow);
    }
    return status;
}

/* Counting */

static TL_COLD int fail_rows(const tl_syscalls *s, tl_error *e)
{
    return s->n < TL_SYSCALL_ROWS_MAX
               ? fail_memory(e)
               : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "more than %u different system calls", TL_SYSCALL_ROWS_MAX);
}

static int events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_syscalls *s = table;
    int status = gap ? forget_open(s, e) : 0;
    for (uint32_t i = from; i < to && status == 0; i++) {
        const tl_insn_what what = tl_insn_what_is(&s->classes, b->cls[i]);
        if (s->list && b->val)
            status = look(s, b, i, what, e);
        if (what == TL_IS_CALL_ARGUMENT) {
            if (!s->inside) {
                s->waiting = find(s, b->key[i]);
                if (s->waiting == TL_HASH_NONE)
                    return fail_rows(s, e);
                s->row[s->waiting].count++;
            }
            s->inside = true;
            continue;
        }
        s->inside = false;
        if (what == TL_IS_CALL_RESULT) {
            if (s->waiting != TL_HASH_NONE && tl_linux_is_error(b->key[i]))
                s->row[s->waiting].errors++;
            s->waiting = TL_HASH_NONE;
        }
    }
    return status;
}

static int end(void *table, tl_error *e)
{
    return forget_open(table, e);
}

static int merge_list(tl_syscalls *s, const tl_syscalls *o, tl_error *e)
{
    for (uint32_t i = 0; i < o->ncalls; i++) {
        tl_syscall call = o->call[i];
        call.path = tl_strings_get(&s->names, call.path, strlen(call.path));
        call.track = tl_strings_get(&s->names, call.track, strlen(call.track));
        if (!call.path || !call.track)
            return fail_memory(e);
        const int status = append(s, &call, strlen(call.text), e);
        if (status < 0)
            return status;
    }
    return 0;
}

static int merge(void *into, void *from, tl_error *e)
{
    tl_syscalls *s = into;
    const tl_syscalls *o = from;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t at = find(s, o->row[i].number);
        if (at == TL_HASH_NONE)
            return fail_rows(s, e);
        s->row[at].count += o->row[i].count;
        s->row[at].errors += o->row[i].errors;
    }
    return merge_list(s, o, e);
}

static void fini(void *table)
{
    tl_syscalls *s = table;
    free(s->row);
    free(s->call);
    tl_hash_fini(&s->index);
    tl_arena_fini(&s->texts);
    tl_strings_fini(&s->names);
    if (s->memory)
        tl_shadow_free(s->memory->shadow);
    free(s->memory);
    memset(s, 0, sizeof *s);
}

const tl_insn_table tl_syscall_table = {.size = sizeof(tl_syscalls),
                                        .init = init,
                                        .begin = begin,
                                        .events = events,
                                        .end = end,
                                        .merge = merge,
                                        .fini = fini};
const tl_insn_table tl_syscall_list_table = {.size = sizeof(tl_syscalls),
                                             .fields = true,
                                             .init = init,
                                             .begin = begin,
                                             .events = events,
                                             .end = end,
                                             .merge = merge,
                                             .fini = fini};
