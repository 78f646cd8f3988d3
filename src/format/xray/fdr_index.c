/* The index of an FDR log: parts of the file are scanned in parallel, then joined in file order.
 *
 * A part begins at a guess, the first place in it that looks like a buffer. The guess is right if the part before ends
 * exactly there; where it does not, the part is scanned again from the place where the one before really ended. */
#include "format/xray/fdr_index.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
#include "format/xray/fdr_layout.h"
#include "format/xray/fdr_scan.h"
#include "model/recording.h"

#define PART_SIZE (8u << 20) /* bytes scanned as one task */

typedef struct build {
    fdr_index *index;
    tl_input *in;
    tl_trace *trace;
    xray_threads threads;
    uint64_t part_size;
    uint32_t nparts;
    fdr_scan *part;
    size_t capacity;
} build;

static uint64_t part_begin(const build *b, uint32_t i)
{
    return FDR_HEADER_SIZE + i * b->part_size;
}

static uint64_t part_end(const build *b, uint32_t i)
{
    return i + 1 == b->nparts ? b->index->size : part_begin(b, i + 1);
}

static int scan_part(void *arg, unsigned worker, uint32_t i)
{
    (void)worker;
    build *b = arg;
    fdr_scan *s = &b->part[i];
    tl_error ignored;
    int status = fdr_scan_init(s, b->index, b->in, &ignored);
    uint64_t from = part_begin(b, i);
    if (i > 0) /* only a wrong guess, or a buffer as large as a part, gets this far: then it is scanned again */
        s->give_up = part_end(b, i) + PART_SIZE;
    if (status == 0 && i > 0 && b->index->version > 1)
        status = fdr_scan_find(s, from, part_end(b, i), &from, &ignored);
    if (status == 0)
        status = fdr_scan_run(s, from, part_end(b, i), &ignored);
    tl_window_fini(&s->window);
    if (status < 0) { /* scanned again when the parts are joined: that reports the failure if it persists */
        fdr_scan_fini(s);
        s->from = UINT64_MAX;
    }
    return 0;
}

/* Passes the text of a note to the recording. Does not even read one that exceeds the limit for all. */
static int take_note(build *b, const fdr_note *n, tl_error *e)
{
    char *text = n->size <= TL_RECORDING_BYTES_MAX ? malloc((size_t)n->size + 1) : NULL;
    size_t got = 0;
    int status = 0;
    if (!text && n->size <= TL_RECORDING_BYTES_MAX)
        return tl_fail(e, TL_ENOMEM, n->offset, "no memory for a note");
    if (text)
        status = tl_input_read(b->in, n->offset, text, n->size, &got, e);
    if (text && status == 0 && got < n->size)
        status = tl_fail(e, TL_EIO, n->offset, "the file became shorter while it was read");
    if (status == 0)
        status = tl_recording_add(b->trace, text, n->size, n->offset, e);
    free(text);
    return status;
}

