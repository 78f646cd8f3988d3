/* Reading all metadata of a folder: one unit for each file of that name.
 *
 * A recording of many processes may have thousands that differ only in uuid, clock and environment. They are parsed a
 * few at a time on all threads, and equal ones share classes and plans: such a unit takes a few hundred bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/io/base_name.h"
#include "base/pool.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/plan/ctf_plan_impl.h"
#include "format/ctf/read/ctf_reader.h"
#include "format/ctf/read/ctf_same.h"

#define AT_ONCE 64u /* schemas in memory before equal ones are found */

/* A parsed metadata file. */
typedef struct parsed {
    uint32_t index; /* in the folder */
    ctf_schema schema;
    int status;
    tl_error error;
} parsed;

typedef struct opening {
    ctf_reader *reader;
    parsed *batch; /* [AT_ONCE] */
    uint32_t n;
    tl_hash known_schema; /* ctf_same_key() -> unit */
    tl_hash known_class;
    tl_property *common; /* properties that all units share; the strings belong to the trace */
    uint32_t ncommon;
    bool has_version;
} opening;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the metadata");
}

const ctf_clock *ctf_unit_clock(const ctf_unit *u, uint32_t stream)
{
    const ctf_clock *clock = u->schema.stream[stream]->clock;
    for (uint32_t i = 0; clock && u->like && i < u->schema.nclock; i++)
        if (u->like->schema.clock[i] == clock)
            return u->schema.clock[i];
    return clock;
}

/* ---- properties of the trace ---- */

static const tl_property *find_property(const ctf_schema *s, const char *name)
{
    for (uint32_t i = 0; i < s->nproperty; i++)
        if (strcmp(s->property[i].name, name) == 0)
            return &s->property[i];
    return NULL;
}

static bool same_property(const tl_property *a, const tl_property *b)
{
    return b && a->text && b->text ? strcmp(a->text, b->text) == 0
                                   : b && !a->text && !b->text && a->number == b->number;
}

static int first_properties(opening *o, const ctf_schema *s, tl_error *e)
{
    tl_trace *t = o->reader->trace;
    o->common = calloc((size_t)s->nproperty + 1, sizeof *o->common);
    if (!o->common)
        return no_memory(e);
    for (uint32_t i = 0; i < s->nproperty; i++) {
        tl_property *p = &o->common[o->ncommon++];
        *p = s->property[i];
        p->name = tl_trace_intern(t, p->name);
        if (!p->name || (p->text && !(p->text = tl_trace_intern(t, p->text))))
            return no_memory(e);
    }
    return 0;
}

/* Version, byte order and environment, as far as all units agree. */
static int add_facts(opening *o, const ctf_schema *s, tl_error *e)
{
    tl_trace *t = o->reader->trace;
    char text[32];
    if (s->dialect == CTF_2)
        snprintf(text, sizeof text, "2");
    else
        snprintf(text, sizeof text, "%u.%u", s->major, s->minor);
    const char *version = tl_trace_intern(t, text), *order = s->order == CTF_BE ? "big" : "little";
    if (!version)
        return no_memory(e);
    if (!o->has_version) {
        o->has_version = true;
        t->version = version;
        t->byte_order = order;
        return first_properties(o, s, e);
    }
    if (strcmp(t->version, version) != 0)
        t->version = "several";
    if (strcmp(t->byte_order, order) != 0)
        t->byte_order = "several";
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->ncommon; i++)
        if (same_property(&o->common[i], find_property(s, o->common[i].name)))
            o->common[n++] = o->common[i];
    o->ncommon = n;
    return 0;
}

/* ---- problems ---- */

/* Whether the sizes in the header of a packet of 2010 are possible in a file of this size. */
static bool has_sizes_2010(const uint8_t *head, uint64_t size, bool big)
{
    const uint32_t content = tl_load32(head + CTF_2010_CONTENT_SIZE, big);
    const uint32_t packet = tl_load32(head + CTF_2010_PACKET_SIZE, big);
    return content >= CTF_2010_HEADER && content <= packet && packet <= size;
}

/* The rule broken by unusable metadata. That of 2010 is a packet, recognisable even without its magic number. */
static const char *metadata_rule(const tl_folder *f, uint32_t index)
{
    const uint32_t magic = (uint32_t)CTF_MAGIC_PACKET;
    const uint64_t size = f->file[index].size;
    uint8_t head[CTF_2010_HEADER] = {0};
    size_t got = 0;
    tl_input *in = NULL;
    if (tl_folder_input(f, index, &in, NULL) < 0)
        return "ctf.metadata";
    const int status = tl_input_read(in, 0, head, sizeof head, &got, NULL);
    tl_input_close(in);
    if (status < 0 || got < sizeof head)
        return "ctf.metadata";
    if (tl_load32(head, false) == magic || tl_load32(head, true) == magic)
        return "ctf2010.metadata";
    return has_sizes_2010(head, size, false) || has_sizes_2010(head, size, true) ? "ctf2010.magic" : "ctf.metadata";
}

