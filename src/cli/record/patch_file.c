/* Maps the file by its program headers, and reads its symbols. */
#include "cli/record/patch_file.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/io/input.h"
#include "op/symbols/debug_file.h"

/* All pieces are at most this many times the file: real ones do not overlap. */
#define OVERLAP_MAX 2u
/* Bytes from the first piece to the end of the last: jumps of code reach 2 GiB. */
#define SPAN_MAX    (UINT64_C(1) << 32)
#define PAGE        UINT64_C(4096)

static int read_piece(tl_patch_file *f, const tl_elf_segment *s, uint64_t *budget, tl_error *e)
{
    const unsigned i = f->image.parts;
    if (s->in_file > *budget)
        return tl_fail(e, TL_EDAMAGED, s->offset, "%s: what is mapped is larger than the file", f->path);
    *budget -= s->in_file;
    f->bytes[i] = malloc((size_t)s->in_file);
    if (!f->bytes[i])
        return tl_fail(e, TL_ENOMEM, s->offset, "%s: no memory for its code", f->path);
    f->image.parts++;
    f->image.part[i] = (patch_part){
        .address = f->bias + s->address, .size = s->in_file, .bytes = f->bytes[i], .code = (s->flags & PF_X) != 0};
    return tl_elf_segments_bytes(&f->segments, s->offset, f->bytes[i], (size_t)s->in_file, e);
}

/* The pages from the first piece to the last. */
static int measure(tl_patch_file *f, tl_error *e)
{
    f->low = UINT64_MAX;
    for (uint32_t i = 0; i < f->segments.nsegment; i++) {
        const tl_elf_segment *s = &f->segments.segment[i];
        if (s->type != PT_LOAD || s->in_memory == 0)
            continue;
        if (s->address > INT64_MAX || s->in_memory > INT64_MAX - s->address || s->in_file > s->in_memory)
            return tl_fail(e, TL_EDAMAGED, s->offset, "%s: a piece is said to be mapped at %#" PRIx64, f->path,
                           s->address);
        f->low = s->address < f->low ? s->address : f->low;
        f->high = s->address + s->in_memory > f->high ? s->address + s->in_memory : f->high;
    }
    if (f->high == 0)
        return tl_fail(e, TL_EUNSUPPORTED, 0, "%s: nothing of it is mapped", f->path);
    if (f->high - f->low > SPAN_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, 0, "%s: takes %" PRIu64 " bytes of memory, more than the limit of %" PRIu64,
                       f->path, f->high - f->low, SPAN_MAX);
    f->low &= ~(PAGE - 1);
    f->high = (f->high + PAGE - 1) & ~(PAGE - 1);
    return TL_OK;
}

/* All that is mapped, but for what is zero. */
static int read_pieces(tl_patch_file *f, tl_error *e)
{
    uint64_t budget = OVERLAP_MAX * tl_input_size(f->segments.in);
    for (uint32_t i = 0; i < f->segments.nsegment; i++) {
        const tl_elf_segment *s = &f->segments.segment[i];
        if (s->type == PT_GNU_EH_FRAME)
            f->image.frame_header = f->bias + s->address;
        if (s->type != PT_LOAD || !(s->flags & PF_R) || s->in_file == 0)
            continue;
        if (f->image.parts == PATCH_PARTS_MAX)
            return tl_fail(e, TL_EUNSUPPORTED, s->offset, "%s: more than %u pieces are mapped", f->path,
                           PATCH_PARTS_MAX);
        const int status = read_piece(f, s, &budget, e);
        if (status < 0)
            return status;
    }
    return f->image.parts ? TL_OK : tl_fail(e, TL_EUNSUPPORTED, 0, "%s: nothing of it can be read", f->path);
}

int tl_patch_file_open(tl_patch_file *f, const char *path, tl_error *e)
{
    *f = (tl_patch_file){.path = path};
    int status = tl_elf_segments_read(&f->segments, path, e);
    if (status < 0)
        return status;
    if (!f->segments.is64 || f->segments.big || (f->segments.type != ET_EXEC && f->segments.type != ET_DYN))
        status = tl_fail(e, TL_EUNSUPPORTED, 0, "%s: neither a program nor a library", path);
    if (status == 0)
        status = measure(f, e);
    f->fixed = f->segments.type == ET_EXEC;
    if (status < 0)
        tl_patch_file_close(f);
    return status;
}

void tl_patch_file_close(tl_patch_file *f)
{
    for (unsigned i = 0; i < f->image.parts; i++)
        free(f->bytes[i]);
    tl_elf_close(f->elf);
    tl_elf_close(f->debug);
    tl_elf_segments_free(&f->segments);
    free(f->range);
    *f = (tl_patch_file){0};
}

/* ---- symbols ---- */

typedef struct visitor {
    const tl_patch_file *file;
    int (*visit)(void *arg, uint64_t address, const tl_elf_symbol *s);
    void *arg;
} visitor;

static int see(void *arg, const tl_elf_symbol *s)
{
    const visitor *v = arg;
    const bool function = s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
    if (!function || s->section == SHN_UNDEF || s->value == 0 || !*s->name)
        return 0;
    return v->visit(v->arg, s->value + v->file->bias, s);
}

int tl_patch_file_symbols(tl_patch_file *f, int (*visit)(void *arg, uint64_t address, const tl_elf_symbol *s),
                          void *arg, tl_error *e)
{
    visitor v = {f, visit, arg};
    tl_error ignored = {0};
    int status = 0;
    if (f->elf)
        status = tl_elf_each_symbol(f->elf, see, &v, &ignored);
    if (status != TL_ENOMEM && f->debug)
        status = tl_elf_each_symbol(f->debug, see, &v, &ignored);
    return status == TL_ENOMEM ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for its symbols", f->path) : TL_OK;
}

static void name(uint64_t *list, unsigned *n, uint64_t address)
{
    if (*n < PATCH_NAMED)
        list[(*n)++] = address;
}

static bool is_among(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

static int collect(void *arg, uint64_t address, const tl_elf_symbol *s)
{
    tl_patch_file *f = arg;
    if (s->binding != STB_LOCAL && is_among(s->name, patch_never))
        name(f->never, &f->named.nevers, address);
    if (s->binding != STB_LOCAL && is_among(s->name, patch_twice))
        name(f->enter, &f->named.enters, address);
    if (f->image.frame_header || !s->size || f->ranges == PATCH_FUNCTIONS_MAX)
        return 0;
    if (!TL_GROW(f->range, f->ranges, 1, f->range_room))
        return TL_ENOMEM;
    f->range[f->ranges++] = (patch_range){address, s->size};
    return 0;
}

void tl_patch_file_place(tl_patch_file *f, uint64_t bias)
{
    f->bias = f->fixed ? 0 : bias;
    f->low += f->bias;
    f->high += f->bias;
}

int tl_patch_file_read(tl_patch_file *f, tl_error *e)
{
    tl_error ignored = {0};
    const int status = read_pieces(f, e);
    if (status < 0)
        return status;
    if (tl_elf_open(&f->elf, f->path, &ignored) < 0)
        f->elf = NULL;
    else if (tl_debug_file_open(&f->debug, f->elf, TL_DEBUG_ROOT, NULL, &ignored) != 1)
        f->debug = NULL;
    f->named = (patch_named){.never = f->never, .enter = f->enter};
    return tl_patch_file_symbols(f, collect, f, e);
}
