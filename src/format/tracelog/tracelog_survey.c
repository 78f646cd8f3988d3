/* The first look at a log: which threads, functions, modules and lines it speaks of, and in which dialect.
 *
 * Chunks of whole lines are looked at by several threads; each writes down facts, and these are taken over in the order
 * of the log. Of the lines of samples, which are nearly all, only the thread is looked at. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pool.h"
#include "format/tracelog/tracelog_cut.h"
#include "format/tracelog/tracelog_items.h"
#include "format/tracelog/tracelog_read.h"
#include "format/tracelog/tracelog_words.h"

#define CHUNKS  32u /* of a worker, at a time */
#define WORKERS 16u /* each has a chunk and its facts */

/* What stands in the fields of a record, by their place on the tape. */
enum { AOS_IID, AOS_OS };
enum { MODULE_ID, MODULE_NAME = 4 };
enum { APD_PROCESS = 1 };

/* Something to be remembered of a line. */
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
    bool used[TRACELOG_RECORDS];
    bool os_threads, twice;
    uint64_t least; /* time in the present chunk */
    int status;     /* 1: there was a chunk, 0: none, < 0 */
    tl_error error;
} worker;

/* What is known of a function while the survey goes on. */
typedef struct function {
    uint64_t iid;
    const char *name;
    uint64_t module;
    bool has_module;
} function;

typedef struct survey {
    tracelog_reader *reader;
    tracelog_cutting cutting;
    uint64_t next; /* chunk */
    worker worker[WORKERS];
    tl_id_map function_of; /* iid -> index */
    function *function;
    uint32_t nfunction, function_capacity;
    tl_hash module_of; /* moduleId -> index in module_name */
    const char **module_name;
    uint32_t nmodule, module_capacity;
    tl_id_map thread_of; /* iid -> index */
    struct known_thread {
        uint64_t iid, os;
        bool has_os;
    } * thread;
    uint32_t nthread, thread_capacity;
    bool has_start, has_pid;
    uint64_t pid;
    bool os_threads, twice, used[TRACELOG_RECORDS];
} survey;

static bool grow(void **array, uint32_t n, uint32_t *capacity, size_t size)
{
    uint32_t more = *capacity ? *capacity : 256;
    while (more < n) {
        if (more > UINT32_MAX / 2)
            return false;
        more *= 2;
    }
    if (more == *capacity)
        return true;
    void *larger = realloc(*array, more * size);
    if (!larger)
        return false;
    *array = larger;
    *capacity = more;
    return true;
}

#define GROW(array, n, capacity) grow((void **)&(array), (n), &(capacity), sizeof *(array))

/* ---- looking at lines */

static bool add_fact(worker *w, const fact *f)
{
    if (!GROW(w->fact, w->nfact + 1, w->fact_capacity))
        return false;
    w->fact[w->nfact++] = *f;
    return true;
}

/* The time in a line, if one stands at p behind a space. */
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
    const uint8_t *end = tracelog_0x(p, &iid, &digits);
    look_at_time(w, end ? end : p + 1); /* behind a ? */
    if (!end || tl_id_map_get(&w->seen, iid) != TL_HASH_NONE)
        return true;
    const fact f = {.record = tracelog_sam_str, .thread = iid};
    return add_fact(w, &f) && tl_id_map_put(&w->seen, iid, 1);
}

/* Keeps the values of the event that was scanned; its texts move to the worker's memory. */
static bool keep_values(worker *w, tracelog_record record, const tracelog_note *note)
{
    const tl_batch *b = &w->part.batch;
    const fact f = {.record = record, .value = w->nvalue, .nvalue = b->nval, .thread = note->thread};
    if (!GROW(w->value, w->nvalue + b->nval, w->value_capacity) || !add_fact(w, &f))
        return false;
    for (uint32_t i = 0; i < b->nval; i++) {
        tl_value v = b->v[i];
        if (v.type == TL_STRING && !(v.as.p = tl_arena_strndup(&w->arena, v.as.p, v.n)))
            return false;
        w->value[w->nvalue++] = v;
    }
    return true;
}

