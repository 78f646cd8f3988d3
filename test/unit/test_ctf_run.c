/* Plans and runs: random types, encoded bit by bit by our own slow writer, must decode to the same values. */
#include "check.h"
#include "format/ctf/plan/ctf_plan_impl.h"
#include "format/ctf/plan/ctf_run.h"

/* ---- a slow writer of bits ---- */

typedef struct bits {
    uint8_t data[1 << 16];
    uint64_t n;
} bits;

static void put_bit(bits *b, bool big, unsigned v)
{
    const unsigned at = (unsigned)(b->n & 7);
    if (v)
        b->data[b->n / 8] |= (uint8_t)(1u << (big ? 7 - at : at));
    b->n++;
}

/* A number: little-endian puts its lowest bit first and fills bytes from their lowest bit, big-endian the highest.
 * `reversed` reverses the order of bits. */
static void put_number(bits *b, const ctf_type *t, uint64_t v)
{
    const bool big = t->order == CTF_BE;
    for (unsigned i = 0; i < t->bits; i++) {
        const unsigned bit = big != t->reversed ? t->bits - 1 - i : i;
        put_bit(b, big, v >> bit & 1);
    }
}

static void align(bits *b, uint32_t to)
{
    while (b->n % to)
        b->n++;
}

/* ---- random types and values ---- */

static uint64_t state;

static uint64_t random_u64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)(random_u64() % n);
}

typedef struct expected {
    tl_value v[4096];
    uint32_t n;
} expected;

typedef struct maker {
    ctf_schema *s;
    bool order_fixed; /* one byte order for all: it may not change inside a byte */
    ctf_order order;
    bool bytewise;
} maker;

static ctf_type *make_number(maker *m)
{
    ctf_type *t = ctf_type_new(m->s, CTF_INT, 0);
    t->order = (uint8_t)(m->bytewise && below(3) == 0 ? (m->order == CTF_LE ? CTF_BE : CTF_LE) : m->order);
    t->is_signed = below(2);
    static const uint32_t sizes[] = {8, 16, 32, 64};
    t->bits = m->bytewise ? sizes[below(4)] : 1 + below(64);
    t->align = m->bytewise ? 8u << below(4) : 1u << below(5);
    t->reversed = below(8) == 0;
    switch (below(8)) {
    case 0:
        t->kind = CTF_FLOAT;
        t->bits = below(2) ? 32 : 64;
        t->is_signed = false;
        t->reversed = false;
        break;
    case 1:
        t->kind = CTF_BOOL;
        t->is_signed = false;
        break;
    }
    return t;
}

static ctf_type *make_type(maker *m, unsigned depth);

static const ctf_member *member_of(maker *m, const char *name, const ctf_type *t)
{
    ctf_member *one = tl_arena_zalloc(&m->s->arena, sizeof *one);
    *one = (ctf_member){.name = name, .type = t};
    return one;
}

static const ctf_location *location_of(maker *m, const char *name)
{
    ctf_location *l = tl_arena_zalloc(&m->s->arena, sizeof *l);
    const char **path = tl_arena_zalloc(&m->s->arena, sizeof *path);
    path[0] = name;
    *l = (ctf_location){.origin = CTF_FROM_HERE, .n = 1, .path = path};
    return l;
}

