/* Bytes of call frame information and of code, made by hand, for tests of src/patch. */
#ifndef TL_UNIT_PATCH_FIXTURE_H
#define TL_UNIT_PATCH_FIXTURE_H

#include "patch/patch_frames.h"
#include "patch/patch_memory.h"

#include "check.h"

#define HEADER UINT64_C(0x500000) /* address of .eh_frame_hdr, which .eh_frame follows */
#define FRAMES (HEADER + 8)

typedef struct patch_bytes {
    uint8_t *at;
    size_t n, room;
} patch_bytes;

static inline void put(patch_bytes *b, const void *from, size_t n)
{
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n);
        b->at = realloc(b->at, b->room);
        assert_non_null(b->at);
    }
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

static inline void put_number(patch_bytes *b, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        put(b, &(uint8_t){(uint8_t)(v >> 8 * i)}, 1);
}

/* "12 34": bytes in hexadecimal. */
static inline void put_hex(patch_bytes *b, const char *hex)
{
    for (const char *p = hex; *p; p += strcspn(p, " "), p += strspn(p, " "))
        put_number(b, 1, strtoul(p, NULL, 16));
}

static inline void set_number(patch_bytes *b, size_t at, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        b->at[at + i] = (uint8_t)(v >> 8 * i);
}

/* An entry: its length is set by end_entry(). */
static inline size_t begin_entry(patch_bytes *b)
{
    put_number(b, 4, 0);
    return b->n;
}

static inline void end_entry(patch_bytes *b, size_t begin)
{
    set_number(b, begin - 4, 4, b->n - begin);
}

/* .eh_frame_hdr of version 1, whose pointer to .eh_frame is relative to itself. */
static inline patch_bytes begin_frames(void)
{
    patch_bytes b = {NULL, 0, 0};
    put_hex(&b, "01 1b ff ff 04 00 00 00");
    return b;
}

/* A common entry of factors 1 and -8 and return register 16; `rest`: augmentation data, with its size, and rules.
 * Returns where it is. */
static inline size_t put_common(patch_bytes *b, const char *letters, const char *rest)
{
    const size_t at = b->n, entry = begin_entry(b);
    put_number(b, 4, 0);
    put_number(b, 1, 1);
    put(b, letters, strlen(letters) + 1);
    put_hex(b, "01 78 10");
    put_hex(b, rest);
    end_entry(b, entry);
    return at;
}

/* What compilers emit: pointers are relative to themselves, rsp + 8, return address at -8. */
static inline size_t put_usual_common(patch_bytes *b)
{
    return put_common(b, "zR", "01 1b 0c 07 08 90 01");
}

/* An entry with such pointers. */
static inline void put_frame(patch_bytes *b, size_t common, uint64_t begin, uint64_t size, const char *rules)
{
    const size_t entry = begin_entry(b);
    put_number(b, 4, b->n - common);
    put_number(b, 4, begin - (HEADER + b->n));
    put_number(b, 4, size);
    put_number(b, 1, 0);
    put_hex(b, rules);
    end_entry(b, entry);
}

/* An image of nothing but frames. */
static inline patch_image image_of(const patch_bytes *frames)
{
    patch_image image = {.parts = 1, .frame_header = HEADER};
    image.part[0] = (patch_part){.address = HEADER, .size = frames->n, .bytes = frames->at};
    return image;
}

static inline void *fixture_take(size_t n)
{
    return calloc(1, n);
}

static inline void fixture_give(void *p, size_t n)
{
    memset(p, 0x55, n);
    free(p);
}

static inline void *fixture_grow(void *p, size_t from, size_t to)
{
    uint8_t *q = realloc(p, to);
    if (q)
        memset(q + from, 0, to - from);
    return q;
}

static const patch_memory fixture_memory = {fixture_take, fixture_give, fixture_grow, NULL};

static inline patch_frame only_frame(const patch_image *image)
{
    patch_frames walk;
    patch_frame frame, other;
    assert_true(patch_frames_begin(&walk, image));
    assert_true(patch_frames_next(&walk, &frame));
    assert_false(patch_frames_next(&walk, &other));
    return frame;
}

#endif
