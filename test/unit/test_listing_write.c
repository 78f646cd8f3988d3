/* The listing of instructions: layout, what stands behind an instruction, several tracks, lines that go on, values.
 * Classes have names of their own here, for the writer must not look at them; texts are those that the built-in
 * disassembler knows, which LLVM writes alike. */
#include "writer_fixture.h"

extern const tl_format tl_format_listing, tl_format_listing_values;

enum { IN, LD, ST, XR, SYS, ARG, RET, CACHE, TARGET, ORDER, FLAGS, VEC, ALL, SNAP, OTHER, LOST, CALL, NOTE, KINDS };

static const tl_field value_fields[] = {{.name = "addr", .type = TL_HEX},
                                        {.name = "raw", .type = TL_BYTES, .role = TL_FIELD_VALUE}};
static const tl_field one = {.type = TL_HEX};
static const tl_field buffer_members[] = {{.name = "b", .type = TL_HEX, .role = TL_FIELD_BASE},
                                          {.name = "n", .type = TL_U64, .role = TL_FIELD_BYTES}};
static const tl_field buffer = {.type = TL_STRUCT, .member = buffer_members, .nmember = 2};
static const tl_field buffers[] = {
    {.name = "list", .type = TL_LIST, .member = &buffer, .nmember = 1, .role = TL_FIELD_ITEMS}};
static const tl_field registers[] = {
    {.name = "n", .type = TL_U64},
    {.name = "x", .type = TL_LIST, .member = &one, .nmember = 1, .role = TL_FIELD_GENERAL},
    {.name = "z", .type = TL_BYTES},
    {.name = "nzcv", .type = TL_HEX, .role = TL_FIELD_FLAGS_REGISTER},
    {.name = "fpcr", .type = TL_HEX}};

#define STATE(role_, name_)                                                                                            \
    {                                                                                                                  \
        .kind = TL_STATE, .key = TL_KEY_VALUE, .name = (name_), .role = TL_ROLE_##role_                                \
    }
static const tl_class classes[KINDS] = {
    [IN] = {.kind = TL_INSN, .key = TL_KEY_PC, .aux = TL_AUX_INSN, .role = TL_ROLE_A64, .name = "i"},
    [LD] = {.kind = TL_MEM,
            .key = TL_KEY_ADDRESS,
            .aux = TL_AUX_SIZE,
            .role = TL_ROLE_LOAD,
            .name = "l",
            .field = value_fields,
            .nfield = 2},
    [ST] = {.kind = TL_MEM,
            .key = TL_KEY_ADDRESS,
            .aux = TL_AUX_SIZE,
            .role = TL_ROLE_STORE,
            .name = "s",
            .field = value_fields,
            .nfield = 2},
    [XR] = STATE(STORED, "x"),
    [SYS] = STATE(SYSTEM_VALUE, "y"),
    [ARG] = STATE(CALL_ARGUMENT, "a"),
    [RET] = STATE(CALL_RESULT, "r"),
    [CACHE] = STATE(CACHE_ADDRESS, "c"),
    [TARGET] = STATE(TARGET, "t"),
    [ORDER] = STATE(ORDER, "o"),
    [FLAGS] = STATE(FLAGS, "f"),
    [VEC] = {.kind = TL_STATE, .name = "v", .role = TL_ROLE_CALL_BUFFERS, .field = buffers, .nfield = 1},
    [ALL] = {.kind = TL_REGS, .name = "all", .role = TL_ROLE_GENERAL, .field = registers, .nfield = 2},
    [SNAP] = {.kind = TL_REGS, .name = "snapshot", .role = TL_ROLE_SNAPSHOT, .field = registers, .nfield = 5},
    [OTHER] = STATE(NONE, "other"),
    [LOST] = {.kind = TL_LOSS, .name = "lost"},
    [CALL] = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"},
    [NOTE] = {.kind = TL_FORMAT, .name = "note"},
};

enum { NOP = 0xd503201f, LDR = 0xf9400420, SVC = 0xd4000001, RETURN = 0xd65f03c0 };
/* What stands in front of what follows an instruction whose line is not the last one any more. */
#define BLANK "                                                                   "

static const tl_function *functions; /* of the trace that start() makes */
static unsigned nfunction;

