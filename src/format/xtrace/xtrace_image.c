/* Collects a memory image: the bytes that the stream first sees by loading or executing them. */
#include "format/xtrace/xtrace_image.h"

#include <stdlib.h>
#include <string.h>

#include "format/xtrace/xtrace_layout.h"

static int need(void *arg, uint64_t address, const uint8_t *data, size_t n, tl_error *e)
{
    return tl_shadow_set(arg, address, data, n, e);
}

int xtrace_image_init(xtrace_image *m, tl_error *e)
{
    *m = (xtrace_image){.most = XTRACE_TOUCH_PAGES};
    int r = tl_shadow_new(&m->memory, e);
    if (r == 0)
        r = xtrace_touch_init(&m->touch, need, m->memory, e); /* not m, which may move */
    return r;
}

void xtrace_image_fini(xtrace_image *m)
{
    xtrace_touch_fini(&m->touch);
    tl_shadow_free(m->memory);
    m->memory = NULL;
}

void xtrace_image_give_up(xtrace_image *m)
{
    xtrace_image_fini(m);
    m->too_large = true;
}

void xtrace_image_registers(xtrace_image *m, const uint8_t *record, uint32_t vl)
{
    if (m->any || m->has_registers)
        return;
    xtrace_registers_take(&m->registers, record, vl);
    m->has_registers = true;
}

size_t xtrace_image_pages(const xtrace_image *m)
{
    return m->too_large ? 0 : tl_shadow_pages(m->memory) + tl_shadow_pages(m->touch.touched);
}

static int add_insn(xtrace_image *m, uint64_t pc, uint64_t aux, tl_error *e)
{
    const bool has_pc = tl_insn_has_pc(aux);
    if (!m->any) {
        m->any = true;
        m->has_pc = has_pc;
        m->registers.pc = has_pc ? pc : 0;
    }
    return xtrace_touch_insn(&m->touch, has_pc, pc, tl_insn_opcode(aux), e);
}

static int add(xtrace_image *m, const xtrace_how *how, const tl_batch *b, uint32_t i, tl_error *e)
{
    const tl_value *v = b->v + b->val[i] + how->slot, *end = b->v + b->val[i + 1];
    if (how->action == XTRACE_PUT_INSN)
        return add_insn(m, b->key[i], b->aux[i], e);
    if (how->action == XTRACE_PUT_VALUE && how->token == XTRACE_STXR && b->key[i] != 0)
        xtrace_touch_failed(&m->touch);
    if (how->action != XTRACE_PUT_MEM || v >= end || v->type != TL_BYTES || v->n == 0)
        return 0;
    if (how->token & XTRACE_MEM_STORE)
        return xtrace_touch_store(&m->touch, b->key[i], v->n, e);
    return xtrace_touch_load(&m->touch, b->key[i], v->as.p, v->n, e);
}

int xtrace_image_add(xtrace_image *m, const xtrace_how *how, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    int r = 0;
    for (uint32_t i = from; r == 0 && i < to && !m->too_large; i++)
        r = add(m, &how[b->cls[i]], b, i, e);
    if (!m->too_large && tl_shadow_pages(m->touch.touched) > m->most)
        xtrace_image_give_up(m);
    return r;
}

int xtrace_image_write(xtrace_image *m, tl_output *out, uint32_t thread, tl_error *e)
{
    const xtrace_registers *r = m->has_registers && m->has_pc ? &m->registers : NULL;
    return xtrace_core_write(out, m->memory, r, thread, CORE_MANY, e);
}

char *xtrace_image_name(const char *stream_name)
{
    static const char end[] = ".xinsndata.bin", other[] = ".xmemory.core";
    const char *word = strstr(stream_name, end);
    char *name = word && word[sizeof end - 1] == '\0' ? malloc(strlen(stream_name) + sizeof other) : NULL;
    if (!name)
        return NULL;
    const size_t n = (size_t)(word - stream_name);
    memcpy(name, stream_name, n);
    memcpy(name + n, other, sizeof other);
    return name;
}
