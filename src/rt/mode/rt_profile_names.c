/* Names of functions in the image of mode "profile": notes written when a recording ends or is flushed, so that it can
 * be read anywhere without the binaries. */
#include "rt/mode/rt_profile_image.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

enum {
    USED = 1,         /* a function is in the tree */
    NAMED = 2,        /* its latest note has its name */
    NAME_MOST = 4000, /* bytes; longer names are left to the binaries: a note has at most 8192 with escapes */
    NOTE_ROOM = 2 * NAME_MOST + sizeof(rt_line),
};

typedef struct naming {
    const rt_image *image;
    uint32_t nid;   /* numbers given so far */
    uint8_t *state; /* [nid + 1] */
    struct rt_named {
        bool tried;
        rt_symbols *symbols;
    } * object; /* [nobject] */
    uint32_t nobject;
    char *line;
} naming;

/* ---- nodes ---- */

static rt_node *node_at(const rt_image *m, uint32_t reference)
{
    return (rt_node *)(void *)rt_image_at(m, reference, LIVE_NODE_SIZE);
}

/* The node at a reference, if its parent is the given one; else 0. */
static uint32_t child_of(const rt_image *m, uint32_t node, uint32_t parent)
{
    const rt_node *n = node > parent ? node_at(m, node) : NULL;
    return n && n->parent == parent ? node : 0;
}

/* The next node in depth-first order: a child, a sibling, or a sibling of an ancestor. 0: none. */
static uint32_t next_node(const rt_image *m, uint32_t root, uint32_t at)
{
    uint32_t next = child_of(m, rt_image_load((const char *)&node_at(m, at)->child), at);
    while (!next && at != root) {
        const rt_node *n = node_at(m, at);
        const uint32_t parent = n->parent;
        next = n->sibling < at ? child_of(m, n->sibling, parent) : 0;
        at = parent;
    }
    return next;
}

void tl_rt_profile_each_node(const rt_image *m, void (*visit)(void *arg, rt_node *n), void *arg)
{
    live_chain chain = {0};
    const char *lane;
    for (uint32_t l = rt_image_load(m->at + LIVE_HEADER_LANES);
         (lane = rt_image_at(m, l, LIVE_LANE_SIZE)) && !live_circles(&chain, l); l = rt_image_load(lane)) {
        const uint32_t root = rt_image_load(lane + LIVE_LANE_ROOT);
        for (uint32_t at = node_at(m, root) ? root : 0; at && (at = next_node(m, root, at));)
            visit(arg, node_at(m, at));
    }
}

static void mark_used(void *arg, rt_node *n)
{
    const naming *g = arg;
    if (n->function <= g->nid)
        g->state[n->function] = USED;
}

/* ---- notes about functions: "function id=7 object=1 address=0x1139", perhaps with " name=..." ---- */

typedef struct function_note {
    uint64_t id, object, address;
    bool placed, named;
} function_note;

