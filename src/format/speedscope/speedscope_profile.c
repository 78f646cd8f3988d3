/* Writing profiles for speedscope: stacks with weights, one "sampled" profile a thread.
 *
 *   {"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"traceloom 0.1.0","name":...,
 *    "profiles":[{"type":"sampled","name":"thread 7","unit":"nanoseconds","startValue":0,
 *                 "samples":[[0,1],[0,1,2]],"weights":[300,450],"endValue":750}],
 *    "activeProfileIndex":0,
 *    "shared":{"frames":[{"name":"main","file":"app.c","line":10},...]}}
 *
 * A sample is the frames of a stack, outermost first, as places in the list of frames; its weight is the self time in
 * ns, or ticks where the clock has no frequency (unit "none"). Stacks without self time are left out. The list of
 * frames stands last because the other writer, speedscope_events.c, knows it only then; JSON does not mind. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "base/number.h"
#include "format/speedscope/speedscope.h"
#include "model/place_tree.h"
#include "traceloom/format.h"

void tl_speedscope_begin(tl_json *j, const char *title)
{
    tl_json_object(j);
    tl_json_key_string(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    char exporter[64];
    snprintf(exporter, sizeof exporter, "traceloom %s", tl_version());
    tl_json_key_string(j, "exporter", exporter);
    if (title)
        tl_json_key_string(j, "name", title);
    tl_json_key(j, "profiles");
    tl_json_array(j);
}

void tl_speedscope_frames(tl_json *j, uint32_t active)
{
    tl_json_array_end(j);
    tl_json_key_u64(j, "activeProfileIndex", active);
    tl_json_key(j, "shared");
    tl_json_object(j);
    tl_json_key(j, "frames");
    tl_json_array(j);
}

void tl_speedscope_frame(tl_json *j, const tl_function *f)
{
    char label[24];
    tl_json_object(j);
    tl_json_key_string(j, "name", tl_function_label(f, label));
    if (f->file)
        tl_json_key_string(j, "file", f->file);
    if (f->line)
        tl_json_key_u64(j, "line", f->line);
    tl_json_object_end(j);
}

void tl_speedscope_end(tl_json *j)
{
    tl_json_array_end(j);
    tl_json_object_end(j);
    tl_json_object_end(j);
    tl_output_puts(j->out, "\n");
}

void tl_speedscope_profile(tl_json *j, const char *type, const char *name, bool is_ns)
{
    tl_json_key_string(j, "type", type);
    tl_json_key_string(j, "name", name);
    tl_json_key_string(j, "unit", is_ns ? "nanoseconds" : "none");
    tl_json_key_u64(j, "startValue", 0);
}

typedef struct writer {
    const tl_profile *p;
    tl_json json;
    tl_place_walk walk;
    uint32_t longest;
    uint32_t *frame; /* [functions] place in the list of frames: canonical order */
    uint32_t n, active;
    uint64_t largest; /* weight of the active one */
    uint64_t cut, timeless;
} writer;

/* The next place of this thread with self time to write; false: that was all. */
static bool next_sample(writer *w, uint32_t track, uint64_t *time)
{
    while (tl_place_walk_next(&w->walk)) {
        if (w->walk.leaving || w->walk.track != track || !tl_place_is_used(w->p, w->walk.place))
            continue;
        *time = tl_profile_time(w->p, w->p->stat[w->walk.place].self);
        if (*time > 0)
            return true;
        w->timeless++;
    }
    return false;
}

static void put_stack(writer *w)
{
    const uint32_t frames = tl_stack_frames(&w->walk, w->longest);
    w->cut += frames < w->walk.depth;
    tl_json_array(&w->json);
    for (uint32_t i = 0; i < frames; i++)
        tl_json_u64(&w->json, w->frame[tl_stack_frame(&w->walk, frames, i)]);
    tl_json_array_end(&w->json);
}

static void put_profile(writer *w, uint32_t root, uint32_t track)
{
    tl_json *j = &w->json;
    uint64_t time, sum = 0;
    tl_place_walk_start(&w->walk, root);
    const char *thread = tl_place_walk_thread(&w->walk);
    tl_json_object(j);
    tl_speedscope_profile(j, "sampled", thread ? thread : "all threads", w->p->clock.hz != 0);
    tl_json_key(j, "samples");
    tl_json_array(j);
    while (next_sample(w, track, &time))
        put_stack(w);
    tl_json_array_end(j);

    const uint64_t timeless = w->timeless; /* seen once, not twice */
    tl_place_walk_start(&w->walk, root);
    tl_json_key(j, "weights");
    tl_json_array(j);
    while (next_sample(w, track, &time)) {
        tl_json_u64(j, time);
        sum = tl_add_saturated(sum, time);
    }
    tl_json_array_end(j);
    tl_json_key_u64(j, "endValue", sum);
    tl_json_object_end(j);
    w->timeless = timeless;
    if (sum > w->largest) {
        w->largest = sum;
        w->active = w->n;
    }
    w->n++;
}

static void put_all(writer *w, const tl_place_tree *tree, const uint32_t *order, const char *title)
{
    const tl_profile *p = w->p;
    bool threadless = tree->child[0] == 0;
    tl_speedscope_begin(&w->json, title);
    for (uint32_t place = tree->child[0]; place; place = tree->next[place]) {
        if (p->place[place].function == TL_NO_FUNCTION)
            put_profile(w, place, p->place[place].track);
        else
            threadless = true;
    }
    if (threadless)
        put_profile(w, 0, TL_NO_TRACK);
    tl_speedscope_frames(&w->json, w->active);
    for (uint32_t i = 0; i < p->nfunction; i++)
        tl_speedscope_frame(&w->json, &p->function[order[i]]);
    tl_speedscope_end(&w->json);
}

int tl_speedscope_write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    tl_place_tree tree;
    int status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    const size_t n = (size_t)p->nfunction + 1;
    uint32_t *order = calloc(n, sizeof *order);
    writer w = {.p = p, .frame = calloc(n, sizeof *w.frame)};
    tl_json_init(&w.json, context->out);
    status = order && w.frame ? tl_profile_function_order(p, order, e)
                              : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to write the profile");
    for (uint32_t i = 0; status >= 0 && i < p->nfunction; i++)
        w.frame[order[i]] = i;
    if (status >= 0)
        status = tl_place_tree_longest(&tree, tl_place_has_self, TL_STACK_FRAMES_MAX, &w.longest, e);
    if (status >= 0)
        status = tl_place_walk_init(&w.walk, &tree, e);
    if (status >= 0) {
        put_all(&w, &tree, order, context->options->title);
        tl_drops_add(context->drops, TL_DROP_CUT_STACKS, w.cut);
        tl_drops_add(context->drops, "stacks without self time", w.timeless);
        tl_drops_add(context->drops, "call counts", tl_profile_called_places(p));
        tl_drops_add(context->drops, "latency histograms", tl_profile_histograms(p));
    }
    tl_place_walk_fini(&w.walk);
    tl_place_tree_fini(&tree);
    free(w.frame);
    free(order);
    return status < 0 ? status : 0;
}
