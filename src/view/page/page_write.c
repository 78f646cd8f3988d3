/* Puts a page together: head, shell, what readers without scripts see, sections, script. */
#include <stdlib.h>
#include <string.h>

#include "base/text/ends_in.h"
#include "traceloom/traceloom.h"
#include "view/page/page_tables.h"
#include "view/page/page_text.h"
#include "view/page/page_time.h"
#include "view/web/web_assets.h"

enum { PART_MOST = 64 }; /* limits are divided by this at most: what is left is well below TL_HTML_SIZE_LEAST */

typedef struct making {
    const tl_html_page *page;
    tl_html_source source;
    tl_html_time time;
    tl_html_data data;
    char *facts, *meta, *damage;
    size_t facts_n, meta_n, damage_n;
} making;

/* The line above the tables of the report, about all inputs. */
static int make_facts(making *m, tl_error *e)
{
    tl_output *out;
    const tl_terminal plain = {0};
    const int status = tl_output_open_memory(&out, TL_PLAIN, e);
    if (status < 0)
        return status;
    if (m->page->instead)
        tl_output_puts(out, tl_html_tables_facts(m->page->instead));
    else
        tl_profile_head(m->page->table, m->page->facts, &(tl_prose){.out = out, .terminal = &plain});
    tl_output_write(out, "", 1);
    return tl_html_take(out, &m->facts, &m->facts_n, e);
}

/* What can be missed best goes first; at last all limits are halved. */
static void lower(tl_html_limits *l, const tl_html_time *t)
{
    if (l->spans > TL_HTML_SPANS_LEAST && t->known) {
        l->spans /= 2;
    } else if (l->slow && t->known) {
        l->slow = false;
    } else if (l->slices == 1 && t->known) {
        l->slices = 2;
    } else {
        l->part *= 2;
        l->spans /= 2;
    }
}

void tl_html_put_policy(tl_output *out, bool served)
{
    tl_output_puts(out, "default-src 'none'; script-src '");
    tl_output_puts(out, tl_page_script_hash);
    tl_output_puts(out, "'; style-src '");
    tl_output_puts(out, tl_page_style_hash);
    tl_output_puts(out, "'; img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'");
    tl_output_puts(out, served ? "; connect-src 'self'" : "");
}

