/* Writing profiles as a flame graph: one SVG file that needs nothing else.
 *
 *   <svg ...>
 *     <style>            light and dark
 *     <g class="head">   title, what was left out, details of the box under the pointer; the script adds its tools
 *     <g class="frames"> the picture, for viewers that run no scripts:
 *                        <g class="f"><title>numbers</title><rect class="c5" .../><text>name</text></g> ...
 *     <script type="application/json">   all boxes, see svg_script.c
 *     <script>           zoom, search, keys
 *   </svg>
 *
 * Depth goes down, width is total time; siblings stand by width. A box is at least as wide as its children together.
 * Of samples width is the chosen weight, whatever it measures.
 * The colour is made from the function's name alone, so that it is the same in every picture. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "base/text/xml_escape.h"
#include "format/svg/svg_layout.h"
#include "format/svg/svg_script.h"
#include "model/format_impl.h"
#include "model/profile_words.h"

typedef struct writer {
    const tl_profile *p;
    const svg_layout *l;
    tl_output *out;
    uint32_t *number; /* [functions] index in the list of names + 1; 0: not there yet */
    uint32_t *name;   /* [boxes] index in the list of names */
    tl_profile_words words;
} writer;

/* XML allows neither control characters nor U+FFFE and U+FFFF. */
static bool is_forbidden(const char *s, size_t length)
{
    if (length == 1)
        return (unsigned char)*s < 0x20 || *s == 0x7f;
    return length == 3 && memcmp(s, "\xef\xbf", 2) == 0 && (unsigned char)s[2] >= 0xbe;
}

/* The next character of *s (n bytes left) as UTF-8 that XML allows, in buf; forbidden ones become spaces. */
static size_t next_character(const char **s, size_t *n, char buf[4])
{
    size_t length = tl_utf8_length(*s, *n), size = length;
    if (length == 0) {
        length = 1;
        size = tl_utf8_repair(buf, *s, 1);
    } else if (is_forbidden(*s, length)) {
        buf[0] = ' ';
        size = 1;
    } else {
        memcpy(buf, *s, length);
    }
    *s += length;
    *n -= length;
    return size;
}

static void put_xml_n(tl_output *out, const char *s, size_t n)
{
    while (n > 0) {
        char c[4];
        size_t size = next_character(&s, &n, c);
        const char *escape = size == 1 ? tl_xml_escape(c[0]) : NULL;
        if (escape)
            tl_output_puts(out, escape);
        else
            tl_output_write(out, c, size);
    }
}

static void put_xml(tl_output *out, const char *s)
{
    put_xml_n(out, s, strlen(s));
}

/* The contents of a JSON string in a CDATA section: '>' is escaped, too, so that nothing ends the section. */
static void put_json(tl_output *out, const char *s)
{
    for (size_t n = strlen(s); n > 0;) {
        char c[4];
        size_t size = next_character(&s, &n, c);
        if (size == 1 && (c[0] == '"' || c[0] == '\\' || c[0] == '<' || c[0] == '>'))
            tl_output_printf(out, "\\u%04x", (unsigned)c[0]);
        else
            tl_output_write(out, c, size);
    }
}

static const char *box_name(const writer *w, const svg_box *b, char buf[static 24])
{
    const tl_place *at = &w->p->place[b->place];
    if (at->function != TL_NO_FUNCTION)
        return tl_function_label(&w->p->function[at->function], buf);
    if (b->place == 0)
        return "all";
    const char *thread = w->p->track[at->track].name;
    return thread ? thread : "thread";
}

/* FNV-1a: small, and the same everywhere for ever. */
static unsigned colour_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (hash ^ hash >> 16) % SVG_COLOURS;
}

/* part * scale / whole: exact enough, and without overflow. */
static unsigned share(uint64_t part, uint64_t whole, unsigned scale)
{
    if (part >= whole)
        return whole ? scale : 0;
    while (whole > UINT32_MAX) {
        whole >>= 1;
        part >>= 1;
    }
    return (unsigned)(part * scale / whole);
}

/* Hundredths of a point. */
static unsigned hundredths(const writer *w, uint64_t ticks)
{
    return share(ticks, w->l->whole, SVG_WIDTH * 100);
}

static void put_time(writer *w, uint64_t ticks)
{
    char buf[TL_AMOUNT_SIZE];
    tl_output_puts(w->out, tl_profile_amount(w->p, buf, ticks));
}