/* Takes a key and the number after it. False: something else is there. */
static bool take_number(const char **at, const char *end, const char *key, unsigned base, uint64_t *out)
{
    const char *p = *at;
    for (; *key; key++, p++)
        if (p == end || *p != *key)
            return false;
    for (*out = 0; p < end && *p != ' '; p++)
        *out = *out * base + (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
    *at = p;
    return true;
}

static bool read_function(const char *line, const char *end, function_note *f)
{
    *f = (function_note){.placed = false};
    if (!take_number(&line, end, "function id=", 10, &f->id))
        return false;
    f->placed =
        take_number(&line, end, " object=", 10, &f->object) && take_number(&line, end, " address=0x", 16, &f->address);
    f->named = line != end;
    return true;
}

static void each_function_note(naming *g, void (*visit)(naming *g, const function_note *f))
{
    live_chain chain = {0};
    const char *text;
    for (uint32_t at = rt_image_load(g->image->at + LIVE_HEADER_TEXT);
         (text = rt_image_at(g->image, at, LIVE_TEXT_BYTES)) && !live_circles(&chain, at); at = rt_image_load(text)) {
        const uint32_t used = rt_image_load(text + LIVE_TEXT_USED);
        const char *line = text + LIVE_TEXT_BYTES, *end = line + used;
        if (!rt_image_at(g->image, at, LIVE_TEXT_BYTES + (uint64_t)used))
            return;
        for (const char *p = line; p < end; p++) {
            function_note f;
            if (*p != '\n')
                continue;
            if (read_function(line, p, &f) && f.id <= g->nid)
                visit(g, &f);
            line = p + 1;
        }
    }
}

/* A later note about the same function replaces the earlier one. */
static void mark_named(naming *g, const function_note *f)
{
    g->state[f->id] = (uint8_t)(f->named ? g->state[f->id] | NAMED : g->state[f->id] & USED);
}

static const char *symbol_of(naming *g, uint32_t index, uint64_t address)
{
    struct rt_named *o = &g->object[index];
    if (!o->tried)
        o->symbols = tl_rt_symbols_open(tl_rt_object(index));
    o->tried = true;
    return o->symbols ? tl_rt_symbols_name(o->symbols, address) : NULL;
}

static void write_note(naming *g, uint32_t id, uint32_t index, uint64_t address)
{
    const char *name = symbol_of(g, index, address);
    rt_line head;
    if (!name || rt_length(name) > NAME_MOST)
        return;
    rt_line_begin(&head);
    tl_rt_line_text(&head, "function id=");
    tl_rt_line_number(&head, id);
    tl_rt_line_text(&head, " object=");
    tl_rt_line_number(&head, tl_rt_object(index)->id);
    tl_rt_line_text(&head, " address=0x");
    tl_rt_line_hex(&head, address);
    tl_rt_line_text(&head, " name=");
    rt_copy(g->line, head.text, head.n);
    size_t n = head.n;
    for (const char *p = name; *p; p++) {
        if (*p == '\n' || *p == '\\')
            g->line[n++] = '\\';
        g->line[n++] = *p == '\n' ? 'n' : *p;
    }
    if (tl_rt_profile_note(g->line, n))
        g->state[id] |= NAMED;
}

/* Even if it is not in the tree: a reader cannot know which functions without names matter. */
static void name_noted(naming *g, const function_note *f)
{
    const uint32_t index = (uint32_t)f->object - 1; /* ids of objects begin with 1 */
    if (f->placed && !f->named && !(g->state[f->id] & NAMED) && index < g->nobject)
        write_note(g, (uint32_t)f->id, index, f->address);
}

static void name_sleds(naming *g, uint32_t index)
{
    const rt_object *o = tl_rt_object(index);
    for (uint32_t k = 0; o->function && k < o->count; k++)
        if (o->base + k < g->nid && g->state[o->base + k + 1] == USED)
            write_note(g, o->base + k + 1, index, o->function[k]);
}

void tl_rt_profile_name(const rt_image *m)
{
    naming g = {.image = m, .nid = tl_rt_ids_take(0), .nobject = tl_rt_objects()};
    const size_t states = (size_t)g.nid + 1, objects = (g.nobject + 1) * sizeof *g.object;
    g.state = tl_rt_memory_take(states);
    g.object = tl_rt_memory_take(objects);
    g.line = tl_rt_memory_take(NOTE_ROOM);
    if (g.state && g.object && g.line) {
        tl_rt_profile_each_node(m, mark_used, &g);
        each_function_note(&g, mark_named);
        each_function_note(&g, name_noted);
        for (uint32_t i = 0; i < g.nobject; i++)
            name_sleds(&g, i);
    }
    for (uint32_t i = 0; g.object && i < g.nobject; i++)
        if (g.object[i].symbols)
            tl_rt_symbols_close(g.object[i].symbols);
    if (g.state)
        tl_rt_memory_give(g.state, states);
    if (g.object)
        tl_rt_memory_give(g.object, objects);
    if (g.line)
        tl_rt_memory_give(g.line, NOTE_ROOM);
}
