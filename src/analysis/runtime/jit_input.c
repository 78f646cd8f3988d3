/* Matches begins and ends of compilations, and finds their methods. */
#include "analysis/runtime/jit_input.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define FAILED UINT64_C(0x80000000) /* a status of this and above */

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of compilations");
}

/* The code of an id, new or not. */
static int find_code(tl_jit_input *in, const tl_value *id, uint32_t *out, tl_error *e)
{
    const bool has_id = tl_value_is_number(id);
    const uint32_t known = has_id ? tl_hash_get(&in->codes, id->as.u) : in->no_id ? in->no_id - 1 : TL_HASH_NONE;
    if (known != TL_HASH_NONE) {
        *out = known;
        return 0;
    }
    if (!TL_GROW(in->code, in->ncode, 1, in->code_capacity) ||
        (has_id && !tl_hash_put(&in->codes, id->as.u, in->ncode)))
        return no_memory(e);
    in->code[in->ncode] = (tl_jit_code){.id = tl_value_number(id), .has_id = has_id, .group = TL_JIT_NONE};
    *out = in->ncode++;
    if (!has_id)
        in->no_id = in->ncode;
    return 0;
}

static uint32_t new_group(tl_jit_input *in)
{
    uint32_t i = in->free_group;
    if (i) {
        in->free_group = in->group[--i].next;
    } else {
        if (!TL_GROW(in->group, in->ngroup, 1, in->group_capacity))
            return TL_JIT_NONE;
        i = in->ngroup++;
    }
    in->group[i] = (tl_jit_group){.method = TL_JIT_NONE, .order = in->out->order++};
    return i;
}

/* A group whose sums were passed on, and that no job needs any more. */
static void release_group(tl_jit_input *in, uint32_t i)
{
    tl_jit_group *g = &in->group[i];
    if (g->method != TL_JIT_NONE && g->open == 0) {
        g->next = in->free_group;
        in->free_group = i + 1;
    }
}

static uint32_t new_job(tl_jit_input *in)
{
    uint32_t i = in->free_job;
    if (i) {
        in->free_job = in->job[--i].next;
        return i;
    }
    if (!TL_GROW(in->job, in->njob, 1, in->job_capacity))
        return TL_JIT_NONE;
    return in->njob++;
}

/* The row of a thread, by name: inputs may have threads of the same names. */
static uint32_t find_thread(tl_jit *t, const char *name)
{
    const char *copy = tl_strings_get(&t->strings, name, strlen(name));
    const uint64_t key = (uint64_t)(uintptr_t)copy;
    const uint32_t known = copy ? tl_hash_get(&t->threads, key) : TL_HASH_NONE;
    if (known != TL_HASH_NONE || !copy)
        return known;
    if (!TL_GROW(t->thread, t->nthread, 1, t->thread_capacity) || !tl_hash_put(&t->threads, key, t->nthread))
        return TL_JIT_NONE;
    t->thread[t->nthread] = (tl_jit_thread){.name = copy};
    return t->nthread++;
}

int tl_jit_begin(tl_jit_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    const uint32_t job = new_job(in);
    tl_jit_job made = {.begin = tl_runtime_time(r, ev->ts), .group = TL_JIT_NONE, .thread = TL_JIT_NONE};
    if (job == TL_JIT_NONE)
        return no_memory(e);
    if (ev->chosen) {
        uint32_t code = 0;
        int status = find_code(in, ev->field[TL_FIELD_CODE_ID], &code, e);
        if (status < 0)
            return status;
        if (in->code[code].group == TL_JIT_NONE)
            in->code[code].group = new_group(in);
        made.group = in->code[code].group;
        made.thread = find_thread(in->out, tl_runtime_track(r, ev->track));
        if (made.group == TL_JIT_NONE || made.thread == TL_JIT_NONE)
            return no_memory(e);
        in->group[made.group].open++;
        in->out->open++;
    }
    in->job[job] = made;
    return tl_begins_add(&in->begins, ev->cls->id, ev->key, job, e);
}

