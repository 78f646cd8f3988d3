/* Demangles the functions of a profile: the recorder's profiles have only linkage names. */
#include "op/symbols/profile_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/symbols/demangle.h"

/* Whether two functions are the same but for their names, or may be. */
static bool may_be_same(const tl_function *a, const tl_function *b)
{
    return a->id == b->id && (a->module == b->module || (a->module && b->module && strcmp(a->module, b->module) == 0));
}

static bool is_mangled(const tl_function *f)
{
    return f->name && f->linkage_name && f->name[0] == '_' && strcmp(f->name, f->linkage_name) == 0;
}

static int rename_function(tl_profile *p, tl_function *f, bool *changed, tl_error *e)
{
    char *readable = tl_demangle(f->linkage_name);
    if (!readable)
        return 0;
    const char *name = tl_profile_intern(p, readable);
    free(readable);
    if (!name)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the names of functions");
    f->name = name;
    *changed = true;
    return 0;
}

int tl_profile_alone(const tl_profile *p, uint8_t **out, tl_error *e)
{
    uint32_t *order = tl_alloc((size_t)p->nfunction + 1, sizeof *order); /* those of one module and id side by side */
    uint8_t *alone = calloc((size_t)p->nfunction + 1, 1);
    int status = order && alone
                     ? tl_profile_function_order(p, order, e)
                     : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name %" PRIu32 " functions", p->nfunction);
    for (uint32_t i = 0; status == 0 && i < p->nfunction; i++)
        alone[order[i]] = (i == 0 || !may_be_same(&p->function[order[i]], &p->function[order[i - 1]])) &&
                          (i + 1 == p->nfunction || !may_be_same(&p->function[order[i]], &p->function[order[i + 1]]));
    free(order);
    if (status < 0) {
        free(alone);
        alone = NULL;
    }
    *out = alone;
    return status;
}

int tl_profile_demangle(tl_profile *p, tl_error *e)
{
    bool any = false, changed = false;
    uint8_t *alone;
    for (uint32_t i = 0; i < p->nfunction && !any; i++)
        any = is_mangled(&p->function[i]);
    if (!any)
        return 0;
    int status = tl_profile_alone(p, &alone, e);
    for (uint32_t i = 0; status == 0 && i < p->nfunction; i++)
        if (alone[i] && is_mangled(&p->function[i]))
            status = rename_function(p, &p->function[i], &changed, e);
    free(alone);
    if (status == 0 && changed && !tl_profile_index_functions(p))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to name %" PRIu32 " functions", p->nfunction);
    return status;
}
