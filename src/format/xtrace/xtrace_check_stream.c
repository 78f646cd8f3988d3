/* One pass over a stream for `check`: can each instruction follow the one before, do branches go where they say, and do
 * loads find what was stored? Loads are compared with memory as last seen, which is forgotten whenever others may have
 * written: at system calls, at another level, and permanently once the stream has times, because then other threads run
 * beside it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/shadow.h"
#include "format/xtrace/xtrace_check.h"
#include "format/xtrace/xtrace_read.h"
#include "format/xtrace/xtrace_tokens.h"
#include "isa/a64.h"

#define WINDOW (256u << 10)
/* Bytes that the hot loop needs before a token: enough for the common ones. */
#define ENOUGH 32u

/* Memory is forgotten, and freed, when more pages are known: 1.2 GB. */
#define PAGES_MOST  (1u << 18)
/* Stores of one instruction that are remembered: with more it is not an exclusive store. */
#define STORES_MOST 64u
/* How much DC ZVA clears is unknown; no processor clears more. */
#define CLEARED     2048u

typedef struct checker {
    tl_trace *trace;  /* NULL: only claims matter */
    const char *file; /* for reports */
    xtrace_claims *claims;
    tl_input *in;
    bool resync, resumed; /* go on after damage; that has happened */
    tl_window window;
    uint64_t offset;      /* of the next token */
    uint64_t count, user; /* instructions before it */
    int status;           /* < 0: error */
    tl_error *e;

    bool any, has_pc; /* the last instruction and its pc are known: */
    unsigned level;
    uint32_t opcode;
    uint64_t pc;
    bool has_target; /* it had a target: */
    uint64_t target, target_offset;
    bool general;  /* all registers came last */
    bool switched; /* they and the flags came after it: a signal, or the return from its handler */

    tl_shadow *shadow; /* NULL: no longer tracked */
    uint32_t nstore;   /* of the last instruction */
    struct store {
        uint64_t address;
        uint32_t size;
    } store[STORES_MOST];
} checker;

TL_COLD TL_PRINTF(4, 5) static void tell(checker *c, uint64_t at, const char *rule, const char *format, ...)
{
    const tl_damage d = {.offset = at, .at = at, .kind = TL_DAMAGE_FAULT, .rule = rule, .file = c->file};
    char what[200];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    int status = tl_trace_report(c->trace, c->e, &d, "%s", what);
    if (status < 0)
        c->status = status;
}

static bool is_exception_return(uint32_t opcode) /* ERET, and the authenticating variants */
{
    return (opcode & 0xfffff3ff) == 0xd69f03e0;
}

static bool is_system_call(uint32_t opcode) /* SVC, HVC, SMC */
{
    return (opcode & 0xffe0001c) == 0xd4000000;
}

static bool is_b_or_bl(uint32_t opcode)
{
    return (opcode & 0x7c000000) == 0x14000000;
}

/* An instruction that does not follow the last one, or follows an unconditional branch. */
static void check_chain(checker *c, uint64_t offset, uint64_t pc)
{
    const a64_class class = a64_class_of(c->opcode);
    const uint64_t behind = c->pc + 4;
    uint64_t target = 0;
    if (class == A64_JUMP || class == A64_CALL || class == A64_COND) {
        a64_direct_target(c->pc, c->opcode, &target);
        if (pc == target || (class == A64_COND && pc == behind))
            return;
    } else if (a64_ends_block(class) || c->opcode >> 16 == 0 || pc == behind) {
        return; /* to a register, or an exception (including UDF): anything may follow */
    }
    char expected[64];
    if (class == A64_COND)
        snprintf(expected, sizeof expected, "0x%" PRIx64 " or 0x%" PRIx64, target, behind);
    else
        snprintf(expected, sizeof expected, "0x%" PRIx64, a64_is_branch(class) ? target : behind);
    tell(c, offset, "xtrace.pc-chain",
         "pc 0x%" PRIx64 " cannot follow the instruction 0x%08" PRIx32 " (%s) at 0x%" PRIx64 ": expected %s", pc,
         c->opcode, a64_class_name(class), c->pc, expected);
}

/* The address of the last instruction: "0x401000". Returns buf, of at least 24 bytes. */
static const char *last_pc(const checker *c, char *buf)
{
    if (c->has_pc)
        snprintf(buf, 24, "0x%" PRIx64, c->pc);
    else
        snprintf(buf, 24, "an unknown pc");
    return buf;
}

