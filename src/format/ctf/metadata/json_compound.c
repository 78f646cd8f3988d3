/* Field classes of CTF 2 that contain others: structure, arrays, optional and variant; locations and ranges. */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "format/ctf/metadata/json_build.h"

/* ---- locations ---- */

static bool read_origin(ctf_json *j, const tl_json_value *v, ctf_origin *origin)
{
    static const char *const names[] = {[CTF_FROM_PACKET_HEADER] = "packet-header",
                                        [CTF_FROM_PACKET_CONTEXT] = "packet-context",
                                        [CTF_FROM_EVENT_HEADER] = "event-record-header",
                                        [CTF_FROM_STREAM_CONTEXT] = "event-record-common-context",
                                        [CTF_FROM_EVENT_CONTEXT] = "event-record-specific-context",
                                        [CTF_FROM_PAYLOAD] = "event-record-payload"};
    for (unsigned i = 0; v->kind == TL_JSON_STRING && i < TL_COUNT(names); i++)
        if (strcmp(v->as.s, names[i]) == 0) {
            *origin = (ctf_origin)i;
            return true;
        }
    ctf_json_fail(
        j, TL_EDAMAGED, v,
        "the origin of a location: expected a scope (\"packet-header\" to \"event-record-payload\"), found %s",
        v->kind == TL_JSON_STRING ? ctf_json_clip(j, v->as.s) : tl_json_kind_name(v));
    return false;
}

/* A null goes up from the field of the preceding names: it removes the last name. Only those that leave the struct of
 * the field are kept, at the front. */
static void read_path(ctf_json *j, const tl_json_value *list, const tl_json_value *first, ctf_location *l)
{
    const char **path = ctf_json_alloc(j, list->n * sizeof *path);
    uint32_t n = 0, names = 0;
    bool ends_in_name = false;
    if (!path)
        return;
    for (const tl_json_value *v = first; v && j->rc >= 0; v = v->next) {
        ends_in_name = v->kind == TL_JSON_STRING;
        if (ends_in_name) {
            path[n++] = ctf_json_copy(j, v, v->as.s, v->n);
            names++;
        } else if (v->kind != TL_JSON_NULL) {
            ctf_json_fail(j, TL_EDAMAGED, v, "a location: expected a string or null, found %s", tl_json_kind_name(v));
        } else if (names > 0) {
            n--;
            names--;
        } else if (l->origin != CTF_FROM_HERE) {
            ctf_json_fail(j, TL_EDAMAGED, v, "a location: null leads out of its origin");
        } else {
            path[n++] = NULL;
        }
    }
    if (!ends_in_name)
        ctf_json_fail(j, TL_EDAMAGED, list, "a location: expected a path that ends with a name");
    l->path = path;
    l->n = n;
}

const ctf_location *ctf_json_location(ctf_json *j, const tl_json_value *object, const char *name)
{
    const tl_json_value *v = ctf_json_need(j, object, name);
    if (!v)
        return NULL;
    ctf_location *l = ctf_json_alloc(j, sizeof *l);
    if (!l)
        return NULL;
    l->position = j->base + v->offset;
    l->origin = CTF_FROM_HERE;
    if (v->kind == TL_JSON_ARRAY) { /* drafts before 2.0: ["event-record-header", "id"] */
        if (v->n < 2)
            ctf_json_fail(j, TL_EDAMAGED, v, "a location: expected an origin and a path");
        else if (read_origin(j, v->as.first, &l->origin))
            read_path(j, v, v->as.first->next, l);
        return l;
    }
    const tl_json_value *origin = tl_json_find(v, "origin"), *path = ctf_json_need(j, v, "path");
    if (path)
        path = ctf_json_get(j, v, "path", TL_JSON_ARRAY);
    if (path && (!origin || read_origin(j, origin, &l->origin)))
        read_path(j, path, path->as.first, l);
    return l;
}

/* ---- ranges ---- */

/* Which numbers were in ranges of unknown signedness: that of the selector elsewhere. */
typedef struct signs {
    bool negative, large; /* below 0; above INT64_MAX */
} signs;

static uint64_t read_integer(ctf_json *j, const tl_json_value *v, signs *seen)
{
    if (v->kind != TL_JSON_UINT && v->kind != TL_JSON_INT) {
        ctf_json_fail(j, TL_EDAMAGED, v, "a range: expected an integer of 64 bits, found %s", tl_json_kind_name(v));
        return 0;
    }
    if (v->kind == TL_JSON_INT)
        seen->negative = true;
    else if (v->as.u > INT64_MAX)
        seen->large = true;
    if (seen->negative && seen->large)
        ctf_json_fail(j, TL_EDAMAGED, v, "ranges of negative integers and of integers above %" PRId64, INT64_MAX);
    return v->kind == TL_JSON_INT ? (uint64_t)v->as.i : v->as.u;
}