static void put_head(tl_output *out, const tl_html_page *page)
{
    tl_output_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    tl_html_put_policy(out, page->served != NULL);
    tl_output_puts(
        out, "\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"traceloom ");
    tl_output_puts(out, tl_version());
    tl_output_puts(out, "\">\n<title>");
    tl_html_put(out, page->title);
    tl_output_puts(out, "</title>\n<style>");
    tl_output_write(out, tl_page_style, tl_page_style_size);
    tl_output_puts(out, "</style>\n</head>\n<body>\n");
    tl_output_write(out, tl_page_shell, tl_page_shell_size);
}

static void put_sections(tl_output *out, const making *m)
{
    static const char *const name[TL_HTML_SECTIONS] = {
        [TL_HTML_NAMES] = "names", [TL_HTML_FUNCTIONS] = "functions", [TL_HTML_TREE] = "tree",
        [TL_HTML_HIST] = "hist",   [TL_HTML_SLICES] = "slices",       [TL_HTML_GRID] = "grid",
        [TL_HTML_SPANS] = "spans", [TL_HTML_HEAT] = "heat",           [TL_HTML_SLOW] = "slow"};
    if (m->page->served)
        tl_html_put_json(out, "served", m->page->served, strlen(m->page->served));
    tl_html_put_json(out, "meta", m->meta, m->meta_n);
    tl_html_put_json(out, "damage", m->damage, m->damage_n);
    for (unsigned i = 0; i < TL_HTML_SECTIONS && !m->page->instead; i++) {
        const tl_pb *text = &m->data.section[i].text;
        if (text->n == 0)
            continue;
        tl_output_printf(out, "<script type=\"application/octet-stream\" data-section=\"%s\" data-n=\"%u\">", name[i],
                         (unsigned)m->data.section[i].n);
        tl_output_write(out, text->data, text->n);
        tl_output_puts(out, "</script>\n");
    }
    for (size_t i = 0; i < m->page->nmore; i++)
        tl_html_put_json(out, m->page->more[i].name, m->page->more[i].json, m->page->more[i].n);
}

static void put_page(tl_output *out, const making *m)
{
    put_head(out, m->page);
    tl_html_put_static(out, m->page, &m->source, m->facts);
    put_sections(out, m);
    tl_output_puts(out, "<script>");
    tl_output_write(out, tl_page_script, tl_page_script_size);
    tl_output_puts(out, "</script>\n</body>\n</html>\n");
}

/* Bytes of the file. */
static int measure(const making *m, uint64_t *size, tl_error *e)
{
    tl_output *out = NULL;
    int status = tl_output_open_memory(&out, TL_PLAIN, e);
    if (status == 0) {
        put_page(out, m);
        status = tl_output_finish(out, e);
        *size = tl_output_bytes(out);
    }
    tl_output_close(out);
    return status;
}

/* Lowers limits until the page is small enough. */
static int make_data(making *m, tl_error *e)
{
    tl_html_limits limits = {.part = 1, .spans = TL_HTML_SPANS_MAX, .slices = 1, .slow = true};
    for (;; lower(&limits, &m->time)) {
        int status = tl_html_data_make(&m->data, &m->source, &m->time, &limits, e);
        if (status == 0)
            status = tl_html_meta(m->page, &m->data, &m->source, &m->time, m->facts, &m->meta, &m->meta_n, e);
        uint64_t size = 0;
        if (status == 0)
            status = measure(m, &size, e);
        if (status < 0 || limits.part == PART_MOST || size <= m->page->limit)
            return status;
        free(m->meta);
        m->meta = NULL;
        tl_html_data_fini(&m->data);
    }
}

static int make(making *m, tl_error *e)
{
    int status = tl_html_source_init(&m->source, m->page->table->profile, e);
    if (status == 0)
        status = make_facts(m, e);
    if (status == 0)
        status = tl_html_time_make(&m->time, m->page, &m->source, e);
    if (status == 0)
        status = tl_html_damage(m->page->damage, &m->damage, &m->damage_n, e);
    return status == 0 ? make_data(m, e) : status;
}

static void say_left_out(const making *m)
{
    tl_html_omission o;
    for (unsigned i = 0; m->page->drops && tl_html_left_out(&m->data, m->source.profile, i, &o); i++)
        if (o.n)
            m->page->drops(m->page->arg, &(tl_drop){.what = o.text, .n = o.n});
    for (size_t i = 0; m->page->drops && i < m->page->nmore; i++)
        if (m->page->more[i].left_out)
            m->page->drops(m->page->arg, &(tl_drop){.what = m->page->more[i].what, .n = m->page->more[i].left_out});
}

int tl_html_page_put(const tl_html_page *page, tl_output *out, tl_error *e)
{
    making m = {.page = page};
    const int status = make(&m, e);
    if (status == 0) {
        put_page(out, &m);
        say_left_out(&m);
    }
    tl_html_source_fini(&m.source);
    tl_html_time_fini(&m.time);
    tl_html_data_fini(&m.data);
    free(m.facts);
    free(m.meta);
    free(m.damage);
    return status;
}

int tl_html_page_write(const tl_html_page *page, const char *path, tl_error *e)
{
    const tl_compression c = tl_ends_in(path, ".gz") ? TL_GZIP : tl_ends_in(path, ".zst") ? TL_ZSTD : TL_PLAIN;
    tl_output *out = NULL;
    int status = tl_output_open(&out, path, page->overwrite, c, 0, e);
    if (status == 0)
        status = tl_html_page_put(page, out, e);
    if (status == 0)
        status = tl_output_finish(out, e);
    tl_output_close(out);
    return status;
}
