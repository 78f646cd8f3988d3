/* The first pass over a log: finds its threads, functions, modules and lines, and its dialect.
 *
 * Several threads scan chunks of whole lines and collect facts, which are taken over in the order of the log. From
 * lines of samples, which are nearly all, only the thread is read. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
#include "format/tracelog/tracelog_cut.h"
#include "format/tracelog/tracelog_facts.h"
#include "format/tracelog/tracelog_items.h"
#include "format/tracelog/tracelog_words.h"

#define CHUNKS  32u /* of a worker, at a time */
#define WORKERS 16u /* each has a chunk and its facts */

/* Something to remember from a line. */
typedef struct fact {
    tracelog_record record;
    uint32_t value;  /* its values begin here on worker.values */
    uint32_t nvalue; /* 0: only the thread */
    uint64_t thread;
} fact;

typedef struct worker {
    tracelog_text text;
    tracelog_part part; /* one line at a time */
    tl_arena arena;     /* of the texts of values */
    fact *fact;
    uint32_t nfact, fact_capacity;
    tl_value *value;
    uint32_t nvalue, value_capacity;
    tl_id_map seen; /* threads */
    unsigned signs; /* tracelog_signs */
    uint64_t least; /* smallest time in the current chunk */
    int status;     /* 1: there was a chunk, 0: none, < 0 */
    tl_error error;
} worker;

typedef struct survey {
    tracelog_reader *reader;
    tracelog_cutting cutting;
    uint64_t next; /* chunk */
    worker worker[WORKERS];
    tracelog_facts facts;
} survey;

/* ---- scanning lines */

static bool add_fact(worker *w, const fact *f)
{
    if (!TL_GROW(w->fact, w->nfact, 1, w->fact_capacity))
        return false;
    w->fact[w->nfact++] = *f;
    return true;
}

/* Reads the time in a line, if it is after a space at p. */
TL_ALWAYS_INLINE void look_at_time(worker *w, const uint8_t *p)
{
    uint64_t ms;
    if (p && *p == ' ' && tracelog_dec(p + 1, TRACELOG_MS_MAX, &ms) && ms < w->least)
        w->least = ms;
}

/* Thread and time of a sample or another frequent record: the first fields. False when memory runs out. */
TL_ALWAYS_INLINE bool look_at_sample(worker *w, const uint8_t *p)
{
    uint64_t iid;
    unsigned digits;
    const uint8_t *end = tracelog_0x(p, 8, &iid, &digits);
    look_at_time(w, end ? end : p + 1); /* after a ? */
    if (!end || tl_id_map_get(&w->seen, iid) != TL_HASH_NONE)
        return true;
    const fact f = {.record = tracelog_sam_str, .thread = iid};
    return add_fact(w, &f) && tl_id_map_put(&w->seen, iid, 1);
}

/* Keeps the values of the scanned event; its texts move to the worker's memory. */
static bool keep_values(worker *w, tracelog_record record, const tracelog_note *note)
{
    const tl_batch *b = &w->part.batch;
    const fact f = {.record = record, .value = w->nvalue, .nvalue = b->nval, .thread = note->thread};
    if (!TL_GROW(w->value, w->nvalue, b->nval, w->value_capacity) || !add_fact(w, &f))
        return false;
    for (uint32_t i = 0; i < b->nval; i++) {
        tl_value v = b->v[i];
        if (v.type == TL_STRING && !(v.as.p = tl_arena_strndup(&w->arena, v.as.p, v.n)))
            return false;
        w->value[w->nvalue++] = v;
    }
    return true;
}

/* Which records are read in full: facts, and those that reveal the dialect or a new thread. */
static bool is_looked_at(tracelog_record r)
{
    return tracelog_is_fact(r) || r == tracelog_thr_crt || r == tracelog_thr_dst || r == tracelog_gch_gcs ||
           r == tracelog_gch_gcf || r == tracelog_gch_gen || r == tracelog_cls_ldf ||
           (r >= tracelog_jit_cmf && r <= tracelog_jit_css);
}

/* A line that must be read in full. */
static bool read_line(worker *w, tracelog_record record, tracelog_lines *line)
{
    const uint8_t *const at = line->at;
    tracelog_part_clear(&w->part);
    if (tracelog_scan(line, &w->part, &w->error) < 0)
        return false;
    if (w->part.batch.n == 0) { /* malformed, but it may still be a sign */
        w->signs |= tracelog_signs_of_fault(record, at, line->end);
        return true;
    }
    const tracelog_note *note = &w->part.note[0];
    if ((note->flags & TRACELOG_HAS_TIME) && w->part.batch.ts[0] < w->least)
        w->least = w->part.batch.ts[0];
    w->signs |= tracelog_signs_of(record, note->flags);
    if ((note->flags & TRACELOG_HAS_THREAD) && tl_id_map_get(&w->seen, note->thread) == TL_HASH_NONE) {
        const fact f = {.record = tracelog_sam_str, .thread = note->thread};
        if (!add_fact(w, &f) || !tl_id_map_put(&w->seen, note->thread, 1))
            return false;
    }
    return !tracelog_is_fact(record) || keep_values(w, record, note);
}

static bool read_whole(worker *w, tracelog_record record, const tracelog_lines *l, const uint8_t *next)
{
    tracelog_lines line = {.text = l->text, .offset = l->offset, .at = l->at, .end = next};
    return read_line(w, record, &line);
}