static void start(fixture *f, const tl_format *format, unsigned tracks)
{
    const tl_want all = {.fields = true, .cpu = true};
    memset(f, 0, sizeof *f);
    tl_trace_init(&f->trace);
    tl_trace_set_clock(&f->trace, "instructions", 0);
    assert_int_equal(tl_trace_set_classes(&f->trace, classes, KINDS, NULL), 0);
    for (unsigned i = 0; i < tracks; i++) {
        const tl_track track = {.name = i == 0 ? "4711" : i == 1 ? "cpu\x1b[2J\xff" : "a third"};
        uint32_t index;
        assert_int_equal(tl_trace_add_track(&f->trace, &track, &index, NULL), 0);
    }
    for (unsigned i = 0; i < nfunction; i++)
        assert_int_equal(tl_trace_add_function(&f->trace, &functions[i], NULL), 0);
    assert_int_equal(tl_batch_init(&f->batch, &f->trace, &all, TL_BATCH_MAX, NULL), 0);
    assert_non_null(f->batch.aux);
    assert_int_equal(fixture_create(f, format), 0);
    for (uint32_t i = 0; i < KINDS; i++)
        assert_int_equal(format->accept(f->writer, &f->trace.cls[i]), i == CALL   ? TL_ACCEPT_DROP
                                                                      : i == NOTE ? TL_ACCEPT_IGNORE
                                                                                  : TL_ACCEPT_KEEP);
}

static void put(fixture *f, uint32_t cls, uint32_t track, uint64_t ts, uint64_t key, uint64_t aux)
{
    fixture_event(f, cls, track, -1, ts, key, NULL, 0);
    f->batch.aux[f->batch.n - 1] = aux;
}

static void put_bytes(fixture *f, uint32_t cls, uint64_t ts, uint64_t key, const void *data, uint32_t n)
{
    const tl_value v[2] = {{.type = TL_HEX, .as.u = key}, {.type = TL_BYTES, .n = n, .as.p = data}};
    fixture_event(f, cls, 0, -1, ts, key, v, 2);
    f->batch.aux[f->batch.n - 1] = n;
}

static void expect(fixture *f, const char *text)
{
    fixture_finish(f);
    assert_string_equal((char *)f->bytes, text);
    fixture_fini(f);
}

static void test_columns(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x400580, NOP);
    put(&f, IN, 0, 1, 0xffff800010080400, NOP | UINT64_C(1) << 32);
    put(&f, IN, 0, 2, 0, NOP | TL_INSN_NO_PC);
    put(&f, IN, 0, 9, 0, 0x14000004 | TL_INSN_NO_PC);
    put(&f, IN, 0, 10, 0, 0x14000004); /* at 0, which is known */
    put(&f, IN, 0, 99, 0x400584, 0x38e28020 | UINT64_C(3) << 32);
    put(&f, IN, 0, 100, 0x400588, RETURN);
    put(&f, IN, 0, 999999999, 0x400588, RETURN);
    put(&f, IN, 0, 1000000000, 0x400588, RETURN);
    put(&f, IN, 0, 1000000001, 0x400588, RETURN);
    put(&f, IN, 0, UINT64_MAX, 0x400588, RETURN);
    put(&f, IN, 0, 0, 0x400588, RETURN);
    expect(&f, "        0               0x400580  d503201f  nop\n"
               "        1 el1 0xffff800010080400  d503201f  nop\n"
               "        2                      -  d503201f  nop\n"
               "        9                      -  14000004  b       #16\n"
               "       10                    0x0  14000004  b       0x10\n"
               "       99 el3           0x400584  38e28020  swpalb  w2, w0, [x1]\n"
               "      100               0x400588  d65f03c0  ret\n"
               "999999999               0x400588  d65f03c0  ret\n"
               "1000000000               0x400588  d65f03c0  ret\n"
               "1000000001               0x400588  d65f03c0  ret\n"
               "18446744073709551615               0x400588  d65f03c0  ret\n"
               "        0               0x400588  d65f03c0  ret\n");
}

