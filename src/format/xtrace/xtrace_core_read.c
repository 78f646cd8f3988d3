/* Reads memory from a core file, ours or another program's. */
#include <string.h>

#include "base/endian.h"
#include "base/io/window.h"
#include "format/xtrace/xtrace_core.h"

#define WINDOW (64u << 10)

typedef struct core_reader {
    tl_input *in;
    tl_window window;
    tl_shadow *memory;
    const char *what;
    uint64_t size;
    uint64_t headers, headers_at;
    bool has_known;                       /* has our note: */
    uint64_t known_at, known, known_next; /* pages in it, and how many of them were read */
    uint64_t pages;                       /* read */
} core_reader;

/* n bytes at an offset; NULL: return *status. */
static const uint8_t *look(core_reader *c, uint64_t offset, size_t n, int *status, tl_error *e)
{
    size_t available = 0;
    const uint8_t *p = offset <= c->size ? tl_window_at(&c->window, offset, n, &available, e) : NULL;
    if (offset <= c->size && !p) {
        *status = e ? e->code : TL_EIO;
        return NULL;
    }
    if (available < n) {
        c->what = "the file is truncated";
        *status = 1;
        return NULL;
    }
    return p;
}

static int bad(core_reader *c, const char *what)
{
    c->what = what;
    return 1;
}

static int read_header(core_reader *c, tl_error *e)
{
    int status = 0;
    const uint8_t *h = look(c, 0, CORE_EHDR, &status, e);
    if (!h)
        return status;
    if (memcmp(h,
               "\x7f"
               "ELF\2\1",
               6) != 0 ||
        tl_load16(h + 16, false) != CORE_ET || tl_load16(h + 18, false) != CORE_EM ||
        tl_load16(h + 54, false) != CORE_PHDR)
        return bad(c, "not an AArch64 core file");
    c->headers_at = tl_load64(h + 32, false);
    c->headers = tl_load16(h + 56, false);
    if (c->headers == CORE_MANY) {
        h = look(c, tl_load64(h + 40, false), CORE_SHDR, &status, e);
        if (!h)
            return status;
        c->headers = tl_load32(h + 44, false);
    }
    if (c->headers > XTRACE_CORE_PAGES + 1 || c->headers_at > c->size ||
        c->headers > (c->size - c->headers_at) / CORE_PHDR)
        return bad(c, "it has more program headers than bytes for them");
    return 0;
}

/* Looks for our note among those at `offset`. */
static int read_notes(core_reader *c, uint64_t offset, uint64_t n, tl_error *e)
{
    if (offset > c->size || n > c->size - offset)
        return bad(c, "its notes are beyond its end");
    const uint64_t end = offset + n;
    while (end - offset >= CORE_NOTE_HEAD) {
        int status = 0;
        const uint8_t *h = look(c, offset, CORE_NOTE_HEAD, &status, e);
        if (!h)
            return status;
        const uint64_t name = tl_load32(h, false), size = tl_load32(h + 4, false);
        const uint64_t data = offset + CORE_NOTE_HEAD + (name + 3) / 4 * 4, next = data + (size + 3) / 4 * 4;
        const bool is_known = name == CORE_KNOWN_NAME && tl_load32(h + 8, false) == CORE_KNOWN_TYPE;
        if (data + size > end)
            return bad(c, "a note is beyond the others");
        if (is_known && (h = look(c, offset + CORE_NOTE_HEAD, CORE_KNOWN_NAME, &status, e)) &&
            memcmp(h, CORE_KNOWN, CORE_KNOWN_NAME) == 0 && size >= CORE_KNOWN_HEAD &&
            (h = look(c, data, CORE_KNOWN_HEAD, &status, e))) {
            c->has_known = true;
            c->known = tl_load64(h + 8, false);
            c->known_at = data + CORE_KNOWN_HEAD;
            if (tl_load32(h, false) != 1 || tl_load32(h + 4, false) != TL_SHADOW_PAGE ||
                c->known != (size - CORE_KNOWN_HEAD) / CORE_KNOWN_PAGE)
                return bad(c, "the note about known bytes is of an unknown kind");
        }
        if (status != 0)
            return status;
        offset = next < end ? next : end;
    }
    return 0;
}

/* The bytes of a page that its bits declare known. */
static int set_known(core_reader *c, uint64_t address, const uint8_t *data, const uint8_t *known, tl_error *e)
{
    int r = 0;
    size_t from = 0;
    for (size_t i = 0; r == 0 && i <= TL_SHADOW_PAGE; i++) {
        if (i < TL_SHADOW_PAGE && (known[i / 8] >> (i % 8) & 1))
            continue;
        if (i > from)
            r = tl_shadow_set(c->memory, address + from, data + from, i - from, e);
        from = i + 1;
    }
    return r;
}

static int read_page(core_reader *c, uint64_t offset, uint64_t address, size_t n, tl_error *e)
{
    uint8_t data[TL_SHADOW_PAGE];
    int status = 0;
    const uint8_t *p = look(c, offset, n, &status, e);
    if (!p)
        return status;
    if (c->pages++ == XTRACE_CORE_PAGES)
        return bad(c, "it has too many pages");
    memcpy(data, p, n);
    if (!c->has_known)
        return tl_shadow_set(c->memory, address, data, n, e);
    if (c->known_next == c->known || n != TL_SHADOW_PAGE)
        return bad(c, "a page is not in the note about known bytes");
    p = look(c, c->known_at + c->known_next++ * CORE_KNOWN_PAGE, CORE_KNOWN_PAGE, &status, e);
    if (!p)
        return status;
    if (tl_load64(p, false) != address)
        return bad(c, "the note about known bytes is of other pages");
    return set_known(c, address, data, p + 8, e);
}

static int read_load(core_reader *c, uint64_t offset, uint64_t address, uint64_t n, tl_error *e)
{
    int r = 0;
    for (; r == 0 && n > 0;) {
        const size_t part = n < TL_SHADOW_PAGE ? (size_t)n : TL_SHADOW_PAGE;
        r = read_page(c, offset, address, part, e);
        offset += part;
        address += part;
        n -= part;
    }
    return r;
}

/* All program headers of a type. */
static int read_segments(core_reader *c, uint32_t type, tl_error *e)
{
    int r = 0;
    for (uint64_t i = 0; r == 0 && i < c->headers; i++) {
        const uint8_t *h = look(c, c->headers_at + i * CORE_PHDR, CORE_PHDR, &r, e);
        if (!h)
            return r;
        const uint64_t offset = tl_load64(h + 8, false), address = tl_load64(h + 16, false),
                       size = tl_load64(h + 32, false);
        if (tl_load32(h, false) != type)
            continue;
        r = type == CORE_NOTE ? read_notes(c, offset, size, e) : read_load(c, offset, address, size, e);
    }
    return r;
}

int xtrace_core_read(tl_input *in, tl_shadow *memory, const char **what, tl_error *e)
{
    core_reader c = {.in = in, .memory = memory, .size = tl_input_size(in)};
    int r = tl_window_init(&c.window, in, WINDOW, e);
    if (r < 0)
        return r;
    r = read_header(&c, e);
    if (r == 0)
        r = read_segments(&c, CORE_NOTE, e);
    if (r == 0)
        r = read_segments(&c, CORE_LOAD, e);
    if (r == 1)
        *what = c.what;
    tl_window_fini(&c.window);
    return r;
}
