/* Maps events of any format to XRay's six kinds. */
#include "format/xray/write_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/ends_in.h"
#include "model/value_json.h"

static bool has_fields(const tl_class *c, uint32_t n, tl_type first, tl_type second)
{
    return c->nfield == n && c->field[0].type == first && (n == 1 || c->field[1].type == second);
}

xray_action xray_write_action(const tl_class *c)
{
    bool function = c->key == TL_KEY_FUNCTION;
    if (c->kind == TL_ENTER && function) {
        /* In a trace of another format the id may be a field, too. */
        uint32_t i = (c->flags & TL_CLASS_KEY_IS_FIELD) && c->nfield > 0 ? 1 : 0;
        bool args = c->nfield > i && c->field[i].type == TL_LIST && strcmp(c->field[i].name, "args") == 0;
        return args ? XRAY_WRITE_ENTER_ARGS : XRAY_WRITE_ENTER;
    }
    if (c->kind == TL_EXIT && function)
        return tl_ends_in(c->name, ".tail_exit") ? XRAY_WRITE_TAIL_EXIT : XRAY_WRITE_EXIT;
    if (c->kind == TL_INSTANT && has_fields(c, 1, TL_BYTES, TL_NULL) && tl_ends_in(c->name, ".custom"))
        return XRAY_WRITE_CUSTOM;
    if (c->kind == TL_INSTANT && has_fields(c, 2, TL_U64, TL_BYTES) && tl_ends_in(c->name, ".typed"))
        return XRAY_WRITE_TYPED;
    return XRAY_WRITE_NOTHING;
}

uint8_t *xray_write_actions(const tl_trace *t)
{
    uint8_t *action = malloc((size_t)t->ncls + 1);
    for (uint32_t i = 0; action && i < t->ncls; i++)
        action[i] = (uint8_t)xray_write_action(&t->cls[i]);
    return action;
}

static bool add_argument(xray_arguments *a, uint64_t v)
{
    if (!TL_GROW(a->v, a->n, 1, a->capacity))
        return false;
    a->v[a->n++] = v;
    return true;
}

bool xray_write_arguments(xray_arguments *a, const tl_batch *b, uint32_t i, uint64_t *others)
{
    a->n = 0;
    if (!b->val)
        return true;
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    if (v < end && v->type != TL_LIST) /* the id */
        v++;
    if (v == end || v->type != TL_LIST)
        return true;
    uint32_t n = v->n;
    v++;
    for (uint32_t k = 0; k < n && v < end; k++, v = tl_value_skip(v, end)) {
        if (v->type != TL_U64 && v->type != TL_I64 && v->type != TL_HEX && v->type != TL_BOOL)
            ++*others;
        else if (!add_argument(a, v->as.u))
            return false;
    }
    return true;
}

int xray_write_version(const tl_write_context *c, const char *format, int newest, int *version, tl_error *e)
{
    const char *wanted = c->options->version;
    uint64_t number = 0;
    if (wanted && (!tl_parse_u64(wanted, &number) || number < 1 || number > (uint64_t)newest))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: there is no version %s, only 1 to %d", format, wanted, newest);
    if (!wanted && !(c->trace->format && strcmp(c->trace->format, format) == 0 && c->trace->version &&
                     tl_parse_u64(c->trace->version, &number) && number >= 1 && number <= (uint64_t)newest))
        number = (uint64_t)newest;
    *version = (int)number;
    return 0;
}

static uint32_t cut_to_32(int64_t v, uint64_t *cut)
{
    if (v < INT32_MIN || v > (int64_t)UINT32_MAX)
        ++*cut;
    return (uint32_t)(uint64_t)v;
}

uint32_t xray_write_tid(const tl_trace *t, uint32_t track, uint64_t *cut)
{
    const tl_track *k = tl_trace_track(t, track);
    return k && k->has_tid ? cut_to_32(k->tid, cut) : track + 1;
}

bool xray_write_pid(const tl_trace *t, uint32_t track, uint32_t *pid, uint64_t *cut)
{
    const tl_track *k = tl_trace_track(t, track);
    if (!k || !k->has_pid)
        return false;
    *pid = cut_to_32(k->pid, cut);
    return true;
}

uint64_t xray_write_names(const tl_trace *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; !t->exe && i < t->nfunction; i++)
        n += t->function[i].name != NULL;
    return n;
}
