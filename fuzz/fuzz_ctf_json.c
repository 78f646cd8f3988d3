/* Fuzz target: CTF 2 metadata, as text and in packets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/ctf_schema.h"
#include "format/ctf/metadata/json_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void check_location(const ctf_type *t)
{
    const bool has_one = t->dynamic || t->kind == CTF_VARIANT || t->kind == CTF_OPTIONAL;
    promise(has_one == (t->location != NULL), "lengths and selectors have a location, others have none");
    if (!has_one)
        return;
    const ctf_location *l = t->location;
    promise(l->n > 0 && l->path[l->n - 1], "a location ends with a name");
    for (uint32_t i = 1; i < l->n; i++)
        promise(l->path[i] || !l->path[i - 1], "a location goes up only at its begin");
    promise(l->path[0] || l->origin == CTF_FROM_HERE, "only relative locations go up");
}

/* Counts the fields of a type, and checks all of them. */
static uint64_t check_type(const ctf_type *t, unsigned depth)
{
    uint64_t n = 1;
    promise(depth <= CTF_DEPTH_MAX, "types are not deeper than their limit");
    promise(t->align >= 1 && t->align <= CTF_ALIGN_MAX && (t->align & (t->align - 1)) == 0, "a sound alignment");
    if (t->kind <= CTF_FLOAT)
        promise(t->bits >= 1 && t->bits <= 64, "numbers have 1 to 64 bits");
    promise((t->kind == CTF_ARRAY || t->kind == CTF_OPTIONAL) ? t->nmember == 1 : true, "arrays have one member");
    promise(t->kind != CTF_VARIANT || t->nmember > 0, "variants have options");
    promise(t->nmember <= CTF_MEMBERS_MAX, "members are limited");
    for (uint32_t i = 0; i < t->nmapping; i++)
        promise(t->mapping[i].label != NULL, "mappings have labels");
    check_location(t);
    for (uint32_t i = 0; i < t->nmember; i++) {
        const ctf_member *m = &t->member[i];
        promise((m->nrange > 0) == (m->range != NULL), "ranges are there if counted");
        promise(t->kind != CTF_VARIANT || m->nrange > 0, "options have ranges");
        promise(t->kind != CTF_STRUCT || (m->name && m->raw), "members have names");
        promise((t->kind != CTF_STRUCT && t->kind != CTF_ARRAY) || t->align >= m->type->align,
                "alignment is handed on");
        n += check_type(m->type, depth + 1);
    }
    return n;
}

static uint64_t check_scope(const ctf_type *t)
{
    promise(!t || t->kind == CTF_STRUCT, "scopes are structures");
    return t ? check_type(t, 1) : 0;
}

static void check_schema(const ctf_schema *s)
{
    uint64_t fields = check_scope(s->packet_header);
    for (uint32_t i = 0; i < s->nproperty; i++)
        promise(s->property[i].name != NULL, "properties have names");
    for (uint32_t i = 0; i < s->nclock; i++)
        promise(s->clock[i]->id && s->clock[i]->hz > 0, "clocks have an id and a frequency");
    for (uint32_t i = 0; i < s->nstream; i++) {
        const ctf_stream_class *c = s->stream[i];
        fields += check_scope(c->packet_context) + check_scope(c->event_header) + check_scope(c->event_context);
        for (uint32_t k = 0; k < c->nevent; k++) {
            promise(c->event[k]->name != NULL, "events have names");
            fields += check_scope(c->event[k]->context) + check_scope(c->event[k]->payload);
        }
    }
    promise(fields <= CTF_JSON_FIELDS_MAX, "fields are limited");
}

/* Metadata in other languages has other targets. */
static bool is_json(const uint8_t *data, size_t size)
{
    if (size > CTF_META_MAJOR &&
        (tl_load32(data, true) == CTF_MAGIC_METADATA || tl_load32(data, false) == CTF_MAGIC_METADATA))
        return data[CTF_META_MAJOR] == 2;
    return size > 0 && data[0] == 0x1e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "metadata\0\xff\xff\xff"; /* and another 0xff: all that is left */
    if (!is_json(data, size))
        return 0;
    uint8_t *packed = malloc(sizeof head + size);
    if (!packed)
        return 0;
    memcpy(packed, head, sizeof head);
    packed[sizeof head - 1] = 0xff;
    memcpy(packed + sizeof head, data, size);

    tl_folder *folder = NULL;
    ctf_schema s = {0};
    tl_error e = {0};
    if (tl_folder_open_memory(&folder, packed, sizeof head + size, "trace", &e) >= 0) {
        int rc = ctf_metadata_read(&s, folder, 0, &e);
        promise(rc >= 0 || (int)e.code == rc, "an error carries the code that is returned");
        promise(rc >= 0 || e.offset == TL_NO_OFFSET || e.offset <= size, "an error is inside the file");
        promise(s.arena.total <= 64 * size + 65536, "memory is bounded by the size of the text");
        if (rc >= 0)
            check_schema(&s);
        tl_folder_close(folder);
    }
    tl_arena_fini(&s.arena);
    free(packed);
    return 0;
}
