/* Writes .tlp files, part: functions with their objects, addresses and names; strings; and the order of all these. */
#include "rt/mode/rt_tlp_impl.h"
#include "rt/object/rt_objects.h"

/* ---- sorting: merges runs of 1, 2, 4, ...; stable, n log n, without recursion ---- */

static void merge(const tlp_writer *m, const uint32_t *from, uint32_t *to, uint32_t n, uint32_t width, tlp_after *after)
{
    for (uint64_t begin = 0; begin < n; begin += 2 * (uint64_t)width) {
        const uint64_t middle = begin + width < n ? begin + width : n;
        const uint64_t end = middle + width < n ? middle + width : n;
        uint64_t a = begin, b = middle;
        for (uint64_t i = begin; i < end; i++)
            to[i] = a < middle && (b == end || !after(m, from[a], from[b])) ? from[a++] : from[b++];
    }
}

void tl_rt_tlp_sort(const tlp_writer *m, uint32_t *order, uint32_t *scratch, uint32_t n, tlp_after *after)
{
    uint32_t *from = order, *to = scratch;
    for (uint32_t width = 1; width<n; width = width> n / 2 ? n : 2 * width) {
        merge(m, from, to, n, width, after);
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != order)
        rt_copy(order, from, (uint64_t)n * sizeof *order);
}

/* ---- strings ---- */

uint32_t tl_rt_tlp_string(tlp_writer *m, const char *s)
{
    if (!s || !tl_rt_tlp_grow(m, &m->text, m->ntext, sizeof *m->text))
        return 0;
    m->text[m->ntext] = (tlp_text){.s = s, .n = (uint32_t)rt_length(s)};
    return ++m->ntext;
}

static int compare_texts(const tlp_text *a, const tlp_text *b)
{
    const uint32_t n = a->n < b->n ? a->n : b->n;
    for (uint32_t i = 0; i < n; i++)
        if (a->s[i] != b->s[i])
            return (unsigned char)a->s[i] < (unsigned char)b->s[i] ? -1 : 1;
    return a->n < b->n ? -1 : a->n > b->n;
}

int tl_rt_tlp_compare(const tlp_writer *m, uint32_t a, uint32_t b)
{
    if (!a || !b || a == b)
        return a == b ? 0 : !a ? -1 : 1;
    return compare_texts(&m->text[a - 1], &m->text[b - 1]);
}

static bool text_after(const tlp_writer *m, uint32_t a, uint32_t b)
{
    return compare_texts(&m->text[a], &m->text[b]) > 0;
}

static void rank_texts(tlp_writer *m)
{
    m->text_order = tl_rt_tlp_numbers(m, m->ntext);
    if (!m->text_order)
        return;
    tl_rt_tlp_sort(m, m->text_order, m->text_order + m->ntext, m->ntext, text_after);
    for (uint32_t i = 0; i < m->ntext; i++) {
        const uint32_t at = m->text_order[i];
        if (!m->nstring || text_after(m, at, m->text_order[m->nstring - 1]))
            m->text_order[m->nstring++] = at;
        m->text[at].rank = m->nstring;
    }
}

/* ---- functions ---- */

static bool id_after(const tlp_writer *m, uint32_t a, uint32_t b)
{
    return m->function[a].id > m->function[b].id;
}

static uint32_t rank_of(const tlp_writer *m, uint32_t string)
{
    return string ? m->text[string - 1].rank : 0;
}

/* Ids are unique: what comes behind them in the order of the file decides nothing. */
static bool function_after(const tlp_writer *m, uint32_t a, uint32_t b)
{
    const uint32_t module_a = rank_of(m, m->function[a].module), module_b = rank_of(m, m->function[b].module);
    return module_a != module_b ? module_a > module_b : id_after(m, a, b);
}

