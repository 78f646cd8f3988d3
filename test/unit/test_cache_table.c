/* Simulated caches: against a very simple model, and by hand. */
#include "analysis/instruction/cache_table.h"

#include "hand_insns.h"

/* The model: a list of lines with the time of their last use, and slow. */
typedef struct plain_line {
    bool used, written;
    uint64_t line, time;
} plain_line;

typedef struct plain_cache {
    plain_line line[64];
    uint32_t sets, ways, bytes;
} plain_cache;

typedef struct plain {
    plain_cache cache[TL_CACHES];
    tl_cache_count count[TL_CACHES];
    uint64_t time;
} plain;

static void plain_init(plain *p, const tl_cache_setup *setup)
{
    memset(p, 0, sizeof *p);
    for (unsigned i = 0; i < TL_CACHES; i++) {
        const tl_cache_shape *s = &setup->cache[i];
        assert_true(s->sets * s->ways <= 64);
        p->cache[i].sets = s->sets;
        p->cache[i].ways = s->ways;
        p->cache[i].bytes = s->line;
    }
}

/* True if the line was there; *out is the line evicted for it. */
static bool plain_use(plain *p, tl_cache_id id, uint64_t line, bool write, plain_line *out)
{
    plain_cache *c = &p->cache[id];
    plain_line *set = &c->line[line % c->sets * c->ways], *oldest = &set[0];
    *out = (plain_line){0};
    p->time++;
    for (uint32_t i = 0; i < c->ways; i++) {
        if (set[i].used && set[i].line == line) {
            set[i].time = p->time;
            set[i].written = set[i].written || write;
            return true;
        }
        if (!set[i].used && oldest->used)
            oldest = &set[i];
        else if (set[i].used && oldest->used && set[i].time < oldest->time)
            oldest = &set[i];
    }
    *out = *oldest;
    *oldest = (plain_line){true, write, line, p->time};
    return false;
}

static void plain_l2(plain *p, uint64_t address, uint32_t bytes, tl_cache_class by, bool write)
{
    const uint32_t unit = p->cache[TL_CACHE_L2].bytes;
    if (!p->cache[TL_CACHE_L2].sets)
        return;
    for (uint64_t at = address / unit; at <= (address + bytes - 1) / unit; at++) {
        plain_line out;
        const bool hit = plain_use(p, TL_CACHE_L2, at, write, &out);
        if (!write) {
            p->count[TL_CACHE_L2].accesses[by]++;
            p->count[TL_CACHE_L2].lookups[by]++;
            p->count[TL_CACHE_L2].misses[by] += !hit;
        }
        p->count[TL_CACHE_L2].writebacks += out.written;
    }
}

static void plain_access(plain *p, uint64_t address, uint64_t size, tl_cache_class by)
{
    const tl_cache_id first = by == TL_CACHE_CODE ? TL_CACHE_L1I : TL_CACHE_L1D;
    const tl_cache_id tlb = by == TL_CACHE_CODE ? TL_CACHE_ITLB : TL_CACHE_DTLB;
    const uint32_t bytes = p->cache[first].bytes;
    plain_line out;
    p->count[first].accesses[by]++;
    p->count[tlb].accesses[by]++;
    for (uint64_t page = address / 4096; page <= (address + size - 1) / 4096; page++) {
        p->count[tlb].lookups[by]++;
        if (plain_use(p, tlb, page, false, &out))
            continue;
        p->count[tlb].misses[by]++;
        if (!p->cache[TL_CACHE_L2TLB].sets)
            continue;
        p->count[TL_CACHE_L2TLB].accesses[by]++;
        p->count[TL_CACHE_L2TLB].lookups[by]++;
        p->count[TL_CACHE_L2TLB].misses[by] += !plain_use(p, TL_CACHE_L2TLB, page, false, &out);
    }
    for (uint64_t line = address / bytes; line <= (address + size - 1) / bytes; line++) {
        p->count[first].lookups[by]++;
        if (plain_use(p, first, line, by == TL_CACHE_STORE, &out))
            continue;
        p->count[first].misses[by]++;
        plain_l2(p, line * bytes, bytes, by, false);
        if (out.written) {
            p->count[first].writebacks++;
            plain_l2(p, out.line * bytes, bytes, by, true);
        }
    }
}