/* Checks the target: the next instruction is at pc. False: it may be anywhere, because an interrupt came first. */
static bool check_target(checker *c, uint64_t pc, unsigned level)
{
    if (level != c->level && !is_exception_return(c->opcode))
        return false;
    char from[24];
    if (pc != c->target)
        tell(c, c->target_offset, "xtrace.target",
             "the instruction 0x%08" PRIx32 " at %s says that it goes to 0x%" PRIx64
             ", but the next one is at 0x%" PRIx64,
             c->opcode, last_pc(c, from), c->target, pc);
    return true;
}

static void forget_all(checker *c)
{
    if (c->shadow)
        tl_shadow_clear(c->shadow);
}

/* Checks an instruction; pc is known if has_pc. */
TL_ALWAYS_INLINE void check_insn(checker *c, uint64_t offset, bool has_pc, uint64_t pc, uint32_t opcode, unsigned level)
{
    if (TL_LIKELY(c->any)) {
        if (TL_UNLIKELY(level != c->level))
            forget_all(c);
        if (c->switched)
            ; /* it may be anywhere */
        else if (c->has_target && has_pc && check_target(c, pc, level))
            ; /* implies more than the chain rule */
        else if (has_pc && c->has_pc && level == c->level && (pc != c->pc + 4 || is_b_or_bl(c->opcode)))
            check_chain(c, offset, pc);
    }
    if (TL_UNLIKELY(is_system_call(opcode)))
        forget_all(c);
    c->has_target = false;
    c->general = c->switched = false;
    c->nstore = 0;
}

TL_ALWAYS_INLINE void see_insn(checker *c, const uint8_t *p, uint64_t offset)
{
    const bool says_pc = (*p & XTRACE_INSN_MASK) == XTRACE_PCINST;
    const unsigned level = *p >> XTRACE_LEVEL_SHIFT;
    const uint64_t pc = says_pc ? tl_load64(p + 1, false) : c->pc + 4;
    const bool has_pc = says_pc || c->has_pc;
    const uint32_t opcode = tl_load32(p + (says_pc ? 9 : 1), false);
    if (c->trace)
        check_insn(c, offset, has_pc, pc, opcode, level);
    if (c->claims && TL_UNLIKELY(c->count == c->claims->due_insns)) {
        const uint64_t next = offset + (says_pc ? XTRACE_PCINST_SIZE : XTRACE_INST_SIZE);
        int status = xtrace_claims_insn(c->claims, opcode, offset, next, c->e);
        c->status = status < 0 ? status : c->status;
    }
    c->any = true;
    c->has_pc = has_pc;
    c->pc = pc;
    c->opcode = opcode;
    c->level = level;
    c->count++;
    c->user += level == 0;
}

TL_COLD static void tell_load(checker *c, uint64_t offset, uint64_t address, const uint8_t *bytes, size_t at)
{
    uint8_t known = 0;
    char from[24];
    tl_shadow_get(c->shadow, address + at, &known, 1);
    tell(c, offset, "xtrace.shadow",
         "the load at %s finds 0x%02x at 0x%" PRIx64 ", where 0x%02x was stored or loaded before", last_pc(c, from),
         bytes[at], address + at, known);
}

/* A load or store of n bytes, all of which are available. */
TL_ALWAYS_INLINE void see_mem(checker *c, const uint8_t *p, uint64_t offset, uint32_t n)
{
    if (!c->shadow)
        return;
    const uint64_t address = tl_load64(p + 1, false);
    const uint8_t *const bytes = p + XTRACE_MEM_HEAD;
    if (*p & XTRACE_MEM_STORE) {
        if (c->nstore < STORES_MOST)
            c->store[c->nstore] = (struct store){address, n};
        c->nstore++;
    } else {
        const size_t at = tl_shadow_differs(c->shadow, address, bytes, n);
        if (TL_UNLIKELY(at < n))
            tell_load(c, offset, address, bytes, at);
    }
    int status = tl_shadow_set(c->shadow, address, bytes, n, c->e);
    if (TL_UNLIKELY(status < 0))
        c->status = status;
}

