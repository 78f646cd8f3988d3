/* Writers of one line per event: a table of columns, and one loop over it.
 *
 * A format defines its columns; common ones are filled here, others by functions of its own. Its writer begins with a
 * tl_lines. */
#ifndef TL_MODEL_LINES_H
#define TL_MODEL_LINES_H

#include "model/format_impl.h"
#include "model/label.h"
#include "model/value_json.h"

/* Prepared text of a class. */
typedef struct tl_line_class {
    const tl_class_text *text; /* NULL: not made yet */
    tl_label head;
} tl_line_class;

/* Prepared text, appended to an empty buffer: of a function, a track or a class; arg is the writer. */
typedef struct tl_line_kind {
    const char *name; /* of the format, for messages */
    tl_label_make *function, *track, *cls;
    tl_field_lead *lead;  /* of fields; NULL: as in JSON */
    tl_enum_make *labels; /* the same of labels */
} tl_line_kind;

typedef struct tl_lines {
    tl_write_context context;
    const tl_line_kind *kind;
    tl_labels function, track;
    tl_line_class *cls; /* [ncls] */
    tl_fields fields;
    tl_arena arena;
} tl_lines;

/* After zeroing; fini is needed in any case. */
int tl_lines_init(tl_lines *l, const tl_write_context *context, const tl_line_kind *kind, tl_error *e);
void tl_lines_fini(tl_lines *l);
bool tl_lines_make_class(tl_lines *l, const tl_class *c);
/* tl_event_writer.finish and discard of writers without other state. */
int tl_lines_finish(void *writer, tl_error *e);
void tl_lines_discard(void *writer);

typedef enum tl_column_kind {
    TL_COLUMN_TEXT,  /* only its text */
    TL_COLUMN_TIME,  /* tl_put_time() */
    TL_COLUMN_CLASS, /* prepared text of the class, of the track */
    TL_COLUMN_TRACK,
    TL_COLUMN_CPU, /* left out with its text if unknown */
    TL_COLUMN_OWN  /* put() */
} tl_column_kind;

/* A function of the format that puts a column. False when memory runs out. */
typedef bool tl_column_put(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i);

#define TL_COLUMN_TEXT_MAX 32u
#define TL_COLUMN_ROOM     64u /* of text and number */

typedef struct tl_column {
    tl_column_kind kind;
    const char *text; /* before it; at most TL_COLUMN_TEXT_MAX bytes */
    tl_column_put *put;
} tl_column;

/* A label with text before it. */
TL_ALWAYS_INLINE bool tl_line_label(tl_text_writer *tw, const char *text, tl_label label)
{
    const size_t n = strlen(text);
    if (TL_UNLIKELY(!label.p))
        return false;
    if (TL_LIKELY((size_t)(tw->end - tw->p) >= n + label.n)) {
        memcpy(tw->p, text, n);
        memcpy(tw->p + n, label.p, label.n);
        tw->p += n + label.n;
    } else {
        tl_text_raw(tw, text, n);
        tl_text_raw(tw, label.p, label.n);
    }
    return true;
}

TL_ALWAYS_INLINE bool tl_line_put(tl_text_writer *tw, tl_lines *l, const tl_column *column, const tl_class *c,
                                  const tl_batch *b, uint32_t i)
{
    if (column->kind == TL_COLUMN_CLASS)
        return tl_line_label(tw, column->text, l->cls[c->id].head);
    if (column->kind == TL_COLUMN_TRACK)
        return tl_line_label(tw, column->text, tl_labels_get(&l->track, b->track[i]));
    if (column->kind == TL_COLUMN_CPU && (!b->cpu || b->cpu[i] < 0))
        return true;
    const size_t n = strlen(column->text);
    if (n > 0 || column->kind != TL_COLUMN_OWN)
        tl_text_room(tw, TL_COLUMN_ROOM);
    memcpy(tw->p, column->text, n);
    tw->p += n;
    if (column->kind == TL_COLUMN_TIME)
        tw->p = tl_put_time(tw->p, &l->context.trace->scale, l->context.options->begin, b->ts[i]);
    if (column->kind == TL_COLUMN_CPU)
        tw->p = tl_put_u64(tw->p, (uint32_t)b->cpu[i]);
    return column->kind != TL_COLUMN_OWN || column->put(tw, l, c, b, i);
}

/* tl_event_writer.write; pass the table as a constant: then the compiler unrolls the loop over it. */
TL_ALWAYS_INLINE int tl_lines_write(tl_lines *l, const tl_column *column, size_t n, const tl_batch *b, uint32_t from,
                                    uint32_t to, tl_error *e)
{
#define AT(k) ((k) >= n || tl_line_put(&tw, l, &column[k], c, b, i))
    tl_text_writer tw;
    bool ok = true;
    tl_text_open(&tw, l->context.out);
    for (uint32_t i = from; i < to && ok; i++) {
        const tl_class *c = &l->context.trace->cls[b->cls[i]];
        ok = TL_LIKELY(l->cls[c->id].text != NULL) || tl_lines_make_class(l, c);
        ok = ok && AT(0) && AT(1) && AT(2) && AT(3) && AT(4) && AT(5) && AT(6) && AT(7) && !l->fields.failed;
    }
    tl_text_close(&tw);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for a line", l->kind->name);
#undef AT
}

#endif