/* [low, high]; signed if there was a negative number. */
static void read_range(ctf_json *j, const tl_json_value *v, signs *seen, uint64_t *low, uint64_t *high)
{
    if (v->kind != TL_JSON_ARRAY || v->n != 2) {
        ctf_json_fail(j, TL_EDAMAGED, v, "a range: expected an array of two integers");
        return;
    }
    const tl_json_value *first = v->as.first, *second = first->next;
    *low = read_integer(j, first, seen);
    *high = read_integer(j, second, seen);
    const bool ordered = first->kind == TL_JSON_INT ? second->kind == TL_JSON_UINT || first->as.i <= second->as.i
                                                    : second->kind == TL_JSON_UINT && *low <= *high;
    if (!ordered)
        ctf_json_fail(j, TL_EDAMAGED, v, "a range whose end lies before its begin");
}

/* The ranges of an option. At least one, since none means a boolean selector. */
static void read_ranges(ctf_json *j, const tl_json_value *list, signs *seen, ctf_member *m)
{
    if (list->kind != TL_JSON_ARRAY || list->n == 0) {
        ctf_json_fail(j, TL_EDAMAGED, list, "\"selector-field-ranges\": expected an array of at least one range");
        return;
    }
    ctf_range *range = ctf_json_alloc(j, list->n * sizeof *range);
    if (!range)
        return;
    uint32_t n = 0;
    for (const tl_json_value *v = list->as.first; v && j->rc >= 0; v = v->next, n++)
        read_range(j, v, seen, &range[n].low, &range[n].high);
    m->range = range;
    m->nrange = n;
}

/* The number of ranges of all labels. */
static uint32_t count_ranges(ctf_json *j, const tl_json_value *labels)
{
    uint32_t n = 0; /* cannot overflow: each is a value of the fragment */
    for (const tl_json_value *v = labels->as.first; v && j->rc >= 0; v = v->next) {
        if (v->kind != TL_JSON_ARRAY || v->n == 0)
            ctf_json_fail(j, TL_EDAMAGED, v, "\"%s\": expected an array of at least one range",
                          ctf_json_clip(j, v->name));
        n += v->n;
    }
    return n;
}

static void check_sign(ctf_json *j, const tl_json_value *v, const signs *seen, const ctf_type *t)
{
    if (seen->negative && !t->is_signed)
        ctf_json_fail(j, TL_EDAMAGED, v, "a negative range of an unsigned integer");
    if (seen->large && t->is_signed)
        ctf_json_fail(j, TL_EDAMAGED, v, "a range above %" PRId64 " of a signed integer", INT64_MAX);
}

/* Ranges of bits that a bit map does not have would keep readers busy: they are cut. */
static bool keep_range(const ctf_type *t, tl_mapping *m)
{
    if (t->kind != CTF_BITMAP)
        return true;
    if (m->high >= t->bits)
        m->high = t->bits - 1;
    return m->low <= m->high;
}

void ctf_json_mappings(ctf_json *j, const tl_json_value *object, const char *name, ctf_type *t)
{
    const tl_json_value *labels = ctf_json_get(j, object, name, TL_JSON_OBJECT);
    if (!labels || labels->n == 0)
        return;
    const uint32_t all = count_ranges(j, labels);
    tl_mapping *mapping = ctf_json_alloc(j, all * sizeof *mapping);
    if (!mapping)
        return;
    uint32_t n = 0;
    signs seen = {0};
    for (const tl_json_value *label = labels->as.first; label && j->rc >= 0; label = label->next) {
        const char *text = ctf_json_copy(j, label, label->name, label->name_n);
        for (const tl_json_value *v = label->as.first; v && j->rc >= 0; v = v->next) {
            mapping[n].label = text;
            read_range(j, v, &seen, &mapping[n].low, &mapping[n].high);
            check_sign(j, v, &seen, t);
            if (j->rc >= 0 && keep_range(t, &mapping[n]))
                n++;
        }
    }
    t->mapping = mapping;
    t->nmapping = n;
}

/* ---- nested types ---- */

