/* Makes the plan of an object, step by step. */
#include "patch/patch_planner.h"

bool patch_room(const patch_memory *memory, void **array, size_t *room, size_t n, size_t each)
{
    size_t needed, larger;
    if (__builtin_mul_overflow(n, each, &needed))
        return false;
    if (needed <= *room)
        return true;
    larger = *room > SIZE_MAX / 2 || *room * 2 < needed ? needed : *room * 2;
    if (*room && larger < 4096)
        larger = 4096;
    void *moved = *array ? memory->grow(*array, *room, larger) : memory->take(larger);
    if (!moved)
        return false;
    *array = moved;
    *room = larger;
    return true;
}

static bool make(patch_planner *p, const patch_named *named, const patch_range *symbol, uint32_t symbols)
{
    if (!patch_ranges_find(p, symbol, symbols) || !patch_index_make(p) || !patch_scan_all(p))
        return false;
    patch_parts_find(p);
    patch_sites_make(p, named);
    return true;
}

bool patch_plan_make(patch_plan *p, const patch_image *image, const patch_machine *machine, const patch_memory *memory,
                     const patch_named *named, const patch_range *symbol, uint32_t symbols)
{
    patch_planner planner = {.plan = p, .brief = patch_memory_brief(memory)};
    *p = (patch_plan){.image = image, .machine = machine, .memory = *memory};
    for (unsigned i = 0; i < image->parts; i++)
        if (image->part[i].code)
            p->code[p->codes++] = &image->part[i];
    const bool good = make(&planner, named, symbol, symbols);
    patch_give(memory, planner.known, planner.known_room);
    patch_give(memory, planner.bucket, planner.bucket_room);
    if (!good)
        patch_plan_free(p);
    return good;
}

void patch_plan_free(patch_plan *p)
{
    patch_give(&p->memory, p->function, p->function_room);
    patch_give(&p->memory, p->site, p->site_room);
    patch_give(&p->memory, p->target, p->target_room);
    p->function = NULL;
    p->site = NULL;
    p->target = NULL;
    p->functions = p->sites = 0;
}
