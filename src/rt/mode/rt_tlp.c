/* Writes a .tlp file in the process that was traced: memory and the file. What is in it: rt_tlp_impl.h.
 *
 * No malloc, no stdio, no recursion: the program may be at its end, or in any state. Memory is mapped and given back;
 * the file is encoded twice, because its size stands in front. */
#include <errno.h>
#include <fcntl.h>

#include "format/tlp/live_layout.h"
#include "format/tlp/tlp_layout.h"
#include "rt/mode/rt_tlp_impl.h"
#include "rt/rt_store.h"

enum { CHUNK = 1 << 20, BUFFER = 1 << 16, MODE = 0600 };

/* ---- memory ---- */

struct tlp_chunk {
    struct tlp_chunk *next;
    size_t size;
};

void tl_rt_tlp_fail(tlp_writer *m, int error)
{
    if (!m->error)
        m->error = error;
}

static void *take_chunk(tlp_writer *m, uint64_t n)
{
    size_t size = (size_t)(n + sizeof(struct tlp_chunk) + RT_PAGE - 1) & ~(size_t)(RT_PAGE - 1);
    struct tlp_chunk *c = n < SIZE_MAX / 2 ? tl_rt_memory_take(size) : NULL;
    if (!c) {
        tl_rt_tlp_fail(m, -ENOMEM);
        return NULL;
    }
    c->next = m->chunk;
    c->size = size;
    m->chunk = c;
    return c + 1;
}

void *tl_rt_tlp_take(tlp_writer *m, uint64_t n)
{
    n = n ? (n + 15) & ~UINT64_C(15) : 16; /* NULL is no memory, whatever n is */
    if (m->error)
        return NULL;
    if (n > CHUNK / 8)
        return take_chunk(m, n);
    if (n > m->left) {
        m->left = 0;
        m->room = take_chunk(m, CHUNK - sizeof(struct tlp_chunk));
        if (!m->room)
            return NULL;
        m->left = CHUNK - sizeof(struct tlp_chunk);
    }
    void *p = m->room;
    m->room += n;
    m->left -= (size_t)n;
    return p;
}

uint32_t *tl_rt_tlp_numbers(tlp_writer *m, uint32_t n)
{
    uint32_t *number = tl_rt_tlp_take(m, 2 * (uint64_t)n * sizeof *number);
    for (uint32_t i = 0; number && i < n; i++)
        number[i] = i;
    return number;
}

const char *tl_rt_tlp_copy(tlp_writer *m, const char *s, size_t n)
{
    char *p = tl_rt_tlp_take(m, (uint64_t)n + 1);
    if (p)
        rt_copy(p, s, n);
    return p;
}

bool tl_rt_tlp_grow(tlp_writer *m, void *array, uint32_t n, uint64_t size)
{
    if (n & (n - 1))
        return true;
    void *old, *larger = tl_rt_tlp_take(m, (n ? 2 * (uint64_t)n : 1) * size);
    if (!larger)
        return false;
    __builtin_memcpy(&old, array, sizeof old);
    if (n)
        rt_copy(larger, old, n * size);
    __builtin_memcpy(array, &larger, sizeof larger);
    return true;
}

static void give_all(tlp_writer *m)
{
    while (m->chunk) {
        struct tlp_chunk *c = m->chunk;
        m->chunk = c->next;
        tl_rt_memory_give(c, c->size);
    }
}

/* ---- the file ---- */

/* CRC-32 as in zlib, four bits at a time. */
static uint32_t add_crc(uint32_t crc, const uint8_t *p, size_t n)
{
    static const uint32_t of_nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ of_nibble[crc & 15];
        crc = crc >> 4 ^ of_nibble[crc & 15];
    }
    return ~crc;
}

static void flush(tlp_sink *s)
{
    for (uint32_t done = 0; done < s->used && !s->error;) {
        long n = RT_SYS3(SYS_write, s->fd, s->buffer + done, s->used - done);
        if (n > 0)
            done += (uint32_t)n;
        else if (n != -EINTR)
            s->error = n < 0 ? (int)n : -EIO;
    }
    s->used = 0;
}

void tl_rt_tlp_put(tlp_sink *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    s->size += n;
    if (s->fd < 0)
        return;
    s->crc = add_crc(s->crc, p, n);
    while (n > 0) {
        size_t part = n < BUFFER - s->used ? n : BUFFER - s->used;
        rt_copy(s->buffer + s->used, p, part);
        s->used += (uint32_t)part;
        p += part;
        n -= part;
        if (s->used == BUFFER)
            flush(s);
    }
}

