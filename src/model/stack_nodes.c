/* Stacks as nodes of a tree.
 *
 * Samples share frames: known ones, from this batch or an earlier one if they stay, are found by address, so that a
 * sample costs as many steps as it has new frames. The same goes for names, which may be long. */
#include "model/stack_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/profile_impl.h"
#include "model/span.h"

enum { MEMO = 4096, PATH_MOST = 1 << 20, MUCH = 1 << 18 };

struct tl_stack_memo {
    const tl_frame *frame;
    uint64_t contents; /* of its arena, or of the held one if it is there */
    uint32_t node;     /* TL_HASH_NONE: too many */
};

struct tl_stack_named {
    const char *name;
    uint64_t contents;
    uint32_t label;
};

void tl_stack_nodes_init(tl_stack_nodes *s, const tl_trace *t, uint32_t depth_most)
{
    s->trace = t;
    s->depth_most = depth_most;
}

void tl_stack_nodes_fini(tl_stack_nodes *s)
{
    free(s->node);
    free(s->label);
    free(s->memo);
    free(s->named);
    free(s->last);
    tl_hash_fini(&s->last_index);
    free(s->path);
    tl_hash_fini(&s->child);
    tl_hash_fini(&s->label_index);
    tl_strings_fini(&s->names);
    *s = (tl_stack_nodes){0};
}

/* Where to note a frame's node; NULL: nowhere. */
static struct tl_stack_memo *memo_of(tl_stack_nodes *s, const tl_frame *f)
{
    if (!f->lasts)
        return &s->memo[tl_hash_mix((uint64_t)(uintptr_t)f >> 4) % MEMO];
    const uint32_t i = tl_hash_get(&s->last_index, (uint64_t)(uintptr_t)f);
    return i == TL_HASH_NONE ? NULL : &s->last[i];
}

static bool new_memo(tl_stack_nodes *s, const tl_frame *f, struct tl_stack_memo **out)
{
    if (!TL_GROW(s->last, s->nlast, 1, s->last_capacity))
        return false;
    *out = &s->last[s->nlast];
    return tl_hash_put(&s->last_index, (uint64_t)(uintptr_t)f, s->nlast) && ++s->nlast;
}

TL_COLD void tl_stack_nodes_forget(tl_stack_nodes *s)
{
    s->newest = s->held;
    if (s->nlast > MUCH) {
        tl_hash_fini(&s->last_index);
        s->nlast = 0;
    }
}

static bool remember(tl_stack_nodes *s, const tl_frame *f, uint32_t node)
{
    struct tl_stack_memo *m = memo_of(s, f);
    if (!m && !new_memo(s, f, &m))
        return false;
    *m = (struct tl_stack_memo){f, f->lasts ? s->held : s->contents, node};
    return true;
}

static bool is_known(const tl_stack_nodes *s, const struct tl_stack_memo *m, const tl_frame *f)
{
    const uint64_t contents = f->lasts ? s->held : s->contents;
    return m && contents && m->frame == f && m->contents == contents;
}

/* The text of a frame: the name that it had then, or its number. */
static const char *frame_label(const tl_stack_nodes *s, const tl_frame *f, char buf[static 24])
{
    if (f->name)
        return f->name;
    if (!(f->flags & TL_FRAME_FUNCTION))
        return "?";
    const tl_function *known = tl_trace_function(s->trace, (int64_t)f->function);
    const tl_function g = {.id = (int64_t)f->function, .flags = known ? known->flags : TL_FUNCTION_HEX_ID};
    return tl_function_label(&g, buf);
}

static tl_stack_found make_label(tl_stack_nodes *s, const tl_frame *f, uint32_t *label)
{
    char buf[24];
    const char *text = frame_label(s, f, buf);
    if (s->names.arena.total >= TL_STACK_NAME_BYTES_MAX)
        return TL_STACK_TOO_MANY;
    const char *name = tl_strings_get(&s->names, text, strlen(text));
    if (!name)
        return TL_STACK_NO_MEMORY;
    *label = tl_hash_get(&s->label_index, (uint64_t)(uintptr_t)name);
    if (*label != TL_HASH_NONE)
        return TL_STACK_NODE;
    if (!TL_GROW(s->label, s->nlabel, 1, s->label_capacity) ||
        !tl_hash_put(&s->label_index, (uint64_t)(uintptr_t)name, s->nlabel))
        return TL_STACK_NO_MEMORY;
    s->label[s->nlabel] = name;
    *label = s->nlabel++;
    return TL_STACK_NODE;
}

