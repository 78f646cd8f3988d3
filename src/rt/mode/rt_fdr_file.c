/* The file of mode "fdr" as a whole: its header and notes, its end, and copies of it. */
#include "rt/mode/rt_fdr_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>

#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_ring.h"
#include "rt/rt_files.h"

rt_store tl_rt_fdr_store = {.fd = -1};

enum {
    HEAD_SIZE = 16 << 10, /* header and first notes */
    NOTES_SIZE = 64 << 10,
    NOTES_RESERVE = FDR_METADATA_SIZE + FDR_WORD_SIZE,
    HOLE_MIN = 64 << 10, /* padding of this size becomes a hole in the file */
    COPY_SIZE = 1 << 20
};

/* The note of a ring, whose numbers are overwritten in place. */
enum { RING_DIGITS = 16 };
#define RING_NOTE "ring reused=0x0000000000000000 overwritten=0x0000000000000000 complete=0x0000000000000000"

static struct {
    char *head, *ring;
    char *ended; /* the head of a file that is finished */
    uint64_t head_size;
    rt_lock lock;
    rt_slot slot;
    char *at;
} notes;

/* The unfinished buffers of a copy: begin, fill, and end of the slot. */
typedef struct rt_tail {
    uint64_t begin, offset, end;
} rt_tail;
static struct {
    rt_tail *tail;
    size_t n, room;
    uint64_t size;
} snapshot;

static void begin_notes(char *at)
{
    tl_rt_fdr_begin_buffer(at, notes.slot.memory + notes.slot.size, (uint32_t)tl_rt.pid, (uint32_t)tl_rt.pid, 0,
                           rt_now());
    notes.at = at + FDR_PREAMBLE_SIZE;
}

static void write_header(char *head, const char *mark)
{
    *(uint16_t *)(void *)(head + FDR_HEADER_VERSION) = FDR_VERSION_MAX;
    *(uint16_t *)(void *)(head + FDR_HEADER_TYPE) = FDR_TYPE;
    *(uint32_t *)(void *)(head + FDR_HEADER_FLAGS) = FDR_FLAG_CONSTANT_TSC | FDR_FLAG_NONSTOP_TSC;
    *(uint64_t *)(void *)(head + FDR_HEADER_HZ) = tl_rt_clock.hz;
    *(uint64_t *)(void *)(head + FDR_HEADER_BUFFER_SIZE) = HEAD_SIZE;
    rt_copy(head + FDR_HEADER_MARK, mark, 8);
}

int tl_rt_fdr_start(void)
{
    char path[RT_PATH + 8];
    tl_rt_files_live(path, RT_MODE_FDR);
    int status = tl_rt_store_open(&tl_rt_fdr_store, path, tl_rt.set.limit, false);
    if (status < 0)
        return status;
    notes.lock = (rt_lock){.held = 0};
    notes.slot.size = HEAD_SIZE;
    notes.slot.memory = notes.head = tl_rt_store_take(&tl_rt_fdr_store, &notes.slot.size, &notes.slot.offset);
    if (!notes.head) {
        status = -tl_rt_fdr_store.failed;
        tl_rt_store_close(&tl_rt_fdr_store, UINT64_MAX);
        RT_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
        return status;
    }
    notes.head_size = notes.slot.size;
    write_header(notes.head, FDR_MARK_LIVE);
    begin_notes(notes.head + FDR_HEADER_SIZE);
    if (tl_rt.set.ring) {
        tl_rt_ring_start();
        notes.ring = notes.at + FDR_METADATA_SIZE + FDR_WORD_SIZE;
        tl_rt_fdr_note(RING_NOTE, sizeof RING_NOTE - 1);
    }
    return 0;
}

static void put_digits(char *at, uint64_t v)
{
    char text[RING_DIGITS] __attribute__((aligned(8)));
    for (uint32_t i = 0; i < RING_DIGITS; i++)
        text[i] = "0123456789abcdef"[v >> (60 - 4 * i) & 15];
    *(volatile uint64_t *)(void *)at = *(const uint64_t *)(const void *)text;
    *(volatile uint64_t *)(void *)(at + 8) = *(const uint64_t *)(const void *)(text + 8);
}