/* A struct whose members may be lengths and selectors of later ones. */
static ctf_type *make_struct(maker *m, unsigned depth)
{
    ctf_type *t = ctf_type_new(m->s, CTF_STRUCT, 0);
    ctf_member *member = tl_arena_zalloc(&m->s->arena, 32 * sizeof *member);
    uint32_t n = 0, most = 1 + below(6);
    t->align = m->bytewise ? 8u << below(3) : 1u << below(4);
    while (n < most) {
        char name[16];
        snprintf(name, sizeof name, "m%u", n);
        member[n].name = tl_arena_strndup(&m->s->arena, name, strlen(name));
        if (depth < 3 && below(3) == 0) {
            ctf_type *governor = ctf_type_new(m->s, CTF_INT, 0);
            governor->order = (uint8_t)m->order;
            governor->bits = m->bytewise ? 8 : 4;
            governor->align = m->bytewise ? 8 : 1;
            member[n].type = governor;
            const char *governor_name = member[n].name;
            n++;
            snprintf(name, sizeof name, "d%u", n);
            member[n].name = tl_arena_strndup(&m->s->arena, name, strlen(name));
            const unsigned what = below(3);
            ctf_type *d = ctf_type_new(m->s, what == 0 ? CTF_ARRAY : what == 1 ? CTF_VARIANT : CTF_OPTIONAL, 0);
            d->location = location_of(m, governor_name);
            d->dynamic = what == 0;
            if (what == 1) {
                ctf_member *option = tl_arena_zalloc(&m->s->arena, 2 * sizeof *option);
                ctf_range *range = tl_arena_zalloc(&m->s->arena, 2 * sizeof *range);
                range[0] = (ctf_range){0, 2};
                range[1] = (ctf_range){3, 15};
                option[0] = (ctf_member){.name = "a", .type = make_type(m, depth + 1), .range = &range[0], .nrange = 1};
                option[1] = (ctf_member){.name = "b", .type = make_type(m, depth + 1), .range = &range[1], .nrange = 1};
                d->member = option;
                d->nmember = 2;
            } else {
                ctf_member *one = tl_arena_zalloc(&m->s->arena, sizeof *one);
                ctf_range *range = tl_arena_zalloc(&m->s->arena, sizeof *range);
                *range = (ctf_range){1, 2};
                *one = (ctf_member){.type = make_type(m, depth + 1), .range = range, .nrange = 1};
                d->member = one;
                d->nmember = 1;
            }
            member[n].type = d;
        } else {
            member[n].type = make_type(m, depth + 1);
        }
        n++;
    }
    t->member = member;
    t->nmember = n;
    return t;
}

static ctf_type *make_type(maker *m, unsigned depth)
{
    const unsigned what = below(depth < 3 ? 10 : 6);
    ctf_type *t;
    if (what < 5)
        return make_number(m);
    if (what == 5 && m->bytewise) {
        t = ctf_type_new(m->s, CTF_STRING, 0);
        t->encoding = CTF_UTF8;
        t->align = 8;
        return t;
    }
    if (what <= 6 && m->bytewise) {
        t = ctf_type_new(m->s, CTF_VARINT, 0);
        t->is_signed = below(2);
        t->align = 8;
        return t;
    }
    if (what == 7)
        return make_struct(m, depth);
    if (what >= 8) {
        t = ctf_type_new(m->s, CTF_ARRAY, 0);
        t->length = below(40);
        t->member = member_of(m, NULL, make_type(m, depth + 1));
        t->nmember = 1;
        return t;
    }
    return make_number(m);
}

static void add(expected *x, tl_value v)
{
    assert_true(x->n < sizeof x->v / sizeof *x->v);
    x->v[x->n++] = v;
}

static void encode(bits *b, expected *x, const ctf_type *t, bool is_root, uint64_t governor, bool has_governor);

static void encode_number(bits *b, expected *x, const ctf_type *t, uint64_t small, bool is_small)
{
    uint64_t v = is_small ? small : random_u64();
    tl_value slot = {.type = t->is_signed ? TL_I64 : TL_U64};
    align(b, t->align);
    if (t->kind == CTF_FLOAT && t->bits == 32) {
        const float f = (float)(int32_t)v / 8;
        const double d = (double)f;
        uint32_t raw;
        memcpy(&raw, &f, sizeof raw);
        v = raw;
        slot.type = TL_F64;
        slot.as.f = d;
        put_number(b, t, v);
        add(x, slot);
        return;
    }
    if (t->kind == CTF_FLOAT)
        slot.type = TL_F64;
    if (t->bits < 64)
        v &= (UINT64_C(1) << t->bits) - 1;
    put_number(b, t, v);
    if (t->is_signed && t->bits < 64 && v >> (t->bits - 1))
        v |= UINT64_MAX << t->bits;
    if (t->kind == CTF_BOOL) {
        slot.type = TL_BOOL;
        v = v != 0;
    }
    slot.as.u = v;
    add(x, slot);
}