/* A unit with unusable metadata: its streams stay unread, all others are read. */
static int report_unusable(opening *o, uint32_t index, const tl_error *why, tl_error *e)
{
    const tl_folder *f = o->reader->folder;
    const uint64_t at = why->offset == TL_NO_OFFSET ? 0 : why->offset;
    const tl_damage d = {.offset = at,
                         .at = at,
                         .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS,
                         .rule = metadata_rule(f, index),
                         .file = f->file[index].name};
    return tl_trace_report(o->reader->trace, e, &d, "%s", why->message);
}

/* Problems that did not stop the parser. */
static int report_problems(opening *o, uint32_t index, const ctf_schema *s, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < s->ndamage; i++) {
        tl_damage d = s->damage[i];
        d.file = o->reader->folder->file[index].name;
        status = tl_trace_report(o->reader->trace, e, &d, "%s", s->damage[i].what);
    }
    return status;
}

/* ---- units ---- */

/* A copy of the environment in the arena of s. */
static bool copy_environment(ctf_schema *s, const ctf_schema *own)
{
    tl_property *p = tl_arena_alloc(&s->arena, ((size_t)own->nproperty + 1) * sizeof *p);
    for (uint32_t i = 0; p && i < own->nproperty; i++) {
        p[i] = own->property[i];
        p[i].name = tl_arena_strndup(&s->arena, p[i].name, strlen(p[i].name));
        if (p[i].text)
            p[i].text = tl_arena_strndup(&s->arena, p[i].text, strlen(p[i].text));
        if (!p[i].name || (own->property[i].text && !p[i].text))
            return false;
    }
    s->property = p;
    s->nproperty = own->nproperty;
    return p != NULL;
}

/* Keeps only the differences of a schema from that of `like`; frees the rest. */
static int share(ctf_unit *u, const ctf_unit *like, tl_error *e)
{
    ctf_schema own = u->schema, s = like->schema;
    s.arena = (tl_arena){0};
    s.session = own.session;
    memcpy(s.uuid, own.uuid, sizeof s.uuid);
    const ctf_clock **list = tl_arena_alloc(&s.arena, (own.nclock + 1) * sizeof(const ctf_clock *));
    ctf_clock *clock = tl_arena_alloc(&s.arena, (own.nclock + 1) * sizeof *clock);
    bool ok = list && clock;
    for (uint32_t i = 0; ok && i < own.nclock; i++) {
        clock[i] = *own.clock[i];
        clock[i].id = clock[i].description = clock[i].uuid = NULL;
        if (clock[i].name)
            clock[i].name = tl_arena_strndup(&s.arena, clock[i].name, strlen(clock[i].name));
        ok = clock[i].name || !own.clock[i]->name;
        list[i] = &clock[i];
    }
    s.clock = list;
    ok = ok && copy_environment(&s, &own);
    s.name = s.text = NULL;
    s.part = NULL;
    s.damage = NULL;
    s.npart = s.ndamage = 0;
    s.ntext = 0;
    ctf_plans *plans = ok ? malloc(sizeof *plans) : NULL;
    if (!plans) {
        tl_arena_fini(&s.arena);
        return no_memory(e);
    }
    tl_arena_fini(&u->schema.arena);
    u->schema = s;
    u->like = like;
    *plans = *like->plans;
    plans->schema = &u->schema;
    u->plans = plans;
    return 0;
}

/* Makes the plans of a unit that equals no earlier one. */
static int plan(opening *o, ctf_unit *u, tl_error *e)
{
    ctf_class_list *classes = &o->reader->classes;
    const uint32_t first = classes->n;
    int status = ctf_plans_new(&u->plans, &u->schema, classes, e);
    if (status < 0) {
        classes->n = first;
        if (e && e->offset != TL_NO_OFFSET)
            e->offset = ctf_metadata_offset(&u->schema, e->offset);
        return status;
    }
    status = ctf_same_classes(classes, first, u->plans, &o->known_class, e);
    return status;
}

