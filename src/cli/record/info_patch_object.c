/* Plans one object, and keeps what a table says of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/io/base_name.h"
#include "base/text/glob.h"
#include "cli/record/info_patch.h"
#include "op/symbols/demangle.h"
#include "op/symbols/place_name.h"
#include "patch/patch_select.h"

/* Bytes of all names that are shown; the others are called by their place. */
#define SHOWN_BYTES_MAX (16u << 20)
/* The recorder, as far away as it usually is. */
#define STUBS           UINT64_C(0x7ffff7b00000)

static void *take(size_t n)
{
    return calloc(1, n);
}

static void give(void *p, size_t n)
{
    (void)n;
    free(p);
}

static void *grow(void *p, size_t from, size_t to)
{
    uint8_t *bytes = p;
    if (!TL_RESIZE(bytes, to))
        return NULL;
    memset(bytes + from, 0, to - from);
    return bytes;
}

static const patch_memory memory = {take, give, grow, NULL};

static const patch_machine *machine_of(const tl_patch_file *f)
{
    return f->segments.machine == patch_aarch64.elf ? &patch_aarch64 : &patch_x86_64;
}

/* ---- which functions are wanted ---- */

typedef struct wanted {
    const patch_plan *plan;
    const tl_arguments *a;
    const char *object; /* file name */
    uint8_t *named;     /* [functions] 1: a pattern of -F, 2: of -N */
} wanted;

static bool matches(const tl_words *patterns, const char *object, const char *name)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (patch_selects_function(patterns->word[i], object, name, NULL, tl_glob))
            return true;
    return false;
}

static uint8_t match(const tl_arguments *a, const char *object, const char *name)
{
    return (uint8_t)((matches(&a->func, object, name) ? 1u : 0u) | (matches(&a->not_func, object, name) ? 2u : 0u));
}

/* "net::read(int)" -> "net::read": patterns have no arguments. */
static void cut_arguments(char *name)
{
    char *open = strchr(name, '(');
    if (open && open != name)
        *open = 0;
}

static int see_name(void *arg, uint64_t address, const tl_elf_symbol *s)
{
    const wanted *w = arg;
    const uint32_t i = patch_plan_find(w->plan, address);
    if (i == UINT32_MAX || w->plan->function[i].begin != address)
        return 0;
    char *readable = tl_demangle(s->name);
    w->named[i] |= match(w->a, w->object, s->name);
    if (readable) {
        cut_arguments(readable);
        w->named[i] |= match(w->a, w->object, readable);
    }
    free(readable);
    return 0;
}

/* Functions that the command line does not select. TL_ENOMEM. */
static int choose(tl_patch_file *f, patch_plan *plan, const tl_arguments *a, tl_error *e)
{
    wanted w = {plan, a, tl_base_name(f->path), calloc((size_t)plan->functions + 1, 1)};
    if (!w.named)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for its functions", f->path);
    const bool patterns = a->func.n || a->not_func.n;
    int status = patterns ? tl_patch_file_symbols(f, see_name, &w, e) : 0;
    for (uint32_t i = 0; i < plan->functions && status == 0; i++) {
        patch_function *p = &plan->function[i];
        char place[TL_PLACE_NAME];
        if (p->why != PATCH_OK)
            continue;
        uint8_t named = w.named[i];
        if (patterns)
            named |= match(a, w.object, tl_place_name(place, f->path, p->begin - f->bias));
        if (p->size < a->min_size || (a->func.n && !(named & 1)) || named & 2)
            p->why = PATCH_NOT_WANTED;
        else
            p->number = i + 1;
    }
    free(w.named);
    return status;
}

/* ---- rows ---- */

static bool is_left_out(const patch_function *f)
{
    return f->why > PATCH_IS_START && f->why != PATCH_NOT_WANTED;
}

static const char *copy(tl_patch_info *info, const char *text)
{
    return tl_arena_strndup(&info->arena, text, strlen(text));
}

typedef struct naming {
    tl_patch_info *info;
    uint64_t bias;
    uint32_t first; /* row of the object; they are by address */
} naming;

/* Names a row, unless a name was found before: .symtab comes first. */
static int name_row(void *arg, uint64_t address, const tl_elf_symbol *s)
{
    const naming *n = arg;
    tl_patch_info *info = n->info;
    uint32_t low = n->first, high = info->nfunction;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (info->function[middle].address + n->bias < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == info->nfunction || info->function[low].address + n->bias != address || info->function[low].name ||
        info->arena.total > SHOWN_BYTES_MAX)
        return 0;
    char *readable = tl_demangle(s->name);
    info->function[low].name = copy(info, readable ? readable : s->name);
    free(readable);
    return info->function[low].name ? 0 : TL_ENOMEM;
}