static void encode_varint(bits *b, expected *x, const ctf_type *t)
{
    uint64_t v = random_u64() >> below(64);
    align(b, 8);
    uint64_t rest = v;
    for (bool more = true; more;) {
        uint8_t byte = rest & 0x7f;
        if (t->is_signed) {
            rest = (uint64_t)((int64_t)rest >> 7);
            more = !((rest == 0 && !(byte & 0x40)) || (rest == UINT64_MAX && byte & 0x40));
        } else {
            rest >>= 7;
            more = rest != 0;
        }
        b->data[b->n / 8] = (uint8_t)(byte | (more ? 0x80 : 0));
        b->n += 8;
    }
    add(x, (tl_value){.type = t->is_signed ? TL_I64 : TL_U64, .as.u = v});
}

static void encode_struct(bits *b, expected *x, const ctf_type *t, bool is_root)
{
    align(b, ctf_type_alignment(t));
    if (!is_root)
        add(x, (tl_value){.type = TL_STRUCT, .n = t->nmember});
    uint64_t governor = 0;
    for (uint32_t i = 0; i < t->nmember; i++) {
        const ctf_type *m = t->member[i].type;
        const bool governs = i + 1 < t->nmember && t->member[i + 1].type->location;
        if (governs) {
            governor = below(5);
            encode_number(b, x, m, governor, true);
        } else {
            encode(b, x, m, false, governor, m->location != NULL);
        }
    }
}

static void encode(bits *b, expected *x, const ctf_type *t, bool is_root, uint64_t governor, bool has_governor)
{
    switch ((ctf_kind)t->kind) {
    case CTF_INT:
    case CTF_FLOAT:
    case CTF_BOOL:
        encode_number(b, x, t, 0, false);
        break;
    case CTF_VARINT:
        encode_varint(b, x, t);
        break;
    case CTF_STRING: {
        static const char *const words[] = {"", "a", "hello",
                                            "a rather long string of characters, longer than a chunk"};
        const char *w = words[below(4)];
        align(b, 8);
        memcpy(b->data + b->n / 8, w, strlen(w));
        b->n += 8 * (strlen(w) + 1);
        add(x, (tl_value){.type = TL_STRING, .n = (uint32_t)strlen(w), .as.p = w});
        break;
    }
    case CTF_STRUCT:
        encode_struct(b, x, t, is_root);
        break;
    case CTF_ARRAY: {
        const uint64_t n = has_governor ? governor : t->length;
        align(b, t->align);
        align(b, ctf_type_alignment(t->member[0].type));
        add(x, (tl_value){.type = TL_LIST, .n = (uint32_t)n});
        for (uint64_t i = 0; i < n; i++)
            encode(b, x, t->member[0].type, false, 0, false);
        break;
    }
    case CTF_VARIANT: {
        const unsigned option = governor > 2;
        add(x, (tl_value){.type = TL_VARIANT, .variant = (uint16_t)option, .n = 1});
        encode(b, x, t->member[option].type, false, 0, false);
        break;
    }
    case CTF_OPTIONAL:
        if (governor == 1 || governor == 2)
            encode(b, x, t->member[0].type, false, 0, false);
        else
            add(x, (tl_value){.type = TL_ABSENT});
        break;
    default:
        fail();
    }
}