static void check_counts(const tl_cache_sim *s, const plain *p)
{
    for (unsigned i = 0; i < TL_CACHES; i++) {
        const tl_cache_count c = tl_cache_sim_count(s, (tl_cache_id)i), *m = &p->count[i];
        for (unsigned k = 0; k < TL_CACHE_CLASSES; k++) {
            assert_int_equal(c.accesses[k], m->accesses[k]);
            assert_int_equal(c.lookups[k], m->lookups[k]);
            assert_int_equal(c.misses[k], m->misses[k]);
        }
        assert_int_equal(c.writebacks, m->writebacks);
    }
}

/* A stream that walks, jumps, and sometimes touches much. */
static void make_lines(hand_line *line, uint32_t n, uint32_t seed)
{
    uint32_t x = seed;
    uint64_t pc = 0x10000;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t what = hand_random(&x, 8);
        const uint64_t address = 0x40000 + hand_random(&x, hand_random(&x, 3) ? 600 : 100000);
        const uint64_t size = hand_random(&x, 50) ? UINT64_C(1) << hand_random(&x, 5) : 1 + hand_random(&x, 9000);
        if (what < 5) {
            line[i] = (hand_line)INSN(pc, OP_NOP);
            pc = hand_random(&x, 6) ? pc + 4 : 0x10000 + hand_random(&x, 40000);
        } else {
            line[i] = (hand_line){what == 5 ? HAND_STORE : HAND_LOAD, address, size};
        }
    }
}

static void run_plain(plain *p, const hand_line *line, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (line[i].cls == HAND_INSN)
            plain_access(p, line[i].key, 4, TL_CACHE_CODE);
        else
            plain_access(p, line[i].key, line[i].aux, line[i].cls == HAND_LOAD ? TL_CACHE_LOAD : TL_CACHE_STORE);
}

static void agrees_with_a_plain_model(void **state)
{
    static const char *const setup[] = {
        "l1i=1K:4:64,l1d=1K:2:64,l2=4K:8:64,itlb=3,dtlb=4,l2tlb=16:4",
        "l1i=512:1:64,l1d=512:8:64,l2=2K:1:64,itlb=1,dtlb=2,l2tlb=16",
        "l1i=1K:4:32,l1d=1K:4:32,l2=4K:4:128,itlb=4:2,dtlb=4:1,l2tlb=24:3", /* a line of L2 has several of L1 */
        "l1i=1K:4:64,l1d=2K:4:128,l2=2K:2:32,itlb=8,dtlb=8,l2tlb=0",        /* and the reverse */
        "l1i=64K:16:4096,l1d=768:3:16,l2=0,itlb=8,dtlb=48,l2tlb=64:2",
    };
    enum { LINES = 30000 };
    hand_line *line[2] = {malloc(LINES * sizeof **line), malloc(LINES * sizeof **line)};
    plain *p = malloc(sizeof *p), *second = malloc(sizeof *second);
    assert_true(line[0] && line[1] && p && second);
    make_lines(line[0], LINES, 1);
    make_lines(line[1], LINES, 2);
    for (size_t k = 0; k < TL_COUNT(setup); k++) {
        tl_cache_setup s = tl_cache_default;
        hand h;
        tl_caches c;
        assert_int_equal(tl_cache_setup_parse(&s, setup[k], NULL), 0);
        plain_init(p, &s);
        run_plain(p, line[0], LINES);
        memset(p->cache, 0, sizeof p->cache); /* another stream has its own caches */
        plain_init(second, &s);
        memcpy(second->count, p->count, sizeof p->count);
        run_plain(second, line[1], LINES);
        hand_init(&h, k == 1 ? 17 : 0);
        hand_add(&h, line[0], LINES);
        hand_add(&h, line[1], LINES);
        hand_pass(&h, &c, &tl_cache_table, &s, 1 + (unsigned)k % 2);
        check_counts(&c.sim, second);
        uint64_t misses = 0;
        for (uint32_t i = 0; i < c.npc; i++)
            misses += c.pc[i].loads;
        assert_int_equal(misses + c.without_pc.loads, second->count[TL_CACHE_L1D].misses[TL_CACHE_LOAD]);
        tl_cache_table.fini(&c);
        hand_fini(&h);
    }
    free(line[0]);
    free(line[1]);
    free(p);
    free(second);
}

