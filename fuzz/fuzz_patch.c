/* Fuzz target: the planner and the placer of patches. An input is a byte of choices, two of the size of .eh_frame,
 * which follows, and code. Whatever they are, a plan keeps its promises, takes little memory, and writes nothing but
 * its own. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_place.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER 0x500000
#define CODE   0x401000
#define MOST   ((size_t)64 << 20) /* bytes of memory */

static size_t used;

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

/* In front of each array: who took it. */
typedef struct array_head {
    uint64_t lent, check;
} array_head;

enum { CHECK = 0x1234567 };
static unsigned lent; /* arrays that were not given back */
static uint64_t left; /* of these many requests the last one fails */

static void *request(size_t n, bool brief)
{
    if (left == 0)
        return NULL;
    left--;
    used += n;
    promise(used < MOST, "a small object takes little memory");
    array_head *h = calloc(1, sizeof *h + n);
    *h = (array_head){brief, CHECK};
    lent += brief;
    return h + 1;
}

static void *take(size_t n)
{
    return request(n, false);
}

static void *lend(size_t n)
{
    return request(n, true);
}

static void give(void *p, size_t n)
{
    array_head *h = (array_head *)p - 1;
    promise(h->check == CHECK, "what is given back was taken");
    lent -= h->lent != 0;
    used -= n;
    free(h);
}

static void *grow(void *p, size_t from, size_t to)
{
    uint8_t *q = request(to, ((array_head *)p - 1)->lent);
    if (q) {
        memcpy(q, p, from);
        give(p, from);
    }
    return q;
}

static const patch_memory memory = {take, give, grow, lend};

static bool is_direct(const patch_insn *insn)
{
    return insn->kind == PATCH_INSN_JUMP || insn->kind == PATCH_INSN_COND;
}

/* What the site's instruction must be. */
static void check_insn(const patch_plan *p, const patch_site *s, const patch_function *range)
{
    const patch_part *code = p->code[0];
    const uint64_t at = s->address - code->address;
    patch_insn insn;
    promise(p->machine->decode(code->bytes + at, (size_t)(code->size - at), s->address, &insn),
            "sites are instructions");
    promise(insn.length == s->length || (s->entry && insn.kind == PATCH_INSN_NOP && insn.length < s->length),
            "as long as they say, or a run of nops");
    promise(s->kind != PATCH_RETURN || insn.kind == PATCH_INSN_RETURN, "a return returns");
    promise(s->kind != PATCH_INDIRECT || insn.kind == PATCH_INSN_INDIRECT, "an indirect jump");
    promise(s->kind != PATCH_SELF || (is_direct(&insn) && insn.target == s->target), "a jump to the begin");
    promise(s->kind != PATCH_TAIL || (is_direct(&insn) && insn.target == s->target), "a tail call");
    const patch_function *f = &p->function[s->function];
    promise(s->kind != PATCH_SELF || s->target == f->begin || s->target == f->begin + f->entry, "of the own function");
    promise(s->kind != PATCH_TAIL || patch_plan_find(p, s->target) == UINT32_MAX ||
                p->function[patch_plan_find(p, s->target)].parent != s->function,
            "of another one");
    promise(!s->entry || s->address == f->begin + f->entry, "an entry is where the function begins");
    promise(s->address + s->length <= range->begin + range->size, "within its range");
    promise(s->room >= s->length && at + s->room <= code->size, "room");
    for (uint64_t i = 1; i < s->length; i++)
        promise(!patch_plan_is_target(p, s->address + i), "nobody jumps into a site");
}

static void check_sites(const patch_plan *p)
{
    uint32_t next = 0, entries = 0, ok = 0;
    for (uint32_t i = 0; i < p->functions; i++) {
        const patch_function *f = &p->function[i];
        promise(f->sites == 0 || f->site == next, "sites are in the order of ranges");
        for (uint32_t s = f->site; s < f->site + f->sites; s++) {
            promise(p->site[s].function == f->parent && p->function[f->parent].why == PATCH_OK, "of their function");
            promise(s == 0 || p->site[s - 1].address + p->site[s - 1].room <= p->site[s].address, "apart");
            entries += p->site[s].entry;
            check_insn(p, &p->site[s], f);
        }
        next += f->sites;
        ok += f->why == PATCH_OK;
    }
    promise(next == p->sites, "each has a range");
    promise(entries == ok, "each function has one entry");
}

static void check_functions(const patch_plan *p)
{
    uint32_t parts = 0, listed = 0;
    for (uint32_t i = 1; i < p->functions; i++) {
        const patch_function *f = &p->function[i];
        promise(f->size > 0 && f->begin >= f[-1].begin + f[-1].size, "ranges are apart, in order");
        promise(f->why < PATCH_WHYS && patch_plan_find(p, f->begin) == i, "and found");
        promise(f->parent == i || (f->why == PATCH_IS_PART && p->function[f->parent].parent == f->parent), "parents");
        parts += f->parent != i;
        for (uint32_t part = f->next_part; f->parent == i && part; part = p->function[part].next_part)
            listed += p->function[part].parent == i;
    }
    promise(parts == listed, "all fragments are listed");
}

static void plan(const patch_image *image, uint8_t choices)
{
    const patch_range symbol[] = {{CODE, 7}, {CODE + 16, 16}, {CODE + 20, 4}, {CODE + 32, 100}};
    const uint64_t never[] = {CODE, 0}, enter[] = {CODE + 16};
    const patch_named named = {never, 2, enter, 1};
    patch_plan p;
    if (!patch_plan_make(&p, image, choices & 1 ? &patch_aarch64 : &patch_x86_64, &memory, choices & 2 ? &named : NULL,
                         symbol, choices & 4 ? 4 : 0)) {
        promise(used == 0, "a plan that failed keeps nothing");
        return;
    }
    check_functions(&p);
    check_sites(&p);
    const size_t before = used;
    promise(lent == 0, "a plan keeps nothing that was lent");
    const bool placed = place(&p, choices & 16, choices & 32, choices & 64, promise);
    promise(placed || left == 0, "places need nothing but memory");
    promise(used == before && lent == 0, "places take memory for themselves");
    patch_plan_free(&p);
    promise(used == 0, "all is given back");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const uint8_t choices = data[0];
    const size_t wanted = data[1] | (size_t)data[2] << 8, frames = wanted < size - 3 ? wanted : size - 3;
    const size_t code = size - 3 - frames;
    static const uint8_t usual[8] = {1, 0x1b, 0xff, 0xff, 4, 0, 0, 0};
    const size_t head = choices & 8 ? 0 : sizeof usual;            /* or the header is of the input, too */
    uint8_t *f = malloc(head + frames + 1), *c = malloc(code + 1); /* AddressSanitizer watches both */
    if (f && c) {
        memcpy(f, usual, head);
        memcpy(f + head, data + 3, frames);
        memcpy(c, data + 3 + frames, code);
        left = choices & 128 ? (code ? c[code - 1] : 0) : UINT64_MAX;
        patch_image image = {.parts = 2, .frame_header = choices & 4 ? 0 : HEADER};
        image.part[0] = (patch_part){HEADER, head + frames, f, false};
        image.part[1] = (patch_part){CODE, code, c, true};
        plan(&image, choices);
        promise(memcmp(f + head, data + 3, frames) == 0 && memcmp(c, data + 3 + frames, code) == 0,
                "nothing is written");
    }
    free(f);
    free(c);
    return 0;
}
