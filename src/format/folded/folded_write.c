/* Writing folded stacks: one line per stack, for flame graph tools.
 *
 *   main;parse;read 1234
 *
 * Functions from the outermost on, joined by ';', a space, and the self time in ns (ticks where the clock has no
 * frequency). In names ';' becomes ':' and a line break or other control character becomes a space. Stacks without
 * self time are left out: their time is in the lines of their callees. With trees per thread, the thread's name is the
 * outermost "function". For samples the number is the stack's own amount of the chosen weight: ns, bytes, samples. */
#include <stdlib.h>
#include <string.h>

#include "model/format_impl.h"
#include "model/place_tree.h"
#include "model/profile_words.h"

static void put_name(tl_output *out, const char *name)
{
    for (size_t n = strlen(name); n > 0;) {
        size_t part = n < TL_OUTPUT_ROOM ? n : TL_OUTPUT_ROOM;
        char *to = tl_output_reserve(out, part);
        for (size_t i = 0; i < part; i++) {
            unsigned char c = (unsigned char)name[i];
            to[i] = c == ';' ? ':' : c < 0x20 || c == 0x7f ? ' ' : (char)c;
        }
        tl_output_commit(out, to + part);
        name += part;
        n -= part;
    }
}

static void put_line(tl_output *out, const tl_profile *p, const tl_place_walk *walk, uint32_t frames, uint64_t time)
{
    if (walk->track != TL_NO_TRACK) {
        put_name(out, tl_place_walk_thread(walk));
        tl_output_puts(out, ";");
    }
    for (uint32_t i = 0; i < frames; i++) {
        char label[24];
        if (i > 0)
            tl_output_puts(out, ";");
        put_name(out, tl_function_label(&p->function[tl_place_walk_frame(walk, frames, i)], label));
    }
    char *to = tl_output_reserve(out, 22);
    *to++ = ' ';
    to = tl_put_u64(to, time);
    *to++ = '\n';
    tl_output_commit(out, to);
}

static int write_lines(const tl_write_context *context, const tl_place_tree *tree, tl_error *e)
{
    const tl_profile *p = tree->profile;
    tl_place_walk walk = {0};
    uint32_t longest;
    uint64_t cut = 0, timeless = 0;
    int status = tl_place_tree_longest(tree, tl_place_has_self, TL_STACK_FRAMES_MAX, &longest, e);
    if (status >= 0)
        status = tl_place_walk_init(&walk, tree, e);
    while (status >= 0 && tl_place_walk_next(&walk)) {
        if (walk.leaving || !tl_place_is_used(p, walk.place))
            continue;
        uint64_t time = tl_profile_time(p, p->stat[walk.place].self);
        if (time == 0) {
            timeless += p->nweight == 0;
            continue;
        }
        uint32_t frames = tl_place_walk_frames(&walk, longest);
        cut += frames < walk.depth;
        put_line(context->out, p, &walk, frames, time);
    }
    tl_place_walk_fini(&walk);
    tl_drops_add(context->drops, TL_DROP_CUT_STACKS, cut);
    tl_drops_add(context->drops, "stacks without self time", timeless);
    return status;
}

static int write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    tl_place_tree tree;
    int status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    status = write_lines(context, &tree, e);
    tl_place_tree_fini(&tree);

    tl_drops_add(context->drops, "call counts", tl_profile_called_places(p));
    tl_drops_add(context->drops, "latency histograms", tl_profile_histograms(p));
    tl_drops_add(context->drops, TL_DROP_WEIGHTS, tl_profile_other_weights(p));
    tl_drops_add(context->drops, TL_DROP_EMPTY_STACKS, tl_profile_empty_stacks(p));
    return status;
}

const tl_format tl_format_folded = {
    .name = "folded",
    .summary = "one line a stack with its self time, for flame graph tools",
    .suffixes = ".folded .collapsed",
    .profile_writer = &(const tl_profile_writer){.write = write_profile},
};