/* Every number, whichever digits change. */
static void test_numbers(void **state)
{
    (void)state;
    fixture f;
    char line[32];
    start(&f, &tl_format_listing, 1);
    for (uint64_t i = 0; i < 12000; i++)
        put(&f, IN, 0, 99995000 + i, 0x400580, NOP);
    fixture_finish(&f);
    const char *p = (char *)f.bytes;
    for (unsigned i = 0; i < 12000; i++) {
        snprintf(line, sizeof line, "%9u  ", 99995000 + i);
        assert_memory_equal(p, line, 11);
        p = strchr(p, '\n') + 1;
    }
    assert_true(*p == '\0');
    fixture_fini(&f);
}

static void test_details(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put(&f, LD, 0, 0, 0x7ffff0, 8);
    put(&f, LD, 0, 0, 0x7ffff8, 1);
    put(&f, IN, 0, 1, 0x1004, 0xa9bf7bfd);
    put(&f, ORDER, 0, 1, 12, 0);
    put(&f, ST, 0, 1, 0x7ffff0, 32768);
    put(&f, IN, 0, 2, 0x1008, 0xc8027c20);
    put(&f, XR, 0, 2, 0, 0);
    put(&f, XR, 0, 2, 1, 0);
    put(&f, IN, 0, 3, 0x100c, 0xd53bd040);
    put(&f, SYS, 0, 3, 0x7f00, 0);
    put(&f, FLAGS, 0, 3, 0x60000000, 0);
    put(&f, FLAGS, 0, 3, 0x60000001, 0);
    put(&f, IN, 0, 4, 0x1010, 0xd50b7420);
    put(&f, CACHE, 0, 4, 0x4000, 0);
    put(&f, OTHER, 0, 4, 5, 0);
    put(&f, IN, 0, 5, 0x1014, RETURN);
    put(&f, TARGET, 0, 5, 0x400900, 0);
    expect(
        &f,
        "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x7ffff0 -> 8 bytes] [0x7ffff8 "
        "-> 1 byte]\n"
        "        1                 0x1004  a9bf7bfd  stp     x29, x30, [sp, #-16]!   @12 [0x7ffff0 <- 32768 bytes]\n"
        "        2                 0x1008  c8027c20  stxr    w2, x0, [x1]            stored not stored\n"
        "        3                 0x100c  d53bd040  mrs     x0, TPIDR_EL0           = 0x7f00 flags nZCv flags "
        "0x60000001\n"
        "        4                 0x1010  d50b7420  dc      zva, x0                 at 0x4000 other 0x5\n"
        "        5                 0x1014  d65f03c0  ret                             -> 0x400900\n");
}

static void test_calls(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x1000, SVC);
    put(&f, ARG, 0, 0, 64, 0);
    put(&f, ARG, 0, 0, 1, 0);
    put(&f, ARG, 0, 0, 0x4000, 0);
    put(&f, VEC, 0, 0, 0, 0);
    put(&f, RET, 0, 0, 12, 0);
    put(&f, IN, 0, 1, 0x1004, SVC);
    put(&f, ARG, 0, 1, 57, 0);
    put(&f, RET, 0, 1, (uint64_t)-4095, 0);
    put(&f, IN, 0, 2, 0x1008, SVC);
    put(&f, ARG, 0, 2, 214, 0);
    put(&f, RET, 0, 2, (uint64_t)-4096, 0);
    put(&f, IN, 0, 3, 0x100c, NOP); /* the kernel went on for a while */
    put(&f, RET, 0, 3, 0, 0);
    expect(
        &f,
        "        0                 0x1000  d4000001  svc     #0                      syscall 64: 0x1, 0x4000 buffers = "
        "0xc\n"
        "        1                 0x1004  d4000001  svc     #0                      syscall 57 = -4095\n"
        "        2                 0x1008  d4000001  svc     #0                      syscall 214 = "
        "0xfffffffffffff000\n"
        "        3                 0x100c  d503201f  nop                             returns 0x0\n");
}