/* The store failed, but its bytes are in the stream. */
static void forget_stores(checker *c)
{
    if (c->nstore > STORES_MOST)
        tl_shadow_clear(c->shadow);
    for (uint32_t i = 0; i < c->nstore && i < STORES_MOST; i++)
        tl_shadow_forget(c->shadow, c->store[i].address, c->store[i].size);
}

static void see_value(checker *c, const uint8_t *p, uint64_t offset)
{
    const uint64_t value = tl_load64(p + 1, false);
    if (*p == XTRACE_TARGET) {
        c->has_target = true;
        c->target = value;
        c->target_offset = offset;
    } else if (*p == XTRACE_SVC_RET) {
        forget_all(c);
    } else if (c->shadow && *p == XTRACE_STXR && value != 0) {
        forget_stores(c);
    } else if (c->shadow && *p == XTRACE_DC && c->any && a64_cache_of(c->opcode) == A64_CACHE_CLEARS) {
        tl_shadow_forget(c->shadow, value & ~(uint64_t)(CLEARED - 1), CLEARED);
    }
}

static void no_shadow(checker *c)
{
    tl_shadow_free(c->shadow);
    c->shadow = NULL;
}

TL_ALWAYS_INLINE void see_token(checker *c, uint64_t offset)
{
    if (c->claims && TL_UNLIKELY(offset >= c->claims->due_offset))
        xtrace_claims_token(c->claims, offset, c->count, c->user);
}

/* Branches, exceptions and related instructions: only after these may an instruction be elsewhere. */
static bool is_control(uint32_t opcode)
{
    return (opcode & 0x1c000000) == 0x14000000;
}

/* Consecutive instructions at one level, with loads and stores: most of a stream, for which the rules come down to a
 * few comparisons. Returns the first token that needs a closer look. */
static const uint8_t *see_run(checker *c, const uint8_t *p, const uint8_t *end, uint64_t offset)
{
    const unsigned inst = XTRACE_INST | c->level << XTRACE_LEVEL_SHIFT;
    const unsigned pcinst = XTRACE_PCINST | c->level << XTRACE_LEVEL_SHIFT;
    const uint64_t most = c->claims ? c->claims->due_insns - c->count : UINT64_MAX;
    const uint8_t *const begin = p;
    if (c->claims && c->claims->due_offset <= offset)
        return p;
    if (c->claims && c->claims->due_offset - offset < (uint64_t)(end - p))
        end = p + (c->claims->due_offset - offset);
    uint64_t n = 0;
    while ((size_t)(end - p) >= ENOUGH && c->status >= 0) {
        const unsigned token = *p;
        const bool says_pc = token == pcinst;
        if (token == inst || says_pc) {
            if (n == most || (says_pc && tl_load64(p + 1, false) != c->pc + 4))
                break;
            c->opcode = tl_load32(p + (says_pc ? 9 : 1), false);
            c->pc += 4;
            c->nstore = 0;
            n++;
            p += says_pc ? XTRACE_PCINST_SIZE : XTRACE_INST_SIZE;
            if (is_control(c->opcode))
                break;
        } else if (xtrace_token_is_mem(token)) {
            const uint32_t size = (uint32_t)1 << (token >> XTRACE_MEM_SIZE_SHIFT);
            if ((size_t)(end - p) < XTRACE_MEM_HEAD + (size_t)size)
                break;
            see_mem(c, p, offset + (uint64_t)(p - begin), size);
            p += XTRACE_MEM_HEAD + size;
        } else {
            break;
        }
    }
    if (is_system_call(c->opcode))
        forget_all(c);
    c->count += n;
    c->user += c->level == 0 ? n : 0;
    return p;
}

/* Common tokens from p on. Returns where it stopped: at another token, or near the end of the window. */
static const uint8_t *see_common(checker *c, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *const begin = p;
    while ((size_t)(end - p) >= ENOUGH && c->status >= 0) {
        const uint64_t offset = c->offset + (uint64_t)(p - begin);
        if (c->has_pc && !c->has_target && !c->switched && !is_control(c->opcode)) {
            const uint8_t *const q = see_run(c, p, end, offset);
            if (q != p) {
                p = q;
                continue;
            }
        }
        const unsigned token = *p;
        if (xtrace_token_is_insn(token)) {
            see_token(c, offset);
            see_insn(c, p, offset);
            p += (token & XTRACE_INSN_MASK) == XTRACE_INST ? XTRACE_INST_SIZE : XTRACE_PCINST_SIZE;
        } else if (xtrace_token_is_mem(token)) {
            const uint32_t n = (uint32_t)1 << (token >> XTRACE_MEM_SIZE_SHIFT);
            if ((size_t)(end - p) < XTRACE_MEM_HEAD + (size_t)n)
                break;
            see_token(c, offset);
            see_mem(c, p, offset, n);
            p += XTRACE_MEM_HEAD + n;
        } else if (xtrace_token_is_value(token)) {
            see_token(c, offset);
            see_value(c, p, offset);
            p += XTRACE_VALUE_SIZE;
        } else {
            break;
        }
    }
    return p;
}