int tl_jit_end(tl_jit_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    uint32_t number;
    if (!tl_begins_take(&in->begins, ev->cls->pair, ev->key, &number)) {
        in->out->stray_ends += ev->chosen;
        return 0;
    }
    const tl_jit_job job = in->job[number];
    in->job[number].next = in->free_job;
    in->free_job = number + 1;
    if (job.group == TL_JIT_NONE)
        return 0;
    tl_jit_group *g = &in->group[job.group];
    g->open--;
    if (!ev->in_time) {
        release_group(in, job.group);
        return 0;
    }
    in->out->open--;
    tl_jit_method *m = g->method == TL_JIT_NONE ? NULL : &in->method[g->method];
    tl_jit_thread *thread = &in->out->thread[job.thread];
    int status = 0;
    if (ev->cls->role == TL_ROLE_CODE_SEARCH) {
        ++*(m ? &m->searched : &g->searched);
        thread->searched++;
    } else {
        const uint64_t end = tl_runtime_time(r, ev->ts), took = end > job.begin ? end - job.begin : 0;
        const bool failed = tl_value_number(ev->field[TL_FIELD_STATUS]) >= FAILED;
        uint64_t *max = m ? &m->max : &g->max;
        ++*(m ? &m->compiled : &g->compiled);
        *(m ? &m->failed : &g->failed) += failed;
        tl_sum_add(m ? &m->total : &g->total, took);
        *max = took > *max ? took : *max;
        thread->compiled++;
        thread->failed += failed;
        tl_sum_add(&thread->total, took);
        thread->max = took > thread->max ? took : thread->max;
        status = tl_quantile_set_add(&in->out->compile, took, e);
    }
    release_group(in, job.group);
    return status;
}

/* The number of a function, in the order of first use; 0 for none. */
static uint32_t function_index(tl_jit_input *in, const tl_jit_code *c)
{
    if (!c->has_function)
        return 0;
    uint32_t i = tl_hash_get(&in->functions, c->function);
    if (i == TL_HASH_NONE) {
        i = in->functions.n + 1;
        if (!tl_hash_put(&in->functions, c->function, i))
            return TL_JIT_NONE;
    }
    return i;
}

/* The method of a code id and the function that it last belonged to. */
static uint32_t find_method(tl_jit_input *in, uint32_t code)
{
    const tl_jit_code *c = &in->code[code];
    const uint32_t function = function_index(in, c);
    const uint64_t key = (uint64_t)code << 32 | function;
    const uint32_t known = tl_hash_get(&in->methods, key);
    if (function == TL_JIT_NONE || known != TL_HASH_NONE)
        return function == TL_JIT_NONE ? TL_JIT_NONE : known;
    if (!TL_GROW(in->method, in->nmethod, 1, in->method_capacity) || !tl_hash_put(&in->methods, key, in->nmethod))
        return TL_JIT_NONE;
    in->method[in->nmethod] = (tl_jit_method){.id = c->id,
                                              .has_id = c->has_id,
                                              .function = c->function,
                                              .has_function = c->has_function,
                                              .order = UINT64_MAX};
    return in->nmethod++;
}

/* Assigns the jobs that wait for a method to that of the last code event. */
static int resolve(tl_jit_input *in, uint32_t code, tl_error *e)
{
    tl_jit_code *c = &in->code[code];
    if (c->group == TL_JIT_NONE)
        return 0;
    const uint32_t method = find_method(in, code);
    if (method == TL_JIT_NONE)
        return no_memory(e);
    tl_jit_group *g = &in->group[c->group];
    tl_jit_method *m = &in->method[method];
    m->compiled += g->compiled;
    m->searched += g->searched;
    m->failed += g->failed;
    tl_sum_join(&m->total, g->total);
    m->max = g->max > m->max ? g->max : m->max;
    m->order = g->order < m->order ? g->order : m->order;
    m->code_bytes = c->bytes;
    g->method = method;
    release_group(in, c->group);
    c->group = TL_JIT_NONE;
    return 0;
}

int tl_jit_code_event(tl_jit_input *in, const tl_runtime_event *ev, tl_error *e)
{
    const tl_value *function = ev->field[TL_FIELD_FUNCTION];
    uint32_t code = 0;
    int status = find_code(in, ev->field[TL_FIELD_CODE_ID], &code, e);
    if (status < 0)
        return status;
    tl_jit_code *c = &in->code[code];
    c->has_function = tl_value_is_number(function);
    c->function = tl_value_number(function);
    c->bytes = tl_sum_of(0);
    for (tl_runtime_items i = tl_runtime_items_of(ev); tl_runtime_items_next(&i);)
        tl_sum_add(&c->bytes, tl_value_number(i.field[TL_FIELD_SIZE]));
    return resolve(in, code, e);
}

int tl_jit_settle(tl_jit_input *in, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < in->ncode; i++)
        status = resolve(in, i, e);
    return status;
}

void tl_jit_input_fini(tl_jit_input *in)
{
    tl_begins_fini(&in->begins);
    tl_names_fini(&in->names);
    tl_hash_fini(&in->codes);
    tl_hash_fini(&in->functions);
    tl_hash_fini(&in->methods);
    free(in->code);
    free(in->group);
    free(in->job);
    free(in->method);
}
