/* Does a memory image hold everything that its stream needs? Reads the stream token by token up to damage, which others
 * report. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/io/base_name.h"
#include "base/io/window.h"
#include "format/xtrace/xtrace_image.h"
#include "format/xtrace/xtrace_tokens.h"

#define WINDOW (256u << 10) /* more than the longest token except VEC, which is only skipped */

typedef struct image_checker {
    tl_shadow *memory;
    xtrace_touch touch;
    tl_window window;
    tl_trace *trace;
    const char *stream; /* its name */
    uint64_t offset;    /* of the token */
    uint64_t pc;
    bool has_pc, told; /* something was already reported for this token */
} image_checker;

static int need(void *arg, uint64_t address, const uint8_t *data, size_t n, tl_error *e)
{
    image_checker *c = arg;
    uint8_t held[64];
    for (size_t i = 0; i < n && !c->told;) {
        const size_t part = n - i < sizeof held ? n - i : sizeof held,
                     got = tl_shadow_get(c->memory, address + i, held, part);
        size_t k = 0;
        while (k < got && held[k] == data[i + k])
            k++;
        if (k == part) {
            i += part;
            continue;
        }
        const tl_damage d = {
            .offset = c->offset, .at = c->offset, .kind = TL_DAMAGE_FAULT, .rule = "xtrace.image", .file = c->stream};
        c->told = true;
        return k == got ? tl_trace_report(c->trace, e, &d, "the memory image does not know the byte at 0x%" PRIx64,
                                          address + i + k)
                        : tl_trace_report(c->trace, e, &d,
                                          "the byte at 0x%" PRIx64 " is 0x%02x here, 0x%02x in the memory image",
                                          address + i + k, data[i + k], held[k]);
    }
    return 0;
}

static int look_at_insn(image_checker *c, const uint8_t *p, tl_error *e)
{
    uint32_t op;
    if ((*p & XTRACE_INSN_MASK) == XTRACE_PCINST) {
        c->pc = tl_load64(p + 1, false);
        c->has_pc = true;
        op = tl_load32(p + 9, false);
    } else {
        c->pc += 4;
        op = tl_load32(p + 1, false);
    }
    return xtrace_touch_insn(&c->touch, c->has_pc, c->pc, op, e);
}

/* Checks the token at p; all its bytes are there unless it is a VEC. */
static int look_at(image_checker *c, const uint8_t *p, uint64_t size, tl_error *e)
{
    c->told = false;
    if (xtrace_token_is_insn(*p))
        return look_at_insn(c, p, e);
    if (xtrace_token_is_mem(*p)) {
        const uint64_t address = tl_load64(p + 1, false);
        const size_t n = (size_t)size - XTRACE_MEM_HEAD;
        return *p & XTRACE_MEM_STORE ? xtrace_touch_store(&c->touch, address, n, e)
                                     : xtrace_touch_load(&c->touch, address, p + XTRACE_MEM_HEAD, n, e);
    }
    if (*p == XTRACE_STXR && tl_load64(p + 1, false) != 0)
        xtrace_touch_failed(&c->touch);
    return 0;
}

static int go_through(image_checker *c, tl_input *in, tl_error *e)
{
    const uint64_t end = tl_input_size(in);
    uint64_t size = 0;
    int r = 0;
    for (; r == 0 && c->offset < end; c->offset += size) {
        size_t available;
        const uint8_t *p = tl_window_at(&c->window, c->offset, XTRACE_PCINST_SIZE, &available, e);
        if (!p)
            return TL_EIO;
        if (available < XTRACE_PCINST_SIZE && available < end - c->offset)
            return 0; /* the file became shorter */
        if (xtrace_token_size(p, end - c->offset, &size) != XTRACE_OK)
            return 0;
        if (*p != XTRACE_VEC && size > available) {
            p = tl_window_at(&c->window, c->offset, (size_t)size, &available, e);
            if (!p)
                return TL_EIO;
            if (available < size)
                return 0;
        }
        r = look_at(c, p, size, e);
        if (tl_shadow_pages(c->touch.touched) > XTRACE_TOUCH_PAGES)
            return 0; /* a writer would have given up, too */
    }
    return r;
}

int xtrace_image_check(tl_input *stream, const char *stream_name, tl_input *image, const char *image_name, tl_trace *t,
                       tl_error *e)
{
    image_checker c = {.trace = t, .stream = stream_name};
    const char *what = NULL;
    int r = tl_shadow_new(&c.memory, e);
    if (r == 0)
        r = xtrace_touch_init(&c.touch, need, &c, e);
    if (r == 0)
        r = tl_window_init(&c.window, stream, WINDOW, e);
    if (r == 0)
        r = xtrace_core_read(image, c.memory, &what, e);
    if (r > 0) {
        const tl_damage d = {.kind = TL_DAMAGE_FAULT, .rule = "xtrace.image", .file = image_name};
        r = tl_trace_report(t, e, &d, "the memory image cannot be read: %s", what);
    } else if (r == 0) {
        r = go_through(&c, stream, e);
    }
    tl_window_fini(&c.window);
    xtrace_touch_fini(&c.touch);
    tl_shadow_free(c.memory);
    return r < 0 ? r : 0;
}

int xtrace_image_check_beside(tl_input *stream, const char *stream_name, tl_trace *t, tl_error *e)
{
    char *const path = xtrace_image_name(tl_input_path(stream));
    tl_input *image = NULL;
    int r = path ? tl_input_open_beside(&image, path, e) : 0;
    if (r < 0 && r != TL_ENOMEM) /* none exists */
        r = 0;
    const char *name = image ? tl_trace_intern(t, tl_base_name(path)) : NULL;
    if (image && !name)
        r = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to check a memory image");
    else if (image)
        r = xtrace_image_check(stream, stream_name, image, name, t, e);
    tl_input_close(image);
    free(path);
    return r;
}