/* Counts a type that is a member of another. False if it has failed or exceeds a limit. */
static bool take(ctf_json *j, const tl_json_value *v, ctf_json_type *whole, const ctf_json_type *part)
{
    if (!part->type || j->rc < 0)
        return false;
    if (part->height >= whole->height)
        whole->height = part->height + 1;
    if (whole->height > CTF_DEPTH_MAX)
        ctf_json_fail(j, TL_EUNSUPPORTED, v, "more than %u field classes in each other", CTF_DEPTH_MAX);
    if (part->fields > CTF_JSON_FIELDS_MAX - whole->fields)
        ctf_json_fail(j, TL_EUNSUPPORTED, v, "more than %u fields, with all aliases written out", CTF_JSON_FIELDS_MAX);
    else
        whole->fields += part->fields;
    return j->rc >= 0;
}

static ctf_json_type new_type(ctf_json *j, const tl_json_value *v, ctf_kind kind, ctf_type **t)
{
    *t = ctf_type_new(j->s, kind, j->base + v->offset);
    if (!*t)
        ctf_json_no_memory(j);
    return (ctf_json_type){.type = *t, .fields = 1, .height = 1};
}

/* Checks that members have different names. */
static void check_unique(ctf_json *j, const tl_json_value *list, const ctf_member *member, uint32_t n)
{
    const uint32_t number = j->structs++;
    const tl_json_value *v = list->as.first;
    for (uint32_t i = 0; v && i < n && j->rc >= 0; i++, v = v->next) {
        if (!member[i].name)
            continue;
        const char *s = tl_strings_get(&j->strings, member[i].name, strlen(member[i].name));
        if (s && tl_hash_get(&j->member_seen, (uintptr_t)s) == number)
            ctf_json_fail(j, TL_EDAMAGED, v, "a second member is named \"%s\"", ctf_json_clip(j, s));
        else if (!s || !tl_hash_put(&j->member_seen, (uintptr_t)s, number))
            ctf_json_no_memory(j);
    }
}

/* Room for the members in a list; NULL: failed, or there are none. */
static ctf_member *new_members(ctf_json *j, const tl_json_value *list)
{
    if (list->n > CTF_MEMBERS_MAX) {
        ctf_json_fail(j, TL_EUNSUPPORTED, list, "%" PRIu32 " members; expected at most %u", list->n, CTF_MEMBERS_MAX);
        return NULL;
    }
    return ctf_json_alloc(j, list->n * sizeof(ctf_member));
}

static void set_members(ctf_type *t, const ctf_member *member, uint32_t n)
{
    t->member = member;
    t->nmember = n;
}

/* The only member of an array or an optional. */
static void read_only_member(ctf_json *j, const tl_json_value *v, const char *name, unsigned depth,
                             ctf_json_type *whole, ctf_type *t, ctf_member **out)
{
    const tl_json_value *inner = ctf_json_need(j, v, name);
    ctf_member *m = ctf_json_alloc(j, sizeof *m);
    if (!m)
        return;
    const ctf_json_type part = ctf_json_field_class(j, inner, depth + 1);
    if (!take(j, inner, whole, &part))
        return;
    m->type = part.type;
    set_members(t, m, 1);
    *out = m;
}

/* The alignment that a type needs from its container; none for a variant and an optional. Stored in `align` of structs
 * and arrays, to avoid searching again. */
static void align_for(ctf_type *t, const ctf_type *part)
{
    if (part->align > t->align)
        t->align = part->align;
}

static ctf_json_type read_structure(ctf_json *j, const tl_json_value *v, unsigned depth)
{
    ctf_type *t;
    ctf_json_type whole = new_type(j, v, CTF_STRUCT, &t);
    const tl_json_value *list = ctf_json_get(j, v, "member-classes", TL_JSON_ARRAY);
    ctf_member *member = list && list->n > 0 ? new_members(j, list) : NULL;
    uint32_t n = 0;
    if (j->rc >= 0)
        t->align = ctf_json_align(j, v, "minimum-alignment", 1);
    for (const tl_json_value *m = member ? list->as.first : NULL; m && j->rc >= 0; m = m->next) {
        const tl_json_value *inner = ctf_json_need(j, m, "name") ? ctf_json_need(j, m, "field-class") : NULL;
        const char *name = ctf_json_string(j, m, "name");
        const ctf_json_type part = ctf_json_field_class(j, inner, depth + 1);
        if (!take(j, m, &whole, &part))
            break;
        member[n++] = (ctf_member){.name = name, .raw = name, .type = part.type};
        align_for(t, part.type);
    }
    if (j->rc >= 0 && member)
        check_unique(j, list, member, n);
    if (j->rc < 0)
        return (ctf_json_type){0};
    set_members(t, member, n);
    return whole;
}