/* Registers and losses have lines of their own, and what follows of the same instruction goes on behind its number. */
static void test_own_lines(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, ORDER, 0, 0, 7, 0); /* before the first instruction */
    put(&f, SNAP, 0, 0, 0, 0);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put(&f, ALL, 0, 0, 0, 0);
    put(&f, LD, 0, 0, 0x20, 4);
    put(&f, LD, 0, 0, 0x24, 4);
    put(&f, LOST, 0, 1, 0, 0);
    put(&f, IN, 0, 1, 0x1004, NOP);
    expect(&f, "        0" BLANK "@7\n"
               "        0  -- snapshot\n"
               "        0                 0x1000  f9400420  ldr     x0, [x1, #8]\n"
               "        0  -- all\n"
               "        0" BLANK "[0x20 -> 4 bytes] [0x24 -> 4 bytes]\n"
               "        1  -- lost\n"
               "        1                 0x1004  d503201f  nop\n");
}

/* Names of tracks are as wide as the widest, and cannot drive a terminal; a line that was left goes on with its number.
 */
static void test_tracks(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing, 3);
    put(&f, IN, 0, 5, 0x1000, LDR);
    put(&f, IN, 1, 5, 0x1000, SVC);
    put(&f, ARG, 1, 5, 64, 0);
    put(&f, LD, 0, 5, 0x20, 4);
    put(&f, ARG, 1, 5, 1, 0);
    put(&f, IN, 2, 6, 0x1000, NOP);
    expect(&f,
           "4711                    5                 0x1000  f9400420  ldr     x0, [x1, #8]\n"
           "cpu\\x1b[2J\\xff          5                 0x1000  d4000001  svc     #0                      syscall 64\n"
           "4711                    5" BLANK "[0x20 -> 4 bytes]\n"
           "cpu\\x1b[2J\\xff          5                                                                  : 0x1\n"
           "a third                 6                 0x1000  d503201f  nop\n");
}

/* Which function it is, in a column of its own, if there are any. */
static void test_symbols(void **state)
{
    (void)state;
    static const tl_function known[] = {
        {.id = 3, .address = 0x2000, .size = 0x100, .name = "a::very::long::name<of, a, template>(int)"},
        {.id = 1, .address = 0x1000, .size = 0x10, .name = "main"},
        {.id = 2, .address = 0x1010, .size = 4, .name = "evil\x1b\xc3\xa9"},
        {.id = 4, .address = 0x3000, .size = 0x10}, /* no name */
        {.id = 5, .address = 0x4000, .name = "of no known size"},
        {.id = 6,
         .address = 0x5000,
         .size = UINT64_MAX,
         .name = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                 "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                 "\xc3\xa9\xc3\xa9\xc3\xa9"},
    };
    fixture f;
    functions = known;
    nfunction = TL_COUNT(known);
    start(&f, &tl_format_listing, 1);
    nfunction = 0;
    static const uint64_t pc[] = {0xffc,  0x1000, 0x100c, 0x1010, 0x1014, 0x2000,
                                  0x20fc, 0x2100, 0x3000, 0x4000, 0x5000, 0x6000};
    for (unsigned i = 0; i < TL_COUNT(pc); i++)
        put(&f, IN, 0, i, pc[i], NOP);
    put(&f, IN, 0, 12, 0, LDR | TL_INSN_NO_PC);
    put(&f, LD, 0, 12, 0x20, 4);
    put(&f, LOST, 0, 12, 0, 0);
    put(&f, LD, 0, 12, 0x20, 4);
    expect(
        &f,
        "        0                  0xffc                                    d503201f  nop\n"
        "        1                 0x1000  main                              d503201f  nop\n"
        "        2                 0x100c  main+0xc                          d503201f  nop\n"
        "        3                 0x1010  evil\\x1b\xc3\xa9                        d503201f  nop\n"
        "        4                 0x1014                                    d503201f  nop\n"
        "        5                 0x2000  a::very::long::name<of, a, te...  d503201f  nop\n"
        "        6                 0x20fc  a::very::long::name<of, ...+0xfc  d503201f  nop\n"
        "        7                 0x2100                                    d503201f  nop\n"
        "        8                 0x3000                                    d503201f  nop\n"
        "        9                 0x4000                                    d503201f  nop\n"
        "       10                 0x5000  \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...   d503201f  nop\n"
        "       11                 0x6000  \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...+0x1000    d503201f  nop\n"
        "       12                      -                                    f9400420  ldr     x0, [x1, #8]            "
        "[0x20 -> 4 bytes]\n"
        "       12  -- lost\n"
        "       12                                                                                                     "
        "[0x20 -> 4 bytes]\n");
}

/* A line does not end with a batch. */
static void test_batches(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing, 1);
    put(&f, IN, 0, 0, 0x1000, LDR);
    fixture_flush(&f);
    put(&f, LD, 0, 0, 0x20, 4);
    fixture_flush(&f);
    fixture_flush(&f);
    put(&f, IN, 0, 1, 0x1004, NOP);
    expect(&f, "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x20 -> 4 bytes]\n"
               "        1                 0x1004  d503201f  nop\n");
}

