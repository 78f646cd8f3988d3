/* The cost of reading an instruction stream through the library, to compare with limit_xtrace.
 *
 *     iterate_xtrace sum|walk|fields FILE
 *
 * sum: key ^ aux of every event, whatever it is. walk: prints what `limit_xtrace walk` prints, from the same columns.
 * fields: asks for every field, and looks at each event's first one. One cursor, one thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceloom/traceloom.h>

typedef struct sums {
    uint64_t insns, accesses, pcs, opcodes, addresses, all;
} sums;

static void add_sum(sums *s, const tl_batch *b)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < b->n; i++)
        all += b->key[i] ^ b->aux[i];
    s->all += all;
    s->insns += b->n;
}

static void add_walk(sums *s, const tl_batch *b, const uint8_t *kind)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (kind[b->cls[i]] == TL_INSN) {
            s->insns++;
            s->pcs += b->key[i];
            s->opcodes += tl_insn_opcode(b->aux[i]);
        } else if (kind[b->cls[i]] == TL_MEM) {
            s->accesses++;
            s->addresses += b->key[i];
        }
    }
}

static void add_fields(sums *s, const tl_batch *b)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < b->n; i++)
        all += b->val[i] < b->val[i + 1] ? b->v[b->val[i]].as.u : 0;
    s->all += all;
    s->insns += b->n;
}

int main(int argc, char **argv)
{
    tl_error error;
    tl_source *source = NULL;
    tl_cursor *cursor = NULL;
    const tl_batch *batch;
    sums s = {0};
    uint8_t kind[256] = {0};
    if (argc != 3)
        return 2;
    const bool walk = strcmp(argv[1], "walk") == 0, fields = strcmp(argv[1], "fields") == 0;
    const tl_open_options options = {.want.fields = fields};
    int r = tl_source_open(&source, argv[2], &options, &error);
    if (r >= 0)
        r = tl_cursor_open(&cursor, source, 0, &error);
    for (uint32_t id = 0; r >= 0 && id < tl_trace_classes(tl_source_trace(source)) && id < sizeof kind; id++)
        kind[id] = (uint8_t)tl_trace_class(tl_source_trace(source), id)->kind;
    while (r >= 0 && (r = tl_cursor_next(cursor, &batch, &error)) > 0) {
        if (walk)
            add_walk(&s, batch, kind);
        else if (fields)
            add_fields(&s, batch);
        else
            add_sum(&s, batch);
    }
    if (r < 0)
        fprintf(stderr, "iterate_xtrace: %s\n", error.message);
    else if (walk)
        printf("%" PRIu64 " instructions %" PRIu64 " accesses %" PRIx64 "\n", s.insns, s.accesses,
               s.pcs ^ s.opcodes ^ s.addresses);
    else
        printf("%" PRIu64 " events %" PRIx64 "\n", s.insns, s.all);
    tl_cursor_close(cursor);
    tl_source_close(source);
    return r < 0;
}
