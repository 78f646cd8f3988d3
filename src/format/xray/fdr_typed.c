/* Instants and counters placed by hand: the payload of typed events as values, and back. */
#include "format/xray/fdr_typed.h"

#include <string.h>

#include "base/endian.h"

enum { NUMBER_SIZE = 8, LENGTH_SIZE = 4, NOTHING_SIZE = 1, BIG = false };

bool fdr_typed_fits(const tl_recording_event *ev, const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;
    if (ev->nfield == 0 && n == NOTHING_SIZE)
        return *p == 0;
    for (uint32_t i = 0; i < ev->nfield; i++) {
        const bool text = ev->field[i].type == TL_STRING;
        size_t size = text ? LENGTH_SIZE : NUMBER_SIZE;
        if (size > (size_t)(end - p))
            return false;
        const uint32_t length = text ? tl_load32(p, BIG) : 0;
        p += size;
        if (length > (size_t)(end - p))
            return false;
        p += length;
    }
    return p == end;
}

void fdr_typed_values(const tl_recording_event *ev, const uint8_t *p, tl_value *v)
{
    for (uint32_t i = 0; i < ev->nfield; i++, v++) {
        if (ev->field[i].type == TL_STRING) {
            *v = (tl_value){.type = TL_STRING, .n = tl_load32(p, BIG), .as.p = p + LENGTH_SIZE};
            p += LENGTH_SIZE + v->n;
        } else {
            *v = (tl_value){.type = (uint8_t)ev->field[i].type};
            const uint64_t bits = tl_load64(p, BIG);
            memcpy(&v->as, &bits, sizeof bits);
            p += NUMBER_SIZE;
        }
    }
}

uint64_t fdr_typed_size(const tl_recording_event *ev, const tl_value *v, const tl_value *end)
{
    uint64_t size = 0;
    if ((size_t)(end - v) < ev->nfield)
        return UINT64_MAX;
    for (uint32_t i = 0; i < ev->nfield; i++) {
        if (v[i].type != ev->field[i].type)
            return UINT64_MAX;
        size += v[i].type == TL_STRING ? LENGTH_SIZE + (uint64_t)v[i].n : NUMBER_SIZE;
    }
    return ev->nfield ? size : NOTHING_SIZE;
}

void fdr_typed_put(const tl_recording_event *ev, const tl_value *v, uint8_t *p)
{
    if (ev->nfield == 0)
        *p = 0;
    for (uint32_t i = 0; i < ev->nfield; i++, v++) {
        if (v->type == TL_STRING) {
            tl_store32(p, v->n, BIG);
            if (v->n)
                memcpy(p + LENGTH_SIZE, v->as.p, v->n);
            p += LENGTH_SIZE + v->n;
        } else {
            uint64_t bits;
            memcpy(&bits, &v->as, sizeof bits);
            tl_store64(p, bits, BIG);
            p += NUMBER_SIZE;
        }
    }
}

const tl_recording_event *fdr_typed_event(const tl_trace *t, const tl_class *c)
{
    const tl_recording *r = t->recording;
    if (!r || !c->format_data)
        return NULL;
    const uintptr_t at = (uintptr_t)c->format_data - (uintptr_t)r->event;
    return at < r->nevent * sizeof *r->event && at % sizeof *r->event == 0 ? c->format_data : NULL;
}