uint32_t tl_rt_tlp_varint(uint64_t v, uint8_t out[static TLP_VARINT_MOST])
{
    uint32_t n = 0;
    for (; v >= 0x80; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

void tl_rt_tlp_put_number(tlp_sink *s, uint64_t v)
{
    uint8_t byte[TLP_VARINT_MOST];
    tl_rt_tlp_put(s, byte, tl_rt_tlp_varint(v, byte));
}

static void put_fixed(tlp_sink *s, uint64_t v, uint32_t n)
{
    uint8_t byte[8];
    for (uint32_t i = 0; i < n; i++)
        byte[i] = (uint8_t)(v >> 8 * i);
    tl_rt_tlp_put(s, byte, n);
}

static void put_file(const tlp_writer *m, tlp_sink *s, uint64_t size)
{
    tl_rt_tlp_put(s, TLP_MAGIC, TLP_MAGIC_BYTES);
    put_fixed(s, m->extended ? TLP_VERSION_SAMPLES : TLP_VERSION, 2);
    put_fixed(s, TLP_HISTOGRAM | TLP_PER_THREAD | (m->has_utc ? TLP_UTC : 0u), 2);
    put_fixed(s, size, 8);
    tl_rt_tlp_put_body(m, s);
    put_fixed(s, s->crc, TLP_CHECKSUM_BYTES);
}

/* Encodes into a file that is new, and gives it its name only when all of it is there. */
static void write_file(tlp_writer *m, const char *beside, const char *path)
{
    tlp_sink s = {.fd = -1};
    put_file(m, &s, 0);
    const uint64_t size = s.size;
    if (size > TLP_SIZE_MAX || size > tl_rt_store_largest())
        tl_rt_tlp_fail(m, -EFBIG);
    s = (tlp_sink){.buffer = tl_rt_tlp_take(m, BUFFER)};
    if (m->error)
        return;
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, MODE);
    if (fd < 0) {
        tl_rt_tlp_fail(m, (int)fd);
        return;
    }
    s.fd = (int)fd;
    put_file(m, &s, size);
    flush(&s);
    long status = RT_SYS1(SYS_close, fd); /* a file system over the network may say only now that it is full */
    if (s.error)
        status = s.error;
    if (status == 0)
        status = RT_SYS4(SYS_renameat, AT_FDCWD, beside, AT_FDCWD, path);
    if (status < 0) {
        tl_rt_tlp_fail(m, (int)status);
        RT_SYS3(SYS_unlinkat, AT_FDCWD, beside, 0);
    }
}

/* PATH.tmpPID; false: too long. */
static bool name_beside(char out[static RT_PATH], const char *path)
{
    enum { TAIL = 16 };
    size_t n = rt_length(path);
    if (n + TAIL > RT_PATH)
        return false;
    rt_copy(out, path, n);
    rt_copy(out + n, ".tmp", 4);
    n += 4;
    char digit[TAIL];
    uint32_t digits = 0;
    for (uint64_t pid = (uint64_t)RT_SYS0(SYS_getpid); pid; pid /= 10)
        digit[digits++] = (char)('0' + pid % 10);
    while (digits)
        out[n++] = digit[--digits];
    out[n] = 0;
    return true;
}

static void check_header(tlp_writer *m)
{
    const uint8_t *p = m->image;
    bool ours = __atomic_load_n(m->image_size, __ATOMIC_RELAXED) >= LIVE_HEADER_SIZE &&
                tlp_load32(p + LIVE_HEADER_VERSION) == LIVE_VERSION;
    for (uint32_t i = 0; ours && i < 8; i++)
        ours = p[LIVE_HEADER_MAGIC + i] == (uint8_t)LIVE_MAGIC[i];
    if (!ours)
        tl_rt_tlp_fail(m, -EINVAL);
}

int tl_rt_tlp_write(const char *path, const void *image, uint64_t size)
{
    return tl_rt_tlp_write_growing(path, image, &size);
}

int tl_rt_tlp_write_growing(const char *path, const void *image, const uint64_t *size)
{
    static void (*const part[])(tlp_writer *) = {
        check_header,   tl_rt_tlp_read_notes, tl_rt_tlp_read_lanes,   tl_rt_tlp_read_tree, tl_rt_tlp_name_functions,
        tl_rt_tlp_rank, tl_rt_tlp_order,      tl_rt_tlp_read_numbers,
    };
    tlp_writer m = {.image = image, .image_size = size};
    char beside[RT_PATH];
    if (!name_beside(beside, path))
        return -ENAMETOOLONG;
    for (size_t i = 0; i < sizeof part / sizeof part[0] && !m.error; i++)
        part[i](&m);
    if (!m.error)
        write_file(&m, beside, path);
    tl_rt_tlp_close_symbols(&m);
    give_all(&m);
    return m.error;
}