static void assert_same(const tl_value *a, const tl_value *b)
{
    assert_int_equal(a->type, b->type);
    if (a->type == TL_STRING) {
        assert_int_equal(a->n, b->n);
        assert_memory_equal(a->as.p, b->as.p, a->n);
    } else if (a->type == TL_LIST || a->type == TL_STRUCT) {
        assert_int_equal(a->n, b->n);
    } else if (a->type == TL_VARIANT) {
        assert_int_equal(a->variant, b->variant);
    } else if (a->type != TL_ABSENT) {
        assert_true(a->as.u == b->as.u);
    }
}

/* One random trace class: its payload at a random place of a packet, read by both programs. */
static void round_trip(uint64_t seed, bool bytewise)
{
    static bits b;
    static expected x;
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    ctf_schema schema = {.dialect = CTF_2};
    maker m = {.s = &schema, .order_fixed = true, .order = below(2) ? CTF_BE : CTF_LE, .bytewise = bytewise};
    ctf_event_class event = {.id = 0, .name = "e", .payload = make_struct(&m, 0)};
    const ctf_event_class *events[] = {&event};
    ctf_stream_class stream = {.event = events, .nevent = 1};
    const ctf_stream_class *streams[] = {&stream};
    schema.stream = streams;
    schema.nstream = 1;
    tl_arena fields = {0};
    ctf_class_list list = {.arena = &fields};
    ctf_plans *plans = NULL;
    tl_error e = {0};
    assert_int_equal(ctf_plans_new(&plans, &schema, &list, &e), 0);

    memset(&b, 0, sizeof b);
    x.n = 0;
    const uint64_t begin = b.n = bytewise ? 8 * below(9) : below(70);
    encode(&b, &x, event.payload, true, 0, false);

    tl_trace trace;
    tl_trace_init(&trace);
    tl_batch batch;
    assert_int_equal(tl_batch_init(&batch, &trace, &(tl_want){.fields = true}, 16, &e), 0);
    uint64_t reg[1024] = {0};
    const ctf_event_plan *plan = &plans->set[0].stream[0].event[0];
    assert_true(plans->set[0].registers <= 1024);
    if (!tl_batch_slots(&batch, plan->store.slots + 1))
        fail();
    batch.nval = 0;
    ctf_run r = {.data = b.data, .at = begin, .end = b.n, .reg = reg, .batch = &batch};
    assert_int_equal(ctf_run_store(&r, &plan->store), CTF_RUN_OK);
    assert_int_equal(r.at, b.n);
    assert_int_equal(batch.nval, x.n);
    for (uint32_t i = 0; i < x.n; i++)
        assert_same(&batch.v[i], &x.v[i]);

    ctf_run skip = {.data = b.data, .at = begin, .end = b.n, .reg = reg};
    assert_int_equal(ctf_run_skip(&skip, &plan->skip), CTF_RUN_OK);
    assert_int_equal(skip.at, b.n);

    /* Every end before the real one is too short, for both. */
    for (uint64_t cut = b.n > 200 ? b.n - 200 : 0; cut < b.n; cut++) {
        if (cut < begin)
            continue;
        batch.nval = 0;
        ctf_run s = {.data = b.data, .at = begin, .end = cut, .reg = reg, .batch = &batch};
        ctf_run k = {.data = b.data, .at = begin, .end = cut, .reg = reg};
        const ctf_run_status stored = ctf_run_store(&s, &plan->store), skipped = ctf_run_skip(&k, &plan->skip);
        if (stored == CTF_RUN_OK)
            assert_true(s.at > cut || s.at == k.at); /* only padding was cut off */
        assert_int_equal(stored, skipped);
    }
    tl_batch_fini(&batch);
    tl_trace_fini(&trace);
    ctf_plans_free(plans);
    free(list.cls);
    tl_arena_fini(&fields);
    tl_arena_fini(&schema.arena);
}

static void random_types_of_whole_bytes_decode(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= rounds(1500); seed++)
        round_trip(seed, true);
}

static void random_types_of_bits_decode(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= rounds(1500); seed++)
        round_trip(seed, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_types_of_whole_bytes_decode),
        cmocka_unit_test(random_types_of_bits_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