static void counts_by_hand(void **state)
{
    static const hand_line line[] = {
        INSN(0x1000, OP_LDR),
        LOAD(0x8000, 8), /* all miss */
        INSN(0x1004, OP_LDR),
        LOAD(0x8020, 8), /* all hit */
        INSN(0x1008, OP_STR),
        STORE(0x803c, 8), /* two lines, one of them there */
        INSN_NO_PC(OP_LDR),
        LOAD(0x9000, 8),      /* misses of no instruction; no lookup of code */
        INSN(0x103e, OP_NOP), /* two lines of code */
        OTHER(),
        INSN(0x1004, OP_LDR),
        LOAD(0x8fff, 2), /* two pages, one line is new */
    };
    hand h;
    tl_caches c;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    hand_pass(&h, &c, &tl_cache_table, NULL, 1);
    assert_int_equal(c.instructions, 6);
    const tl_cache_count l1i = tl_cache_sim_count(&c.sim, TL_CACHE_L1I), l1d = tl_cache_sim_count(&c.sim, TL_CACHE_L1D);
    const tl_cache_count l2 = tl_cache_sim_count(&c.sim, TL_CACHE_L2), dtlb = tl_cache_sim_count(&c.sim, TL_CACHE_DTLB);
    assert_int_equal(l1i.accesses[TL_CACHE_CODE], 5);
    assert_int_equal(l1i.lookups[TL_CACHE_CODE], 6);
    assert_int_equal(l1i.misses[TL_CACHE_CODE], 2);
    assert_int_equal(l1d.accesses[TL_CACHE_LOAD], 4);
    assert_int_equal(l1d.lookups[TL_CACHE_LOAD], 5);
    assert_int_equal(l1d.misses[TL_CACHE_LOAD], 3);
    assert_int_equal(l1d.misses[TL_CACHE_STORE], 1);
    assert_int_equal(l2.accesses[TL_CACHE_LOAD], 3);
    assert_int_equal(l2.misses[TL_CACHE_CODE], 2);
    assert_int_equal(dtlb.lookups[TL_CACHE_LOAD], 5);
    assert_int_equal(dtlb.misses[TL_CACHE_LOAD], 2);
    assert_int_equal(c.without_pc.loads, 1);
    assert_int_equal(c.without_pc.l2, 1);
    uint32_t *index = tl_caches_sort(&c);
    assert_non_null(index);
    assert_int_equal(c.npc, 3);
    assert_int_equal(c.pc[index[0]].pc, 0x1000); /* all have one: by address */
    assert_int_equal(c.pc[index[1]].pc, 0x1004);
    assert_int_equal(c.pc[index[2]].stores, 1);
    free(index);
    tl_cache_table.fini(&c);
    hand_fini(&h);
}

/* The selection begins in the middle: an access does not belong to the last instruction seen. */
static void gaps_forget_the_pc(void **state)
{
    hand h;
    tl_caches c = {0};
    uint64_t ts[2] = {0, 0}, key[2] = {0x1000, 0x8000}, aux[2] = {OP_LDR, 8};
    uint32_t cls[2] = {HAND_INSN, HAND_LOAD}, track[2] = {0, 0};
    hand_init(&h, 0);
    assert_int_equal(tl_cache_table.init(&c, NULL, NULL), 0);
    assert_int_equal(tl_cache_table.begin(&c, &h.source.trace, NULL), 0);
    tl_batch b = {.trace = &h.source.trace, .ts = ts, .key = key, .aux = aux, .cls = cls, .track = track, .n = 2};
    assert_int_equal(tl_cache_table.events(&c, &b, 0, 1, false, NULL), 0);
    assert_int_equal(tl_cache_table.events(&c, &b, 1, 2, true, NULL), 0);
    assert_int_equal(c.npc, 0);
    assert_int_equal(c.without_pc.loads, 1);
    tl_cache_table.fini(&c);
    hand_fini(&h);
}

