/* Events and packets that the tracer lost.
 *
 * Both counters run from packet to packet of a stream: the difference is the loss. A single value means nothing
 * without the previous one, so that of the first packet counts only if it is number 0 of its stream; in the dialect of
 * 2010 counters start with each file. */
#include "format/ctf/read/ctf_losses.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* A counter with more bits does not wrap between two packets: a slightly lower value was set back. */
#define NARROW_BITS 16u

static uint64_t mask_of(unsigned bits)
{
    return bits == 0 || bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* How far a counter advanced, or 0 if it went back. */
static uint64_t step(uint64_t from, uint64_t to, unsigned bits)
{
    const uint64_t mask = mask_of(bits), difference = (to - from) & mask;
    return mask > mask_of(NARROW_BITS) && difference > mask / 2 ? 0 : difference;
}

static ctf_chain *find(ctf_losses *l, uint32_t stream, const ctf_packet *p, uint64_t *key)
{
    ctf_chain *c = l->latest < l->n ? &l->chain[l->latest] : NULL;
    *key = 0;
    if (c && c->stream == stream && c->has_instance == p->has_instance && c->instance == p->instance)
        return c;
    tl_hasher h = tl_hasher_begin();
    tl_hasher_add(&h, (uint64_t)stream << 1 | p->has_instance);
    tl_hasher_add(&h, p->instance);
    *key = tl_hasher_end(h);
    for (uint32_t i; (i = tl_hash_get(&l->known, *key)) != TL_HASH_NONE; ++*key) {
        c = &l->chain[i];
        if (c->stream == stream && c->has_instance == p->has_instance && c->instance == p->instance) {
            l->latest = i;
            return c;
        }
    }
    return NULL;
}

static bool add_chain(ctf_losses *l, const ctf_packet *p, const ctf_counters *now, uint64_t key)
{
    if (!TL_GROW(l->chain, l->n, 1, l->capacity) || !tl_hash_put(&l->known, key, l->n))
        return false;
    l->latest = l->n;
    l->chain[l->n++] = (ctf_chain){
        .stream = p->stream, .has_instance = p->has_instance, .instance = p->instance, .first = *now, .last = *now};
    return true;
}

int ctf_losses_add(ctf_losses *l, const ctf_file *f, const ctf_packet *p, uint64_t begin, tl_error *e)
{
    const bool is_2010 = f->unit->schema.dialect == CTF_2010;
    const ctf_counters now = {.has_discarded = p->has_discarded,
                              .has_sequence = p->has_sequence,
                              .discarded_bits = p->discarded_bits,
                              .sequence_bits = p->sequence_bits,
                              .discarded = p->discarded,
                              .sequence = p->sequence,
                              .begin = begin};
    uint64_t key;
    ctf_chain *c = find(l, p->stream, p, &key);
    if (!c) {
        if (p->has_discarded && (is_2010 || (p->has_sequence && p->sequence == 0)))
            l->events += p->discarded;
        else if (p->has_discarded && !p->has_sequence && l->unnumbered == 0) {
            l->unnumbered = p->discarded;
            l->unnumbered_at = p->offset;
        }
        if (l->n == CTF_CHAINS_MAX) {
            l->beyond = true;
            return 0;
        }
        return add_chain(l, p, &now, key) ? 0
                                          : tl_fail(e, TL_ENOMEM, p->offset, "no memory for the counters of packets");
    }
    const ctf_counters *last = &c->last;
    if (is_2010) {
        l->events += (p->discarded - last->discarded) & mask_of(p->discarded_bits);
        l->packets += (p->sequence - last->sequence - 1) & mask_of(p->sequence_bits);
    } else {
        if (last->has_discarded && p->has_discarded)
            l->events += step(last->discarded, p->discarded, p->discarded_bits);
        const uint64_t on =
            last->has_sequence && p->has_sequence ? step(last->sequence, p->sequence, p->sequence_bits) : 0;
        l->packets += on > 0 ? on - 1 : 0;
    }
    c->last = now;
    return 0;
}

void ctf_losses_fini(ctf_losses *l)
{
    free(l->chain);
    tl_hash_fini(&l->known);
    *l = (ctf_losses){0};
}

/* ---- between files ---- */

typedef struct part {
    const ctf_unit *unit;
    uint64_t id; /* of the stream class */
    bool has_instance;
    uint64_t instance; /* or the first file of the stream, if packets have no instance */
    const ctf_chain *chain;
    uint32_t file;
} part;

/* Parts of one trace have its uuid, even in different folders. */
static int compare_units(const ctf_unit *a, const ctf_unit *b)
{
    if (a == b)
        return 0;
    if (a->schema.has_uuid && b->schema.has_uuid)
        return memcmp(a->schema.uuid, b->schema.uuid, sizeof a->schema.uuid);
    if (a->schema.has_uuid != b->schema.has_uuid)
        return a->schema.has_uuid ? -1 : 1;
    return a < b ? -1 : 1;
}

static int compare_streams(const part *a, const part *b)
{
    const int units = compare_units(a->unit, b->unit);
    if (units)
        return units;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->has_instance != b->has_instance)
        return a->has_instance ? -1 : 1;
    return TL_COMPARE(a->instance, b->instance);
}

static int compare_parts(const void *left, const void *right)
{
    const part *a = left, *b = right;
    const int streams = compare_streams(a, b);
    if (streams)
        return streams;
    if (a->chain->first.begin != b->chain->first.begin)
        return a->chain->first.begin < b->chain->first.begin ? -1 : 1;
    return TL_COMPARE(a->file, b->file);
}

static void join(const part *a, const part *b, uint64_t *events, uint64_t *packets)
{
    const ctf_counters *from = &a->chain->last, *to = &b->chain->first;
    if (compare_streams(a, b) != 0 || !from->has_sequence || !to->has_sequence)
        return;
    const uint64_t on = step(from->sequence, to->sequence, to->sequence_bits);
    if (on == 0) /* the same packets again, or the tracer was restarted */
        return;
    *packets += on - 1;
    if (from->has_discarded && to->has_discarded)
        *events += step(from->discarded, to->discarded, to->discarded_bits);
}

/* A stream of a file that may continue in other files; false: it may not. */
static bool make_part(part *p, const ctf_file *f, uint32_t index, const ctf_chain *c)
{
    const bool goes_on = f->first && f->first->next;
    *p = (part){f->unit,
                f->unit->schema.stream[c->stream]->id,
                c->has_instance,
                c->has_instance || !goes_on ? c->instance : f->first->index,
                c,
                index};
    return (c->has_instance && f->unit->schema.dialect != CTF_2010) || goes_on;
}

int ctf_losses_join(const ctf_losses *l, const ctf_file *file, uint32_t n, uint64_t *events, uint64_t *packets,
                    tl_error *e)
{
    size_t parts = 0;
    for (uint32_t i = 0; i < n; i++)
        parts += l[i].n;
    part *list = tl_alloc(parts + 1, sizeof *list);
    if (!list)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the counters of packets");
    parts = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < l[i].n; k++)
            parts += make_part(&list[parts], &file[i], i, &l[i].chain[k]);
    qsort(list, parts, sizeof *list, compare_parts);
    for (size_t i = 1; i < parts; i++)
        join(&list[i - 1], &list[i], events, packets);
    free(list);
    return 0;
}
