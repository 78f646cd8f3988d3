/* What became slower from one program to the next: compares runs of both, and tests a gate.
 *     cc compare_runs.c $(pkg-config --cflags --libs traceloom) && ./a.out GATE BINARY BASE... -- NEW... */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <traceloom/traceloom.h>

#define RUNS 32

/* The runs of one side. */
typedef struct side {
    tl_profile *profile[RUNS];
    tl_compare_run run[RUNS];
    size_t n;
} side;

static int add_run(side *s, const char *path, const char *binary, tl_error *error)
{
    const tl_open_options options = {.exe = binary, .no_lines = true};
    tl_source *source = NULL;
    int status = tl_source_open(&source, path, &options, error);
    if (status == 0)
        status = tl_profile_from_source(&s->profile[s->n], source, &(tl_profile_options){.threads = 1}, error);
    tl_source_close(source);
    if (status == 0) {
        s->run[s->n] = (tl_compare_run){.profile = s->profile[s->n], .name = path};
        s->n++;
    }
    return status;
}

static void print_row(const tl_compare_row *r)
{
    printf("%-8s %-16s", r->metric, r->function);
    if (!isnan(r->change))
        printf(" %+6.1f %%", 100 * r->change);
    if (!isnan(r->low))
        printf(" (%+.1f .. %+.1f)", 100 * r->low, 100 * r->high);
    printf(" %s\n", tl_compare_verdict_text(r));
}

static int compare(const side *s, const char *gate, tl_error *error)
{
    static const char *const words[] = {"passed", "not shown", "failed"};
    const tl_gate *tested;
    tl_compare *c;
    int status = tl_compare_new(&c, s[0].run, s[0].n, s[1].run, s[1].n, NULL, error);
    if (status < 0)
        return status;
    printf("%zu and %zu runs, times in %s\n", tl_compare_runs(c, 0), tl_compare_runs(c, 1), tl_compare_unit(c));
    for (size_t i = 0; i < tl_compare_warnings(c); i++)
        printf("note: %s\n", tl_compare_warning(c, i));
    for (size_t i = 0; i < tl_compare_rows(c) && i < 12; i++)
        print_row(tl_compare_get_row(c, i));
    status = tl_compare_gate(c, gate, TL_GATE_INTERVAL, &tested, error);
    if (status == 0)
        printf("%s: %s\n", tested->text, words[tested->status]);
    tl_compare_free(c);
    return status;
}

int main(int argc, char **argv)
{
    side s[2] = {{.n = 0}, {.n = 0}};
    tl_error error = {0};
    int status = argc < 5, to = 0;
    for (int i = 3; i < argc && status == 0; i++) {
        if (strcmp(argv[i], "--") == 0)
            to = 1;
        else if (s[to].n < RUNS)
            status = add_run(&s[to], argv[i], argv[2], &error);
    }
    if (status == 0)
        status = compare(s, argv[1], &error);
    if (status != 0)
        fprintf(stderr, "compare_runs: %s\n", status < 0 ? error.message : "GATE BINARY BASE... -- NEW...");
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < s[i].n; k++)
            tl_profile_free(s[i].profile[k]);
    return status != 0;
}
