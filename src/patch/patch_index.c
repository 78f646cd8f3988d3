/* Which function an address of code lies in, and which addresses are targets of known branches: asked for every branch
 * of an object, so it must be quick. */
#include "patch/patch_planner.h"

#define BUCKET_BITS 8

const patch_part *patch_code_part(const patch_plan *plan, uint64_t begin, uint64_t size)
{
    for (unsigned i = 0; i < plan->codes; i++) {
        const patch_part *part = plan->code[i];
        if (begin >= part->address && size <= part->size && begin - part->address <= part->size - size)
            return part;
    }
    return NULL;
}

const uint8_t *patch_code_at(const patch_plan *plan, uint64_t address, size_t *n)
{
    const patch_part *part = patch_code_part(plan, address, 1);
    if (!part)
        return NULL;
    *n = (size_t)(part->size - (address - part->address));
    return part->bytes + (address - part->address);
}

/* The first function from `i` on that ends behind the address. */
static uint32_t first_behind(const patch_plan *plan, uint32_t i, uint64_t address)
{
    while (i < plan->functions && plan->function[i].begin + plan->function[i].size <= address)
        i++;
    return i;
}

/* The same by halves, within [low, high]. */
static uint32_t search_behind(const patch_plan *plan, uint32_t low, uint32_t high, uint64_t address)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (plan->function[middle].begin + plan->function[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool patch_index_make(patch_planner *p)
{
    patch_plan *const plan = p->plan;
    uint64_t bits = 0, buckets = 0;
    for (unsigned i = 0; i < plan->codes; i++) {
        p->first_bit[i] = bits;
        p->first_bucket[i] = buckets;
        bits += plan->code[i]->size;
        buckets += (plan->code[i]->size >> BUCKET_BITS) + 2;
    }
    if (!patch_room(&plan->memory, (void **)&plan->target, &plan->target_room, (size_t)(bits / 8) + 1, 1) ||
        !patch_room(&p->brief, (void **)&p->bucket, &p->bucket_room, (size_t)buckets, sizeof *p->bucket))
        return false;
    for (unsigned i = 0; i < plan->codes; i++) {
        const uint64_t n = (plan->code[i]->size >> BUCKET_BITS) + 2, base = plan->code[i]->address;
        uint32_t f = search_behind(plan, 0, plan->functions, base);
        for (uint64_t b = 0; b < n; b++)
            p->bucket[p->first_bucket[i] + b] = f = first_behind(plan, f, base + (b << BUCKET_BITS));
    }
    return true;
}

uint32_t patch_index_find(const patch_planner *p, uint64_t address)
{
    const patch_plan *const plan = p->plan;
    for (unsigned i = 0; i < plan->codes; i++) {
        const uint64_t at = address - plan->code[i]->address;
        if (at >= plan->code[i]->size)
            continue;
        const uint32_t *b = p->bucket + p->first_bucket[i] + (at >> BUCKET_BITS);
        const uint32_t f = search_behind(plan, b[0], b[1], address);
        return f < plan->functions && plan->function[f].begin <= address ? f : PATCH_NONE;
    }
    return PATCH_NONE;
}

void patch_index_mark(patch_planner *p, uint64_t address)
{
    const patch_plan *const plan = p->plan;
    for (unsigned i = 0; i < plan->codes; i++) {
        const uint64_t at = address - plan->code[i]->address;
        if (at >= plan->code[i]->size)
            continue;
        const uint64_t bit = p->first_bit[i] + at;
        plan->target[bit >> 3] |= (uint8_t)(1 << (bit & 7));
        return;
    }
}

bool patch_plan_is_target(const patch_plan *p, uint64_t address)
{
    uint64_t first = 0;
    for (unsigned i = 0; i < p->codes; first += p->code[i++]->size) {
        const uint64_t at = address - p->code[i]->address;
        if (at < p->code[i]->size)
            return p->target[(first + at) >> 3] >> ((first + at) & 7) & 1;
    }
    return false;
}

uint32_t patch_plan_find(const patch_plan *p, uint64_t address)
{
    const uint32_t f = search_behind(p, 0, p->functions, address);
    return f < p->functions && p->function[f].begin <= address ? f : PATCH_NONE;
}
