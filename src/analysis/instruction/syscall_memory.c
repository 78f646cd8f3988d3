/* The known memory of a track, and the effects of system calls on it. */
#include "analysis/instruction/syscall_memory.h"

#include "base/compiler.h"
#include "model/field_text.h"

#define FORGET_MOST (UINT64_C(1) << 20) /* if more has to be forgotten, everything is, which costs less */

/* The value of the field with a role; NULL if there is none. */
static const tl_value *value_of(const tl_field *field, uint32_t n, const tl_value *v, const tl_value *end,
                                tl_field_role role)
{
    for (uint32_t i = 0; i < n && v < end; i++, v = tl_value_skip(v, end))
        if (field[i].role == role)
            return v;
    return NULL;
}

int tl_syscall_memory_access(tl_syscall_memory *m, const tl_class *c, const tl_value *v, const tl_value *end,
                             uint64_t address, bool store, tl_error *e)
{
    const tl_value *value = value_of(c->field, c->nfield, v, end, TL_FIELD_VALUE);
    if (!value || value->type != TL_BYTES)
        return 0;
    if (store) {
        m->nstored = m->nstored < TL_COUNT(m->stored) ? m->nstored : 0;
        m->stored[m->nstored++] = (tl_call_buffer){address, value->n};
    }
    if (TL_UNLIKELY(tl_shadow_pages(m->shadow) > m->pages_max)) {
        tl_shadow *empty; /* clearing would keep the pages */
        const int status = tl_shadow_new(&empty, e);
        if (status < 0)
            return status;
        tl_shadow_free(m->shadow);
        m->shadow = empty;
    }
    return tl_shadow_set(m->shadow, address, value->as.p, value->n, e);
}

void tl_syscall_memory_forget(tl_syscall_memory *m, uint64_t address, uint64_t bytes)
{
    if (bytes > FORGET_MOST)
        tl_shadow_clear(m->shadow);
    else
        tl_shadow_forget(m->shadow, address, (size_t)bytes);
}

void tl_syscall_memory_not_stored(tl_syscall_memory *m)
{
    for (unsigned i = 0; i < m->nstored; i++)
        tl_syscall_memory_forget(m, m->stored[i].base, m->stored[i].bytes);
    m->nstored = 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void tl_syscall_memory_after(tl_syscall_memory *m, const tl_call_values *c, uint64_t result)
{
    const tl_linux_call *call = tl_linux_call_of(c->number);
    const bool failed = tl_linux_is_error(result);
    if (!call) {
        tl_shadow_clear(m->shadow);
        return;
    }
    for (unsigned i = 0; i < c->n && call->arguments[i]; i++) {
        const uint64_t v = c->argument[i], size = i + 1 < c->n ? c->argument[i + 1] : UINT64_MAX;
        switch (call->arguments[i]) {
        case TL_ARG_OUTPUT: /* even a failed call, whose result is larger, may have begun to write */
            tl_syscall_memory_forget(m, v, least(size, result));
            break;
        case TL_ARG_OUTPUTS:
            if (!c->has_buffers || c->buffers > TL_CALL_BUFFERS)
                tl_shadow_clear(m->shadow);
            for (uint64_t k = 0; c->has_buffers && k < least(c->buffers, TL_CALL_BUFFERS); k++)
                tl_syscall_memory_forget(m, c->buffer[k].base, c->buffer[k].bytes);
            break;
        case TL_ARG_STRUCT:
            if (v)
                tl_syscall_memory_forget(m, v, TL_CALL_STRUCT);
            break;
        case TL_ARG_MEMORY:
            tl_shadow_clear(m->shadow);
            break;
        case TL_ARG_MAPPING:
            tl_syscall_memory_forget(m, call->flags & TL_SYSCALL_ADDRESS ? result : v, failed ? 0 : size);
            break;
        default:
            break;
        }
    }
}

/* The number in the field with a role; 0 if there is none. */
static uint64_t number_of(const tl_field *f, const tl_value *v, const tl_value *end, tl_field_role role)
{
    const tl_value *found = value_of(f->member, f->nmember, v, end, role);
    return found && (found->type == TL_U64 || found->type == TL_HEX) ? found->as.u : 0;
}

void tl_syscall_take_buffers(tl_call_values *to, const tl_class *c, const tl_value *v, const tl_value *end)
{
    const tl_field *list = NULL;
    const tl_value *at = value_of(c->field, c->nfield, v, end, TL_FIELD_ITEMS);
    for (uint32_t i = 0; i < c->nfield && !list; i++)
        list = c->field[i].role == TL_FIELD_ITEMS ? &c->field[i] : NULL;
    if (!at || at->type != TL_LIST || !list->nmember)
        return;
    to->has_buffers = true;
    to->buffers = at->n;
    at++;
    for (uint32_t i = 0; i < to->buffers && i < TL_CALL_BUFFERS && at < end; i++) {
        const tl_value *next = tl_value_skip(at, end);
        to->buffer[i].base = number_of(list->member, at + 1, next, TL_FIELD_BASE);
        to->buffer[i].bytes = number_of(list->member, at + 1, next, TL_FIELD_BYTES);
        at = next;
    }
}
