/* Compares snapshots with the stream. Two merges run along it: one by offset, which compares the snapshots' counts with
 * the stream's, and one by count, which compares registers with the next instruction. */
#include "format/xtrace/xtrace_claims.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/grow.h"
#include "format/xtrace/xtrace_tokens.h"
#include "isa/a64.h"

enum {
    AHEAD = 4096, /* bytes of the window, which only needs the heads of tokens */
    FOLLOW = 7    /* tokens to examine after an instruction */
};

/* Reports a faulty record. */
TL_PRINTF(5, 6)
static int tell(const xtrace_snapshots *s, tl_error *e, uint64_t number, const char *rule, const char *format, ...)
{
    const uint64_t at = s->first + number * s->record_size;
    const tl_damage d = {.offset = at, .at = at, .kind = TL_DAMAGE_FAULT, .rule = rule, .file = s->file};
    char what[200];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return tl_trace_report(s->trace, e, &d, "record %" PRIu64 ": %s", number, what);
}

static int check_order(const xtrace_snapshots *s, const xtrace_entry *now, const xtrace_entry *before, tl_error *e)
{
    const char *const rule = "xtrace.snapshot-order";
    if (now->user_insns > now->insns)
        return tell(s, e, now->number, rule, "%" PRIu64 " user instructions of %" PRIu64 " in all", now->user_insns,
                    now->insns);
    if (before->good && now->insns < before->insns)
        return tell(s, e, now->number, rule, "%" PRIu64 " instructions, after %" PRIu64 " in record %" PRIu64,
                    now->insns, before->insns, before->number);
    if (before->good && now->user_insns < before->user_insns)
        return tell(s, e, now->number, rule, "%" PRIu64 " user instructions, after %" PRIu64 " in record %" PRIu64,
                    now->user_insns, before->user_insns, before->number);
    return 0;
}

static int by_offset(const void *left, const void *right)
{
    const xtrace_claim *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return TL_COMPARE(a->number, b->number);
}

static int by_insns(const void *left, const void *right)
{
    const xtrace_count *a = left, *b = right;
    if (a->insns != b->insns)
        return a->insns < b->insns ? -1 : 1;
    return TL_COMPARE(a->claim, b->claim);
}

static void set_due(xtrace_claims *c)
{
    c->due_offset = c->next_offset < c->n ? c->claim[c->next_offset].offset : UINT64_MAX;
    c->due_insns = c->next_count < c->n ? c->count[c->next_count].insns : UINT64_MAX;
}

/* Sorts both arrays. */
static bool sort(xtrace_claims *c)
{
    bool sorted = true;
    for (uint32_t i = 1; i < c->n; i++)
        sorted = sorted && c->claim[i - 1].offset <= c->claim[i].offset;
    if (!sorted)
        qsort(c->claim, c->n, sizeof *c->claim, by_offset);
    c->count = tl_alloc((size_t)c->n + 1, sizeof *c->count);
    if (!c->count)
        return false;
    sorted = true;
    for (uint32_t i = 0; i < c->n; i++) {
        c->count[i] = (xtrace_count){c->claim[i].insns, i};
        sorted = sorted && (i == 0 || c->count[i - 1].insns <= c->count[i].insns);
    }
    if (!sorted)
        qsort(c->count, c->n, sizeof *c->count, by_insns);
    set_due(c);
    return true;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to check snapshots");
}

int xtrace_claims_init(xtrace_claims *c, const xtrace_snapshots *s, tl_input *stream, tl_error *e)
{
    *c = (xtrace_claims){.snapshots = s, .stream = stream};
    xtrace_entry now, before = {0};
    int status = 1;
    for (uint64_t number = 0; (status = xtrace_snapshots_next(s, number, &now, e)) > 0; number = now.number + 1) {
        status = check_order(s, &now, &before, e);
        if (status < 0)
            return status;
        before = now;
        if (!stream || now.file != 0)
            continue;
        if (!TL_GROW(c->claim, c->n, 1, c->capacity))
            return no_memory(e);
        c->claim[c->n++] =
            (xtrace_claim){.number = now.number, .offset = now.offset, .insns = now.insns, .user = now.user_insns};
    }
    if (status < 0)
        return status;
    if (!sort(c))
        return no_memory(e);
    return c->n > 0 ? tl_window_init(&c->ahead, stream, AHEAD, e) : 0;
}

void xtrace_claims_fini(xtrace_claims *c)
{
    free(c->claim);
    free(c->count);
    free(c->mismatch);
    tl_window_fini(&c->ahead);
}

void xtrace_claims_token(xtrace_claims *c, uint64_t offset, uint64_t insns, uint64_t user)
{
    for (; c->next_offset < c->n && c->claim[c->next_offset].offset <= offset; c->next_offset++) {
        xtrace_claim *const claim = &c->claim[c->next_offset];
        claim->at_token = claim->offset == offset;
        claim->seen = insns;
        claim->seen_user = user;
    }
    set_due(c);
}

/* What an instruction implies about a register: the first of the following tokens that is `wanted` has the register's
 * value. */
typedef struct expectation {
    bool any;
    bool target; /* TARGET, otherwise LOAD or STORE */
    unsigned number;
    uint64_t add;
} expectation;

