/* Persistent facts from a log, and adding them to the trace. */
#include "format/tracelog/tracelog_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Fields of a record, by their place on the tape. */
enum { AOS_OS = 1 };
enum { MODULE_ID, MODULE_NAME = 4 };
enum { APD_PROCESS = 1 };
enum { CFG_NAME, CFG_VALUE };

bool tracelog_is_fact(tracelog_record r)
{
    return r == tracelog_thr_aos || r == tracelog_mod_ldf || r == tracelog_apd_crf || r == tracelog_prf_stm ||
           r == tracelog_prf_cfg || r == tracelog_fil_src || r == tracelog_lin_src ||
           (r >= tracelog_fun_cmf && r <= tracelog_fun_nam);
}

bool tracelog_sets_calls(const uint8_t *p, size_t n)
{
    static const char method[] = "CollectionMethod Instrumentation";
    return n >= sizeof method - 1 && memcmp(p, method, sizeof method - 1) == 0;
}

unsigned tracelog_signs_of(tracelog_record r, unsigned flags)
{
    const bool old = r == tracelog_fun_cmf || r == tracelog_fun_csf || r == tracelog_str_sam || flags & TRACELOG_OLDEST,
               saved = r == tracelog_fil_src || r == tracelog_lin_src,
               vs = r == tracelog_gch_gen || (flags & (TRACELOG_TWICE | TRACELOG_OS_THREAD));
    return (old ? TRACELOG_OLD : 0u) | (saved ? TRACELOG_SAVED : 0u) | (vs ? TRACELOG_VS : 0u);
}

static fact_function *function_at(tracelog_facts *s, uint64_t iid)
{
    uint32_t at = tl_id_map_get(&s->function_of, iid);
    if (at == TL_HASH_NONE) {
        at = s->nfunction;
        if (!TL_GROW(s->function, at, 1, s->function_capacity) || !tl_id_map_put(&s->function_of, iid, at))
            return NULL;
        s->function[s->nfunction++] = (fact_function){.iid = iid};
    }
    return &s->function[at];
}

static bool take_name(tracelog_facts *s, const tl_value *v)
{
    if (v[0].type != TL_HEX)
        return true;
    fact_function *f = function_at(s, v[0].as.u);
    return f && (f->name = tracelog_intern_name(s->reader, v[1].as.p, v[1].n));
}

/* fun inf and its older variants; only the places of the iid and the lists differ. */
static bool take_code(tracelog_facts *s, tracelog_record record, const tl_value *v, tl_error *e)
{
    const tl_value *id = record == tracelog_fun_inf ? v : v + 1, *module = v + 3;
    const tl_value *code = v + (record == tracelog_fun_cmf ? 6 : 5), *map = code + 1 + (size_t)code->n * 3;
    if (id->type != TL_HEX)
        return true;
    fact_function *f = function_at(s, id->as.u);
    if (!f)
        return false;
    f->has_module = module->type == TL_HEX;
    f->module = module->as.u;
    return tracelog_code_add(&s->reader->code, f->iid, code, map, e) == 0;
}

static bool take_module(tracelog_facts *s, const tl_value *v)
{
    if (v[MODULE_ID].type != TL_HEX)
        return true;
    uint32_t at = tl_hash_get(&s->module_of, v[MODULE_ID].as.u);
    if (at == TL_HASH_NONE) {
        at = s->nmodule;
        if (!TL_GROW(s->module, at, 1, s->module_capacity) || !tl_hash_put(&s->module_of, v[MODULE_ID].as.u, at))
            return false;
        s->nmodule++;
    }
    return (s->module[at] = tl_trace_intern(s->reader->trace, v[MODULE_NAME].as.p)) != NULL;
}

static fact_thread *thread_at(tracelog_facts *s, uint64_t iid)
{
    uint32_t at = tl_id_map_get(&s->thread_of, iid);
    if (at == TL_HASH_NONE) {
        at = s->nthread;
        if (!TL_GROW(s->thread, at, 1, s->thread_capacity) || !tl_id_map_put(&s->thread_of, iid, at))
            return NULL;
        s->thread[s->nthread++] = (fact_thread){.iid = iid};
    }
    return &s->thread[at];
}

static bool take_thread(tracelog_facts *s, uint64_t iid, const uint64_t *os)
{
    fact_thread *t = thread_at(s, iid);
    if (t && os) {
        t->has_os = true;
        t->os = *os;
    }
    return t != NULL;
}

static bool take_start(tracelog_facts *s, const tl_value *v)
{
    int64_t ms = 0;
    bool has_zone = false;
    if (!s->has_start && tracelog_parse_time(v->as.p, v->n, &ms, &has_zone) && has_zone &&
        !__builtin_mul_overflow(ms, INT64_C(1000000), &s->reader->trace->clock.utc_offset_ns))
        s->reader->trace->clock.has_utc = true;
    s->has_start = true;
    return true;
}

/* AllocationSampling: one object stands for those of so many bytes. */
static bool take_setting(tracelog_facts *s, const tl_value *v)
{
    static const char name[] = "AllocationSampling";
    uint64_t bytes;
    if (v[CFG_NAME].n == sizeof name - 1 && memcmp(v[CFG_NAME].as.p, name, sizeof name - 1) == 0 &&
        tracelog_parse_number(v[CFG_VALUE].as.p, v[CFG_VALUE].n, &bytes) && bytes <= INT64_MAX)
        s->allocated = bytes;
    return true;
}

