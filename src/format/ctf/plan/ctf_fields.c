/* Event classes of the model from those of a schema. */
#include "format/ctf/plan/ctf_fields.h"

#include <string.h>

#include "base/text/ends_in.h"
#include "format/ctf/plan/ctf_scope.h"
#include "format/ctf/plan/ctf_text.h"

static const tl_field packet_field[CTF_PACKET_FIELDS] = {
    [CTF_PACKET_BEGIN] = {.name = "begin", .type = TL_U64, .flags = TL_FIELD_OPTIONAL},
    [CTF_PACKET_END] = {.name = "end", .type = TL_U64, .flags = TL_FIELD_OPTIONAL},
    [CTF_PACKET_DISCARDED] = {.name = "events_discarded", .type = TL_U64, .flags = TL_FIELD_OPTIONAL},
    [CTF_PACKET_SEQUENCE] = {.name = "packet_seq_num", .type = TL_U64, .flags = TL_FIELD_OPTIONAL},
};

const tl_class ctf_packet_class = {
    .kind = TL_FORMAT, .name = "packet", .field = packet_field, .nfield = CTF_PACKET_FIELDS};

bool ctf_fields_shown(const ctf_member *m)
{
    return (m->type->roles & ~(uint32_t)CTF_ROLE_CPU) == 0 || m->type->kind > CTF_BITMAP;
}

bool ctf_fields_made(const ctf_member *m)
{
    static const char *const end[] = {"_length", "_tag", "_there", "_known"};
    if (!m->name || strncmp(m->name, "__", 2) != 0 || (m->type->kind != CTF_INT && m->type->kind != CTF_BOOL))
        return false;
    const size_t n = strlen(m->name);
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        if (n > strlen(end[i]) && strcmp(m->name + n - strlen(end[i]), end[i]) == 0)
            return true;
    return false;
}

bool ctf_fields_wraps(const ctf_type *t)
{
    if (t->kind != CTF_STRUCT || t->nmember < 2)
        return false;
    for (uint32_t i = 0; i + 1 < t->nmember; i++)
        if (!ctf_fields_made(&t->member[i]))
            return false;
    const char *name = t->member[t->nmember - 1].name;
    return name && strcmp(name, CTF_WRAPPED) == 0;
}

bool ctf_fields_nullable(const ctf_type *t)
{
    const ctf_location *l = t->kind == CTF_OPTIONAL || t->kind == CTF_VARIANT ? t->location : NULL;
    const char *selector = l && l->n > 0 ? l->path[l->n - 1] : NULL;
    if (!selector || strncmp(selector, "__", 2) != 0 || !tl_ends_in(selector, "_known"))
        return false;
    return t->kind == CTF_OPTIONAL ||
           (t->nmember == 2 && t->member[0].type->kind == CTF_STRUCT && t->member[0].type->nmember == 0);
}

static tl_type type_of(const ctf_type *t)
{
    switch ((ctf_kind)t->kind) {
    case CTF_INT:
    case CTF_BITMAP:
    case CTF_VARINT:
        return t->is_signed ? TL_I64 : TL_U64;
    case CTF_BOOL:
        return TL_BOOL;
    case CTF_FLOAT:
        return TL_F64;
    case CTF_STRING:
    case CTF_TEXT:
        return TL_STRING;
    case CTF_BLOB:
        return TL_BYTES;
    case CTF_STRUCT:
        return TL_STRUCT;
    case CTF_ARRAY:
        return TL_LIST;
    case CTF_VARIANT:
        return TL_VARIANT;
    case CTF_OPTIONAL:
        break; /* the field that it wraps */
    }
    return TL_NULL;
}

/* The index of a member among the shown ones. */
static uint32_t number_of(const ctf_member *member, uint32_t index)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < index; i++)
        n += !ctf_fields_made(&member[i]);
    return n;
}

/* 1 + the index of the sibling that a location means, or 0. */
static uint32_t governor(const ctf_type *t, const ctf_member *sibling, uint32_t before)
{
    const ctf_location *l = t->location;
    if (!l || (l->origin != CTF_FROM_HERE && l->origin != CTF_FROM_SCOPES) || l->n != 1 || !l->path[0])
        return 0;
    for (uint32_t i = before; i-- > 0;)
        if (ctf_same_name(l->path[0], sibling[i].name, sibling[i].raw))
            return ctf_fields_made(&sibling[i]) ? 0 : number_of(sibling, i) + 1;
    return 0;
}