static void setup_changes_what_is_named(void **state)
{
    tl_cache_setup s = tl_cache_default;
    assert_int_equal(s.cache[TL_CACHE_L2TLB].sets * s.cache[TL_CACHE_L2TLB].ways, 1280);
    assert_int_equal(tl_cache_setup_parse(&s, "l1d=32k,l2=1M:16,itlb=64:4,dtlb=7,l2tlb=0", NULL), 0);
    assert_int_equal(s.cache[TL_CACHE_L1I].sets, 256);
    assert_int_equal(s.cache[TL_CACHE_L1D].sets, 128);
    assert_int_equal(s.cache[TL_CACHE_L1D].ways, 4);
    assert_int_equal(s.cache[TL_CACHE_L2].sets, 1024);
    assert_int_equal(s.cache[TL_CACHE_L2].ways, 16);
    assert_int_equal(s.cache[TL_CACHE_ITLB].sets, 16);
    assert_int_equal(s.cache[TL_CACHE_DTLB].sets, 1);
    assert_int_equal(s.cache[TL_CACHE_DTLB].ways, 7);
    assert_int_equal(s.cache[TL_CACHE_L2TLB].sets, 0);
}

static void setup_says_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {{"", "expected NAME"},
                 {"l1d", "expected NAME"},
                 {"l1d=64K,", "expected NAME"},
                 {"l3=1M", "expected one of"},
                 {"l1d=", "expected numbers"},
                 {"l1d=64G", "expected numbers"},
                 {"l1d=-1", "expected numbers"},
                 {"l1d=99999999999999999999", "expected numbers"},
                 {"l1d=18446744073709551615K", "expected numbers"},
                 {"l1d=64K:4:64:1", "SIZE:WAYS:LINE"},
                 {"itlb=48:48:48", "ENTRIES:WAYS"},
                 {"l1d=64K:4:48", "power of two"},
                 {"l1d=64K:4:8", "16 to 4096"},
                 {"l1d=64K:4:8192", "16 to 4096"},
                 {"l1d=0", "1 to"},
                 {"itlb=0", "1 to"},
                 {"l1d=100", "whole lines"},
                 {"l1d=4096M", "1 to"},
                 {"l1d=64K:0", "ways"},
                 {"l1d=1M:8192", "ways"},
                 {"l1d=96K:4", "power of two"},
                 {"itlb=10:3", "power of two"},
                 {"l1d=64K:4:64                             ", "comma"}};
    for (size_t i = 0; i < TL_COUNT(wrong); i++) {
        tl_cache_setup s = tl_cache_default;
        tl_error e = {0};
        assert_int_equal(tl_cache_setup_parse(&s, wrong[i].text, &e), TL_EINVAL);
        if (!strstr(e.message, wrong[i].says))
            fail_msg("%s: %s", wrong[i].text, e.message);
        assert_memory_equal(&s, &tl_cache_default, sizeof s);
    }
    tl_cache_setup s = tl_cache_default; /* the first part is valid, but changes nothing either */
    assert_int_equal(tl_cache_setup_parse(&s, "l2=1M,l1d=1", NULL), TL_EINVAL);
    assert_memory_equal(&s, &tl_cache_default, sizeof s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_plain_model), cmocka_unit_test(counts_by_hand),
        cmocka_unit_test(gaps_forget_the_pc),        cmocka_unit_test(setup_changes_what_is_named),
        cmocka_unit_test(setup_says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
