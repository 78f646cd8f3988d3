/* Plans ELF files as `record` would, and prints what came of it: functions, why some are left out, sites by kind, time.
 * With -l also each function that is left out.
 *
 *   patch_shares [-l] FILE... */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static const patch_memory memory = {take, give, grow};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The pieces of a file, by its program headers; 0: not a 64-bit ELF file. */
static unsigned image_of(const uint8_t *file, uint64_t size, patch_image *image)
{
    Elf64_Ehdr head;
    *image = (patch_image){.parts = 0};
    if (size < sizeof head || memcmp(file, ELFMAG, SELFMAG) != 0 || file[EI_CLASS] != ELFCLASS64)
        return 0;
    memcpy(&head, file, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr p;
        const uint64_t at = head.e_phoff + i * (uint64_t)sizeof p;
        if (at > size || size - at < sizeof p)
            return 0;
        memcpy(&p, file + at, sizeof p);
        if (p.p_type == PT_GNU_EH_FRAME)
            image->frame_header = p.p_vaddr;
        if (p.p_type != PT_LOAD || p.p_offset > size || p.p_filesz > size - p.p_offset ||
            image->parts == PATCH_PARTS_MAX)
            continue;
        image->part[image->parts++] = (patch_part){p.p_vaddr, p.p_filesz, file + p.p_offset, p.p_flags & PF_X};
    }
    return head.e_machine;
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
    static const char *const kind[] = {"entry", "return", "tail", "indirect", "self"};
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

static int shares(const char *path, bool list)
{
    struct stat st;
    patch_image image;
    patch_plan plan;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return perror(path), 1;
    const uint8_t *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return perror(path), 1;
    const unsigned elf = image_of(file, (uint64_t)st.st_size, &image);
    const patch_machine *machine = elf == patch_aarch64.elf ? &patch_aarch64 : &patch_x86_64;
    const double start = now_ms();
    if (elf != machine->elf || !patch_plan_make(&plan, &image, machine, &memory, NULL, NULL, 0))
        return fprintf(stderr, "%s: no plan\n", path), 1;
    print(path, &plan, now_ms() - start);
    if (list)
        list_left_out(&plan);
    patch_plan_free(&plan);
    munmap((void *)(uintptr_t)file, (size_t)st.st_size);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    const bool list = argc > 1 && strcmp(argv[1], "-l") == 0;
    for (int i = 1 + list; i < argc; i++)
        failed |= shares(argv[i], list);
    return failed;
}
