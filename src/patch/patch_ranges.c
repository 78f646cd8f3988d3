/* The ranges of code of an object, sorted and without overlaps, and what each of them may be, judged by how it begins.
 */
#include "patch/patch_planner.h"

typedef struct found {
    uint64_t begin, end, frame;
    uint8_t why;
    bool framed;
} found;

typedef struct list {
    found *at;
    size_t room;
    uint32_t n;
} list;

static bool add(patch_planner *p, list *l, const found *f)
{
    if (l->n == PATCH_FUNCTIONS_MAX) {
        p->plan->beyond += p->plan->beyond < UINT32_MAX / 2;
        return true;
    }
    if (!patch_room(&p->brief, (void **)&l->at, &l->room, l->n + (size_t)1, sizeof *l->at))
        return false;
    l->at[l->n++] = *f;
    return true;
}

static uint64_t end_of(uint64_t begin, uint64_t size)
{
    return size > UINT64_MAX - begin ? UINT64_MAX : begin + size;
}

static void judge_frame(const patch_plan *plan, const patch_frame *frame, found *f)
{
    const patch_cfa cfa = patch_cfa_at(plan->image, frame, frame->begin);
    f->framed = patch_is_gone(plan, cfa);
    if (frame->signal)
        f->why = PATCH_IS_RETURN;
    else if (cfa.known && !cfa.returns)
        f->why = PATCH_IS_START;
    else
        f->why = f->framed ? PATCH_OK : PATCH_IS_PART;
}

static bool begin_rows(const patch_planner *p, uint32_t range, patch_cfa_walk *walk)
{
    patch_frames one = {.image = p->plan->image, .at = p->known[range].frame, .end = UINT64_MAX};
    patch_frame frame;
    if (!one.at || !patch_frames_next(&one, &frame))
        return false;
    patch_cfa_begin(walk, p->plan->image, &frame);
    return true;
}

bool patch_is_frame_gone(const patch_planner *p, patch_rows *rows, uint32_t range, uint64_t address)
{
    if (rows->range != range && !begin_rows(p, range, &rows->walk))
        return false;
    rows->range = range;
    return patch_is_gone(p->plan, patch_cfa_next(&rows->walk, address));
}

static bool of_frames(patch_planner *p, patch_frames *walk, list *l)
{
    patch_frame frame;
    while (patch_frames_next(walk, &frame)) {
        found f = {frame.begin, end_of(frame.begin, frame.size), frame.entry, PATCH_NO_CODE, false};
        if (f.begin == f.end)
            continue;
        if (patch_code_part(p->plan, frame.begin, frame.size))
            judge_frame(p->plan, &frame, &f);
        if (!add(p, l, &f))
            return false;
    }
    return true;
}

static bool of_symbols(patch_planner *p, const patch_range *symbol, uint32_t symbols, list *l)
{
    for (uint32_t i = 0; i < symbols; i++) {
        found f = {symbol[i].begin, end_of(symbol[i].begin, symbol[i].size), 0, PATCH_OK, true};
        if (f.begin == f.end)
            continue;
        if (!patch_code_part(p->plan, symbol[i].begin, symbol[i].size))
            f.why = PATCH_NO_CODE;
        if (!add(p, l, &f))
            return false;
    }
    return true;
}

/* Merges from[low, middle) and from[middle, high) into to. */
static void merge(found *to, const found *from, uint32_t low, uint32_t middle, uint32_t high)
{
    uint32_t a = low, b = middle;
    for (uint32_t i = low; i < high; i++)
        to[i] = b == high || (a < middle && from[a].begin <= from[b].begin) ? from[a++] : from[b++];
}

