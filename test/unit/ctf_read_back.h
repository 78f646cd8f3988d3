/* For tests of the writer of folders that read its output back: events as text. */
#ifndef TL_TEST_CTF_READ_BACK_H
#define TL_TEST_CTF_READ_BACK_H

#include <inttypes.h>

#include "ctf_write_fixture.h"
#include "traceloom/source.h"

/* One of each dialect. */
static const char *const versions[] = {"2", "1.8", "1.1"};

/* --- values as text: u5 i-3 f1.5 b1 h1f s"x" y0aff [list] {struct} <option value> - (absent) ~ (null) --- */

static inline const tl_value *dump(const tl_value *v, char *out, size_t size)
{
    const size_t at = strlen(out);
    char *p = out + at;
    const size_t room = size - at;
    const tl_value *next = v + 1;
    switch ((tl_type)v->type) {
    case TL_NULL:
        snprintf(p, room, "~ ");
        break;
    case TL_BOOL:
        snprintf(p, room, "b%d ", v->as.u != 0);
        break;
    case TL_U64:
        snprintf(p, room, "u%" PRIu64 " ", v->as.u);
        break;
    case TL_I64:
        snprintf(p, room, "i%" PRId64 " ", v->as.i);
        break;
    case TL_F64:
        snprintf(p, room, "f%g ", v->as.f);
        break;
    case TL_HEX:
        snprintf(p, room, "h%" PRIx64 " ", v->as.u);
        break;
    case TL_STRING:
        snprintf(p, room, "s\"%.*s\" ", (int)v->n, (const char *)v->as.p);
        break;
    case TL_BYTES:
        snprintf(p, room, "y");
        for (uint32_t i = 0; i < v->n; i++)
            snprintf(out + strlen(out), size - strlen(out), "%02x", ((const uint8_t *)v->as.p)[i]);
        snprintf(out + strlen(out), size - strlen(out), " ");
        break;
    case TL_LIST:
    case TL_STRUCT:
        snprintf(p, room, v->type == TL_LIST ? "[" : "{");
        for (uint32_t i = 0; i < v->n; i++)
            next = dump(next, out, size);
        snprintf(out + strlen(out), size - strlen(out), v->type == TL_LIST ? "] " : "} ");
        break;
    case TL_VARIANT:
        snprintf(p, room, "<%u ", (unsigned)v->variant);
        next = dump(next, out, size);
        snprintf(out + strlen(out), size - strlen(out), "> ");
        break;
    case TL_ABSENT:
        snprintf(p, room, "- ");
        break;
    case TL_STACK: /* only other formats have them */
        snprintf(p, room, "stack ");
        break;
    }
    return next;
}

typedef struct found {
    char text[1000];
    char name[40];
    uint64_t ts, key;
    int32_t cpu;
    tl_class cls;
} found;

/* Reads all events of the folder, stream after stream. */
static inline uint32_t read_back(found *out, uint32_t most)
{
    const tl_open_options options = {.want = {.fields = true, .cpu = true}};
    tl_source *s;
    tl_error e;
    must(tl_source_open(&s, "out", &options, &e), &e);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damage_count(t), 0);
    const tl_batch *b;
    uint32_t n = 0;
    int status;
    while ((status = tl_source_next(s, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            assert_true(n < most);
            found *f = &out[n++];
            memset(f, 0, sizeof *f);
            for (const tl_value *v = b->v + b->val[i]; v < b->v + b->val[i + 1];)
                v = dump(v, f->text, sizeof f->text);
            if (*f->text)
                f->text[strlen(f->text) - 1] = '\0';
            f->ts = b->ts[i];
            f->key = b->key[i];
            f->cpu = b->cpu[i];
            f->cls = *tl_trace_class(t, b->cls[i]);
            snprintf(f->name, sizeof f->name, "%s", f->cls.name);
        }
    must(status, &e);
    assert_int_equal(tl_trace_damage_count(t), 0);
    tl_source_close(s);
    return n;
}

/* Slots of the tape. */
#define U(x)                                                                                                           \
    {                                                                                                                  \
        .type = TL_U64, .as.u = (x)                                                                                    \
    }
#define I(x)                                                                                                           \
    {                                                                                                                  \
        .type = TL_I64, .as.i = (x)                                                                                    \
    }
#define F(x)                                                                                                           \
    {                                                                                                                  \
        .type = TL_F64, .as.f = (x)                                                                                    \
    }
#define S(x)                                                                                                           \
    {                                                                                                                  \
        .type = TL_STRING, .n = sizeof(x) - 1, .as.p = (x)                                                             \
    }
#define Y(x)                                                                                                           \
    {                                                                                                                  \
        .type = TL_BYTES, .n = sizeof(x) - 1, .as.p = (x)                                                              \
    }
#define LIST(x)                                                                                                        \
    {                                                                                                                  \
        .type = TL_LIST, .n = (x)                                                                                      \
    }
#define STRUCT(x)                                                                                                      \
    {                                                                                                                  \
        .type = TL_STRUCT, .n = (x)                                                                                    \
    }
#define VARIANT(x)                                                                                                     \
    {                                                                                                                  \
        .type = TL_VARIANT, .n = 1, .variant = (x)                                                                     \
    }
#define NUL                                                                                                            \
    {                                                                                                                  \
        .type = TL_NULL                                                                                                \
    }
#define ABSENT                                                                                                         \
    {                                                                                                                  \
        .type = TL_ABSENT                                                                                              \
    }

#endif
