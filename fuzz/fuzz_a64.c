/* Fuzz target: decoding of A64. Every word of an input is decoded in every way, and executed, one after
 * the other, by what knows only a part of the registers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "isa/a64_eval.h"
#include "isa/a64_system.h"
#include "isa/a64_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void check_text(uint64_t pc, uint32_t op)
{
    char text[A64_TEXT_MAX], again[A64_TEXT_MAX];
    for (int has_pc = 0; has_pc < 2; has_pc++) {
        memset(text, 'x', sizeof text);
        const size_t n = a64_text(op, has_pc, pc, text);
        promise(n > 0 && n < sizeof text && strlen(text) == n, "a text has the length that is returned");
        for (size_t i = 0; i < n; i++)
            promise(text[i] >= ' ' && text[i] <= '~', "and is one line of ASCII");
    }
    const size_t n = a64_text_unknown(op, again);
    promise(n < sizeof again && strncmp(again, ".inst 0x", 8) == 0, "every word can be written as one");
}

static void check_operands(uint64_t pc, uint32_t op)
{
    const a64_class cls = a64_class_of(op);
    a64_operands o;
    uint64_t target = 0;
    a64_operands_of(op, &o);
    const a64_memory *m = &o.memory;
    promise((unsigned)cls < A64_CLASSES && a64_class_name(cls), "every word has a class");
    promise(a64_direct_target(pc, op, &target) == (cls == A64_JUMP || cls == A64_CALL || cls == A64_COND),
            "direct branches have a target");
    if (m->access == A64_NO_ACCESS)
        return;
    promise(m->access <= A64_PREFETCHES && m->mode <= A64_MODE_VECTOR && m->extend <= A64_SXTX, "known ways of access");
    promise(m->base <= (m->base_vector ? 31 : A64_BASE_PC), "a base register");
    promise(m->index == A64_NO_REG || m->index <= 31, "an index register");
    promise(m->shift < 8 && m->atomic <= A64_FILL, "known shifts and operations");
}

static void check_system(uint32_t op)
{
    a64_system s;
    promise(a64_system_of(op, &s) == (s.kind != A64_NOT_SYSTEM), "system instructions have a kind");
    promise(s.gpr == A64_NO_REG || s.gpr <= 30, "and a register, or none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    a64_state state = {.known = 0x55555555, .has_nzcv = size & 1};
    uint64_t pc = UINT64_MAX - 64;
    for (size_t at = 0; at + 4 <= size; at += 4, pc += 4) {
        const uint32_t op = tl_load32(data + at, false);
        const a64_seen seen = {.has_address = at & 4,
                               .address = pc * op,
                               .loaded = data + at,
                               .nloaded = at & 8 ? (size - at < 64 ? size - at : 64) : 0,
                               .has_value = at & 16,
                               .value = op};
        check_operands(pc, op);
        check_system(op);
        check_text(pc, op);
        a64_eval(&state, pc, op, &seen);
        for (unsigned i = 0; i < 32; i++)
            promise(state.known >> i & 1 || state.x[i] == 0, "what is not known is 0");
    }
    return 0;
}