/* By begin; false: no memory. */
static bool sort(const patch_memory *memory, list *l)
{
    const size_t bytes = l->n * sizeof *l->at;
    bool sorted = true;
    for (uint32_t i = 1; i < l->n && sorted; i++)
        sorted = l->at[i - 1].begin <= l->at[i].begin;
    if (sorted)
        return true;
    found *from = l->at, *to = memory->take(bytes), *const other = to;
    if (!to)
        return false;
    for (uint32_t width = 1; width < l->n; width *= 2) {
        for (uint32_t low = 0; low < l->n; low += 2 * width) {
            const uint32_t middle = l->n - low < width ? l->n : low + width;
            const uint32_t high = l->n - middle < width ? l->n : middle + width;
            merge(to, from, low, middle, high);
        }
        found *const swap = from;
        from = to;
        to = swap;
    }
    if (from == other)
        for (uint32_t i = 0; i < l->n; i++)
            l->at[i] = from[i];
    memory->give(other, bytes);
    return true;
}

/* Ranges that overlap become one that is left out, but for a range that is listed twice. Symbols that begin at one
 * place are names of one function, of which the longest counts. */
static void join(list *l, bool symbols)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const found f = l->at[i];
        found *const before = n ? &l->at[n - 1] : NULL;
        if (!before || f.begin >= before->end) {
            l->at[n++] = f;
            continue;
        }
        const bool again = f.begin == before->begin && f.why == before->why && (symbols || f.end == before->end);
        if (f.end > before->end)
            before->end = f.end;
        if (!again)
            before->why = PATCH_NO_CODE;
    }
    l->n = n;
}

/* The first instructions: marks, then what may be the jump of a linkage table, also behind a push. */
static void judge_begin(const patch_plan *plan, patch_function *f, patch_known *k)
{
    size_t n;
    patch_insn insn;
    const uint8_t *code = patch_code_at(plan, f->begin, &n);
    if (!code)
        return;
    if (n > f->size)
        n = f->size;
    uint32_t at = 0;
    while (plan->machine->decode(code + at, n - at, f->begin + at, &insn) && insn.kind == PATCH_INSN_MARK) {
        k->marked = true;
        if (at + insn.length >= n)
            return;
        at += insn.length;
    }
    f->entry = at;
    for (unsigned i = 0; i < (k->framed ? 1 : 2); i++) {
        if (!plan->machine->decode(code + at, n - at, f->begin + at, &insn))
            return;
        if (insn.kind == PATCH_INSN_INDIRECT && insn.memory)
            f->why = PATCH_IS_LINKAGE;
        at += insn.length;
    }
}

static void convert(patch_planner *p, const found *from, uint32_t i)
{
    patch_function *f = &p->plan->function[i];
    patch_known *k = &p->known[i];
    const uint64_t size = from->end - from->begin;
    *f = (patch_function){.begin = from->begin, .parent = i, .why = from->why};
    f->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    *k = (patch_known){.frame = from->frame, .source = PATCH_NONE, .set = i, .function = PATCH_NONE};
    k->framed = from->framed;
    if (size > UINT32_MAX)
        f->why = PATCH_NO_CODE;
    if (patch_is_body(f))
        judge_begin(p->plan, f, k);
}

bool patch_ranges_find(patch_planner *p, const patch_range *symbol, uint32_t symbols)
{
    patch_plan *const plan = p->plan;
    patch_frames walk;
    list l = {NULL, 0, 0};
    bool good = !patch_frames_begin(&walk, plan->image) || of_frames(p, &walk, &l);
    plan->framed = l.n;
    good = good && (plan->framed || of_symbols(p, symbol, symbols, &l)) && l.n && sort(&p->brief, &l);
    if (good) {
        join(&l, !plan->framed);
        plan->functions = l.n + 1;
        good = patch_room(&plan->memory, (void **)&plan->function, &plan->function_room, plan->functions,
                          sizeof *plan->function) &&
               patch_room(&p->brief, (void **)&p->known, &p->known_room, plan->functions, sizeof *p->known);
    }
    if (good) {
        convert(p, &(found){.why = PATCH_IS_START}, 0);
        for (uint32_t i = 0; i < l.n; i++)
            convert(p, &l.at[i], i + 1);
    }
    patch_give(&p->brief, l.at, l.room);
    return good;
}
