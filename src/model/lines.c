/* Writers of one line per event: the prepared text. */
#include "model/lines.h"

#include <stdlib.h>

int tl_lines_init(tl_lines *l, const tl_write_context *context, const tl_line_kind *kind, tl_error *e)
{
    const tl_trace *t = context->trace;
    l->context = *context;
    l->kind = kind;
    tl_labels_init(&l->function, kind->function, l);
    tl_labels_init(&l->track, kind->track, l);
    l->cls = calloc((size_t)t->ncls + 1, sizeof *l->cls);
    if (l->cls && (kind->lead ? tl_fields_init(&l->fields, t->ncls, kind->lead, kind->labels)
                              : tl_json_fields_init(&l->fields, t)))
        return 0;
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for the classes", kind->name);
}

void tl_lines_fini(tl_lines *l)
{
    tl_labels_fini(&l->function);
    tl_labels_fini(&l->track);
    tl_fields_fini(&l->fields);
    tl_arena_fini(&l->arena);
    free(l->cls);
}

TL_COLD bool tl_lines_make_class(tl_lines *l, const tl_class *c)
{
    tl_line_class *out = &l->cls[c->id];
    tl_pb text = {0};
    l->kind->cls(l, c->id, &text);
    char *head = text.failed ? NULL : tl_arena_alloc(&l->arena, text.n + 1);
    if (head && text.n > 0)
        memcpy(head, text.data, text.n);
    out->head = (tl_label){head, text.n};
    out->text = head ? tl_field_texts_get(&l->fields.texts, c) : NULL;
    tl_pb_fini(&text);
    return out->text != NULL;
}

int tl_lines_finish(void *writer, tl_error *e)
{
    const tl_lines *l = writer;
    (void)e;
    tl_drops_add(l->context.drops, "bytes that are not UTF-8 (escaped one by one)", l->fields.bad);
    return 0;
}

void tl_lines_discard(void *writer)
{
    tl_lines_fini(writer);
}