static void put_percent(writer *w, uint64_t part, uint64_t whole)
{
    unsigned n = share(part, whole, 10000);
    tl_output_printf(w->out, "%u.%02u %%", n / 100, n % 100);
}

static void put_tooltip(writer *w, const svg_box *b, const char *name)
{
    const tl_place_stat *stat = &w->p->stat[b->place];
    char buf[32];
    tl_output_puts(w->out, "<title>");
    put_xml(w->out, name);
    if (stat->calls > 0)
        tl_output_printf(w->out, "\n%s %s", tl_human_grouped(buf, sizeof buf, stat->calls),
                         stat->calls == 1 ? w->words.one : w->words.many);
    tl_output_puts(w->out, "\ntotal ");
    put_time(w, b->width);
    tl_output_puts(w->out, " (");
    put_percent(w, b->width, w->l->whole);
    tl_output_puts(w->out, ")");
    if (b->place > 0) {
        tl_output_puts(w->out, "\nself ");
        put_time(w, stat->self);
    }
    if (w->p->has_histogram && stat->calls > 0) {
        tl_output_puts(w->out, "\np50 ");
        put_time(w, tl_profile_percentile(w->p, b->place, 500));
        tl_output_puts(w->out, ", p99 ");
        put_time(w, tl_profile_percentile(w->p, b->place, 990));
    }
    tl_output_puts(w->out, "</title>");
}

/* As much of a name as fits into `cells` character cells; wide characters take two. Like fit() in the script. */
static void put_fitting(writer *w, const char *name, unsigned cells)
{
    const size_t n = strlen(name);
    const char *s = name, *cut = NULL;
    size_t left = n;
    for (unsigned used = 0; left > 0;) {
        char c[4];
        const char *before = s;
        size_t size = next_character(&s, &left, c);
        used += size > 2 && (unsigned char)c[0] >= 0xe1 ? 2 : 1; /* U+1000 and above */
        if (used > cells) {
            if (cells < 3)
                return;
            put_xml_n(w->out, name, (size_t)((cut ? cut : before) - name));
            tl_output_puts(w->out, "\xe2\x80\xa6");
            return;
        }
        if (used + 1 <= cells)
            cut = s; /* room for the dots after it */
    }
    put_xml(w->out, name);
}

enum { DRAWN_LEAST = 100, TOOLTIP_LEAST = 300, TEXT_LEAST = 3000 }; /* hundredths of a point */

static void put_box(writer *w, const svg_box *b)
{
    char label[24];
    const unsigned x = hundredths(w, b->x), width = b->place ? hundredths(w, b->width) : SVG_WIDTH * 100;
    if (width < DRAWN_LEAST)
        return;
    const char *name = box_name(w, b, label);
    const uint32_t y = SVG_HEAD + b->depth * SVG_ROW;
    tl_output_puts(w->out, "<g class=\"f\">");
    if (width >= TOOLTIP_LEAST)
        put_tooltip(w, b, name);
    tl_output_printf(w->out, "<rect x=\"%u.%02u\" y=\"%" PRIu32 "\" width=\"%u.%02u\" height=\"%d\" rx=\"2\" class=\"",
                     x / 100, x % 100, y, width / 100, width % 100, SVG_ROW - 1);
    if (b->place)
        tl_output_printf(w->out, "c%u\"/>", colour_of(name));
    else
        tl_output_puts(w->out, "root\"/>");
    if (width >= TEXT_LEAST) {
        tl_output_printf(w->out, "<text x=\"%u.%02u\" y=\"%" PRIu32 "\">", (x + 300) / 100, x % 100, y + SVG_ROW - 5);
        put_fitting(w, name, (width / 100 - 6) * 10 / 73);
        tl_output_puts(w->out, "</text>");
    }
    tl_output_puts(w->out, "</g>\n");
}

/* The number of calls; or of samples, unless the width shows that. */
static void put_count(writer *w)
{
    const tl_profile *p = w->p;
    char buf[32];
    uint64_t n = 0;
    if (p->nweight && tl_profile_counting_weight(p) == p->weight)
        return;
    if (p->nweight)
        n = tl_profile_weight_sum(p, tl_profile_counting_weight(p));
    for (uint32_t i = 1; !p->nweight && i < p->nplace; i++)
        n = tl_add_saturated(n, p->stat[i].calls);
    tl_output_printf(w->out, " in %s %s", tl_human_grouped(buf, sizeof buf, n), n == 1 ? w->words.one : w->words.many);
}

