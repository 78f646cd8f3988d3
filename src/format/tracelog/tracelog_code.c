/* Tables of code: pieces are sorted by function and address, and found by binary search. */
#include "format/tracelog/tracelog_code.h"

#include <stdlib.h>

#include "base/grow.h"

#define IL_SPECIAL UINT64_C(0xfffffffd) /* from here on: no mapping, prologue, epilogue */

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the tables of code");
}

int tracelog_code_add(tracelog_code *c, uint64_t function, const tl_value *code_info, const tl_value *il_map,
                      tl_error *e)
{
    const uint32_t map = c->nmap;
    uint64_t before = 0;
    for (const tl_value *v = il_map + 1; v < il_map + 1 + (size_t)il_map->n * 4; v += 4) {
        if (!TL_GROW(c->map, c->nmap, 1, c->map_capacity))
            return no_memory(e);
        c->map[c->nmap++] = (tracelog_il){.il = v[1].as.u, .begin = v[2].as.u, .end = v[3].as.u};
    }
    for (const tl_value *v = code_info + 1; v < code_info + 1 + (size_t)code_info->n * 3; v += 3) {
        if (!TL_GROW(c->piece, c->npiece, 1, c->piece_capacity))
            return no_memory(e);
        c->piece[c->npiece] = (tracelog_piece){.function = function,
                                               .start = v[1].as.u,
                                               .size = v[2].as.u,
                                               .before = before,
                                               .map = map,
                                               .nmap = c->nmap - map,
                                               .order = c->npiece};
        c->npiece++;
        before += v[2].as.u;
    }
    return 0;
}

int tracelog_code_add_line(tracelog_code *c, uint64_t line, uint64_t file, uint64_t number, tl_error *e)
{
    uint32_t at = tl_hash_get(&c->line_of, line);
    if (at == TL_HASH_NONE) {
        at = c->nline;
        if (!TL_GROW(c->line, c->nline, 1, c->line_capacity) || !tl_hash_put(&c->line_of, line, at))
            return no_memory(e);
        c->nline++;
    }
    c->line[at] = (tracelog_line){file, number < UINT32_MAX ? (uint32_t)number : 0};
    return 0;
}

int tracelog_code_add_file(tracelog_code *c, uint64_t file, const char *path, tl_error *e)
{
    uint32_t at = tl_hash_get(&c->file_of, file);
    if (at == TL_HASH_NONE) {
        at = c->nfile;
        if (!TL_GROW(c->file, c->nfile, 1, c->file_capacity) || !tl_hash_put(&c->file_of, file, at))
            return no_memory(e);
        c->nfile++;
    }
    c->file[at] = path;
    return 0;
}

static int compare_pieces(const void *left, const void *right)
{
    const tracelog_piece *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return TL_COMPARE(a->order, b->order);
}

void tracelog_code_sort(tracelog_code *c)
{
    if (c->npiece)
        qsort(c->piece, c->npiece, sizeof *c->piece, compare_pieces);
}

static bool locate_line(const tracelog_code *c, uint64_t iid, tl_location *out)
{
    const uint32_t at = tl_hash_get(&c->line_of, iid);
    if (at == TL_HASH_NONE)
        return false;
    const uint32_t file = tl_hash_get(&c->file_of, c->line[at].file);
    *out = (tl_location){.file = file == TL_HASH_NONE ? NULL : c->file[file], .line = c->line[at].line};
    return true;
}

/* The last piece of the function that begins at or before the address. */
static const tracelog_piece *find_piece(const tracelog_code *c, uint64_t function, uint64_t ip)
{
    uint32_t low = 0, high = c->npiece;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const tracelog_piece *p = &c->piece[middle];
        if (p->function < function || (p->function == function && p->start <= ip))
            low = middle + 1;
        else
            high = middle;
    }
    const tracelog_piece *p = low ? &c->piece[low - 1] : NULL;
    return p && p->function == function && ip - p->start < p->size ? p : NULL;
}

bool tracelog_code_locate(const tracelog_code *c, const tl_frame *frame, tl_location *out)
{
    if (!(frame->flags & TL_FRAME_IP))
        return false;
    if (frame->flags & TL_FRAME_LINE)
        return locate_line(c, frame->ip, out);
    const tracelog_piece *p = frame->flags & TL_FRAME_FUNCTION ? find_piece(c, frame->function, frame->ip) : NULL;
    if (!p)
        return false;
    const uint64_t at = p->before + (frame->ip - p->start);
    for (uint32_t i = 0; i < p->nmap; i++) {
        const tracelog_il *m = &c->map[p->map + i];
        if (at >= m->begin && at < m->end && m->il < IL_SPECIAL) {
            *out = (tl_location){.has_offset = true, .offset = (uint32_t)m->il};
            return true;
        }
    }
    return false;
}

void tracelog_code_fini(tracelog_code *c)
{
    free(c->piece);
    free(c->map);
    free(c->line);
    free(c->file);
    tl_hash_fini(&c->line_of);
    tl_hash_fini(&c->file_of);
    *c = (tracelog_code){0};
}
