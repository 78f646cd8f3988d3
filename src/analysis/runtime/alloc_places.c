/* Keeps the innermost frame of every track, and adds up its allocations. */
#include "analysis/runtime/alloc_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/source_impl.h"

#define SOURCE_MAX 512u /* bytes of "file:line" that are kept */

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for places of allocations");
}

/* The entry of a track, which may have been added while reading. */
static struct tl_alloc_top *top_of(tl_alloc_sites *s, uint32_t track)
{
    return TL_GROW_TO(s->top, s->ntop, track, TL_TRACKS_MAX) ? &s->top[track] : NULL;
}

int tl_alloc_sites_sample(tl_alloc_sites *s, const tl_runtime_event *ev, tl_error *e)
{
    const tl_value *stack = ev->field[TL_FIELD_STACK];
    struct tl_alloc_top *top = top_of(s, ev->track);
    if (!top)
        return no_memory(e);
    if (!stack || stack->type != TL_STACK)
        return 0;
    if (!top->listed) {
        if (!TL_GROW(s->changed, s->nchanged, 1, s->changed_capacity))
            return no_memory(e);
        s->changed[s->nchanged++] = ev->track;
    }
    const tl_frame *frame = stack->as.p;
    *top = (struct tl_alloc_top){.frame = frame, .known = frame != NULL, .listed = true};
    if (frame)
        s->line_flag |= frame->flags & TL_FRAME_LINE;
    return 0;
}

/* Copies the needed parts of the frame before its batch is gone. */
static void settle(tl_alloc_sites *s, struct tl_alloc_top *top)
{
    const tl_frame *frame = top->frame;
    if (!frame)
        return;
    top->frame = NULL;
    top->flags = frame->flags;
    top->function = frame->function;
    top->name = NULL;
    if (!(frame->flags & TL_FRAME_FUNCTION)) {
        top->function = 0;
        top->name = frame->name ? tl_strings_get(&s->strings, frame->name, strlen(frame->name)) : NULL;
        s->failed = s->failed || (frame->name && !top->name);
    }
}

void tl_alloc_sites_batch_end(tl_alloc_sites *s)
{
    for (uint32_t i = 0; i < s->nchanged; i++) {
        settle(s, &s->top[s->changed[i]]);
        s->top[s->changed[i]].listed = false;
    }
    s->nchanged = 0;
}

/* The number of a key in the order of first use; TL_HASH_NONE when memory runs out. */
static uint32_t number_of(tl_hash *h, uint64_t key)
{
    const uint32_t known = tl_hash_get(h, key);
    if (known != TL_HASH_NONE)
        return known;
    const uint32_t number = h->n;
    return tl_hash_put(h, key, number) ? number : TL_HASH_NONE;
}

/* Functions have numbers from 2; unnumbered ones have the address of their name, which is larger. */
static uint32_t function_number(tl_alloc_sites *s, const struct tl_alloc_top *top)
{
    if (!top->known)
        return 0;
    if (!(top->flags & TL_FRAME_FUNCTION) && !top->name)
        return 1;
    const uint32_t n = top->flags & TL_FRAME_FUNCTION ? number_of(&s->functions, top->function)
                                                      : number_of(&s->functions, ~(uint64_t)(uintptr_t)top->name);
    return n < UINT32_MAX - 2 ? n + 2 : TL_HASH_NONE;
}

static int find_site(tl_alloc_sites *s, struct tl_alloc_top *top, const tl_value *ip, uint32_t *out, tl_error *e)
{
    const bool has_ip = tl_value_is_number(ip) && top->known;
    uint32_t function = function_number(s, top), place = 0;
    if (has_ip && (place = number_of(&s->ips, ip->as.u)) != TL_HASH_NONE)
        place++;
    if (s->failed || function == TL_HASH_NONE || place == TL_HASH_NONE)
        return no_memory(e);
    const uint64_t key = (uint64_t)function << 32 | place;
    *out = tl_hash_get(&s->index, key);
    if (*out != TL_HASH_NONE)
        return 0;
    if (!TL_GROW(s->site, s->n, 1, s->capacity) || !tl_hash_put(&s->index, key, s->n))
        return no_memory(e);
    s->site[s->n] = (struct tl_alloc_site){.top = *top, .has_ip = has_ip, .ip = has_ip ? ip->as.u : 0};
    *out = s->n++;
    return 0;
}

int tl_alloc_sites_add(tl_alloc_sites *s, uint32_t track, const tl_value *ip, uint64_t count, uint64_t bytes,
                       tl_error *e)
{
    struct tl_alloc_top *top = top_of(s, track);
    uint32_t site = 0;
    if (!top)
        return no_memory(e);
    settle(s, top);
    int status = find_site(s, top, ip, &site, e);
    if (status < 0)
        return status;
    tl_sum_add(&s->site[site].count, count);
    tl_sum_add(&s->site[site].bytes, bytes);
    return 0;
}