static const tl_mapping *mapping_of(const ctf_class_list *l, const ctf_range *r, uint32_t n)
{
    tl_mapping *m = tl_arena_zalloc(l->arena, (n + 1) * sizeof *m);
    for (uint32_t i = 0; m && i < n; i++)
        m[i] = (tl_mapping){.low = r[i].low, .high = r[i].high};
    return m;
}

static bool describe(const ctf_class_list *l, const ctf_member *m, const ctf_member *siblings, uint32_t index,
                     tl_field *out, unsigned depth);

/* A compound with only values of the clock counts as one. A variant counts only if all of its options do. */
static void mark_clock(const ctf_type *t, tl_field *out, tl_field *member)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->nmember; i++)
        n += (member[i].flags & TL_FIELD_CLOCK) != 0;
    if (n > 0 && n == out->nmember)
        out->flags |= TL_FIELD_CLOCK;
    else if (t->kind == CTF_VARIANT)
        for (uint32_t i = 0; i < out->nmember; i++)
            member[i].flags &= (uint8_t)~TL_FIELD_CLOCK;
}

/* Members of a struct, options of a variant, or the element of an array. */
static bool describe_members(const ctf_class_list *l, const ctf_type *t, tl_field *out, unsigned depth)
{
    tl_field *member = tl_arena_zalloc(l->arena, (t->nmember + 1) * sizeof *member);
    if (!member)
        return false;
    out->member = member;
    for (uint32_t i = 0; i < t->nmember; i++) {
        if (t->kind == CTF_STRUCT && ctf_fields_made(&t->member[i]))
            continue;
        if (!describe(l, &t->member[i], t->kind == CTF_STRUCT ? t->member : NULL, i, member, depth + 1))
            return false;
        if (t->kind == CTF_VARIANT) { /* the values that choose it, instead of its own labels */
            if (!member->nmapping && !(member->mapping = mapping_of(l, t->member[i].range, t->member[i].nrange)))
                return false;
            if (!member->nmapping)
                member->nmapping = t->member[i].nrange;
        }
        member++;
        out->nmember++;
    }
    mark_clock(t, out, member - out->nmember);
    return true;
}

static bool describe(const ctf_class_list *l, const ctf_member *m, const ctf_member *siblings, uint32_t index,
                     tl_field *out, unsigned depth)
{
    const ctf_type *t = m->type;
    *out = (tl_field){.name = m->name ? m->name : ""};
    if (depth > CTF_DEPTH_MAX)
        return true; /* deeper ones are refused by the compiler */
    if (ctf_fields_wraps(t)) {
        const ctf_member held = {.name = m->name, .raw = m->raw, .type = t->member[t->nmember - 1].type};
        return describe(l, &held, NULL, 0, out, depth + 1);
    }
    if (ctf_fields_nullable(t)) {
        const ctf_member held = {.name = m->name, .raw = m->raw, .type = t->member[t->nmember - 1].type};
        if (!describe(l, &held, siblings, index, out, depth + 1))
            return false;
        out->flags |= TL_FIELD_NULLABLE;
        return true;
    }
    if (t->kind == CTF_OPTIONAL) {
        const ctf_member held = {.name = m->name, .raw = m->raw, .type = t->member[0].type};
        if (!describe(l, &held, siblings, index, out, depth + 1))
            return false;
        out->flags |= TL_FIELD_OPTIONAL;
        if (!out->governor)
            out->governor = siblings ? governor(t, siblings, index) : 0;
        return true;
    }
    out->type = type_of(t);
    out->bits = (uint8_t)t->bits;
    out->base = t->base;
    out->mapping = t->mapping;
    out->nmapping = t->nmapping;
    if (t->kind == CTF_BITMAP)
        out->flags |= TL_FIELD_FLAGS;
    if (t->roles & (CTF_ROLE_TIMESTAMP | CTF_ROLE_PACKET_END))
        out->flags |= TL_FIELD_CLOCK;
    if (t->kind == CTF_TEXT && ctf_text_unit((ctf_encoding)t->encoding) > 1) {
        /* The length counts other bytes than those of the value. */
    } else if (t->kind == CTF_TEXT || t->kind == CTF_BLOB || t->kind == CTF_ARRAY) {
        if (t->dynamic) {
            out->governor = siblings ? governor(t, siblings, index) : 0;
        } else {
            out->flags |= TL_FIELD_FIXED;
            out->length = (uint32_t)(t->length > UINT32_MAX ? UINT32_MAX : t->length);
        }
    } else if (t->kind == CTF_VARIANT) {
        out->governor = siblings ? governor(t, siblings, index) : 0;
    }
    return (t->nmember == 0 && t->kind != CTF_STRUCT) || describe_members(l, t, out, depth);
}

