/* Fuzz target: the metadata language of CTF 1.8. An input is the text of a metadata file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ctf/ctf_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding must stop the fuzzer: these are promises of the headers. */
static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static bool is_power(uint32_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static void check_location(const ctf_type *t)
{
    const ctf_location *l = t->location;
    promise(l != NULL && l->n > 0, "a length or selector has its place");
    promise(l->path[l->n - 1] != NULL, "a path ends in a name");
    for (uint32_t i = 0; i < l->n; i++)
        promise(l->path[i] != NULL || l->origin == CTF_FROM_HERE, "a path goes up only from here");
}

static void check_type(const ctf_type *t, unsigned depth)
{
    promise(depth <= CTF_DEPTH_MAX, "types are not deeper than the limit");
    promise(is_power(t->align) && t->align <= CTF_ALIGN_MAX, "alignments are powers of two");
    promise(t->unit == 0 || is_power(t->unit), "units are powers of two");
    promise(t->order == CTF_LE || t->order == CTF_BE, "byte orders are known");
    if (t->kind == CTF_INT)
        promise(t->bits >= 1 && t->bits <= 64, "integers have 1 to 64 bits");
    if (t->kind == CTF_FLOAT)
        promise(t->bits == 32 || t->bits == 64, "real numbers have 32 or 64 bits");
    if (t->kind == CTF_VARIANT || t->dynamic)
        check_location(t);
    for (uint32_t i = 0; i < t->nmapping; i++)
        promise(t->is_signed ? (int64_t)t->mapping[i].low <= (int64_t)t->mapping[i].high
                             : t->mapping[i].low <= t->mapping[i].high,
                "labels have ranges");
    promise(t->nmember <= CTF_MEMBERS_MAX, "structs have not too many members");
    promise(t->kind != CTF_ARRAY || t->nmember == 1, "arrays have one element type");
    for (uint32_t i = 0; i < t->nmember; i++) {
        const ctf_member *m = &t->member[i];
        promise(t->kind == CTF_ARRAY || (m->name != NULL && m->raw != NULL), "members have names");
        promise(t->kind == CTF_VARIANT || t->align >= m->type->align || m->type->kind == CTF_VARIANT,
                "containers are aligned for what they hold");
        check_type(m->type, depth + 1);
    }
}

static void check_root(const ctf_type *t)
{
    if (t == NULL)
        return;
    promise(t->kind == CTF_STRUCT, "roots are structs");
    check_type(t, 1);
    (void)ctf_type_alignment(t);
}

static void check_schema(const ctf_schema *s)
{
    promise(s->nstream > 0, "there is a stream class");
    check_root(s->packet_header);
    for (uint32_t i = 0; i < s->nclock; i++)
        promise(s->clock[i]->hz > 0 && s->clock[i]->id != NULL, "clocks have a frequency and an id");
    for (uint32_t i = 0; i < s->nstream; i++) {
        const ctf_stream_class *c = s->stream[i];
        check_root(c->packet_context);
        check_root(c->event_header);
        check_root(c->event_context);
        for (uint32_t j = 0; j < c->nevent; j++) {
            promise(c->event[j]->name != NULL, "events have names");
            check_root(c->event[j]->context);
            check_root(c->event[j]->payload);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ctf_schema s = {0};
    tl_error e = {0};
    const int status = ctf_tsdl_parse(&s, (const char *)data, size, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    promise(status >= 0 || status == TL_ENOMEM || (status == TL_EDAMAGED && e.offset <= size),
            "a fault is somewhere in the text");
    promise(status >= 0 || status == TL_ENOMEM || strncmp(e.message, "line ", 5) == 0, "and its message says where");
    if (status >= 0)
        check_schema(&s);
    tl_arena_fini(&s.arena);
    return 0;
}