/* The function's name for people; NULL: no stack. */
static const char *site_name(const struct tl_alloc_site *site, const tl_trace *t, const tl_names *functions,
                             char buf[24])
{
    const struct tl_alloc_top *top = &site->top;
    if (!top->known)
        return NULL;
    if (!(top->flags & TL_FRAME_FUNCTION))
        return top->name ? top->name : "?";
    const char *name = tl_names_get(functions, top->function);
    const tl_function *f = name ? NULL : tl_trace_function(t, (int64_t)top->function);
    if (f && f->name)
        name = f->name;
    if (!name) {
        snprintf(buf, 24, "0x%" PRIx64, top->function);
        name = buf;
    }
    return name;
}

/* "Work.cs:12", or "" if unknown. */
static void site_source(const struct tl_alloc_site *site, const tl_alloc_sites *s, const tl_runtime *r,
                        char buf[SOURCE_MAX])
{
    const tl_reader *reader = r->source->reader;
    tl_location where = {0};
    const tl_frame frame = {.function = site->top.function,
                            .ip = site->ip,
                            .flags = (site->top.flags & TL_FRAME_FUNCTION) | TL_FRAME_IP | s->line_flag,
                            .depth = 1};
    buf[0] = 0;
    if (!site->has_ip || !reader->locate || !reader->locate(r->source->state, &frame, &where) || !where.file)
        return;
    const char *slash = strrchr(where.file, '/'), *back = strrchr(where.file, '\\');
    const char *last = back > slash || !slash ? back : slash;
    if (where.line)
        snprintf(buf, SOURCE_MAX, "%s:%" PRIu32, last ? last + 1 : where.file, where.line);
    else
        snprintf(buf, SOURCE_MAX, "%s", last ? last + 1 : where.file);
}

static int find_place(tl_alloc_places *p, const char *name, const char *source, uint32_t *out, tl_error *e)
{
    /* Name and source as one text, interned to be a key. */
    const size_t n = (name ? strlen(name) : 0) + 1, m = strlen(source) + 1;
    char *label = malloc(n + m);
    if (!label)
        return no_memory(e);
    memcpy(label, name ? name : "", n);
    memcpy(label + n, source, m);
    label[n - 1] = name ? '\n' : '\r';
    const char *kept = tl_strings_get(&p->strings, label, n + m - 1);
    free(label);
    name = name && kept ? tl_strings_get(&p->strings, name, n - 1) : NULL;
    source = kept ? tl_strings_get(&p->strings, source, m - 1) : NULL;
    *out = kept ? tl_hash_get(&p->index, (uint64_t)(uintptr_t)kept) : TL_HASH_NONE;
    if (*out != TL_HASH_NONE)
        return 0;
    if (!TL_GROW(p->place, p->n, 1, p->capacity) || !source || (n > 1 && !name) ||
        !tl_hash_put(&p->index, (uint64_t)(uintptr_t)kept, p->n))
        return no_memory(e);
    p->place[p->n] = (tl_alloc_place){.name = name, .source = source};
    *out = p->n++;
    return 0;
}

int tl_alloc_places_add(tl_alloc_places *p, const tl_alloc_sites *s, const tl_runtime *r, const tl_names *functions,
                        tl_error *e)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct tl_alloc_site *site = &s->site[i];
        char number[24], source[SOURCE_MAX];
        uint32_t place = 0;
        site_source(site, s, r, source);
        int status = find_place(p, site_name(site, r->trace, functions, number), source, &place, e);
        if (status < 0)
            return status;
        tl_sum_join(&p->place[place].count, site->count);
        tl_sum_join(&p->place[place].bytes, site->bytes);
    }
    return 0;
}

static int by_bytes(const void *left, const void *right)
{
    const tl_alloc_place *a = left, *b = right;
    int order = tl_sum_compare(b->bytes, a->bytes);
    if (order == 0)
        order = tl_sum_compare(b->count, a->count);
    if (order == 0)
        order = a->name && b->name ? strcmp(a->name, b->name) : !a->name - !b->name;
    return order ? order : strcmp(a->source, b->source);
}

void tl_alloc_places_sort(tl_alloc_places *p)
{
    tl_hash_fini(&p->index); /* indexes change */
    if (p->n)
        qsort(p->place, p->n, sizeof *p->place, by_bytes);
}

void tl_alloc_sites_fini(tl_alloc_sites *s)
{
    free(s->top);
    free(s->changed);
    free(s->site);
    tl_hash_fini(&s->functions);
    tl_hash_fini(&s->ips);
    tl_hash_fini(&s->index);
    tl_strings_fini(&s->strings);
}

void tl_alloc_places_fini(tl_alloc_places *p)
{
    free(p->place);
    tl_hash_fini(&p->index);
    tl_strings_fini(&p->strings);
    *p = (tl_alloc_places){0};
}