static bool describe_scope(const ctf_class_list *l, const ctf_type *t, tl_scope scope, tl_field *field, uint32_t *n)
{
    const uint32_t first = *n;
    for (uint32_t i = 0; t && i < t->nmember; i++) {
        if ((scope == TL_SCOPE_PACKET && !ctf_fields_shown(&t->member[i])) || ctf_fields_made(&t->member[i]))
            continue;
        tl_field *f = &field[*n];
        if (!describe(l, &t->member[i], t->member, i, f, 0))
            return false;
        if (f->governor && scope == TL_SCOPE_PACKET)
            f->governor = 0; /* siblings may have been left out */
        else if (f->governor)
            f->governor += first;
        f->context = (uint8_t)(TL_SCOPE_PAYLOAD - scope);
        ++*n;
    }
    return true;
}

static void mark_clashes(tl_field *field, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            if (tl_field_scope(&field[i]) == TL_SCOPE_STREAM && tl_field_scope(&field[k]) == TL_SCOPE_EVENT &&
                strcmp(field[i].name, field[k].name) == 0) {
                field[i].flags |= TL_FIELD_CLASH;
                field[k].flags |= TL_FIELD_CLASH;
            }
}

static const ctf_member *member_named(const ctf_type *t, const char *name)
{
    for (uint32_t i = 0; t && i < t->nmember; i++)
        if (t->member[i].name && strcmp(t->member[i].name, name) == 0 && t->member[i].type->kind == CTF_INT)
            return &t->member[i];
    return NULL;
}

/* The meaning of events: "traceloom:KIND:KEY" in model.emf.uri is from our own writer; LTTng's function tracing is
 * known by its names. */
static void find_meaning(const ctf_event_class *ec, tl_class *c, const ctf_member **key)
{
    static const struct {
        const char *name;
        tl_kind kind;
    } kinds[] = {{"enter", TL_ENTER}, {"exit", TL_EXIT}, {"counter", TL_COUNTER}, {"sample", TL_SAMPLE},
                 {"insn", TL_INSN},   {"mem", TL_MEM},   {"regs", TL_REGS},       {"state", TL_STATE}};
    static const struct {
        const char *name;
        tl_key key;
    } keys[] = {{"function", TL_KEY_FUNCTION}, {"pc", TL_KEY_PC}, {"address", TL_KEY_ADDRESS}, {"stack", TL_KEY_STACK}};
    static const char prefix[] = "traceloom:";
    *key = NULL;
    if (ec->uri && strncmp(ec->uri, prefix, sizeof prefix - 1) == 0) {
        const char *kind = ec->uri + sizeof prefix - 1, *of = strchr(kind, ':');
        const size_t n = of ? (size_t)(of - kind) : strlen(kind);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, kind, n) == 0)
                c->kind = kinds[i].kind;
        for (size_t i = 0; of && i < sizeof keys / sizeof *keys; i++)
            if (strcmp(of + 1, keys[i].name) == 0 && (*key = member_named(ec->payload, "id")))
                c->key = keys[i].key;
        return;
    }
    if (tl_ends_in(c->name, ":func_entry") || tl_ends_in(c->name, ":func_exit")) {
        c->kind = tl_ends_in(c->name, ":func_entry") ? TL_ENTER : TL_EXIT;
        *key = member_named(ec->payload, "addr");
        c->key = *key ? TL_KEY_FUNCTION : TL_KEY_NONE;
        c->by_address = *key != NULL;
    }
}