/* Takes over the findings of a scan: threads get their tracks in file order. */
static int take(build *b, const fdr_scan *s, tl_error *e)
{
    fdr_index *x = b->index;
    if (!TL_GROW(x->buffer, x->nbuffer, s->nbuffer, b->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the index of %zu buffers", x->nbuffer + s->nbuffer);
    for (size_t i = 0; i < s->nbuffer; i++) {
        fdr_buffer *buffer = &x->buffer[x->nbuffer];
        *buffer = s->buffer[i];
        uint32_t track = 0;
        int status = xray_thread(&b->threads, b->trace, buffer->has_pid, buffer->pid, buffer->tid, &track, e);
        if (status < 0)
            return status;
        buffer->track = track & 0x1fffffffu;
        x->nbuffer++;
    }
    for (size_t i = 0; i < s->nnote; i++) {
        int status = take_note(b, &s->note[i], e);
        if (status < 0)
            return status;
    }
    for (size_t i = 0; i < s->ndamage; i++) {
        const fdr_damage *d = &s->damage[i];
        int status = tl_trace_add_damage(b->trace, e, d->offset, d->bytes, d->rule, "%s", d->what);
        if (status < 0)
            return status;
    }
    b->trace->damage_count += s->ndamage_all - s->ndamage;
    if (s->has_event) {
        if (!b->trace->has_range || s->first < b->trace->begin)
            b->trace->begin = s->first;
        if (!b->trace->has_range || s->last > b->trace->end)
            b->trace->end = s->last;
        b->trace->has_range = true;
    }
    return 0;
}

static int join_parts(build *b, tl_error *e)
{
    uint64_t position = FDR_HEADER_SIZE, slot = b->index->slot;
    for (uint32_t i = 0; i < b->nparts; i++) {
        fdr_scan *s = &b->part[i];
        int status = 0;
        if (position < part_end(b, i)) {
            if (s->from != position || s->slot_before != slot) {
                fdr_scan_fini(s);
                status = fdr_scan_init(s, b->index, b->in, e);
                s->slot = slot;
                if (status == 0)
                    status = fdr_scan_run(s, position, part_end(b, i), e);
            }
            if (status == 0)
                status = take(b, s, e);
            position = s->next;
            slot = s->slot;
        }
        fdr_scan_fini(s);
        if (status < 0)
            return status;
    }
    return 0;
}

static int compare_tsc(const void *left, const void *right)
{
    const fdr_buffer *a = left, *b = right;
    int order = TL_COMPARE(a->tsc, b->tsc);
    return order ? order : TL_COMPARE(a->begin, b->begin);
}

static int compare_wall(const void *left, const void *right)
{
    const fdr_buffer *a = left, *b = right;
    if (a->wall_seconds != b->wall_seconds)
        return a->wall_seconds < b->wall_seconds ? -1 : 1;
    if (a->wall_microseconds != b->wall_microseconds)
        return a->wall_microseconds < b->wall_microseconds ? -1 : 1;
    return compare_tsc(left, right);
}

/* Sorts the buffers of one thread: by wall time if all have one, then by first time, then by place. */
static void sort_thread(fdr_buffer *buffer, size_t n)
{
    int (*compare)(const void *, const void *) = compare_wall;
    for (size_t i = 0; i < n; i++)
        if (!buffer[i].has_wall)
            compare = compare_tsc;
    for (size_t i = 1; i < n; i++)
        if (compare(&buffer[i - 1], &buffer[i]) > 0) { /* recorders usually write them in order */
            qsort(buffer, n, sizeof *buffer, compare);
            return;
        }
}

/* Groups the buffers by thread. */
static int group(build *b, tl_error *e)
{
    fdr_index *x = b->index;
    uint32_t tracks = b->trace->ntrack;
    fdr_buffer *grouped = tl_alloc(x->nbuffer + 1, sizeof *grouped);
    x->first = calloc((size_t)tracks + 2, sizeof *x->first);
    if (!grouped || !x->first) {
        free(grouped);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort %zu buffers", x->nbuffer);
    }
    for (size_t i = 0; i < x->nbuffer; i++)
        x->first[x->buffer[i].track + 2]++;
    for (uint32_t t = 1; t <= tracks; t++)
        x->first[t + 1] += x->first[t];
    for (size_t i = 0; i < x->nbuffer; i++)
        grouped[x->first[x->buffer[i].track + 1]++] = x->buffer[i];
    free(x->buffer);
    x->buffer = grouped;
    for (uint32_t t = 0; t < tracks; t++)
        sort_thread(x->buffer + x->first[t], x->first[t + 1] - x->first[t]);
    return 0;
}

int fdr_index_build(fdr_index *x, tl_input *in, tl_trace *t, unsigned threads, tl_error *e)
{
    if (x->size <= FDR_HEADER_SIZE) {
        build empty = {.index = x, .trace = t};
        return group(&empty, e);
    }
    build b = {.index = x, .in = in, .trace = t, .part_size = PART_SIZE};
    if (x->version == 1 && x->slot < PART_SIZE)
        b.part_size = PART_SIZE / x->slot * x->slot;
    else if (x->version == 1)
        b.part_size = x->slot < x->size ? x->slot : x->size;
    const uint64_t parts = (x->size - FDR_HEADER_SIZE - 1) / b.part_size + 1;
    if (parts > UINT32_MAX) /* a sparse file may have any size */
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to scan %" PRIu64 " parts", parts);
    b.nparts = (uint32_t)parts;
    b.part = calloc(b.nparts, sizeof *b.part);
    int status = b.part ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to scan %u parts", b.nparts);
    if (status == 0)
        status = tl_parallel(threads ? threads : 1, b.nparts, scan_part, &b);
    if (status == 0)
        status = join_parts(&b, e);
    if (status == 0)
        status = group(&b, e);
    for (uint32_t i = 0; b.part && i < b.nparts; i++)
        fdr_scan_fini(&b.part[i]);
    free(b.part);
    xray_threads_fini(&b.threads);
    tl_trace_sort_damage(t);
    return status;
}

void fdr_index_fini(fdr_index *x)
{
    free(x->buffer);
    free(x->first);
    *x = (fdr_index){0};
}
