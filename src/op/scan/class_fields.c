/* The values of events' fields as columns. */
#include "model/value_json.h"
#include "op/scan/event_scan.h"

typedef struct put {
    const tl_event_view *view;
    tl_scan_block *block;
    const tl_column_info *column;
    uint32_t row;
} put;

/* Anything as JSON text. */
static void put_json(const put *p, uint32_t column, const tl_value *v, const tl_value *end, const tl_field_text *text)
{
    tl_text_writer tw;
    if (!tl_text_open_buffer(&tw, &p->block->json)) {
        p->block->failed = true;
        return;
    }
    tl_value_json(&tw, p->view->json, v, end, text);
    tl_text_close(&tw);
    p->block->failed = p->block->failed || p->view->json->failed;
    tl_scan_put_json(p->block, column, p->row);
}

/* n bytes as pairs of hex digits. */
static void put_hex(const put *p, uint32_t column, const tl_value *v)
{
    tl_text_writer tw;
    if (!tl_text_open_buffer(&tw, &p->block->json)) {
        p->block->failed = true;
        return;
    }
    tl_text_hex(&tw, v->as.p, v->n);
    tl_text_close(&tw);
    tl_scan_put_json(p->block, column, p->row);
}

static void put_text(const put *p, uint32_t column, const tl_value *v, const tl_value *end, const tl_field_text *text)
{
    if (p->column[column].unit == TL_UNIT_JSON)
        put_json(p, column, v, end, text);
    else if (v->type == TL_STRING)
        tl_scan_put_copy(p->block, column, p->row, v->as.p, v->n);
    else if (v->type == TL_BYTES)
        put_hex(p, column, v);
}

static void put_value(const put *p, uint32_t column, const tl_value *v, const tl_value *end, const tl_field_text *text)
{
    const tl_column_type type = p->column[column].type;
    if (!tl_scan_has(p->block, column) || v->type == TL_ABSENT || v->type == TL_NULL)
        return;
    if (type == TL_TEXT)
        put_text(p, column, v, end, text);
    else if (type == TL_REAL && v->type == TL_F64)
        tl_scan_put_real(p->block, column, p->row, v->as.f);
    else if (type == TL_INTEGER && (v->type == TL_BOOL || v->type == TL_U64 || v->type == TL_I64 || v->type == TL_HEX))
        tl_scan_put_int(p->block, column, p->row, v->as.i);
}

/* Labels of an integer, joined by |. */
static void put_label(const put *p, uint32_t column, const tl_value *v, const tl_field *f)
{
    if (!tl_scan_has(p->block, column) || (v->type != TL_U64 && v->type != TL_I64 && v->type != TL_HEX))
        return;
    tl_enum_text *text = tl_enum_texts_get(p->view->labels, f);
    const tl_label label = text ? tl_enum_label(p->view->labels, text, v->as.u) : (tl_label){NULL, 0};
    p->block->failed = p->block->failed || !label.p;
    if (label.p && label.n > 0)
        tl_scan_put_copy(p->block, column, p->row, label.p, label.n);
}

static const tl_value *put_fields(const put *p, const tl_field *f, const tl_field_column *c, const tl_field_text *text,
                                  uint32_t n, const tl_value *v, const tl_value *end)
{
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (c[i].member && v->type == TL_STRUCT && v->n <= c[i].nmember) {
            v = put_fields(p, f[i].member, c[i].member, text[i].member, v->n, v + 1, end);
            continue;
        }
        if (c[i].column != TL_NO_COLUMN)
            put_value(p, c[i].column, v, end, &text[i]);
        if (c[i].label != TL_NO_COLUMN)
            put_label(p, c[i].label, v, &f[i]);
        v = tl_value_skip(v, end);
    }
    return v;
}

void tl_class_fields_put(const tl_class_columns *c, const tl_event_view *v, const tl_batch *b, const uint32_t *at,
                         uint32_t n, tl_scan_block *block, const tl_scan_table *t, uint32_t row)
{
    const uint8_t *part = ((const tl_event_table *)t->arg)->part;
    for (uint32_t i = 0; i < block->ncolumn; i++)
        if (tl_scan_has(block, i) && part[i] == TL_EVENT_OTHER)
            for (uint32_t k = 0; k < n; k++)
                tl_scan_put_null(block, i, row + k);
    for (uint32_t k = 0; k < n && b->val; k++) {
        const tl_class *cls = &v->trace->cls[b->cls[at[k]]];
        const tl_class_text *text = tl_field_texts_get(&v->json->texts, cls);
        const put p = {v, block, t->column, row + k};
        if (!text) {
            block->failed = true;
            return;
        }
        if (c->fields[cls->id])
            put_fields(&p, cls->field, c->fields[cls->id], text->field, cls->nfield, b->v + b->val[at[k]],
                       b->v + b->val[at[k] + 1]);
    }
}
