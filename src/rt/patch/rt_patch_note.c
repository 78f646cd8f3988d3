/* Composes the note that says how many functions of an object are patched, and why others are not. */
#include "rt/patch/rt_patch_note.h"

#include "patch/patch_plan.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

static void put(rt_line *l, const char *key, uint64_t value)
{
    tl_rt_line_text(l, key);
    tl_rt_line_number(l, value);
}

/* "it shares a fragment with another function (2); ..." */
static void put_reasons(rt_line *l, const patch_counts *c)
{
    const char *between = " why=";
    for (unsigned why = PATCH_NO_CODE; why < PATCH_WHYS; why++) {
        if (!c->why[why])
            continue;
        tl_rt_line_text(l, between);
        tl_rt_line_text(l, patch_why_text((patch_why)why));
        put(l, " (", c->why[why]);
        tl_rt_line_text(l, ")");
        between = "; ";
    }
}

void tl_rt_patch_note_counts(const rt_object *o, const patch_counts *c)
{
    rt_object *noted = (rt_object *)(uintptr_t)o;
    rt_line *l = o->patched ? (rt_line *)(uintptr_t)o->patched : tl_rt_memory_take(sizeof *l);
    if (!l)
        return;
    rt_line_begin(l);
    put(l, "patched object=", o->id);
    put(l, " functions=", c->functions);
    put(l, " patched=", c->patched);
    put(l, " late=", c->late);
    put(l, " ends=", c->ends);
    put(l, " ends-patched=", c->ends_patched);
    put_reasons(l, c);
    noted->patched = l;
}