static ctf_json_type read_array(ctf_json *j, const tl_json_value *v, unsigned depth, bool dynamic)
{
    ctf_type *t;
    ctf_member *m = NULL;
    ctf_json_type whole = new_type(j, v, CTF_ARRAY, &t);
    if (j->rc >= 0) {
        t->dynamic = dynamic;
        t->align = ctf_json_align(j, v, "minimum-alignment", 1);
        if (dynamic)
            t->location = ctf_json_location(j, v, "length-field-location");
        else
            t->length = ctf_json_need_uint(j, v, "length", 0, UINT64_MAX);
        read_only_member(j, v, "element-field-class", depth, &whole, t, &m);
    }
    if (j->rc < 0 || !m)
        return (ctf_json_type){0};
    align_for(t, m->type);
    return whole;
}

static ctf_json_type read_optional(ctf_json *j, const tl_json_value *v, unsigned depth)
{
    ctf_type *t;
    ctf_member *m = NULL;
    ctf_json_type whole = new_type(j, v, CTF_OPTIONAL, &t);
    if (j->rc >= 0) {
        t->location = ctf_json_location(j, v, "selector-field-location");
        read_only_member(j, v, "field-class", depth, &whole, t, &m);
    }
    const tl_json_value *ranges = j->rc < 0 ? NULL : tl_json_find(v, "selector-field-ranges");
    signs seen = {0};
    if (ranges && m)
        read_ranges(j, ranges, &seen, m);
    return j->rc < 0 ? (ctf_json_type){0} : whole;
}

static ctf_json_type read_variant(ctf_json *j, const tl_json_value *v, unsigned depth)
{
    ctf_type *t;
    ctf_json_type whole = new_type(j, v, CTF_VARIANT, &t);
    const ctf_location *location = ctf_json_location(j, v, "selector-field-location");
    const tl_json_value *list = ctf_json_need(j, v, "options") ? ctf_json_get(j, v, "options", TL_JSON_ARRAY) : NULL;
    if (list && list->n == 0)
        ctf_json_fail(j, TL_EDAMAGED, list, "a variant without options");
    ctf_member *member = list && j->rc >= 0 ? new_members(j, list) : NULL;
    uint32_t n = 0;
    signs seen = {0};
    for (const tl_json_value *m = member ? list->as.first : NULL; m && j->rc >= 0; m = m->next, n++) {
        const tl_json_value *inner = ctf_json_need(j, m, "field-class");
        const tl_json_value *ranges = ctf_json_need(j, m, "selector-field-ranges");
        member[n].name = member[n].raw = ctf_json_string(j, m, "name");
        const ctf_json_type part = ctf_json_field_class(j, inner, depth + 1);
        if (!take(j, m, &whole, &part))
            break;
        member[n].type = part.type;
        read_ranges(j, ranges, &seen, &member[n]);
    }
    if (j->rc >= 0)
        check_unique(j, list, member, n);
    if (j->rc < 0)
        return (ctf_json_type){0};
    t->location = location;
    set_members(t, member, n);
    return whole;
}

ctf_json_type ctf_json_compound(ctf_json *j, const tl_json_value *v, const char *kind, unsigned depth, bool *done)
{
    if (depth >= CTF_DEPTH_MAX) {
        ctf_json_fail(j, TL_EUNSUPPORTED, v, "more than %u field classes in each other", CTF_DEPTH_MAX);
        return (ctf_json_type){0};
    }
    if (strcmp(kind, "structure") == 0)
        return read_structure(j, v, depth);
    if (strcmp(kind, "static-length-array") == 0)
        return read_array(j, v, depth, false);
    if (strcmp(kind, "dynamic-length-array") == 0)
        return read_array(j, v, depth, true);
    if (strcmp(kind, "optional") == 0)
        return read_optional(j, v, depth);
    if (strcmp(kind, "variant") == 0)
        return read_variant(j, v, depth);
    *done = false;
    return (ctf_json_type){0};
}

const ctf_type *ctf_json_scope(ctf_json *j, const tl_json_value *fragment, const char *name)
{
    const tl_json_value *v = j->rc < 0 ? NULL : tl_json_find(fragment, name);
    if (!v)
        return NULL;
    const ctf_json_type made = ctf_json_field_class(j, v, 0);
    if (!made.type)
        return NULL;
    if (made.type->kind != CTF_STRUCT)
        ctf_json_fail(j, TL_EDAMAGED, v, "\"%s\": expected a structure", name);
    j->fields += made.fields;
    if (j->fields > CTF_JSON_FIELDS_MAX)
        ctf_json_fail(j, TL_EUNSUPPORTED, v, "more than %u fields, with all aliases written out", CTF_JSON_FIELDS_MAX);
    return j->rc < 0 ? NULL : made.type;
}