static bool take(tracelog_facts *s, tracelog_record record, uint64_t thread, const tl_value *v, tl_error *e)
{
    tracelog_code *code = &s->reader->code;
    switch (record) {
    case tracelog_thr_aos:
        return v[0].type != TL_HEX || take_thread(s, thread, &v[AOS_OS].as.u);
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
    case tracelog_prf_cfg:
        return take_setting(s, v);
    case tracelog_fil_src: {
        const char *path = v[0].type == TL_HEX ? tl_trace_intern(s->reader->trace, v[1].as.p) : NULL;
        return v[0].type != TL_HEX || (path && tracelog_code_add_file(code, v[0].as.u, path, e) == 0);
    }
    case tracelog_lin_src:
        return v[0].type != TL_HEX ||
               tracelog_code_add_line(code, v[0].as.u, v[1].type == TL_HEX ? v[1].as.u : UINT64_MAX, v[3].as.u, e) == 0;
    default:
        return take_code(s, record, v, e);
    }
}

int tracelog_facts_take(tracelog_facts *s, tracelog_record record, uint64_t thread, const tl_value *v, tl_error *e)
{
    return take(s, record, thread, v, e) ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for what the log names");
}

int tracelog_facts_thread(tracelog_facts *s, uint64_t iid, tl_error *e)
{
    return take_thread(s, iid, NULL) ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the threads of the log");
}

static int compare_names(const void *left, const void *right)
{
    const uint64_t a = ((const fact_thread *)left)->iid, b = ((const fact_thread *)right)->iid;
    char x[24], y[24];
    snprintf(x, sizeof x, "0x%llx", (unsigned long long)a);
    snprintf(y, sizeof y, "0x%llx", (unsigned long long)b);
    return strcmp(x, y);
}

static int add_track(tracelog_reader *r, const char *name, uint32_t *index, tl_error *e)
{
    return tl_trace_add_track(r->trace, &(tl_track){.name = name}, index, e);
}

int tracelog_add_tracks(tracelog_reader *r, tl_error *e)
{
    int status = add_track(r, "process", &r->process, e);
    return status < 0 ? status : add_track(r, "thread ?", &r->unknown, e);
}

int tracelog_add_track(tracelog_reader *r, uint64_t iid, uint32_t *track, tl_error *e)
{
    char name[40];
    snprintf(name, sizeof name, "thread 0x%llx", (unsigned long long)iid);
    int status = add_track(r, name, track, e);
    if (status == 0 && !tl_id_map_put(&r->track, iid, *track))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a thread");
    return status;
}

/* Makes missing tracks, in the order of their names. */
static int make_tracks(tracelog_facts *s, tl_error *e)
{
    tracelog_reader *r = s->reader;
    tl_trace *t = r->trace;
    const bool all = t->ntrack == 0;
    uint32_t track;
    int status = all ? add_track(r, "process", &r->process, e) : 0;
    if (s->nthread)
        qsort(s->thread, s->nthread, sizeof *s->thread, compare_names);
    for (uint32_t i = 0; status == 0 && i < s->nthread; i++) {
        const fact_thread *thread = &s->thread[i];
        track = tl_id_map_get(&r->track, thread->iid);
        if (track == TL_HASH_NONE)
            status = tracelog_add_track(r, thread->iid, &track, e);
        if (status == 0 && thread->has_os) {
            t->track[track].has_tid = true;
            t->track[track].tid = (int64_t)thread->os;
        }
    }
    if (status == 0 && all)
        status = add_track(r, "thread ?", &r->unknown, e);
    for (uint32_t i = 0; s->has_pid && i < t->ntrack; i++) {
        t->track[i].has_pid = true;
        t->track[i].pid = (int64_t)s->pid;
    }
    return status;
}

static int make_functions(tracelog_facts *s, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < s->nfunction; i++) {
        const fact_function *f = &s->function[i];
        const uint32_t module = f->has_module ? tl_hash_get(&s->module_of, f->module) : TL_HASH_NONE;
        const tl_function made = {.id = (int64_t)f->iid,
                                  .name = f->name,
                                  .library = module == TL_HASH_NONE ? NULL : s->module[module],
                                  .flags = TL_FUNCTION_HEX_ID};
        status = tl_trace_add_function(s->reader->trace, &made, e);
    }
    return status;
}

/* Adds events of calls for changes of stacks; some functions do not even have a known number. */
static int tell_calls(tracelog_reader *r, tl_error *e)
{
    const tl_function unknown = {.id = TRACELOG_UNKNOWN_FUNCTION, .flags = TL_FUNCTION_UNKNOWN};
    int status = r->late ? 0 : tracelog_set_classes(r->trace, true, e);
    r->makes_calls = true;
    return status < 0 ? status : tl_trace_add_function(r->trace, &unknown, e);
}

int tracelog_facts_tell(tracelog_facts *s, tl_error *e)
{
    int status = make_tracks(s, e);
    if (status == 0)
        status = make_functions(s, e);
    s->reader->trace->version = s->signs & TRACELOG_OLD     ? "old"
                                : s->signs & TRACELOG_SAVED ? "saved"
                                : s->signs & TRACELOG_VS    ? "vs"
                                                            : "doc";
    s->reader->has_lines = s->signs & TRACELOG_SAVED;
    tracelog_code_sort(&s->reader->code);
    if (status == 0 && s->allocated)
        status =
            tl_trace_add_property(s->reader->trace, TL_PROPERTY_ALLOCATION_SAMPLING, NULL, (int64_t)s->allocated, e);
    s->allocated = 0;
    const bool calls = s->reader->makes_calls || (s->reader->want.calls && s->signs & TRACELOG_CALLS);
    return status == 0 && calls ? tell_calls(s->reader, e) : status;
}

void tracelog_facts_fini(tracelog_facts *f)
{
    tl_id_map_fini(&f->function_of);
    tl_id_map_fini(&f->thread_of);
    tl_hash_fini(&f->module_of);
    free(f->function);
    free(f->module);
    free(f->thread);
    *f = (tracelog_facts){0};
}