/* Adds a unit with a schema, which it takes over. Reports an unusable schema. */
static int add_unit(opening *o, parsed *p, tl_error *e)
{
    ctf_reader *r = o->reader;
    ctf_unit *u = &r->unit[r->nunit];
    *u = (ctf_unit){.schema = p->schema, .metadata = r->folder->file[p->index].name};
    const uint64_t key = ctf_same_key(&u->schema);
    const uint32_t known = tl_hash_get(&o->known_schema, key);
    const ctf_unit *like = known == TL_HASH_NONE ? NULL : &r->unit[known];
    int status = report_problems(o, p->index, &u->schema, e);
    if (status == 0 && (!like || !ctf_same_schema(&like->schema, &u->schema))) {
        like = NULL;
        status = plan(o, u, e);
        if (status == TL_EDAMAGED || status == TL_EUNSUPPORTED) {
            const tl_error why = e ? *e : (tl_error){.offset = TL_NO_OFFSET, .message = "it cannot be used"};
            tl_arena_fini(&u->schema.arena);
            return report_unusable(o, p->index, &why, e);
        }
        if (status == 0 && !tl_hash_put(&o->known_schema, key, r->nunit))
            status = no_memory(e);
    }
    if (status == 0)
        status = add_facts(o, &u->schema, e);
    if (status == 0 && like)
        status = share(u, like, e);
    r->nunit++; /* closed with the others, even after failure */
    return status;
}

static int parse_one(void *arg, unsigned worker, uint32_t i)
{
    opening *o = arg;
    parsed *p = &o->batch[i];
    (void)worker;
    p->error = (tl_error){.offset = TL_NO_OFFSET};
    p->status = ctf_metadata_read(&p->schema, o->reader->folder, p->index, &p->error);
    return 0;
}

/* Parses the batch, and adds it. */
static int add_batch(opening *o, tl_error *e)
{
    ctf_reader *r = o->reader;
    tl_parallel(r->want.threads, o->n, parse_one, o);
    int status = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        parsed *p = &o->batch[i];
        if (status == 0 && p->status >= 0) {
            status = add_unit(o, p, e);
            continue;
        }
        if (status == 0 && (p->status == TL_EDAMAGED || p->status == TL_EUNSUPPORTED)) {
            status = report_unusable(o, p->index, &p->error, e);
        } else if (status == 0) {
            status = p->status;
            if (e) {
                *e = p->error;
                tl_error_context(e, "%s", r->folder->file[p->index].name);
            }
        }
        tl_arena_fini(&p->schema.arena);
    }
    o->n = 0;
    return status;
}

static int add_all(opening *o, tl_error *e)
{
    const tl_folder *f = o->reader->folder;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < f->n; i++) {
        if (strcmp(tl_base_name(f->file[i].name), "metadata") != 0)
            continue;
        o->batch[o->n++] = (parsed){.index = i};
        if (o->n == AT_ONCE)
            status = add_batch(o, e);
    }
    return status == 0 ? add_batch(o, e) : status;
}

static uint32_t count_units(const tl_folder *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        n += strcmp(tl_base_name(f->file[i].name), "metadata") == 0;
    return n;
}

int ctf_units_open(ctf_reader *r, tl_error *e)
{
    opening o = {.reader = r};
    tl_error own, *error = e ? e : &own; /* the reason is needed even if the caller does not want it */
    r->classes.arena = &r->arena;
    r->classes.packets = r->want.packets;
    r->unit = calloc((size_t)count_units(r->folder) + 1, sizeof *r->unit);
    o.batch = calloc(AT_ONCE, sizeof *o.batch);
    int status = r->unit && o.batch ? add_all(&o, error) : no_memory(error);
    if (status == 0)
        status = r->classes.n == 0 ? 0 : tl_trace_set_classes(r->trace, r->classes.cls, r->classes.n, error);
    for (uint32_t i = 0; status == 0 && i < o.ncommon; i++)
        status = tl_trace_add_property(r->trace, o.common[i].name, o.common[i].text, o.common[i].number, error);
    free(o.batch);
    free(o.common);
    tl_hash_fini(&o.known_schema);
    tl_hash_fini(&o.known_class);
    return status;
}

void ctf_units_close(ctf_reader *r)
{
    for (uint32_t i = 0; r->unit && i < r->nunit; i++) {
        ctf_unit *u = &r->unit[i];
        if (u->like)
            free(u->plans);
        else
            ctf_plans_free(u->plans);
        tl_arena_fini(&u->schema.arena);
    }
    free(r->unit);
    free(r->classes.cls);
    r->unit = NULL;
    r->classes.cls = NULL;
    r->nunit = 0;
}