/* The first of the functions, ascending by id, that has this id or a larger one. */
static uint32_t lower_bound(const tlp_writer *m, const uint32_t *order, uint64_t id)
{
    uint32_t low = 0, high = m->nfunction;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->function[order[middle]].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t object_of(const tlp_writer *m, uint32_t id)
{
    uint32_t low = 0, high = m->nobject;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->object[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->nobject && m->object[low].id == id ? low : TLP_NONE;
}

/* The functions base + 1 .. base + count are of an object; their addresses are in a table, if it is not NULL. */
static void take_range(tlp_writer *m, const uint32_t *order, uint32_t object, uint64_t base, uint64_t count,
                       const uint8_t *address)
{
    for (uint32_t i = lower_bound(m, order, base + 1); i < m->nfunction; i++) {
        tlp_function *f = &m->function[order[i]];
        if (f->id - base > count)
            return;
        f->object = object;
        if (address)
            f->address = tlp_load64(address + (f->id - base - 1) * 8);
    }
}

static void take_tables(tlp_writer *m, const uint32_t *order)
{
    live_chain chain = {0};
    const uint8_t *p;
    for (uint32_t at = tlp_load32(m->image + LIVE_HEADER_TABLES);
         (p = tlp_at(m, at, LIVE_TABLE_ADDRESS)) && !live_circles(&chain, at); at = tlp_load32(p + LIVE_TABLE_NEXT)) {
        const uint32_t object = object_of(m, tlp_load32(p + LIVE_TABLE_OBJECT)), n = tlp_load32(p + LIVE_TABLE_COUNT);
        if (object != TLP_NONE && tlp_at(m, at, LIVE_TABLE_ADDRESS + (uint64_t)n * 8))
            take_range(m, order, object, tlp_load32(p + LIVE_TABLE_BASE), n, p + LIVE_TABLE_ADDRESS);
    }
}

/* An object's strings and symbols, once a function is in it. */
static void use_object(tlp_writer *m, tlp_object *o)
{
    o->used = true;
    o->module = tl_rt_tlp_string(m, o->build_id);
    o->library = o->id == m->program ? 0 : tl_rt_tlp_string(m, o->path);
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        const rt_object *known = tl_rt_object(i);
        if (known && known->id == o->id) {
            o->symbols = tl_rt_symbols_open(known);
            return;
        }
    }
}

static void name_function(tlp_writer *m, tlp_function *f)
{
    const tlp_note *note = tl_rt_tlp_find(m->note, m->nnote, f->id);
    if (note) {
        f->object = object_of(m, note->object);
        f->address = note->address;
        f->name = tl_rt_tlp_string(m, note->name);
    }
    if (f->object == TLP_NONE)
        return;
    tlp_object *o = &m->object[f->object];
    if (!o->used)
        use_object(m, o);
    f->module = o->module;
    f->library = o->library;
    m->extended |= f->library != 0;
    if (!f->name && f->address && o->symbols)
        f->name = tl_rt_tlp_string(m, tl_rt_symbols_name(o->symbols, f->address));
}

void tl_rt_tlp_name_functions(tlp_writer *m)
{
    uint32_t *order = tl_rt_tlp_numbers(m, m->nfunction);
    if (!order)
        return;
    tl_rt_tlp_sort(m, order, order + m->nfunction, m->nfunction, id_after);
    for (uint32_t i = 0; i < m->nfunction; i++)
        m->function[i].object = TLP_NONE;
    for (uint32_t i = 0; i < m->nobject; i++)
        take_range(m, order, i, m->object[i].base, m->object[i].count, NULL);
    take_tables(m, order);
    for (uint32_t i = 0; i < m->nfunction && !m->error; i++)
        name_function(m, &m->function[i]);
    const uint32_t program = object_of(m, m->program);
    m->clock_text = tl_rt_tlp_string(m, m->clock);
    m->exe_text = tl_rt_tlp_string(m, m->exe);
    m->build_id_text = program == TLP_NONE ? 0 : tl_rt_tlp_string(m, m->object[program].build_id);
}

void tl_rt_tlp_close_symbols(tlp_writer *m)
{
    for (uint32_t i = 0; i < m->nobject; i++)
        if (m->object[i].symbols)
            tl_rt_symbols_close(m->object[i].symbols);
}

void tl_rt_tlp_rank(tlp_writer *m)
{
    rank_texts(m);
    m->function_order = tl_rt_tlp_numbers(m, m->nfunction);
    m->function_code = tl_rt_tlp_take(m, m->nfunction * (uint64_t)sizeof *m->function_code);
    if (!m->function_order || !m->function_code)
        return;
    tl_rt_tlp_sort(m, m->function_order, m->function_order + m->nfunction, m->nfunction, function_after);
    for (uint32_t i = 0; i < m->nfunction; i++)
        m->function_code[m->function_order[i]] = m->nthread + i;
}
