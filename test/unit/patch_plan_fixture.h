/* Code in slots, and the plan of it as one line, for test_patch_plan.c. */
#ifndef TL_UNIT_PATCH_PLAN_FIXTURE_H
#define TL_UNIT_PATCH_PLAN_FIXTURE_H

#include "patch/patch_plan.h"
#include "patch_fixture.h"

#define CODE      0x401000
#define SLOT      0x100
#define SLOTS     8
#define CODE_SIZE (SLOT * SLOTS)

/* Code in a slot, which begins at a multiple of 256. */
typedef struct range {
    const char *code;  /* hexadecimal; ">2" is a displacement of 4 bytes to the range 2, ">2+1f" to a byte in it */
    const char *rules; /* of its entry, NULL: none */
    unsigned at;       /* from the begin of the slot */
    bool hole, signal; /* hole: no entry */
} range;

static struct {
    uint8_t code[CODE_SIZE], filler;
    uint64_t begin[SLOTS], size[SLOTS];
    patch_bytes frames;
    patch_image image;
    patch_plan plan;
} t;

static uint64_t target_of(const range *r, const char *text, const char **end)
{
    const unsigned slot = (unsigned)strtoul(text, (char **)(uintptr_t)end, 10);
    uint64_t target = CODE + slot * SLOT + r[slot].at;
    if (**end == '+')
        target += strtoul(*end + 1, (char **)(uintptr_t)end, 16);
    return target;
}

static void put_code(const range *r, unsigned slot)
{
    size_t at = slot * SLOT + r[slot].at;
    t.begin[slot] = CODE + at;
    for (const char *p = r[slot].code; *p; p += strspn(p, " ")) {
        if (*p == '>') {
            const uint64_t to = target_of(r, p + 1, &p) - (CODE + at + 4);
            for (unsigned i = 0; i < 4; i++)
                t.code[at++] = (uint8_t)(to >> 8 * i);
        } else {
            t.code[at++] = (uint8_t)strtoul(p, (char **)(uintptr_t)&p, 16);
        }
    }
    t.size[slot] = CODE + at - t.begin[slot];
}

static void make_image(const range *r, unsigned n)
{
    memset(t.code, t.filler, sizeof t.code);
    t.frames = begin_frames();
    const size_t usual = put_usual_common(&t.frames), signal = put_common(&t.frames, "zRS", "01 1b 0c 07 08 90 01");
    for (unsigned i = 0; i < n; i++) {
        if (!r[i].code)
            continue;
        put_code(r, i);
        if (!r[i].hole)
            put_frame(&t.frames, r[i].signal ? signal : usual, t.begin[i], t.size[i], r[i].rules ? r[i].rules : "");
    }
    put_number(&t.frames, 4, 0);
    t.image = image_of(&t.frames);
    t.image.part[t.image.parts++] = (patch_part){CODE, CODE_SIZE, t.code, true};
}

static const char *const why[PATCH_WHYS] = {"ok",      "part",    "linkage", "return",  "start",
                                            "no-code", "unknown", "open",    "shared",  "entered",
                                            "name",    "no-room", "beyond",  "changed", "not-wanted"};

static void append(char *text, const char *format, unsigned long number)
{
    const size_t n = strlen(text);
    snprintf(text + n, 1000 - n, format, number);
}

/* "T2.5/8>1+4*": a tail call at 2 of 5 bytes, in room for 8, to byte 4 of slot 1; it is the entry, too. */
static void describe_site(char *text, const patch_site *s, uint64_t begin)
{
    append(text, " %c", (unsigned long)"ERTIS"[s->kind]);
    append(text, "%lx", (unsigned long)(s->address - begin));
    append(text, ".%lu", s->length);
    if (s->room != s->length)
        append(text, "/%lu", s->room);
    if (s->target && s->kind != PATCH_ENTRY) {
        append(text, ">%lu", (unsigned long)((s->target - CODE) / SLOT));
        if ((s->target - CODE) % SLOT)
            append(text, "+%lx", (s->target - CODE) % SLOT);
    }
    if (s->entry)
        append(text, "*", 0);
}

/* All functions but the empty one, each "why flags sites", between commas. */
static const char *describe(void)
{
    static char text[1000];
    *text = 0;
    for (uint32_t i = 1; i < t.plan.functions; i++) {
        const patch_function *f = &t.plan.function[i];
        append(text, i > 1 ? ", " : "", 0);
        strcat(text, why[f->why]);
        if (f->why == PATCH_IS_PART)
            append(text, f->parent == i ? " alone" : " of %lu",
                   (unsigned long)((t.plan.function[f->parent].begin - CODE) / SLOT));
        strcat(text, f->tables ? " tables" : "");
        strcat(text, f->late ? " late" : "");
        if (f->why == PATCH_UNKNOWN_CODE)
            append(text, " at %lx", f->detail);
        for (uint32_t s = f->site; s < f->site + f->sites; s++) {
            assert_int_equal(t.plan.site[s].function, f->parent);
            describe_site(text, &t.plan.site[s], f->begin);
        }
    }
    return text;
}

/* What holds for any plan. */
static void check_order(void)
{
    const patch_plan *p = &t.plan;
    uint32_t sites = 0, parts = 0, listed = 0;
    assert_int_equal(p->function[0].size, 0);
    for (uint32_t i = 1; i < p->functions; i++) {
        const patch_function *f = &p->function[i];
        assert_true(f->begin >= f[-1].begin + f[-1].size);
        assert_int_equal(patch_plan_find(p, f->begin), i);
        assert_int_equal(patch_plan_find(p, f->begin + f->size - 1), i);
        sites += f->sites;
        parts += f->parent != i;
        for (uint32_t part = f->next_part; f->parent == i && part; part = p->function[part].next_part, listed++)
            assert_int_equal(p->function[part].parent, i);
    }
    assert_int_equal(sites, p->sites);
    assert_int_equal(parts, listed);
    for (uint32_t i = 1; i < p->sites; i++)
        assert_true(p->site[i - 1].address + p->site[i - 1].room <= p->site[i].address);
}

static void plan_with(const range *r, unsigned n, const patch_named *named)
{
    make_image(r, n);
    if (!patch_plan_make(&t.plan, &t.image, &patch_x86_64, &fixture_memory, named, NULL, 0))
        fail_msg("no plan");
    check_order();
}

static void end_plan(void)
{
    patch_plan_free(&t.plan);
    free(t.frames.at);
    t.filler = 0xf8; /* clc: neither dead nor an end */
}

static void check_plan(int line, const range *r, unsigned n, const char *want)
{
    plan_with(r, n, NULL);
    const bool framed = t.plan.framed;
    const char *got = describe();
    end_plan();
    assert_true(framed);
    if (strcmp(got, want) != 0)
        fail_msg("line %d:\n got  %s\n want %s", line, got, want);
}

#define PLAN(want, ...)                                                                                                \
    check_plan(__LINE__, (range[]){__VA_ARGS__}, sizeof((range[]){__VA_ARGS__}) / sizeof(range), want)

#define RET                                                                                                            \
    {                                                                                                                  \
        .code = "c3"                                                                                                   \
    }
#define IN      "0e 10"             /* rsp + 16 where it begins: a fragment */
#define PUSH    "41 0e 10"          /* behind one byte */
#define PUSHED1 "41 0e 10 4f 0e 08" /* and rsp + 8 again behind 16 */

#endif
