/* The calls of an XRay log through the library's cursors, by a loop made for one question: what SQL over the same rows
 * is compared with.
 *
 *     iterate_calls count|sum|group FILE
 *
 * count: how many calls ended; sum: and their ticks; group: both for each function. One thread. Exits are taken to be
 * those of the innermost call, or of one further out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceloom/traceloom.h>

enum { DEPTH = 1 << 16, FUNCTIONS = 1 << 16 };

typedef struct sums {
    uint64_t calls, ticks;
} sums;

typedef struct frame {
    uint64_t function, begin;
} frame;

typedef struct state {
    frame stack[DEPTH];
    uint32_t depth;
    sums all, function[FUNCTIONS];
} state;

static void end_call(state *s, uint64_t now, int mode)
{
    const frame *f = &s->stack[--s->depth];
    const uint64_t ticks = now - f->begin;
    s->all.calls++;
    if (mode != 'c')
        s->all.ticks += ticks;
    if (mode == 'g') {
        s->function[f->function % FUNCTIONS].calls++;
        s->function[f->function % FUNCTIONS].ticks += ticks;
    }
}

static void add(state *s, const tl_batch *b, const uint8_t *kind, int mode)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (kind[b->cls[i]] == TL_ENTER && s->depth < DEPTH) {
            s->stack[s->depth++] = (frame){b->key[i], b->ts[i]};
        } else if (kind[b->cls[i]] == TL_EXIT) {
            uint32_t at = s->depth;
            while (at > 0 && s->stack[at - 1].function != b->key[i])
                at--;
            while (at > 0 && s->depth >= at)
                end_call(s, b->ts[i], mode);
        }
    }
}

int main(int argc, char **argv)
{
    static state s;
    static uint8_t kind[65536];
    tl_error error;
    tl_source *source = NULL;
    const tl_batch *batch;
    if (argc != 3)
        return 2;
    int r = tl_source_open(&source, argv[2], NULL, &error);
    for (uint32_t i = 0; r >= 0 && i < tl_trace_classes(tl_source_trace(source)) && i < sizeof kind; i++)
        if (tl_trace_class(tl_source_trace(source), i)->key == TL_KEY_FUNCTION)
            kind[i] = (uint8_t)tl_trace_class(tl_source_trace(source), i)->kind;
    for (uint32_t i = 0; r >= 0 && i < tl_source_streams(source); i++) {
        tl_cursor *cursor = NULL;
        r = tl_cursor_open(&cursor, source, i, &error);
        while (r >= 0 && (r = tl_cursor_next(cursor, &batch, &error)) > 0)
            add(&s, batch, kind, argv[1][0]);
        tl_cursor_close(cursor);
        s.depth = 0;
    }
    if (r < 0)
        fprintf(stderr, "iterate_calls: %s\n", error.message);
    else
        printf("calls\t%" PRIu64 "\nticks\t%" PRIu64 "\n", s.all.calls, s.all.ticks);
    for (uint32_t i = 0; r >= 0 && argv[1][0] == 'g' && i < FUNCTIONS; i++)
        if (s.function[i].calls)
            printf("%" PRIu32 "\t%" PRIu64 "\n", i, s.function[i].ticks);
    tl_source_close(source);
    return r < 0;
}