static void test_no_events(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing, 1);
    expect(&f, "");
    start(&f, &tl_format_listing, 0);
    expect(&f, "");
}

/* Lines are kept by place: another opcode or level there, and places that share a slot, are other lines. */
static void test_kept_lines(void **state)
{
    (void)state;
    enum { PLACES = 7, SHARED = 65536 * 4 };
    static const uint32_t op[PLACES] = {NOP, LDR, SVC, RETURN, 0xd4200020, 0x14000004, 0x8b020020};
    static const char *const text[PLACES] = {"nop",          "ldr     x0, [x1, #8]", "svc     #0",        "ret",
                                             "brk     #0x1", "b       0x",           "add     x0, x1, x2"};
    fixture f;
    start(&f, &tl_format_listing, 1);
    for (unsigned round = 0; round < 100; round++)
        for (unsigned i = 0; i < PLACES; i++)
            put(&f, IN, 0, round * PLACES + i, 0x1000 + (uint64_t)SHARED * ((i * 3 + round) % 11),
                op[i] | (uint64_t)(round % 4) << 32);
    fixture_finish(&f);
    const char *p = (char *)f.bytes;
    char line[96];
    for (unsigned k = 0; k < 100 * PLACES; k++) {
        const unsigned round = k / PLACES, i = k % PLACES;
        const uint64_t pc = 0x1000 + (uint64_t)SHARED * ((i * 3 + round) % 11);
        char level[8] = "    ", place[24];
        if (round % 4)
            snprintf(level, sizeof level, " el%u", round % 4);
        snprintf(place, sizeof place, "0x%llx", (unsigned long long)pc);
        const int n = snprintf(line, sizeof line, "%9u%s %18s  %08x  %s", k, level, place, (unsigned)op[i], text[i]);
        assert_memory_equal(p, line, (size_t)n);
        if (op[i] == 0x14000004) {
            assert_int_equal(strtoull(p + n, NULL, 16), pc + 16);
            p = strchr(p, '\n') + 1;
        } else {
            assert_true(p[n] == '\n');
            p += n + 1;
        }
    }
    assert_true(*p == '\0');
    fixture_fini(&f);
}

static void test_values(void **state)
{
    (void)state;
    static const uint8_t data[32] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    assert_true(tl_format_listing_values.writes_fields && !tl_format_listing.writes_fields);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put_bytes(&f, LD, 0, 0x20, data, 8);
    put_bytes(&f, LD, 0, 0x28, data, 1);
    put_bytes(&f, ST, 0, 0x30, data, 16);
    put_bytes(&f, ST, 0, 0x40, data, 3);
    put_bytes(&f, ST, 0, 0x50, data, 32);
    put_bytes(&f, ST, 0, 0x60, data, 0);
    put(&f, LD, 0, 0, 0x70, 4); /* without a value on the tape */
    put(&f, IN, 0, 1, 0x1004, SVC);
    put(&f, ARG, 0, 1, 66, 0);
    const tl_value list[] = {{.type = TL_LIST, .n = 2},        {.type = TL_STRUCT, .n = 2},
                             {.type = TL_HEX, .as.u = 0x4000}, {.type = TL_U64, .as.u = 12},
                             {.type = TL_STRUCT, .n = 2},      {.type = TL_HEX, .as.u = 0x5000},
                             {.type = TL_U64, .as.u = 1}};
    fixture_event(&f, VEC, 0, -1, 1, 0, list, 7);
    fixture_event(&f, VEC, 0, -1, 1, 0, NULL, 0);
    put(&f, RET, 0, 1, 13, 0);
    expect(
        &f,
        "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x20 -> 8 bytes "
        "0xfedcba9876543210] "
        "[0x28 -> 1 byte 0x10] [0x30 <- 16 bytes 0x0807060504030201fedcba9876543210] [0x40 <- 3 bytes 103254] [0x50 <- "
        "32 "
        "bytes 1032547698badcfe010203040506070809000000000000000000000000000000] [0x60 <- 0 bytes] [0x70 -> 4 bytes]\n"
        "        1                 0x1004  d4000001  svc     #0                      syscall 66 buffers [0x4000 12 "
        "bytes] "
        "[0x5000 1 byte] = 0xd\n");
}