/* In stores of eight bytes, because the program may be killed at any moment. */
void tl_rt_fdr_note_ring(const rt_ring_note *n)
{
    const uint64_t value[] = {n->reused, n->overwritten, n->complete};
    char *at = notes.ring;
    for (uint32_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        while (*at != 'x') /* of 0x */
            at++;
        put_digits(++at, value[i]);
        at += RING_DIGITS;
    }
}

bool tl_rt_fdr_note(const char *text, size_t n)
{
    size_t payload = FDR_WORD_SIZE + n + 1, need = FDR_METADATA_SIZE + payload;
    rt_lock_take(&notes.lock);
    const char *end = notes.slot.memory + notes.slot.size;
    bool good = notes.head && payload < NOTES_SIZE / 2;
    if (good && (size_t)(end - notes.at) < need + NOTES_RESERVE) {
        rt_slot s = {.size = NOTES_SIZE};
        s.memory = tl_rt_store_take(&tl_rt_fdr_store, &s.size, &s.offset);
        good = s.memory != NULL;
        if (good) {
            tl_rt_fdr_pad(notes.at, end);
            if (notes.slot.memory != notes.head)
                tl_rt_store_unmap(notes.slot.memory, notes.slot.size);
            notes.slot = s;
            begin_notes(s.memory);
        }
    }
    if (good) {
        char *body = notes.at + FDR_METADATA_SIZE;
        rt_copy(body, FDR_WORD_NOTE, FDR_WORD_SIZE);
        rt_copy(body + FDR_WORD_SIZE, text, n);
        body[FDR_WORD_SIZE + n] = '\n';
        RT_PUBLISH();
        *(volatile uint64_t *)(void *)notes.at = FDR_BYTE0(FDR_CUSTOM_EVENT, 0) | (uint64_t)payload << 8;
        notes.at += need;
    }
    rt_lock_give(&notes.lock);
    return good;
}

uint64_t tl_rt_fdr_bytes(void)
{
    return tl_rt_fdr_store.size;
}