static void put_note(writer *w)
{
    const svg_layout *l = w->l;
    char buf[32];
    put_time(w, l->whole);
    put_count(w);
    if (l->left_out == 0) {
        tl_output_printf(w->out, ", all %s places", tl_human_grouped(buf, sizeof buf, l->places));
        return;
    }
    tl_output_printf(w->out, "; shown are %s", tl_human_grouped(buf, sizeof buf, l->places - l->left_out));
    tl_output_printf(w->out, " of %s places, from ", tl_human_grouped(buf, sizeof buf, l->places));
    put_time(w, l->narrowest);
    tl_output_puts(w->out, " on; the others hold ");
    put_percent(w, l->self_out, l->self);
    tl_output_printf(w->out, " of the %s", w->p->nweight ? w->words.whole : "self time");
    if (l->too_deep)
        tl_output_printf(w->out, "; nothing deeper than %d levels", SVG_DEPTH_MAX);
}

static void put_lines(tl_output *out, const char *const *line)
{
    for (; *line; line++) {
        tl_output_puts(out, *line);
        tl_output_puts(out, "\n");
    }
}

static void put_head(writer *w, const char *title)
{
    const uint32_t height = SVG_HEAD + (w->l->depth + 1) * SVG_ROW + 8;
    tl_output_printf(w->out,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32
                     "\" viewBox=\"0 0 %d %" PRIu32 "\">\n<title>",
                     SVG_WIDTH, height, SVG_WIDTH, height);
    put_xml(w->out, title);
    tl_output_puts(w->out, "</title>\n<style>\n");
    put_lines(w->out, svg_style);
    tl_output_puts(w->out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    tl_output_puts(w->out, "<g class=\"frames\">\n");
    for (uint32_t i = 0; i < w->l->n; i++)
        put_box(w, &w->l->box[i]);
    /* The head comes after the boxes, so that it stays visible above them. */
    tl_output_printf(w->out,
                     "</g>\n<g class=\"head\">\n<rect class=\"paper\" width=\"100%%\" height=\"%d\" fill=\"#fff\"/>\n"
                     "<text class=\"title\" x=\"10\" y=\"24\">",
                     SVG_HEAD - 2);
    put_xml(w->out, title);
    tl_output_puts(w->out, "</text>\n<text class=\"note\" x=\"10\" y=\"41\">");
    put_note(w);
    tl_output_printf(w->out, "</text>\n<text class=\"details\" x=\"10\" y=\"%d\"></text>\n</g>\n", SVG_HEAD - 8);
}

/* One column of the data. */
static void put_column(writer *w, const char *name, uint64_t (*value)(const writer *w, const svg_box *b))
{
    tl_output_printf(w->out, ",\n\"%s\":[", name);
    for (uint32_t i = 0; i < w->l->n; i++) {
        char *p = tl_output_reserve(w->out, 21);
        if (i > 0)
            *p++ = ',';
        tl_output_commit(w->out, tl_put_u64(p, value(w, &w->l->box[i])));
    }
    tl_output_puts(w->out, "]");
}

static uint64_t depth_of(const writer *w, const svg_box *b)
{
    (void)w;
    return b->depth;
}
static uint64_t x_of(const writer *w, const svg_box *b)
{
    return tl_profile_time(w->p, b->x);
}
static uint64_t width_of(const writer *w, const svg_box *b)
{
    return tl_profile_time(w->p, b->width);
}
static uint64_t calls_of(const writer *w, const svg_box *b)
{
    return w->p->stat[b->place].calls;
}
static uint64_t self_of(const writer *w, const svg_box *b)
{
    return tl_profile_time(w->p, w->p->stat[b->place].self);
}
static uint64_t p50_of(const writer *w, const svg_box *b)
{
    return tl_profile_time(w->p, tl_profile_percentile(w->p, b->place, 500));
}
static uint64_t p99_of(const writer *w, const svg_box *b)
{
    return tl_profile_time(w->p, tl_profile_percentile(w->p, b->place, 990));
}

/* ["name","file:line",colour] for each shown function, and for the roots; then the "f" of each box. */
static void put_names(writer *w)
{
    uint32_t n = 0;
    char label[24];
    tl_output_puts(w->out, ",\n\"names\":[");
    for (uint32_t i = 0; i < w->l->n; i++) {
        const svg_box *b = &w->l->box[i];
        const uint32_t function = w->p->place[b->place].function;
        const tl_function *f = function == TL_NO_FUNCTION ? NULL : &w->p->function[function];
        if (f && w->number[function]) {
            w->name[i] = w->number[function] - 1;
            continue;
        }
        const char *name = box_name(w, b, label);
        tl_output_puts(w->out, n ? ",\n[\"" : "[\"");
        put_json(w->out, name);
        tl_output_puts(w->out, "\",\"");
        if (f && f->file) {
            put_json(w->out, f->file);
            if (f->line)
                tl_output_printf(w->out, ":%" PRIu32, f->line);
        }
        tl_output_printf(w->out, "\",%u]", colour_of(name));
        w->name[i] = n++;
        if (f)
            w->number[function] = n;
    }
    tl_output_puts(w->out, "],\n\"f\":[");
    for (uint32_t i = 0; i < w->l->n; i++)
        tl_output_printf(w->out, i ? ",%" PRIu32 : "%" PRIu32, w->name[i]);
    tl_output_puts(w->out, "]");
}

/* The script, with words for the numbers. */
static void put_script(writer *w)
{
    const char *word[] = {w->words.one, w->words.many, "calls that did not end", w->words.whole};
    char none[32];
    snprintf(none, sizeof none, "no %s", w->words.many);
    if (w->p->nweight)
        word[2] = none;
    for (const char *const *line = svg_script; *line; line++) {
        const char *s = *line;
        for (const char *at; (at = strchr(s, '@')); s = at + 2) {
            tl_output_write(w->out, s, (size_t)(at - s));
            tl_output_puts(w->out, word[at[1] - '1']);
        }
        tl_output_puts(w->out, s);
        tl_output_puts(w->out, "\n");
    }
}

static void put_scripts(writer *w)
{
    tl_output_printf(w->out,
                     "<script type=\"application/json\"><![CDATA[\n"
                     "{\"unit\":\"%s\",\"width\":%d,\"head\":%d,\"row\":%d,\"narrowest\":" SVG_NARROWEST,
                     tl_profile_unit(w->p), SVG_WIDTH, SVG_HEAD, SVG_ROW);
    put_names(w);
    put_column(w, "d", depth_of);
    put_column(w, "x", x_of);
    put_column(w, "w", width_of);
    put_column(w, "c", calls_of);
    put_column(w, "s", self_of);
    if (w->p->has_histogram) {
        put_column(w, "p", p50_of);
        put_column(w, "q", p99_of);
    }
    tl_output_puts(w->out, "}\n]]></script>\n<script><![CDATA[\n");
    put_script(w);
    tl_output_puts(w->out, "]]></script>\n</svg>\n");
}

static int write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e)
{
    tl_place_tree tree;
    svg_layout layout = {0};
    int status = tl_place_tree_init(&tree, p, e);
    if (status < 0)
        return status;
    status = svg_layout_init(&layout, &tree, e);
    tl_place_tree_fini(&tree);
    if (status < 0)
        return status;
    const char *title = context->options->title ? context->options->title : p->exe ? p->exe : "Flame graph";
    writer w = {.p = p,
                .l = &layout,
                .out = context->out,
                .number = calloc((size_t)p->nfunction + 1, sizeof *w.number),
                .name = calloc(layout.n, sizeof *w.name),
                .words = tl_profile_words_of(p)};
    if (w.number && w.name) {
        put_head(&w, title);
        put_scripts(&w);
        tl_drops_add(context->drops, "places too narrow or too deep", layout.left_out);
        tl_drops_add(context->drops, "places without time", layout.timeless);
        tl_drops_add(context->drops, "latency histograms, except p50 and p99", tl_profile_histograms(p));
        tl_drops_add(context->drops, TL_DROP_WEIGHTS, tl_profile_other_weights(p));
        tl_drops_add(context->drops, TL_DROP_EMPTY_STACKS, tl_profile_empty_stacks(p));
    } else {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the picture of the call tree");
    }
    free(w.number);
    free(w.name);
    svg_layout_fini(&layout);
    return status;
}

const tl_format tl_format_svg = {
    .name = "svg",
    .summary = "flame graph in one file, to zoom and search in a browser",
    .suffixes = ".svg",
    .profile_writer = &(const tl_profile_writer){.write = write_profile},
};
