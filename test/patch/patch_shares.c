/* Plans ELF files as `record` would, and prints what came of it: functions, why some are left out, sites by kind, time.
 * With -l also each function that is left out; with -s all functions and sites instead.
 *
 *   patch_shares [-l|-s] FILE... */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "elf_image.h"
#include "patch/patch_plan.h"

static void *take(size_t n)
{
    return calloc(1, n);
}

static void give(void *p, size_t n)
{
    (void)n;
    free(p);
}

static void *grow(void *p, size_t from, size_t to)
{
    char *q = realloc(p, to);
    if (q)
        memset(q + from, 0, to - from);
    return q;
}

static const patch_memory memory = {take, give, grow, NULL};

static const char *const kind[] = {"entry", "return", "tail", "indirect", "self"};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void list_left_out(const patch_plan *plan)
{
    for (uint32_t i = 0; i < plan->functions; i++) {
        const patch_function *f = &plan->function[i];
        if (f->why != PATCH_OK && f->why != PATCH_IS_PART && f->why != PATCH_IS_LINKAGE)
            printf("  %" PRIx64 "+%" PRIx32 " %s (+%" PRIx32 ")\n", f->begin, f->size, patch_why_text(f->why),
                   f->detail);
    }
}

static void print(const char *path, const patch_plan *plan, double ms)
{
    uint32_t why[PATCH_WHYS] = {0}, sites[5] = {0}, alone = 0, functions = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->functions; i++) {
        why[plan->function[i].why]++;
        functions += plan->function[i].why == PATCH_OK || plan->function[i].why >= PATCH_NO_CODE;
        alone += plan->function[i].why == PATCH_IS_PART && plan->function[i].parent == i;
    }
    for (unsigned i = 0; i < plan->codes; i++)
        bytes += plan->code[i]->size;
    for (uint32_t i = 0; i < plan->sites; i++)
        sites[plan->site[i].kind]++;
    printf("%s: %.2f MB, %.2f ms (%.2f a MB), %" PRIu32 " functions, %.3f %%\n ", path, (double)bytes / 1e6, ms,
           ms / ((double)bytes / 1e6), functions, 100.0 * why[PATCH_OK] / (functions ? functions : 1));
    for (unsigned i = 0; i < 5; i++)
        printf(" %s %" PRIu32, kind[i], sites[i]);
    printf("\n");
    for (unsigned i = 1; i < PATCH_WHYS; i++)
        if (why[i])
            printf("    %6" PRIu32 " %s\n", why[i], patch_why_text(i));
    if (alone)
        printf("    %6" PRIu32 " of the fragments belong to no function\n", alone);
}

/* For plan_compare.py. */
static void list_all(const patch_plan *plan)
{
    for (uint32_t i = 1; i < plan->functions; i++) {
        const patch_function *f = &plan->function[i];
        printf("F %" PRIx64 " %" PRIx32 " %d %" PRIx64 " %" PRIx32 "\n", f->begin, f->size, f->why,
               plan->function[f->parent].begin, f->entry);
    }
    for (uint32_t i = 0; i < plan->sites; i++) {
        const patch_site *s = &plan->site[i];
        printf("S %" PRIx64 " %d %d %s %d %" PRIx64 " %" PRIx64 "\n", s->address, s->length, s->room, kind[s->kind],
               s->entry, s->target, plan->function[s->function].begin);
    }
}

static int shares(const char *path, char option)
{
    elf_file file;
    patch_plan plan;
    if (!elf_open(&file, path))
        return fprintf(stderr, "%s: no ELF file\n", path), 1;
    const patch_machine *machine = file.machine == patch_aarch64.elf ? &patch_aarch64 : &patch_x86_64;
    const double start = now_ms();
    if (file.machine != machine->elf || !patch_plan_make(&plan, &file.image, machine, &memory, NULL, NULL, 0))
        return fprintf(stderr, "%s: no plan\n", path), 1;
    if (option == 's')
        list_all(&plan);
    else
        print(path, &plan, now_ms() - start);
    if (option == 'l')
        list_left_out(&plan);
    patch_plan_free(&plan);
    elf_close(&file);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    const char option = argc > 1 && argv[1][0] == '-' ? argv[1][1] : 0;
    for (int i = option ? 2 : 1; i < argc; i++)
        failed |= shares(argv[i], option);
    return failed;
}