static void test_large_value(void **state)
{
    (void)state;
    enum { LARGE = 32768 };
    static uint8_t data[LARGE];
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    memset(data, 0xa5, sizeof data);
    for (uint64_t i = 0; i < 20; i++) {
        put(&f, IN, 0, i, 0x1000, LDR);
        put_bytes(&f, LD, i, 0x20, data, LARGE);
    }
    fixture_finish(&f);
    const char *p = (char *)f.bytes;
    for (unsigned i = 0; i < 20; i++) {
        p = strstr(p, "32768 bytes ");
        assert_non_null(p);
        p += 12;
        assert_int_equal(strspn(p, "a5"), 2 * LARGE);
        p += 2 * LARGE;
        assert_memory_equal(p, "]\n", 2);
    }
    fixture_fini(&f);
}

static void test_registers(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    tl_value v[37] = {{.type = TL_U64, .as.u = 3}, {.type = TL_LIST, .n = 32}};
    for (unsigned i = 0; i < 32; i++)
        v[2 + i] = (tl_value){.type = TL_HEX, .as.u = i};
    v[34] = (tl_value){.type = TL_BYTES, .n = 1, .as.p = "z"};
    v[35] = (tl_value){.type = TL_HEX, .as.u = 0x90000000};
    v[36] = (tl_value){.type = TL_HEX, .as.u = 0x1f};
    fixture_event(&f, SNAP, 0, -1, 3, 0, v, 37);
    put(&f, IN, 0, 3, 0x1000, NOP);
    fixture_event(&f, ALL, 0, -1, 3, 0, v, 5); /* a list that is cut short */
    fixture_finish(&f);
    const char *begin = "        3  -- snapshot\n"
                        "           n 3\n"
                        "           x0  0x0000000000000000  x1  0x0000000000000001  x2  0x0000000000000002  x3  "
                        "0x0000000000000003\n";
    const char *end = "           x28 0x000000000000001c  x29 0x000000000000001d  x30 0x000000000000001e  sp  "
                      "0x000000000000001f\n"
                      "           nzcv NzcV  fpcr 0x1f\n"
                      "        3                 0x1000  d503201f  nop\n"
                      "        3  -- all\n"
                      "           n 3\n"
                      "           x0  0x0000000000000000  x1  0x0000000000000001  x2  0x0000000000000002\n";
    assert_memory_equal(f.bytes, begin, strlen(begin));
    assert_true(f.size > strlen(end));
    assert_string_equal((char *)f.bytes + f.size - strlen(end), end);
    assert_int_equal(fixture_dropped(&f, "registers that are no numbers"), 1);
    fixture_fini(&f);
}

/* With a reader that has no tape. */
static void test_no_tape(void **state)
{
    (void)state;
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    put(&f, SNAP, 0, 0, 0, 0);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put(&f, LD, 0, 0, 0x20, 4);
    put(&f, VEC, 0, 0, 0, 0);
    tl_batch bare = f.batch;
    bare.val = NULL;
    bare.v = NULL;
    assert_int_equal(f.format->write(f.writer, &bare, 0, bare.n, NULL), 0);
    tl_batch_clear(&f.batch);
    expect(&f, "        0  -- snapshot\n"
               "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x20 -> 4 bytes]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_numbers),   cmocka_unit_test(test_details),
        cmocka_unit_test(test_calls),      cmocka_unit_test(test_own_lines), cmocka_unit_test(test_tracks),
        cmocka_unit_test(test_symbols),    cmocka_unit_test(test_batches),   cmocka_unit_test(test_no_events),
        cmocka_unit_test(test_kept_lines), cmocka_unit_test(test_values),    cmocka_unit_test(test_large_value),
        cmocka_unit_test(test_registers),  cmocka_unit_test(test_no_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