static bool look_at_lines(worker *w, tracelog_lines *l)
{
    while (l->at < l->end) {
        const uint8_t *p = l->at, *next = (const uint8_t *)memchr(p, '\n', (size_t)(l->end - p)) + 1;
        const tracelog_record record = tracelog_record_at(p);
        bool ok = true;
        if (record == tracelog_sam_str || record == tracelog_sam_mem || record == tracelog_thr_cpu) {
            ok = look_at_sample(w, p + 8);
        } else if (record == tracelog_str_sam) {
            w->signs |= TRACELOG_OLD;
            ok = look_at_sample(w, p + 8);
        } else if (record == tracelog_prf_cfg) {
            w->signs |= tracelog_sets_calls(p + 8, (size_t)(next - p - 8)) ? TRACELOG_CALLS : 0u;
            ok = read_whole(w, record, l, next);
        } else if (record < TRACELOG_RECORDS && is_looked_at(record)) {
            ok = read_whole(w, record, l, next);
        } else if (record < TRACELOG_RECORDS && tracelog_shapes[record].part[0].item == TRACELOG_MS) {
            look_at_time(w, p + 7);
        }
        if (!ok)
            return false;
        l->at = next;
    }
    return true;
}

static int look_at_chunks(void *arg, unsigned thread, uint32_t i)
{
    survey *s = arg;
    worker *w = &s->worker[i];
    (void)thread;
    w->nfact = w->nvalue = 0;
    tl_arena_reset(&w->arena);
    w->status = 1;
    for (uint64_t k = 0; k < CHUNKS && w->status > 0; k++) {
        const uint64_t number = s->next + i * CHUNKS + k;
        tracelog_lines l = {0};
        w->least = UINT64_MAX;
        w->status = tracelog_cut(&s->cutting, number, &w->text, &l, &w->error);
        if (w->status > 0 && !look_at_lines(w, &l))
            w->status = tl_fail(&w->error, TL_ENOMEM, TL_NO_OFFSET, "no memory to look at the log");
        if (w->status > 0 && number < s->reader->nfloor)
            s->reader->floor[number] = w->least;
    }
    return 0;
}

/* ---- taking over results, in the order of the log */

/* 1: there may be more; 0: that was the last chunk. */
static int take_over(survey *s, worker *w, uint64_t *progress, tl_error *e)
{
    if (w->status < 0 && e)
        *e = w->error;
    if (w->status < 0)
        return w->status;
    s->facts.signs |= w->signs;
    for (uint32_t i = 0; i < w->nfact; i++) {
        const fact *f = &w->fact[i];
        int status = f->nvalue ? tracelog_facts_take(&s->facts, f->record, f->thread, w->value + f->value, e)
                               : tracelog_facts_thread(&s->facts, f->thread, e);
        if (status < 0)
            return status;
    }
    if (progress)
        atomic_fetch_add_explicit((_Atomic uint64_t *)progress, TRACELOG_CHUNK * CHUNKS, memory_order_relaxed);
    return w->status;
}

static void survey_fini(survey *s)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        worker *w = &s->worker[i];
        tracelog_text_fini(&w->text);
        tracelog_part_fini(&w->part);
        tl_arena_fini(&w->arena);
        tl_id_map_fini(&w->seen);
        free(w->fact);
        free(w->value);
    }
    tracelog_facts_fini(&s->facts);
    free(s);
}

/* All chunks, one for each worker at a time. */
static int look_at_all(survey *s, unsigned workers, uint64_t *progress, tl_error *e)
{
    static const tl_want want = {.fields = true};
    int status = 0;
    for (unsigned i = 0; status == 0 && i < workers; i++)
        status = tracelog_part_init(&s->worker[i].part, s->reader->trace, &want, e);
    while (status == 0) {
        tl_parallel(workers, workers, look_at_chunks, s);
        for (unsigned i = 0; i < workers && (status = take_over(s, &s->worker[i], progress, e)) > 0;)
            i++;
        if (status <= 0)
            break;
        status = 0;
        s->next += (uint64_t)workers * CHUNKS;
    }
    return status;
}

int tracelog_survey(tracelog_reader *r, uint64_t *progress, tl_error *e)
{
    survey *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to look at the log");
    const uint64_t chunks = tl_input_size(r->in) / (TRACELOG_CHUNK * CHUNKS) + 1;
    unsigned workers = r->want.threads > WORKERS ? WORKERS : r->want.threads ? r->want.threads : 1;
    if (workers > chunks)
        workers = (unsigned)chunks;
    r->nfloor = r->follow ? 0 : (size_t)(tl_input_size(r->in) / TRACELOG_CHUNK + 1);
    r->floor = tl_alloc(r->nfloor + 1, sizeof *r->floor);
    if (!r->floor) {
        free(s);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to look at the log");
    }
    for (size_t i = 0; i < r->nfloor; i++) /* in case the file has become shorter */
        r->floor[i] = UINT64_MAX;
    s->reader = s->facts.reader = r;
    s->cutting = (tracelog_cutting){.in = r->in, .size = TRACELOG_CHUNK};
    int status = look_at_all(s, workers, progress, e);
    if (status == 0)
        status = tracelog_facts_tell(&s->facts, e);
    for (size_t i = r->nfloor; i-- > 1;)
        r->floor[i - 1] = r->floor[i] < r->floor[i - 1] ? r->floor[i] : r->floor[i - 1];
    survey_fini(s);
    return status;
}