static expectation expectation_of(uint32_t op)
{
    const a64_class class = a64_class_of(op);
    expectation x = {.number = op >> 5 & 31};
    if ((op & 0x3b000000) == 0x39000000 && (class == A64_LOAD || class == A64_STORE)) { /* unsigned offset */
        const unsigned scale = (op >> 26 & 1) && (op >> 23 & 1) ? 4 : op >> 30;
        x.any = true;
        x.add = (uint64_t)(op >> 10 & 0xfff) << scale;
    } else if ((op & 0xff9ffc1f) == 0xd61f0000 && x.number != 31) { /* BR, BLR, RET */
        x.any = x.target = true;
    }
    return x;
}

/* Finds the first token of the kind after an instruction: 1, and its value; 0: none. */
static int find_following(xtrace_claims *c, uint64_t at, bool target, uint64_t *value, tl_error *e)
{
    const uint64_t end = tl_input_size(c->stream);
    for (unsigned i = 0; i < FOLLOW && at < end; i++) {
        size_t available;
        uint64_t size;
        const uint8_t *p = tl_window_at(&c->ahead, at, XTRACE_VALUE_SIZE, &available, e);
        if (!p)
            return TL_EIO;
        if (available == 0 || xtrace_token_size(p, end - at, &size) != XTRACE_OK || xtrace_token_is_insn(*p))
            return 0;
        if (target ? *p == XTRACE_TARGET : xtrace_token_is_mem(*p)) {
            if (available < XTRACE_VALUE_SIZE)
                return 0;
            *value = tl_load64(p + 1, false);
            return 1;
        }
        at += size;
    }
    return 0;
}

/* The value of a general register in a record. */
static int read_register(const xtrace_snapshots *s, uint64_t number, unsigned which, uint64_t *value, tl_error *e)
{
    uint8_t bytes[8];
    size_t got = 0;
    const uint64_t at = s->first + number * s->record_size + XTRACE_SNAPSHOT_X + 8 * which;
    int status = tl_input_read(s->in, at, bytes, sizeof bytes, &got, e);
    if (status >= 0 && got < sizeof bytes)
        status = tl_fail(e, TL_EIO, at, "the snapshots became shorter while they were read");
    if (status >= 0)
        *value = tl_load64(bytes, false);
    return status;
}

int xtrace_claims_insn(xtrace_claims *c, uint32_t opcode, uint64_t offset, uint64_t next, tl_error *e)
{
    const expectation x = expectation_of(opcode);
    const uint64_t insns = c->due_insns;
    uint64_t found = 0, value = 0;
    int status = x.any ? find_following(c, next, x.target, &found, e) : 0;
    const bool known = status > 0;
    for (; c->next_count < c->n && c->count[c->next_count].insns == insns; c->next_count++) {
        const uint32_t index = c->count[c->next_count].claim;
        if (status < 0 || !known)
            continue;
        status = read_register(c->snapshots, c->claim[index].number, x.number, &value, e);
        if (status < 0 || value + x.add == found)
            continue;
        if (!TL_GROW(c->mismatch, c->nmismatch, 1, c->mismatch_capacity))
            status = no_memory(e);
        else
            c->mismatch[c->nmismatch++] = (xtrace_mismatch){
                .claim = index, .opcode = opcode, .offset = offset, .expected = value + x.add, .found = found};
    }
    set_due(c);
    return status < 0 ? status : 0;
}

/* Does a claim have wrong counts? */
static bool is_misplaced(const xtrace_claim *claim, uint64_t insns)
{
    if (claim->at_token)
        return claim->seen != claim->insns || claim->seen_user != claim->user;
    return claim->insns > insns;
}

static int tell_mismatch(const xtrace_claims *c, const xtrace_mismatch *m, tl_error *e)
{
    const expectation x = expectation_of(m->opcode);
    char name[8];
    if (x.number == 31)
        snprintf(name, sizeof name, "sp");
    else
        snprintf(name, sizeof name, "x%u", x.number);
    const uint64_t number = c->claim[m->claim].number;
    if (x.target)
        return tell(c->snapshots, e, number, "xtrace.snapshot-regs",
                    "%s is 0x%" PRIx64 ", but the branch by it at byte %" PRIu64 " of the stream goes to 0x%" PRIx64,
                    name, m->expected, m->offset, m->found);
    return tell(c->snapshots, e, number, "xtrace.snapshot-regs",
                "%s + %" PRIu64 " is 0x%" PRIx64 ", but the instruction 0x%08" PRIx32 " at byte %" PRIu64
                " of the stream accesses 0x%" PRIx64,
                name, x.add, m->expected, m->opcode, m->offset, m->found);
}

int xtrace_claims_end(const xtrace_claims *c, uint64_t insns, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status >= 0 && i < c->n; i++) {
        const xtrace_claim *claim = &c->claim[i];
        const char *const rule = "xtrace.snapshot-offset";
        if (!is_misplaced(claim, insns))
            continue;
        if (claim->at_token)
            status = tell(c->snapshots, e, claim->number, rule,
                          "%" PRIu64 " instructions (%" PRIu64 " user) before byte %" PRIu64
                          ", where the stream has %" PRIu64 " (%" PRIu64 ")",
                          claim->insns, claim->user, claim->offset, claim->seen, claim->seen_user);
        else
            status = tell(c->snapshots, e, claim->number, rule,
                          "%" PRIu64 " instructions, but the stream has only %" PRIu64, claim->insns, insns);
    }
    for (uint32_t i = 0; status >= 0 && i < c->nmismatch; i++)
        if (!is_misplaced(&c->claim[c->mismatch[i].claim], insns))
            status = tell_mismatch(c, &c->mismatch[i], e);
    return status < 0 ? status : 0;
}
