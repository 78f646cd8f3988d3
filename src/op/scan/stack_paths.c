/* The stacks that samples set, as text. */
#include "op/scan/stack_paths.h"

#include <string.h>

#include "model/stack_frames.h"

/* A path has that many frames, and about that many bytes; what is further out becomes "...". */
#define PATH_FRAMES 2048u
#define PATH_BYTES  ((size_t)1 << 20)

bool tl_stack_path_get(tl_stack_path *out, tl_stack_nodes *s, const tl_sample *sample, bool nodes)
{
    const tl_frame *top = sample->stack->type == TL_STACK ? sample->stack->as.p : NULL;
    *out = (tl_stack_path){.node = 0};
    if (top && top->flags & TL_FRAME_FUNCTION) {
        out->has_function = true;
        out->function = (int64_t)top->function;
    }
    if (!nodes) {
        out->top = top;
        return true;
    }
    const tl_stack_found found = tl_stack_nodes_get(s, sample, &out->node);
    if (found == TL_STACK_TOO_MANY)
        out->node = TL_HASH_NONE;
    return found != TL_STACK_NO_MEMORY;
}

/* "main;work;step" */
static void put_text(const tl_stack_nodes *s, uint32_t node, tl_pb *text)
{
    const char *label[PATH_FRAMES];
    uint32_t n = 0;
    size_t bytes = 0;
    for (; node && n < PATH_FRAMES && bytes < PATH_BYTES; node = s->node[node].parent) {
        label[n] = s->label[s->node[node].label];
        bytes += strlen(label[n++]) + 1;
    }
    if (node)
        tl_pb_text(text, "...;");
    while (n-- > 0) {
        tl_pb_text(text, label[n]);
        tl_pb_raw(text, ";", n > 0);
    }
}

/* Of a stack whose path nobody looks at. */
static void put_top(const tl_frame *top, const tl_stack_columns *c, tl_scan_block *b, uint32_t row)
{
    char label[TL_FRAME_LABEL_ROOM];
    tl_list_int(b, c->depth, row, true, top->depth);
    if (!tl_scan_has(b, c->name))
        return;
    if (top->name)
        tl_scan_put_text(b, c->name, row, top->name);
    else
        tl_scan_put_copy(b, c->name, row, tl_frame_label(top, label), strlen(tl_frame_label(top, label)));
}

void tl_stack_path_put(const tl_stack_path *p, const tl_stack_nodes *s, const tl_stack_columns *c, tl_scan_block *b,
                       uint32_t row)
{
    const bool known = p->node != TL_HASH_NONE, any = known && p->node != 0;
    if (p->top) {
        put_top(p->top, c, b, row);
        tl_list_int(b, c->function, row, p->has_function, p->function);
        return;
    }
    tl_list_int(b, c->function, row, p->has_function, p->function);
    tl_list_text(b, c->name, row, any ? s->label[s->node[p->node].label] : NULL);
    tl_list_int(b, c->depth, row, known, any ? s->node[p->node].depth : 0);
    if (!tl_scan_has(b, c->path))
        return;
    if (any) {
        put_text(s, p->node, &b->json);
        tl_scan_put_json(b, c->path, row);
    } else {
        tl_scan_put_null(b, c->path, row);
    }
}