/* Which parts events have: all declared ones, but packet contexts only if they have fields to show. */
static uint8_t find_scopes(const ctf_type *const scope[4])
{
    uint8_t scopes = 0;
    for (unsigned i = 0; i < 4; i++) {
        bool shown = scope[i] && (i != TL_SCOPE_PACKET || scope[i]->nmember == 0);
        for (uint32_t k = 0; scope[i] && k < scope[i]->nmember && !shown; k++)
            shown = ctf_fields_shown(&scope[i]->member[k]);
        if (shown)
            scopes |= (uint8_t)(1u << i);
    }
    return scopes;
}

/* Events about switches and wake-ups of threads are known by the names of their fields, which several tracers have in
 * common. */
static void find_roles(tl_field *field, tl_class *c)
{
    static const struct {
        const char *name;
        tl_role of;
        tl_field_role role;
        bool needed;
    } known[] = {{"prev_tid", TL_ROLE_SWITCH, TL_FIELD_THREAD, true},
                 {"prev_pid", TL_ROLE_SWITCH, TL_FIELD_THREAD, true},
                 {"prev_state", TL_ROLE_SWITCH, TL_FIELD_STATE, true},
                 {"prev_comm", TL_ROLE_SWITCH, TL_FIELD_NAME, false},
                 {"next_tid", TL_ROLE_SWITCH, TL_FIELD_NEXT, true},
                 {"next_pid", TL_ROLE_SWITCH, TL_FIELD_NEXT, true},
                 {"next_comm", TL_ROLE_SWITCH, TL_FIELD_NEXT_NAME, false},
                 {"tid", TL_ROLE_WAKE, TL_FIELD_THREAD, true},
                 {"pid", TL_ROLE_WAKE, TL_FIELD_THREAD, true},
                 {"comm", TL_ROLE_WAKE, TL_FIELD_NAME, false}};
    unsigned switches = 0, wakes = 0;
    for (uint32_t i = c->ncontext; i < c->nfield; i++) {
        wakes += field[i].name && strcmp(field[i].name, "target_cpu") == 0;
        for (size_t k = 0; k < TL_COUNT(known); k++)
            if (field[i].name && strcmp(field[i].name, known[k].name) == 0 && known[k].needed)
                *(known[k].of == TL_ROLE_SWITCH ? &switches : &wakes) += 1;
    }
    c->role = switches == 3 ? TL_ROLE_SWITCH : wakes == 2 ? TL_ROLE_WAKE : TL_ROLE_NONE;
    for (uint32_t i = c->ncontext; c->role != TL_ROLE_NONE && i < c->nfield; i++)
        for (size_t k = 0; k < TL_COUNT(known); k++)
            if (known[k].of == c->role && field[i].name && strcmp(field[i].name, known[k].name) == 0)
                field[i].role = (uint8_t)known[k].role;
}

int ctf_fields_class(const ctf_class_list *l, const ctf_stream_class *sc, const ctf_event_class *ec, tl_class *out,
                     const ctf_member **key, tl_error *e)
{
    const ctf_type *scope[] = {l->packets ? sc->packet_context : NULL, sc->event_context, ec->context, ec->payload};
    uint32_t n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += scope[i] ? scope[i]->nmember : 0;
    tl_field *field = tl_arena_zalloc(l->arena, (n + 1) * sizeof *field);
    const size_t length = strlen(ec->name);
    *out = (tl_class){.kind = TL_INSTANT, .field = field, .level_value = ec->level_value};
    out->name = tl_arena_strndup(l->arena, ec->name, length);
    out->level = ec->level ? tl_arena_strndup(l->arena, ec->level, strlen(ec->level)) : NULL;
    bool ok = field && out->name && (!ec->level || out->level);
    for (unsigned i = 0; ok && i < 4; i++) {
        ok = describe_scope(l, scope[i], (tl_scope)i, field, &out->nfield);
        if (i < 3)
            out->ncontext = out->nfield;
    }
    if (!ok)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the event class %s", ec->name);
    mark_clashes(field, out->ncontext);
    find_meaning(ec, out, key);
    if (out->kind == TL_INSTANT)
        find_roles(field, out);
    out->scopes = find_scopes(scope);
    if (*key)
        out->flags |= TL_CLASS_KEY_IS_FIELD;
    if (!sc->clock)
        out->flags |= TL_CLASS_TIMELESS;
    return 0;
}
