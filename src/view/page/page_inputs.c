/* What a page says of its inputs: names without folders, and sentences about what they lost. */
#include <stdio.h>
#include <string.h>

#include "base/io/base_name.h"
#include "op/loss_lines.h"
#include "view/page/page.h"

#define LINE_SIZE 2048u

typedef struct listener {
    tl_html_inputs *in;
    tl_html_lines *to;
} listener;

static const char *keep(tl_html_inputs *in, const char *s)
{
    const char *copy = s ? tl_arena_strndup(&in->arena, s, strlen(s)) : NULL;
    in->failed = in->failed || (s && !copy);
    return copy;
}

static const char *name_of(const tl_trace *t)
{
    return tl_path_name(tl_base_name(tl_trace_path(t)));
}

static void say(void *arg, const tl_trace *t, const char *file, const char *text)
{
    const listener *l = arg;
    char line[LINE_SIZE];
    if (l->to->n == TL_HTML_LINES_MAX)
        return;
    snprintf(line, sizeof line, "%s%s%s: %s", name_of(t), file ? "/" : "", file ? file : "", text);
    l->to->line[l->to->n++] = keep(l->in, line);
}

static void add_lines(tl_html_inputs *in, const tl_trace *t)
{
    listener losses = {in, &in->losses}, notes = {in, &in->notes};
    const tl_loss_lines lost = {.say = say, .arg = &losses}, noted = {.say = say, .arg = &notes};
    tl_lost_events_lines(&lost, t, 0);
    tl_lost_places_lines(&lost, t);
    tl_out_of_order_lines(&lost, t);
    tl_notes_lines(&noted, t);
    tl_contents_lines(&noted, t);
}

int tl_html_inputs_add(tl_html_inputs *in, const tl_trace *t, tl_error *e)
{
    if (in->n < TL_HTML_INPUTS_MAX) {
        in->input[in->n].name = keep(in, name_of(t));
        in->input[in->n].format = keep(in, tl_trace_format(t));
        in->input[in->n].version = keep(in, tl_trace_version(t));
        add_lines(in, t);
    }
    in->n++;
    in->lost_events = tl_add_saturated(in->lost_events, tl_trace_lost_events(t));
    in->lost_packets = tl_add_saturated(in->lost_packets, tl_trace_lost_packets(t));
    in->out_of_order = tl_add_saturated(in->out_of_order, tl_trace_out_of_order(t));
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        in->damaged_bytes = tl_add_saturated(in->damaged_bytes, tl_trace_damage(t, i)->bytes);
    return in->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the inputs of the page") : 0;
}

void tl_html_inputs_fini(tl_html_inputs *in)
{
    tl_arena_fini(&in->arena);
}
