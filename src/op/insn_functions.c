/* Functions of instructions: those of a binary, or else addresses. */
#include "op/insn_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Instructions are at multiples of 4, so the ids between are free for other things. */
enum { ID_ENTRY = 1, ID_LEVEL = 2, ID_UNKNOWN = 3 };

int tl_insn_functions_init(tl_insn_functions *f, const tl_trace *t, const tl_code_map *code, tl_error *e)
{
    static const tl_class classes[] = {
        [TL_INSN_ENTER] = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "call"},
        [TL_INSN_EXIT] = {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "return"},
    };
    *f = (tl_insn_functions){.trace = t, .code = code};
    tl_trace_init(&f->calls);
    tl_trace_set_clock(&f->calls, t->clock.name, t->clock.hz);
    f->cache = calloc(TL_INSN_FUNCTIONS_CACHE, sizeof *f->cache);
    int status = f->cache ? tl_trace_set_classes(&f->calls, classes, 2, e)
                          : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for functions");
    for (uint32_t i = 0; status == 0 && i < t->ntrack; i++) {
        uint32_t index;
        status = tl_trace_add_track(&f->calls, &t->track[i], &index, e);
    }
    if (status < 0)
        tl_insn_functions_fini(f);
    return status;
}

void tl_insn_functions_fini(tl_insn_functions *f)
{
    if (!f->trace)
        return;
    tl_trace_fini(&f->calls);
    free(f->cache);
    *f = (tl_insn_functions){0};
}

/* Adds the function to the trace of calls. */
static int add(tl_insn_functions *f, const tl_function *function, tl_error *e)
{
    return tl_trace_function(&f->calls, function->id) ? 0 : tl_trace_add_function(&f->calls, function, e);
}

/* The function of the binary that contains pc; if there is none, *out is unknown. */
static int find(tl_insn_functions *f, uint64_t pc, tl_insn_function *out, tl_error *e)
{
    const tl_code_symbol *s = f->code ? tl_code_map_find(f->code, pc, NULL) : NULL;
    if (!s) {
        *out = (tl_insn_function){0};
        return 0;
    }
    *out = (tl_insn_function){.id = (int64_t)s->from, .from = s->from, .size = s->to - s->from, .is_known = true};
    const tl_function *known = tl_trace_function(f->trace, out->id);
    const tl_function unknown = {.id = out->id, .address = s->from, .name = s->name, .linkage_name = s->name};
    return add(f, known ? known : &unknown, e);
}

int tl_insn_functions_called(tl_insn_functions *f, uint64_t pc, tl_insn_function *out, tl_error *e)
{
    const uint32_t place = (uint32_t)(pc >> 2) % TL_INSN_FUNCTIONS_CACHE;
    if (f->cache[place].is_set && f->cache[place].pc == pc) {
        *out = f->cache[place].function;
        return 0;
    }
    int status = find(f, pc, out, e);
    if (status == 0 && !out->is_known) {
        *out = (tl_insn_function){.id = (int64_t)(pc & ~UINT64_C(3)), .from = pc};
        status = add(f, &(tl_function){.id = out->id, .address = pc, .flags = TL_FUNCTION_HEX_ID}, e);
    }
    if (status == 0) {
        f->cache[place].is_set = true;
        f->cache[place].pc = pc;
        f->cache[place].function = *out;
    }
    return status;
}

int tl_insn_functions_entry(tl_insn_functions *f, bool has_pc, uint64_t pc, tl_insn_function *out, tl_error *e)
{
    if (!has_pc) {
        *out = (tl_insn_function){.id = ID_UNKNOWN};
        return add(f, &(tl_function){.id = ID_UNKNOWN, .flags = TL_FUNCTION_UNKNOWN}, e);
    }
    int status = find(f, pc, out, e);
    if (status < 0 || out->is_known)
        return status;
    char name[40];
    snprintf(name, sizeof name, "[entry 0x%" PRIx64 "]", pc);
    *out = (tl_insn_function){.id = (int64_t)((pc & ~UINT64_C(3)) | ID_ENTRY), .from = pc};
    return add(f, &(tl_function){.id = out->id, .address = pc, .name = name}, e);
}

int tl_insn_functions_level(tl_insn_functions *f, unsigned level, tl_insn_function *out, tl_error *e)
{
    char name[8];
    snprintf(name, sizeof name, "[el%u]", level & 3);
    *out = (tl_insn_function){.id = (int64_t)((level & 3) << 2 | ID_LEVEL)};
    return add(f, &(tl_function){.id = out->id, .name = name}, e);
}