/* Ends the buffer in a slot. A large rest becomes a hole in the file. */
static void end_slot(const rt_slot *s, char *at)
{
    const char *end = s->memory + s->size;
    tl_rt_fdr_pad(at, end);
    uint64_t from = rt_store_pages(&tl_rt_fdr_store, s->offset + (uint64_t)(at - s->memory) + NOTES_RESERVE);
    uint64_t to = s->offset + s->size;
    int fd = from < to && to - from >= HOLE_MIN ? tl_rt_store_fd(&tl_rt_fdr_store) : -1;
    if (fd >= 0)
        RT_SYS4(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
}

int tl_rt_fdr_finish(int *named)
{
    if (tl_rt_fdr_store.fd < 0)
        return 0;
    for (uint32_t i = 0; i < tl_rt_lanes(); i++) {
        rt_lane *l = tl_rt_lane_get(i);
        if (l->file == tl_rt.file && l->at)
            end_slot(&l->slot, l->at);
        l->at = l->end = NULL;
        l->full = true;
    }
    rt_lock_take(&notes.lock);
    end_slot(&notes.slot, notes.at);
    write_header(notes.head, FDR_MARK_DONE);
    notes.ended = notes.head;
    notes.head = NULL;
    rt_lock_give(&notes.lock);
    int failed = tl_rt_fdr_store.failed, status = tl_rt_store_close(&tl_rt_fdr_store, UINT64_MAX);
    *named = tl_rt_files_settle(RT_MODE_FDR);
    return failed ? -failed : status;
}

static void add_tail(const rt_slot *s, const char *begin, const char *at)
{
    snapshot.tail[snapshot.n++] = (rt_tail){.begin = s->offset + (uint64_t)(begin - s->memory),
                                            .offset = s->offset + (uint64_t)(at - s->memory),
                                            .end = s->offset + s->size};
}

int tl_rt_fdr_flush_mark(void)
{
    uint32_t n = tl_rt_lanes() + 1;
    if (snapshot.room < n) {
        if (snapshot.tail)
            tl_rt_memory_give(snapshot.tail, snapshot.room * sizeof *snapshot.tail);
        snapshot.tail = tl_rt_memory_take(2 * n * sizeof *snapshot.tail);
        snapshot.room = snapshot.tail ? 2 * n : 0;
        if (!snapshot.tail)
            return -ENOMEM;
    }
    snapshot.n = 0;
    rt_lock_take(&notes.lock);
    snapshot.size = tl_rt_fdr_store.size;
    for (uint32_t i = 0; i < n - 1; i++) {
        rt_lane *l = tl_rt_lane_get(i);
        if (l->file != tl_rt.file || !l->at)
            continue;
        add_tail(&l->slot, l->extents, l->at);
        for (rt_frame *f = l->top; f > l->frame; f--) /* entries in the copy are not taken back */
            f->mark = NULL;
    }
    bool in_head = notes.slot.memory == notes.head;
    add_tail(&notes.slot, notes.slot.memory + (in_head ? FDR_HEADER_SIZE : 0), notes.at);
    rt_lock_give(&notes.lock);
    return 0;
}

static int copy_bytes(int from, int to, uint64_t size, char *buffer)
{
    for (uint64_t at = 0; at < size;) {
        if (tl_rt_ending) /* the file itself is about to get this name */
            return -EINTR;
        uint64_t part = size - at < COPY_SIZE ? size - at : COPY_SIZE;
        long got = RT_SYS4(SYS_pread64, from, buffer, part, at);
        if (got <= 0)
            return got < 0 ? (int)got : -EIO;
        long put = tl_rt_store_write(to, buffer, (uint64_t)got, at);
        if (put < 0)
            return (int)put;
        at += (uint64_t)got;
    }
    return 0;
}

/* Ends each buffer of the copy at its mark: padding covers later records. A buffer that was ended since, for a new
 * thread, fills its slot again. */
static int end_copy(int to)
{
    long put = 0;
    for (size_t i = 0; i < snapshot.n && put == 0; i++) {
        const rt_tail *t = &snapshot.tail[i];
        char pad[FDR_METADATA_SIZE + FDR_WORD_SIZE] __attribute__((aligned(8)));
        rt_zero(pad, sizeof pad);
        uint64_t size = t->end - t->offset - FDR_METADATA_SIZE;
        *(uint64_t *)(void *)pad = FDR_BYTE0(FDR_CUSTOM_EVENT, 0) | size << 8;
        rt_copy(pad + FDR_METADATA_SIZE, FDR_WORD_PAD, FDR_WORD_SIZE);
        put = tl_rt_store_write(to, pad, sizeof pad, t->offset);
        uint64_t extents = FDR_BYTE0(FDR_BUFFER_EXTENTS, 0) | (t->end - t->begin - FDR_METADATA_SIZE) << 8;
        if (put == 0)
            put = tl_rt_store_write(to, &extents, sizeof extents, t->begin);
    }
    char header[FDR_HEADER_SIZE] __attribute__((aligned(8)));
    rt_zero(header, sizeof header);
    write_header(header, FDR_MARK_DONE);
    if (put == 0)
        put = tl_rt_store_write(to, header, sizeof header, 0);
    return (int)put;
}

int tl_rt_fdr_flush_copy(const char *path)
{
    char beside[RT_PATH + 8];
    int to = tl_rt_files_beside(path, beside);
    if (to < 0)
        return to;
    char *buffer = tl_rt_memory_take(COPY_SIZE);
    int from = buffer ? tl_rt_store_fd(&tl_rt_fdr_store) : -ENOMEM;
    int status = from < 0 ? from : copy_bytes(from, to, snapshot.size, buffer);
    if (status == 0)
        status = end_copy(to);
    if (buffer)
        tl_rt_memory_give(buffer, COPY_SIZE);
    return tl_rt_files_rename(to, beside, path, status);
}

void tl_rt_fdr_child(void)
{
    for (uint32_t i = 0; i < tl_rt_lanes(); i++) {
        const rt_lane *l = tl_rt_lane_get(i);
        bool busy = l == tl_rt_lane && l->busy;
        if (l->file != tl_rt.file)
            continue;
        if (!l->newest && l->slot.memory)
            tl_rt_store_leave(l->slot.memory, l->slot.size, busy);
    }
    tl_rt_ring_child(tl_rt_lane && tl_rt_lane->busy);
    tl_rt_store_forget(&tl_rt_fdr_store, false);
    if (notes.ended) { /* no child, but recording was closed */
        if (notes.slot.memory != notes.ended)
            tl_rt_store_unmap(notes.slot.memory, notes.slot.size);
        tl_rt_store_unmap(notes.ended, notes.head_size);
    }
    notes.head = notes.ended = NULL;
    notes.slot = (rt_slot){.memory = NULL};
    notes.lock = (rt_lock){.held = 0};
}