/* Which records are read in full: those that say something that lasts. */
static bool is_lasting(tracelog_record r)
{
    return r == tracelog_thr_crt || r == tracelog_thr_aos || r == tracelog_thr_dst || r == tracelog_mod_ldf ||
           r == tracelog_apd_crf || r == tracelog_fun_inf || r == tracelog_fun_cmf || r == tracelog_fun_csf ||
           r == tracelog_fun_nam || r == tracelog_prf_stm || r == tracelog_fil_src || r == tracelog_lin_src ||
           r == tracelog_gch_gen || (r >= tracelog_jit_cmf && r <= tracelog_jit_css) || r == tracelog_gch_gcs ||
           r == tracelog_gch_gcf;
}

/* A line that has to be read in full. */
static bool read_line(worker *w, tracelog_record record, tracelog_lines *line)
{
    tracelog_part_clear(&w->part);
    if (tracelog_scan(line, &w->part, &w->error) < 0)
        return false;
    if (w->part.batch.n == 0) /* it does not read */
        return true;
    const tracelog_note *note = &w->part.note[0];
    if ((note->flags & TRACELOG_HAS_TIME) && w->part.batch.ts[0] < w->least)
        w->least = w->part.batch.ts[0];
    w->used[record] = true;
    w->twice = w->twice || (note->flags & TRACELOG_TWICE);
    w->os_threads = w->os_threads || (note->flags & TRACELOG_OS_THREAD);
    if ((note->flags & TRACELOG_HAS_THREAD) && tl_id_map_get(&w->seen, note->thread) == TL_HASH_NONE) {
        const fact f = {.record = tracelog_sam_str, .thread = note->thread};
        if (!add_fact(w, &f) || !tl_id_map_put(&w->seen, note->thread, 1))
            return false;
    }
    const bool kept = record == tracelog_thr_aos
                          ? (note->flags & TRACELOG_HAS_THREAD) != 0
                          : record == tracelog_mod_ldf || record == tracelog_apd_crf ||
                                (record >= tracelog_fun_cmf && record <= tracelog_fun_nam) ||
                                record == tracelog_prf_stm || record == tracelog_fil_src || record == tracelog_lin_src;
    return !kept || keep_values(w, record, note);
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
            w->used[record] = true;
            ok = look_at_sample(w, p + 8);
        } else if (record < TRACELOG_RECORDS && is_lasting(record)) {
            tracelog_lines line = {.text = l->text, .offset = l->offset, .at = p, .end = next};
            ok = read_line(w, record, &line);
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

/* ---- taking over what was found, in the order of the log */

static function *function_at(survey *s, uint64_t iid)
{
    uint32_t at = tl_id_map_get(&s->function_of, iid);
    if (at == TL_HASH_NONE) {
        at = s->nfunction;
        if (!GROW(s->function, at + 1, s->function_capacity) || !tl_id_map_put(&s->function_of, iid, at))
            return NULL;
        s->function[s->nfunction++] = (function){.iid = iid};
    }
    return &s->function[at];
}

static bool take_name(survey *s, const tl_value *v)
{
    if (v[0].type != TL_HEX)
        return true;
    function *f = function_at(s, v[0].as.u);
    return f && (f->name = tl_trace_intern(s->reader->trace, v[1].as.p));
}

/* fun inf and its older kin; where the iid and the lists stand is the only difference. */
static bool take_code(survey *s, tracelog_record record, const tl_value *v, tl_error *e)
{
    const tl_value *id = record == tracelog_fun_inf ? v : v + 1, *module = v + 3;
    const tl_value *code = v + (record == tracelog_fun_cmf ? 6 : 5), *map = code + 1 + (size_t)code->n * 3;
    if (id->type != TL_HEX)
        return true;
    function *f = function_at(s, id->as.u);
    if (!f)
        return false;
    f->has_module = module->type == TL_HEX;
    f->module = module->as.u;
    return tracelog_code_add(&s->reader->code, f->iid, code, map, e) == 0;
}

static bool take_module(survey *s, const tl_value *v)
{
    if (v[MODULE_ID].type != TL_HEX)
        return true;
    uint32_t at = tl_hash_get(&s->module_of, v[MODULE_ID].as.u);
    if (at == TL_HASH_NONE) {
        at = s->nmodule;
        if (!GROW(s->module_name, at + 1, s->module_capacity) || !tl_hash_put(&s->module_of, v[MODULE_ID].as.u, at))
            return false;
        s->nmodule++;
    }
    return (s->module_name[at] = tl_trace_intern(s->reader->trace, v[MODULE_NAME].as.p)) != NULL;
}

static struct known_thread *thread_at(survey *s, uint64_t iid)
{
    uint32_t at = tl_id_map_get(&s->thread_of, iid);
    if (at == TL_HASH_NONE) {
        at = s->nthread;
        if (!GROW(s->thread, at + 1, s->thread_capacity) || !tl_id_map_put(&s->thread_of, iid, at))
            return NULL;
        s->thread[s->nthread++] = (struct known_thread){.iid = iid};
    }
    return &s->thread[at];
}

static bool take_thread(survey *s, uint64_t iid, const uint64_t *os)
{
    struct known_thread *t = thread_at(s, iid);
    if (t && os) {
        t->has_os = true;
        t->os = *os;
    }
    return t != NULL;
}

static bool take_start(survey *s, const tl_value *v)
{
    int64_t ms = 0;
    bool has_zone = false;
    if (!s->has_start && tracelog_parse_time(v->as.p, v->n, &ms, &has_zone) && has_zone &&
        !__builtin_mul_overflow(ms, INT64_C(1000000), &s->reader->trace->clock.utc_offset_ns))
        s->reader->trace->clock.has_utc = true;
    s->has_start = true;
    return true;
}

static bool take_fact(survey *s, const worker *w, const fact *f, tl_error *e)
{
    const tl_value *v = w->value + f->value;
    tracelog_code *code = &s->reader->code;
    if (f->nvalue == 0)
        return take_thread(s, f->thread, NULL);
    switch (f->record) {
    case tracelog_thr_aos:
        return take_thread(s, f->thread, &v[AOS_OS].as.u);
    case tracelog_mod_ldf:
        return take_module(s, v);
    case tracelog_apd_crf:
        if (!s->has_pid)
            s->pid = v[APD_PROCESS].as.u;
        return s->has_pid = true;
    case tracelog_fun_nam:
        return take_name(s, v);
    case tracelog_prf_stm:
        return take_start(s, v);
    case tracelog_fil_src: {
        const char *path = v[0].type == TL_HEX ? tl_trace_intern(s->reader->trace, v[1].as.p) : NULL;
        return v[0].type != TL_HEX || (path && tracelog_code_add_file(code, v[0].as.u, path, e) == 0);
    }
    case tracelog_lin_src:
        return v[0].type != TL_HEX ||
               tracelog_code_add_line(code, v[0].as.u, v[1].type == TL_HEX ? v[1].as.u : UINT64_MAX, v[3].as.u, e) == 0;
    default:
        return take_code(s, f->record, v, e);
    }
}

/* 1: there may be more; 0: that was the last chunk. */
static int take_over(survey *s, worker *w, uint64_t *progress, tl_error *e)
{
    if (w->status < 0 && e)
        *e = w->error;
    if (w->status < 0)
        return w->status;
    for (uint32_t i = 0; i < w->nfact; i++)
        if (!take_fact(s, w, &w->fact[i], e))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for what the log names");
    if (progress)
        atomic_fetch_add_explicit((_Atomic uint64_t *)progress, TRACELOG_CHUNK * CHUNKS, memory_order_relaxed);
    return w->status;
}

/* ---- what comes of it */

static int compare_names(const void *left, const void *right)
{
    const uint64_t a = ((const struct known_thread *)left)->iid, b = ((const struct known_thread *)right)->iid;
    char x[24], y[24];
    snprintf(x, sizeof x, "0x%llx", (unsigned long long)a);
    snprintf(y, sizeof y, "0x%llx", (unsigned long long)b);
    return strcmp(x, y);
}

static int add_track(tracelog_reader *r, const char *name, const survey *s, const struct known_thread *t,
                     uint32_t *index, tl_error *e)
{
    const tl_track track = {.name = name,
                            .has_pid = s && s->has_pid,
                            .pid = s ? (int64_t)s->pid : 0,
                            .has_tid = t && t->has_os,
                            .tid = t ? (int64_t)t->os : 0};
    return tl_trace_add_track(r->trace, &track, index, e);
}

int tracelog_add_track(tracelog_reader *r, uint64_t iid, uint32_t *track, tl_error *e)
{
    char name[40];
    snprintf(name, sizeof name, "thread 0x%llx", (unsigned long long)iid);
    int status = add_track(r, name, NULL, NULL, track, e);
    if (status == 0 && !tl_id_map_put(&r->track, iid, *track))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a thread");
    return status;
}

/* Tracks in the order of their names. */
static int make_tracks(survey *s, tl_error *e)
{
    tracelog_reader *r = s->reader;
    int status = add_track(r, "process", s, NULL, &r->process, e);
    if (s->nthread)
        qsort(s->thread, s->nthread, sizeof *s->thread, compare_names);
    for (uint32_t i = 0; status == 0 && i < s->nthread; i++) {
        char name[40];
        uint32_t track;
        snprintf(name, sizeof name, "thread 0x%llx", (unsigned long long)s->thread[i].iid);
        status = add_track(r, name, s, &s->thread[i], &track, e);
        if (status == 0 && !tl_id_map_put(&r->track, s->thread[i].iid, track))
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the threads of the log");
    }
    return status < 0 ? status : add_track(r, "thread ?", s, NULL, &r->unknown, e);
}

static int make_functions(survey *s, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < s->nfunction; i++) {
        const function *f = &s->function[i];
        const uint32_t module = f->has_module ? tl_hash_get(&s->module_of, f->module) : TL_HASH_NONE;
        const tl_function made = {.id = (int64_t)f->iid,
                                  .name = f->name,
                                  .library = module == TL_HASH_NONE ? NULL : s->module_name[module],
                                  .flags = TL_FUNCTION_HEX_ID};
        status = tl_trace_add_function(s->reader->trace, &made, e);
    }
    return status;
}

