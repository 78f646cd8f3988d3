/* Text of a page: escaping, and what readers without scripts see. */
#include "view/page/page_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "model/profile_words.h"
#include "view/markup_text.h"
#include "view/page/page_tables.h"

enum { ROWS = 40, NAME_MOST = 200 }; /* of the table, and bytes of a name in it */

void tl_html_put(tl_output *out, const char *s)
{
    tl_put_markup(out, s, strlen(s));
}

void tl_html_put_json(tl_output *out, const char *section, const char *json, size_t n)
{
    tl_output_printf(out, "<script type=\"application/json\" data-section=\"%s\">", section);
    for (size_t at = 0; at < n;) {
        size_t plain = at;
        while (plain < n && !strchr("<>&", json[plain]))
            plain++;
        tl_output_write(out, json + at, plain - at);
        if (plain < n)
            tl_output_printf(out, "\\u%04x", (unsigned)json[plain++]);
        at = plain;
    }
    tl_output_puts(out, "</script>\n");
}

static void put_cell(tl_output *out, const char *text)
{
    tl_output_printf(out, "<td class=\"num\">%s</td>", text);
}

static void put_amount(tl_output *out, const tl_profile *p, uint64_t amount)
{
    char text[TL_AMOUNT_SIZE];
    put_cell(out, tl_profile_amount(p, text, amount));
}

static void put_row(tl_output *out, const tl_profile *p, const tl_row *row, uint64_t whole)
{
    char text[32];
    const tl_function *f = &p->function[row->function];
    const char *label = tl_function_label(f, text);
    const size_t n = strlen(label);
    tl_output_puts(out, "<tr>");
    put_amount(out, p, row->stat.self);
    char share[16];
    snprintf(share, sizeof share, "%.1f %%", whole ? 100.0 * (double)row->stat.self / (double)whole : 0.0);
    put_cell(out, share);
    put_amount(out, p, row->stat.total);
    char calls[32];
    put_cell(out, tl_human_grouped(calls, sizeof calls, row->stat.calls));
    if (p->has_histogram) {
        put_amount(out, p, row->p50);
        put_amount(out, p, row->p99);
        put_amount(out, p, row->untimed ? 0 : row->stat.max);
    }
    tl_output_puts(out, "<td>");
    tl_put_markup(out, label, n < NAME_MOST ? n : NAME_MOST);
    tl_output_puts(out, n < NAME_MOST ? "</td></tr>\n" : "...</td></tr>\n");
}

static void put_list(tl_output *out, const tl_html_lines *lines)
{
    for (uint32_t i = 0; i < lines->n; i++) {
        tl_output_puts(out, "<li>");
        tl_html_put(out, lines->line[i]);
        tl_output_puts(out, "</li>\n");
    }
}

static void put_losses(tl_output *out, const tl_html_page *page, const tl_profile *p)
{
    char unmatched[TL_UNMATCHED_SIZE], unwound[TL_UNMATCHED_SIZE];
    tl_profile_unmatched_text(p, unmatched);
    tl_profile_unwound_text(p, unwound);
    if (!page->inputs->losses.n && !page->inputs->notes.n && !*unmatched && !*unwound)
        return;
    tl_output_puts(out, "<ul>\n");
    put_list(out, &page->inputs->losses);
    if (*unmatched)
        tl_output_printf(out, "<li>%s</li>\n", unmatched);
    if (*unwound)
        tl_output_printf(out, "<li>%s</li>\n", unwound);
    put_list(out, &page->inputs->notes);
    tl_output_puts(out, "</ul>\n");
}

static void put_functions(tl_output *out, const tl_html_source *s)
{
    const tl_profile *p = s->profile;
    const tl_table *t = &s->rows;
    uint64_t whole = 0;
    for (uint32_t i = 0; i < t->n; i++)
        whole = tl_add_saturated(whole, t->row[i].stat.self);
    tl_output_puts(out, "<table>\n<thead><tr><th>self</th><th>share</th><th>total</th><th>");
    tl_output_puts(out, tl_profile_calls(p));
    tl_output_puts(out, p->has_histogram ? "</th><th>p50</th><th>p99</th><th>max" : "");
    tl_output_puts(out, "</th><th>function</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < t->n && i < ROWS; i++)
        put_row(out, p, &t->row[i], whole);
    tl_output_puts(out, "</tbody>\n</table>\n");
    if (t->n > ROWS)
        tl_output_printf(out, "<p>The %d functions with the most self time, of %" PRIu32 ".</p>\n", ROWS, t->n);
}

void tl_html_put_static(tl_output *out, const tl_html_page *page, const tl_html_source *s, const char *facts)
{
    tl_output_puts(out, "<main id=\"static\">\n<h1>");
    tl_html_put(out, page->title);
    tl_output_puts(out, "</h1>\n<p>");
    tl_html_put(out, facts);
    tl_output_puts(out, "</p>\n");
    put_losses(out, page, s->profile);
    if (page->instead)
        tl_html_tables_put(page->instead, out);
    else
        put_functions(out, s);
    tl_output_puts(out, "</main>\n");
}
