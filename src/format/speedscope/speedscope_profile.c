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
 * frames stands last because the other writer, speedscope_format.c, knows it only then; JSON does not mind.
 *
 * A profile made of samples has first a profile of all threads for each weight that is not zero everywhere, named after
 * it, with its unit; then, of the chosen weight, one for each thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "base/text/number.h"
#include "format/speedscope/speedscope.h"
#include "model/place_tree.h"
#include "model/profile_words.h"
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

static void put_profile_head(tl_json *j, const char *type, const char *name, const char *unit)
{
    tl_json_key_string(j, "type", type);
    tl_json_key_string(j, "name", name);
    tl_json_key_string(j, "unit", unit);
    tl_json_key_u64(j, "startValue", 0);
}

void tl_speedscope_profile(tl_json *j, const char *type, const char *name, bool is_ns)
{
    put_profile_head(j, type, name, is_ns ? "nanoseconds" : "none");
}

#define ALL_TRACKS (TL_NO_TRACK - 1) /* greater than any track */

typedef struct writer {
    const tl_profile *p;
    tl_json json;
    tl_place_walk walk;
    uint32_t longest;
    uint32_t *frame; /* [functions] index in the list of frames: canonical order */
    uint32_t weight; /* of samples: the current one */
    uint32_t n, active;
    uint64_t largest; /* weight of the active one */
    uint64_t cut, timeless;
} writer;

/* A place's own amount, in the unit of the current profile. */
static uint64_t self_of(const writer *w, uint32_t place)
{
    if (!w->p->nweight)
        return tl_profile_time(w->p, w->p->stat[place].self);
    return tl_profile_weight_value(w->p, w->weight, tl_profile_weight_self(w->p, place, w->weight));
}

/* The next place of this thread, or of any, with self time to write; false: none left. */
static bool next_sample(writer *w, uint32_t track, uint64_t *time)
{
    while (tl_place_walk_next(&w->walk)) {
        if (w->walk.leaving || (track != ALL_TRACKS && w->walk.track != track) ||
            !tl_place_is_used(w->p, w->walk.place))
            continue;
        *time = self_of(w, w->walk.place);
        if (*time > 0)
            return true;
        w->timeless += w->p->nweight == 0;
    }
    return false;
}

static void put_stack(writer *w)
{
    const uint32_t frames = tl_place_walk_frames(&w->walk, w->longest);
    w->cut += frames < w->walk.depth;
    tl_json_array(&w->json);
    for (uint32_t i = 0; i < frames; i++)
        tl_json_u64(&w->json, w->frame[tl_place_walk_frame(&w->walk, frames, i)]);
    tl_json_array_end(&w->json);
}

static const char *unit_of(const writer *w)
{
    const tl_weight *k = w->p->nweight ? &w->p->kind[w->weight] : NULL;
    if (!k || strcmp(k->unit, "nanoseconds") == 0)
        return w->p->clock.hz ? "nanoseconds" : "none";
    return strcmp(k->unit, "bytes") == 0 ? "bytes" : "none";
}

static void put_profile(writer *w, uint32_t root, uint32_t track)
{
    tl_json *j = &w->json;
    uint64_t time, sum = 0;
    tl_place_walk_start(&w->walk, root);
    const char *name = tl_place_walk_thread(&w->walk);
    if (!name)
        name = w->p->nweight ? w->p->kind[w->weight].name : "all threads";
    tl_json_object(j);
    put_profile_head(j, "sampled", name, unit_of(w));
    tl_json_key(j, "samples");
    tl_json_array(j);
    while (next_sample(w, track, &time))
        put_stack(w);
    tl_json_array_end(j);

    const uint64_t timeless = w->timeless; /* counted once, not twice */
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
    const bool chosen = track == ALL_TRACKS && w->weight == w->p->weight;
    if (w->p->nweight ? chosen : sum > w->largest) {
        w->largest = sum;
        w->active = w->n;
    }
    w->n++;
}

/* One profile for each weight that is not zero everywhere; the chosen one is always there. */
static void put_weights(writer *w)
{
    for (w->weight = 0; w->weight < w->p->nweight; w->weight++)
        if (w->weight == w->p->weight || tl_profile_weight_sum(w->p, w->weight) > 0)
            put_profile(w, 0, ALL_TRACKS);
    w->weight = w->p->weight;
}

static void put_all(writer *w, const tl_place_tree *tree, const uint32_t *order, const char *title)
{
    const tl_profile *p = w->p;
    bool threadless = tree->child[0] == 0;
    tl_speedscope_begin(&w->json, title);
    if (p->nweight)
        put_weights(w);
    for (uint32_t place = tree->child[0]; place; place = tree->next[place]) {
        if (p->place[place].function != TL_NO_FUNCTION)
            threadless = true;
        else if (!p->nweight || tree->weight[place] > 0)
            put_profile(w, place, p->place[place].track);
    }
    if (threadless && !p->nweight)
        put_profile(w, 0, TL_NO_TRACK);
    tl_speedscope_frames(&w->json, w->active);
    for (uint32_t i = 0; i < p->nfunction; i++)
        tl_speedscope_frame(&w->json, &p->function[order[i]]);
    tl_speedscope_end(&w->json);
}

/* In how many profiles a place is. */
static uint64_t times_written(const tl_profile *p, uint32_t place)
{
    uint64_t n = tl_place_has_self(p, place);
    for (uint32_t i = 0; i < p->nweight && tl_place_is_used(p, place); i++)
        n += tl_profile_weight_self(p, place, i) > 0;
    return n;
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
        status = tl_place_tree_longest(&tree, times_written, TL_STACK_FRAMES_MAX, &w.longest, e);
    if (status >= 0)
        status = tl_place_walk_init(&w.walk, &tree, e);
    if (status >= 0) {
        put_all(&w, &tree, order, context->options->title);
        tl_drops_add(context->drops, TL_DROP_CUT_STACKS, w.cut);
        tl_drops_add(context->drops, "stacks without self time", w.timeless);
        tl_drops_add(context->drops, "call counts", tl_profile_called_places(p));
        tl_drops_add(context->drops, "latency histograms", tl_profile_histograms(p));
        tl_drops_add(context->drops, TL_DROP_EMPTY_STACKS, tl_profile_empty_stacks(p));
    }
    tl_place_walk_fini(&w.walk);
    tl_place_tree_fini(&tree);
    free(w.frame);
    free(order);
    return status < 0 ? status : 0;
}