static void choose_dialect(const survey *s)
{
    const bool *used = s->used;
    const bool saved = used[tracelog_fil_src] || used[tracelog_lin_src];
    const bool old = used[tracelog_fun_cmf] || used[tracelog_fun_csf] || used[tracelog_str_sam];
    const bool vs = s->os_threads || s->twice || used[tracelog_gch_gen];
    s->reader->trace->version = old ? "old" : saved ? "saved" : vs ? "vs" : "doc";
    s->reader->has_lines = saved;
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
    tl_id_map_fini(&s->function_of);
    tl_id_map_fini(&s->thread_of);
    tl_hash_fini(&s->module_of);
    free(s->function);
    free(s->module_name);
    free(s->thread);
    free(s);
}

/* All chunks, as many at a time as there are workers. */
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
    for (unsigned i = 0; i < workers; i++) {
        const worker *w = &s->worker[i];
        s->os_threads = s->os_threads || w->os_threads;
        s->twice = s->twice || w->twice;
        for (unsigned k = 0; k < TRACELOG_RECORDS; k++)
            s->used[k] = s->used[k] || w->used[k];
    }
    return status;
}

int tracelog_survey(tracelog_reader *r, uint64_t *progress, tl_error *e)
{
    survey *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to look at the log");
    const uint64_t chunks = tl_input_size(r->in) / (TRACELOG_CHUNK * CHUNKS) + 1;
    unsigned workers = r->want->threads > WORKERS ? WORKERS : r->want->threads ? r->want->threads : 1;
    if (workers > chunks)
        workers = (unsigned)chunks;
    r->nfloor = r->follow ? 0 : (size_t)(tl_input_size(r->in) / TRACELOG_CHUNK + 1);
    r->floor = malloc((r->nfloor + 1) * sizeof *r->floor);
    if (!r->floor) {
        free(s);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to look at the log");
    }
    for (size_t i = 0; i < r->nfloor; i++) /* should the file be shorter than it was */
        r->floor[i] = UINT64_MAX;
    s->reader = r;
    s->cutting = (tracelog_cutting){.in = r->in, .size = TRACELOG_CHUNK};
    int status = look_at_all(s, workers, progress, e);
    if (status == 0)
        status = make_tracks(s, e);
    if (status == 0)
        status = make_functions(s, e);
    if (status == 0) {
        choose_dialect(s);
        for (size_t i = r->nfloor; i-- > 1;)
            r->floor[i - 1] = r->floor[i] < r->floor[i - 1] ? r->floor[i] : r->floor[i - 1];
        tracelog_code_sort(&r->code);
    }
    survey_fini(s);
    return status;
}