/* After damage: nothing before matters. 1: there is more; 0: the stream has ended; < 0: error. */
static int resume(checker *c, uint64_t size)
{
    int status = xtrace_find_chain(&c->window, c->offset + 1, &c->offset, c->e);
    c->resumed = true;
    c->claims = NULL;
    c->any = c->has_pc = c->has_target = c->general = c->switched = false;
    c->nstore = 0;
    forget_all(c);
    return status < 0 ? status : c->offset < size;
}

/* Any one token. 1: done; 0: the stream ends here; < 0: error. */
static int see_any(checker *c)
{
    size_t available;
    uint64_t size;
    const uint8_t *p = tl_window_at(&c->window, c->offset, XTRACE_VEC_HEAD, &available, c->e);
    if (!p)
        return TL_EIO;
    const uint64_t total = tl_input_size(c->in), left = total > c->offset ? total - c->offset : 0;
    if (available == 0 || left == 0)
        return 0;
    if (xtrace_token_size(p, left, &size) != XTRACE_OK)
        return c->resync ? resume(c, total) : 0;
    see_token(c, c->offset);
    const unsigned token = *p;
    if (token == XTRACE_FLAGS && c->general) {
        c->switched = true;
        forget_all(c); /* the system may have written */
    }
    c->general = token == XTRACE_ALLGPR;
    if (token != XTRACE_VEC && token != XTRACE_ALLGPR && token != XTRACE_FLAGS) {
        p = tl_window_at(&c->window, c->offset, (size_t)size, &available, c->e);
        if (!p)
            return TL_EIO;
        if (available < size)
            return 0;
        if (xtrace_token_is_insn(token))
            see_insn(c, p, c->offset);
        else if (xtrace_token_is_mem(token))
            see_mem(c, p, c->offset, (uint32_t)size - XTRACE_MEM_HEAD);
        else if (xtrace_token_is_value(token))
            see_value(c, p, c->offset);
        else if (token == XTRACE_TIME)
            no_shadow(c);
    }
    c->offset += size;
    return c->status < 0 ? c->status : 1;
}

static int walk(checker *c)
{
    int status = 1;
    while (status > 0) {
        size_t available;
        const uint8_t *p = tl_window_at(&c->window, c->offset, ENOUGH, &available, c->e);
        if (!p)
            return TL_EIO;
        const uint8_t *q = see_common(c, p, p + available);
        c->offset += (uint64_t)(q - p);
        status = c->status < 0 ? c->status : see_any(c);
        if (c->shadow && tl_shadow_pages(c->shadow) > PAGES_MOST) {
            no_shadow(c);
            if (status > 0 && tl_shadow_new(&c->shadow, c->e) < 0)
                status = TL_ENOMEM;
        }
    }
    return status;
}

int xtrace_check_stream(tl_input *in, tl_trace *t, const char *file, xtrace_claims *claims, bool resync, tl_error *e)
{
    checker *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to check a stream");
    *c = (checker){.trace = t, .file = file, .claims = claims, .in = in, .resync = resync, .e = e};
    int status = tl_window_init(&c->window, in, WINDOW, e);
    if (status >= 0 && t)
        status = tl_shadow_new(&c->shadow, e);
    if (status >= 0)
        status = walk(c);
    if (status >= 0 && claims) {
        const uint64_t size = tl_input_size(in);
        if (size >= claims->due_offset && !c->resumed)
            xtrace_claims_token(claims, size, c->count, c->user);
        status = xtrace_claims_end(claims, c->resumed ? UINT64_MAX : c->count, e); /* unknown after a resync */
    }
    no_shadow(c);
    tl_window_fini(&c->window);
    free(c);
    return status < 0 ? status : 0;
}
