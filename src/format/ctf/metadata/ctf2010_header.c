/* The fixed event headers of 2010 as types.
 *
 *   type 1: 5 bits id and 27 bits timestamp, in one u32; the first field has the low bits of a little-endian word and
 *           the high ones of a big-endian word. If the id is 31, 12 bytes without padding: u32 id, u64 timestamp; then
 *           aligned as a u64.
 *   type 2: u32 timestamp, u16 id. If the id is 65535: aligned as a u64, u64 timestamp, u32 id, aligned as a u32.
 *
 * The id chooses what follows: a variant does not influence the alignment of its struct, so it is aligned only if
 * present. The alignment after it is an empty struct, chosen in the same way. */
#include <string.h>

#include "format/ctf/metadata/ctf2010_schema.h"

typedef struct maker {
    ctf_schema *schema;
    bool failed;      /* memory ran out: then types are ... */
    ctf_type nowhere; /* ... this one */
} maker;

static ctf_type *new_type(maker *m, ctf_kind kind, uint32_t align)
{
    ctf_type *t = ctf_type_new(m->schema, kind, 0);
    if (!t) {
        m->failed = true;
        t = &m->nowhere;
    }
    t->align = align;
    return t;
}

static const ctf_type *integer(maker *m, uint32_t bits, uint32_t align, uint32_t roles)
{
    ctf_type *t = new_type(m, CTF_INT, align);
    t->bits = bits;
    t->order = CTF_NATIVE;
    t->roles = roles;
    return t;
}

static ctf_type *compound(maker *m, ctf_kind kind, uint32_t align, const ctf_member *member, uint32_t n)
{
    ctf_type *t = new_type(m, kind, align);
    ctf_member *copy = tl_arena_zalloc(&m->schema->arena, n * sizeof *copy);
    if (!copy) {
        m->failed = true;
        return t;
    }
    if (n > 0)
        memcpy(copy, member, n * sizeof *copy);
    t->member = copy;
    t->nmember = n;
    return t;
}

/* `chosen` if the id is `escape`, else nothing. */
static const ctf_type *chosen_by_id(maker *m, uint64_t escape, const ctf_type *chosen)
{
    static const char *const path[] = {"id"};
    ctf_location *location = tl_arena_zalloc(&m->schema->arena, sizeof *location);
    ctf_range *range = tl_arena_zalloc(&m->schema->arena, 2 * sizeof *range);
    if (!location || !range) {
        m->failed = true;
        return chosen;
    }
    *location = (ctf_location){.origin = CTF_FROM_EVENT_HEADER, .n = 1, .path = path};
    range[0] = (ctf_range){escape, escape};
    range[1] = (ctf_range){0, escape - 1};
    const ctf_member option[] = {
        {.name = "extended", .raw = "extended", .type = chosen, .range = &range[0], .nrange = 1},
        {.name = "compact",
         .raw = "compact",
         .type = compound(m, CTF_STRUCT, 1, NULL, 0),
         .range = &range[1],
         .nrange = 1},
    };
    ctf_type *t = compound(m, CTF_VARIANT, 1, option, 2);
    t->location = location;
    return t;
}

static ctf_member named(const char *name, const ctf_type *type)
{
    return (ctf_member){.name = name, .raw = name, .type = type};
}

const ctf_type *ctf2010_event_header(ctf_schema *s, ctf2010_header header, ctf2010_natural natural)
{
    maker m = {.schema = s};
    const bool is_type1 = header == CTF2010_TYPE1;
    const uint64_t escape = is_type1 ? 31 : 65535;
    const ctf_member id = named("id", integer(&m, 32, 8, CTF_ROLE_EVENT_CLASS));
    const ctf_member timestamp = named("timestamp", integer(&m, 64, 8, CTF_ROLE_TIMESTAMP));
    const ctf_member extended[] = {is_type1 ? id : timestamp, is_type1 ? timestamp : id};
    const uint32_t start = is_type1 ? 8 : natural.u64, end = is_type1 ? natural.u64 : natural.u32;
    ctf_member member[4];
    uint32_t n = 0;
    if (is_type1) {
        member[n++] = named("id", integer(&m, 5, 1, CTF_ROLE_EVENT_CLASS));
        member[n++] = named("timestamp", integer(&m, 27, 1, CTF_ROLE_TIMESTAMP));
    } else {
        member[n++] = named("timestamp", integer(&m, 32, 8, CTF_ROLE_TIMESTAMP));
        member[n++] = named("id", integer(&m, 16, 8, CTF_ROLE_EVENT_CLASS));
    }
    member[n++] = named("ext", chosen_by_id(&m, escape, compound(&m, CTF_STRUCT, start, extended, 2)));
    if (end > 8)
        member[n++] = named("end", chosen_by_id(&m, escape, compound(&m, CTF_STRUCT, end, NULL, 0)));
    const ctf_type *t = compound(&m, CTF_STRUCT, natural.u32, member, n);
    return m.failed ? NULL : t;
}

const ctf_type *ctf2010_context(ctf_schema *s, const ctf_type *context)
{
    bool has_role = false;
    for (uint32_t i = 0; i < context->nmember; i++)
        has_role = has_role || strcmp(context->member[i].name, "payload_size") == 0;
    if (!has_role)
        return context;
    /* Types are shared with others that do not have the role. */
    ctf_type *copy = tl_arena_alloc(&s->arena, sizeof *copy);
    ctf_member *member = tl_arena_alloc(&s->arena, context->nmember * sizeof *member);
    if (!copy || !member)
        return NULL;
    *copy = *context;
    memcpy(member, context->member, context->nmember * sizeof *member);
    copy->member = member;
    for (uint32_t i = 0; i < context->nmember; i++) {
        const ctf_type *type = member[i].type;
        if (strcmp(member[i].name, "payload_size") != 0 || type->kind != CTF_INT || type->mapping)
            continue; /* an enumeration is not a size */
        ctf_type *size = tl_arena_alloc(&s->arena, sizeof *size);
        if (!size)
            return NULL;
        *size = *type;
        size->roles |= CTF_ROLE_PAYLOAD_SIZE;
        member[i].type = size;
    }
    return copy;
}