static tl_stack_found get_label(tl_stack_nodes *s, const tl_frame *f, uint32_t *label)
{
    struct tl_stack_named *known = &s->named[tl_hash_mix((uint64_t)(uintptr_t)f->name) % MEMO];
    if (f->name && s->contents && known->name == f->name && known->contents == s->contents) {
        *label = known->label;
        return TL_STACK_NODE;
    }
    const tl_stack_found found = make_label(s, f, label);
    if (f->name && found == TL_STACK_NODE)
        *known = (struct tl_stack_named){f->name, s->contents, *label};
    return found;
}

static tl_stack_found get_child(tl_stack_nodes *s, uint32_t parent, const tl_frame *f, uint32_t *node)
{
    uint32_t label;
    tl_stack_found found = get_label(s, f, &label);
    if (found != TL_STACK_NODE)
        return found;
    const uint64_t key = (uint64_t)parent << 32 | label;
    *node = tl_hash_get(&s->child, key);
    if (*node != TL_HASH_NONE)
        return TL_STACK_NODE;
    if (s->n == TL_STACK_NODES_MAX)
        return TL_STACK_TOO_MANY;
    if (!TL_GROW(s->node, s->n, 1, s->capacity) || !tl_hash_put(&s->child, key, s->n))
        return TL_STACK_NO_MEMORY;
    s->node[s->n] = (tl_stack_node){parent, label, s->node[parent].depth + 1};
    *node = s->n++;
    return TL_STACK_NODE;
}

static bool prepare(tl_stack_nodes *s)
{
    if (!s->memo)
        s->memo = calloc(MEMO, sizeof *s->memo);
    if (!s->named)
        s->named = calloc(MEMO, sizeof *s->named);
    if (!TL_GROW_TO(s->node, s->capacity, 0, 1))
        return false;
    s->n += s->n == 0;
    return s->memo && s->named;
}

static bool push(tl_stack_nodes *s, uint32_t n, const tl_frame *f)
{
    if (n == PATH_MOST || !TL_GROW(s->path, n, 1, s->path_capacity))
        return false;
    s->path[n] = f;
    return true;
}

tl_stack_found tl_stack_nodes_get(tl_stack_nodes *s, const tl_sample *sample, uint32_t *node)
{
    const tl_frame *f = sample->stack->type == TL_STACK ? sample->stack->as.p : NULL;
    uint32_t n = 0, at = 0;
    if (!prepare(s))
        return TL_STACK_NO_MEMORY;
    if (f && s->depth_most && f->depth > s->depth_most)
        s->cut = tl_add_saturated(s->cut, sample->count);
    for (; f; f = f->caller) {
        s->looked++;
        const struct tl_stack_memo *m = memo_of(s, f);
        if (is_known(s, m, f)) {
            at = m->node;
            break;
        }
        if (!push(s, n++, f))
            return TL_STACK_NO_MEMORY;
    }
    while (n > 0) {
        f = s->path[--n];
        if (at != TL_HASH_NONE && (!s->depth_most || f->depth <= s->depth_most)) {
            const tl_stack_found found = get_child(s, at, f, &at);
            if (found == TL_STACK_NO_MEMORY)
                return found;
            at = found == TL_STACK_NODE ? at : TL_HASH_NONE;
        }
        if (!remember(s, f, at))
            return TL_STACK_NO_MEMORY;
    }
    *node = at;
    if (at != TL_HASH_NONE)
        return TL_STACK_NODE;
    s->too_many = tl_add_saturated(s->too_many, sample->count);
    return TL_STACK_TOO_MANY;
}

bool tl_sample_class(const tl_class *c)
{
    for (uint32_t i = 0; c->kind == TL_SAMPLE && i < c->nfield; i++)
        if (c->field[i].role == TL_FIELD_STACK && c->field[i].type == TL_STACK)
            return true;
    return false;
}

tl_sample tl_sample_get(const tl_batch *b, uint32_t i, const tl_class *c)
{
    static const tl_value none = {.type = TL_STACK};
    const tl_value *count = tl_role_value(b, i, c, TL_FIELD_COUNT, NULL);
    tl_sample s = {.count = 1,
                   .weight = c->key == TL_KEY_WEIGHT ? tl_weight_ticks(b->key[i]) : 1,
                   .stack = tl_role_value(b, i, c, TL_FIELD_STACK, NULL)};
    if (count)
        s.count = count->type == TL_U64 ? count->as.u : 0;
    if (!s.stack)
        s.stack = &none;
    if (s.weight == 0)
        s.count = 0;
    return s;
}
