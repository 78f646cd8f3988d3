/* The tables and their columns: as help, as traceloom-tables(5), and as docs/tables.md. */
#include <stdio.h>
#include <string.h>

#include "analysis/table_kind.h"
#include "cli/manual/manpage.h"
#include "cli/verbs.h"

static const char *type_of(const tl_column_info *c)
{
    static const char *const unit[] = {[TL_UNIT_NONE] = NULL,      [TL_UNIT_COUNT] = "count",  [TL_UNIT_TIME] = "time",
                                       [TL_UNIT_BYTES] = "bytes",  [TL_UNIT_SHARE] = "0 .. 1", [TL_UNIT_HEX] = "hex",
                                       [TL_UNIT_BOOL] = "boolean", [TL_UNIT_JSON] = "JSON",    [TL_UNIT_UTC] = "UTC"};
    static const char *const type[] = {[TL_INTEGER] = "integer", [TL_REAL] = "real", [TL_TEXT] = "text"};
    return unit[c->unit] ? unit[c->unit] : type[c->type];
}

/* Its name in --json; NULL: the same. */
static const char *other_name(const tl_column *c)
{
    return c->json && strcmp(c->json, c->info.name) != 0 ? c->json : NULL;
}

static bool is_public(const tl_column *c)
{
    return c->info.name && c->info.what;
}

void tl_print_tables(void)
{
    size_t n;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    puts("Tables that traceloom report --by shows:\n");
    for (size_t i = 0; i < n; i++)
        printf("  %-8s %s; from %s\n", kind[i]->info.name, kind[i]->info.summary, kind[i]->info.needs);
    puts("\nman 5 traceloom-tables says what their columns are, in JSON, CSV and so on.");
}

/* ---- Markdown ---- */

static void print_markdown(void)
{
    size_t n;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    puts("# Tables and their columns\n\n"
         "What `traceloom report --by TABLE` writes with `--to csv` and `--to jsonl`, and what\n"
         "[traceloom/relation.h](../include/traceloom/relation.h) hands out. `--json` has the same rows; where a "
         "member is\n"
         "called differently there, it stands behind the name. `count`, `time`, `bytes` and `hex` are integers: a time "
         "is\n"
         "in nanoseconds, unless the trace's clock has no frequency. This page is made by `traceloom help --tables\n"
         "markdown`.\n");
    for (size_t i = 0; i < n; i++) {
        printf("## %s\n\nFrom %s: %s.\n\n| column | | |\n|---|---|---|\n", kind[i]->info.name, kind[i]->info.needs,
               kind[i]->info.summary);
        for (uint32_t k = 0; k < kind[i]->ncolumn; k++) {
            const tl_column *c = &kind[i]->column[k];
            if (!is_public(c))
                continue;
            printf("| `%s`", c->info.name);
            if (other_name(c))
                printf(" (`%s`)", other_name(c));
            printf(" | %s | %s |\n", type_of(&c->info), c->info.what);
        }
        puts("");
    }
}

/* ---- mdoc ---- */

/* Tables with the same needs as kind[at], if it is the first of them. */
static void put_tables_like(FILE *f, const tl_table_kind *const *kind, size_t n, size_t at)
{
    const char *needs = kind[at]->info.needs;
    for (size_t i = 0; i < at; i++)
        if (strcmp(kind[i]->info.needs, needs) == 0)
            return;
    fprintf(f, "Tables made from %s:\n.Bl -tag -width callers -compact\n", needs);
    for (size_t i = at; i < n; i++)
        if (strcmp(kind[i]->info.needs, needs) == 0)
            fprintf(f, ".It Cm %s\n%s\n", kind[i]->info.name, kind[i]->info.summary);
    fputs(".El\n", f);
}

void tl_put_table_list(FILE *f)
{
    size_t n;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    for (size_t i = 0; i < n; i++)
        put_tables_like(f, kind, n, i);
}

void tl_put_tables_page(FILE *f)
{
    size_t n;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    fputs(".Sh NAME\n.Nm traceloom-tables\n.Nd tables of traceloom report, and their columns\n"
          ".Sh DESCRIPTION\nThe tables that\n.Ql traceloom report --by Ar TABLE\nshows, and the columns that they have "
          "in\n.Fl -to Cm csv\nand\n.Fl -to Cm jsonl .\n"
          "With\n.Fl -json\nsome have another name, in parentheses here.\n"
          "Times are in nanoseconds, unless the trace's clock has no frequency.\n",
          f);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, ".Ss %s\n", kind[i]->info.name);
        tl_put_summary(f, kind[i]->info.summary);
        fprintf(f, "Needs %s.\n.Bl -tag -width function_id\n", kind[i]->info.needs);
        for (uint32_t k = 0; k < kind[i]->ncolumn; k++) {
            const tl_column *c = &kind[i]->column[k];
            if (!is_public(c))
                continue;
            fprintf(f, other_name(c) ? ".It Va %s Pq Va %s\n" : ".It Va %s\n", c->info.name, other_name(c));
            fprintf(f, "%s: %s\n", type_of(&c->info), c->info.what);
        }
        fputs(".El\n", f);
    }
    fputs(".Sh SEE ALSO\n.Xr traceloom-report 1\n", f);
}

bool tl_print_tables_as(const char *what)
{
    if (strcmp(what, "markdown") != 0)
        return false;
    print_markdown();
    return true;
}
