/* An answer as one JSON object. */
#include "model/row_json.h"
#include "view/view.h"

/* Rows that are members: of an object, or of the answer itself, where names may be paths. */
static void put_pairs(tl_members *m, const tl_part *p)
{
    tl_cell name, value;
    if (p->key) {
        tl_members_go(m, p->key);
        tl_json_object(&m->json);
    }
    for (uint64_t i = 0; i < p->n; i++) {
        tl_part_cell(p, i, 0, &name);
        tl_part_cell(p, i, 1, &value);
        if (p->key)
            tl_json_key(&m->json, name.text);
        else
            tl_members_go(m, name.text);
        tl_cell_json(&m->json, p, &p->column[1], &value, false);
    }
    if (p->key)
        tl_json_object_end(&m->json);
}

static int show_json(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    tl_output *out = s->out;
    tl_members m = {.depth = 0};
    tl_json *j = &m.json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    if (a->unit)
        tl_json_key_string(j, "unit", a->unit);
    for (const tl_part *p = a->first; p; p = p->next) {
        if (!p->for_programs)
            continue;
        if (p->is_object) {
            put_pairs(&m, p);
            continue;
        }
        if (!p->key) {
            tl_members_row(&m, p, 0, false);
            continue;
        }
        tl_members_go(&m, p->key);
        tl_json_array(j);
        for (uint64_t i = 0; i < p->n; i++) {
            tl_row_json(j, p, i, false);
            tl_arena_reset(&p->answer->scratch);
        }
        tl_json_array_end(j);
    }
    tl_members_leave(&m, 0);
    tl_json_object_end(j);
    tl_output_puts(out, "\n");
    return tl_answer_check(a, e);
}

static int show_jsonl(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    tl_output *out = s->out;
    const tl_part *p = tl_answer_main(a);
    tl_json j;
    for (uint64_t i = 0; p && i < p->n; i++) {
        tl_json_init(&j, out);
        tl_row_json(&j, p, i, true);
        tl_output_puts(out, "\n");
        tl_arena_reset(&p->answer->scratch);
    }
    return tl_answer_check(a, e);
}

const tl_view tl_view_json = {.name = "json",
                              .suffix = ".json",
                              .for_programs = true,
                              .show = show_json,
                              .what = "one object with everything, as --json"};
const tl_view tl_view_jsonl = {
    .name = "jsonl", .suffix = ".jsonl", .for_programs = true, .show = show_jsonl, .what = "one object of JSON a row"};