static bool add_function(tl_patch_info *info, const tl_patch_file *f, const patch_function *p, const char *object)
{
    const bool has_detail = p->why == PATCH_UNKNOWN_CODE;
    if (!TL_GROW(info->function, info->nfunction, 1, info->function_room))
        return false;
    info->function[info->nfunction++] =
        (tl_patch_function_row){.object = object,
                                .what = is_left_out(p) ? "left out" : "may end late",
                                .reason = is_left_out(p) ? patch_why_text(p->why) : "an end cannot be patched",
                                .address = p->begin - f->bias,
                                .size = p->size,
                                .detail = p->begin - f->bias + p->detail,
                                .has_detail = has_detail};
    return true;
}

static bool add_functions(tl_patch_info *info, tl_patch_file *f, const patch_plan *plan, const char *object,
                          tl_error *e)
{
    naming n = {info, f->bias, info->nfunction};
    bool ok = true;
    for (uint32_t i = 0; i < plan->functions && ok; i++) {
        const patch_function *p = &plan->function[i];
        if (is_left_out(p) || (p->why == PATCH_OK && p->late))
            ok = add_function(info, f, p, object);
    }
    ok = ok && tl_patch_file_symbols(f, name_row, &n, e) == 0;
    for (uint32_t i = n.first; ok && i < info->nfunction; i++) {
        char place[TL_PLACE_NAME];
        tl_patch_function_row *row = &info->function[i];
        row->name = row->name ? row->name : copy(info, tl_place_name(place, f->path, row->address));
        ok = row->name != NULL;
    }
    return ok;
}

static bool add_reasons(tl_patch_info *info, const patch_counts *c, const char *object)
{
    for (unsigned why = PATCH_IS_START + 1; why < PATCH_WHYS; why++) {
        if (!c->why[why])
            continue;
        if (!TL_GROW(info->reason, info->nreason, 1, info->reason_room))
            return false;
        info->reason[info->nreason++] = (tl_patch_reason_row){object, patch_why_text(why), c->why[why]};
    }
    return true;
}

static bool add_object(tl_patch_info *info, const tl_patch_file *f, const patch_counts *c)
{
    if (!TL_GROW(info->object, info->nobject, 1, info->object_room))
        return false;
    const char *path = copy(info, f->path);
    if (!path)
        return false;
    info->object[info->nobject++] = (tl_patch_object_row){.object = tl_base_name(path),
                                                          .path = path,
                                                          .functions = c->functions,
                                                          .patched = c->patched,
                                                          .left_out = c->functions - c->patched,
                                                          .late = c->late,
                                                          .ends = c->ends,
                                                          .ends_patched = c->ends_patched,
                                                          .direct = c->direct,
                                                          .punned = c->punned,
                                                          .evicted = c->evicted,
                                                          .several = c->several,
                                                          .bytes = c->pages * PATCH_PAGE};
    return true;
}

int tl_patch_info_add(tl_patch_info *info, tl_patch_file *f, tl_pretended *space, const tl_arguments *a, tl_error *e)
{
    union {
        patch_stubs stubs;
        uint64_t address[sizeof(patch_stubs) / sizeof(uint64_t)];
    } far;
    const patch_order order = {.stubs = &far.stubs, .alone = true, .exact = a->exact};
    patch_plan plan;
    patch_code code;
    uint64_t where = 0;
    for (size_t i = 0; i < TL_COUNT(far.address); i++)
        far.address[i] = STUBS + 256 * i;
    if (!patch_plan_make(&plan, &f->image, machine_of(f), &memory, &f->named, f->range, f->ranges))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "%s: has neither call frames (.eh_frame) nor symbols of functions", f->path);
    int status = choose(f, &plan, a, e);
    if (status == 0 && !patch_place(&code, &plan, &space->space, &order))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for its plan", f->path);
    if (status < 0) {
        patch_plan_free(&plan);
        return status;
    }
    if (!patch_check(&code, &plan, &where))
        status = tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: a jump at +0x%" PRIx64 " would go astray; please report this",
                         f->path, where - f->bias);
    else if (!add_object(info, f, &code.counts) ||
             !add_reasons(info, &code.counts, info->object[info->nobject - 1].object) ||
             !add_functions(info, f, &plan, info->object[info->nobject - 1].object, e))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for its functions", f->path);
    patch_code_free(&code);
    patch_plan_free(&plan);
    return status;
}

void tl_patch_info_fini(tl_patch_info *info)
{
    free(info->object);
    free(info->reason);
    free(info->function);
    tl_arena_fini(&info->arena);
    *info = (tl_patch_info){0};
}
