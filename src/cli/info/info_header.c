/* The header of a trace in `info`: fields that the format names, as JSON and for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/info/verb_info.h"

/* Numbers, texts, and unknown values; a header has nothing else but structs of these. */
static const char *scalar_text(const tl_value *v, char *buf, size_t size)
{
    switch (v->type) {
    case TL_HEX:
        snprintf(buf, size, "0x%" PRIx64, v->as.u);
        break;
    case TL_U64:
        snprintf(buf, size, "%" PRIu64, v->as.u);
        break;
    case TL_I64:
        snprintf(buf, size, "%" PRId64, v->as.i);
        break;
    case TL_STRING:
        snprintf(buf, size, "%.*s", (int)v->n, (const char *)v->as.p);
        break;
    default:
        snprintf(buf, size, "not known");
    }
    return buf;
}

/* Members of structs that are shown with a unit, or by another name. */
typedef struct shown_member {
    const char *of, *member, *label;
    enum { BYTES, TIME, COUNT } what;
} shown_member;

static const shown_member *find_member(const char *of, const char *member)
{
    static const shown_member known[] = {{"options", "ring", "ring", BYTES},
                                         {"options", "limit", "limit", BYTES},
                                         {"options", "threshold", "threshold", TIME},
                                         {"ring", "slots_reused", "slots reused", COUNT},
                                         {"ring", "events_overwritten", "events overwritten", COUNT},
                                         {"ring", "complete_from", "complete from", TIME}};
    for (size_t i = 0; i < TL_COUNT(known); i++)
        if (strcmp(of, known[i].of) == 0 && strcmp(member, known[i].member) == 0)
            return &known[i];
    return NULL;
}

static const char *member_text(const shown_member *m, const tl_value *v, char *buf, size_t size)
{
    if (!m || v->type != TL_U64)
        return scalar_text(v, buf, size);
    return m->what == BYTES  ? tl_human_bytes(buf, size, v->as.u)
           : m->what == TIME ? tl_human_time(buf, size, v->as.u, true)
                             : tl_human_grouped(buf, size, v->as.u);
}

static void put_value(tl_json *j, const tl_value *v)
{
    char text[32];
    if (v->type == TL_HEX)
        tl_json_string(j, scalar_text(v, text, sizeof text));
    else if (v->type == TL_U64)
        tl_json_u64(j, v->as.u);
    else if (v->type == TL_I64)
        tl_json_i64(j, v->as.i);
    else if (v->type == TL_STRING)
        tl_json_string_n(j, v->as.p, v->n);
    else
        tl_json_null(j);
}

void tl_header_json(tl_json *j, const tl_trace *t)
{
    const tl_field *field;
    uint32_t n;
    const tl_value *v = tl_trace_header(t, &field, &n);
    for (uint32_t i = 0; i < n; i++, v++) {
        tl_json_key(j, field[i].name);
        if (v->type != TL_STRUCT) {
            put_value(j, v);
            continue;
        }
        tl_json_object(j);
        for (uint32_t k = 0, members = v->n; k < members; k++) {
            tl_json_key(j, field[i].member[k].name);
            put_value(j, ++v);
        }
        tl_json_object_end(j);
    }
}

void tl_header_text(const tl_trace *t, void (*line)(void *arg, const char *label, const char *text), void *arg)
{
    const tl_field *field;
    uint32_t n;
    const tl_value *v = tl_trace_header(t, &field, &n);
    for (uint32_t i = 0; i < n; i++, v++) {
        char text[512], value[128];
        if (v->type != TL_STRUCT) {
            line(arg, field[i].name, scalar_text(v, value, sizeof value));
            continue;
        }
        size_t used = 0;
        text[0] = '\0';
        for (uint32_t k = 0, members = v->n; k < members; k++) {
            const char *name = field[i].member[k].name;
            const shown_member *m = find_member(field[i].name, name);
            const char *shown = member_text(m, ++v, value, sizeof value);
            const int more =
                snprintf(text + used, sizeof text - used, "%s%s %s", k ? ", " : "", m ? m->label : name, shown);
            used = more < 0 || (size_t)more >= sizeof text - used ? sizeof text - 1 : used + (size_t)more;
        }
        line(arg, field[i].name, text);
    }
}
