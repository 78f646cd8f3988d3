/* Packets of the mode "ctf": what happens once in some thousand events. */
#include "rt/mode/rt_ctf_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "format/ctf/ctf_layout.h"
#include "rt/mode/rt_ctf_table.h"
#include "rt/rt_clock.h"
#include "rt/rt_files.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    FILE_MODE = 0600,
    GROWTH = 4, /* packets grow by this factor, up to LAST_PACKET */
    LAST_PACKET = 1 << 20,
    AHEAD = 1 << 30, /* the size of a new file, nearly all of it a hole; doubled when full */
    FIRST_WAIT = 64,
    LAST_WAIT = 1 << 16,
    COPIES = 1 << 20 /* threads that had the same number */
};

uint8_t tl_rt_ctf_uuid[16];
bool tl_rt_ctf_is_new;
uint64_t tl_rt_ctf_taken;
int tl_rt_ctf_failed;
uint64_t tl_rt_ctf_homeless;
uint64_t tl_rt_ctf_page;

void tl_rt_ctf_path(char out[static RT_PATH + 64], const char *name)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, tl_rt_ctf_is_new ? RT_CTF_NEW : "");
    if (*name) {
        tl_rt_line_text(&l, "/");
        tl_rt_line_text(&l, name);
    }
    tl_rt_files_live(out, RT_MODE_CTF);
    rt_copy(out + rt_length(out), l.text, l.n + 1);
}

static void file_name(const rt_ctf_stream *s, bool hidden, char out[static 64])
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, hidden ? ".stream_" : "stream_");
    tl_rt_line_number(&l, hidden ? s->number : s->tid);
    if (!hidden && s->copy) {
        tl_rt_line_text(&l, "_");
        tl_rt_line_number(&l, s->copy + 1);
    }
    rt_copy(out, l.text, l.n + 1);
}

void tl_rt_ctf_stream_name(const rt_ctf_stream *s, char out[static 64])
{
    file_name(s, false, out);
}

/* A file gets a name that readers look for only after its first packet is complete. */
static long open_file(const rt_ctf_stream *s, int flags)
{
    char name[64], path[RT_PATH + 64];
    file_name(s, !s->packet, name);
    tl_rt_ctf_path(path, name);
    return RT_SYS4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, FILE_MODE);
}

static long give_name(rt_ctf_stream *s)
{
    enum { NOREPLACE = 1 };
    char name[64], from[RT_PATH + 64], to[RT_PATH + 64];
    file_name(s, true, name);
    tl_rt_ctf_path(from, name);
    long done = -EEXIST;
    for (s->copy = 0; done == -EEXIST && s->copy < COPIES; s->copy += done == -EEXIST) {
        tl_rt_ctf_stream_name(s, name);
        tl_rt_ctf_path(to, name);
        done = RT_SYS6(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NOREPLACE, 0);
        if (done == -EINVAL || done == -ENOSYS) { /* the file system does not support it */
            done = RT_SYS4(SYS_faccessat, AT_FDCWD, to, 0, 0) == 0
                       ? -EEXIST
                       : RT_SYS4(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
        }
    }
    return done;
}

/* Makes the file larger, and its last packet with it. If the program is killed in between, zeros remain at the end:
 * that is why this is rare. */
static long extend(rt_ctf_stream *s, long fd, uint64_t least)
{
    if (s->file_size >= least)
        return 0;
    uint64_t size = s->file_size ? 2 * s->file_size : (uint64_t)AHEAD, most = tl_rt_store_largest();
    if (size < least || size > most)
        size = least;
    char *packet = s->packet;
    uint64_t bits = (size - s->offset) * 8;
    long done = RT_SYS2(SYS_ftruncate, fd, size);
    if (done < 0)
        return done;
    if (packet)
        rt_ctf_tell(packet, RT_CTF_AT_SIZE, bits);
    s->file_size = size;
    return 0;
}

static void fill_header(const rt_ctf_stream *s, char *p, uint64_t offset, uint64_t now, uint64_t discarded)
{
    rt_put32(p + RT_CTF_AT_MAGIC, (uint32_t)CTF_MAGIC_PACKET);
    rt_copy(p + RT_CTF_AT_UUID, tl_rt_ctf_uuid, sizeof tl_rt_ctf_uuid);
    rt_put32(p + RT_CTF_AT_CLASS, RT_CTF_STREAM_THREAD);
    rt_put64(p + RT_CTF_AT_INSTANCE, s->number);
    rt_put64(p + RT_CTF_AT_BEGIN, now);
    rt_put64(p + RT_CTF_AT_END, now);
    rt_put64(p + RT_CTF_AT_CONTENT, RT_CTF_HEADER * 8);
    rt_put64(p + RT_CTF_AT_SIZE, (s->file_size - offset) * 8);
    rt_put64(p + RT_CTF_AT_SEQUENCE, s->sequence);
    rt_put64(p + RT_CTF_AT_DISCARDED, discarded);
    rt_put32(p + RT_CTF_AT_PID, s->pid);
    rt_put32(p + RT_CTF_AT_TID, s->tid);
    enum { PR_GET_NAME_ = 16 };
    char name[RT_CTF_NAME + 1];
    rt_zero(name, sizeof name);
    RT_SYS2(SYS_prctl, PR_GET_NAME_, name);
    rt_copy(p + RT_CTF_AT_NAME, name, RT_CTF_NAME);
}

/* Takes `size` bytes after the full packet. 0 or -errno; then nothing has changed. */
static long take(rt_ctf_stream *s, long fd, uint64_t offset, uint64_t size, uint64_t now, uint64_t discarded)
{
    long done =
        offset + size > tl_rt_store_largest() ? -EFBIG : tl_rt_store_reserve(fd, FALLOC_FL_KEEP_SIZE, offset, size);
    if (done == 0)
        done = extend(s, fd, offset + size);
    if (done < 0)
        return done;
    long at = RT_SYS6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (RT_IS_ERROR(at))
        return at;
    char *p = (char *)at;
    if (size < LAST_PACKET) /* otherwise the kernel also maps pages of the hole after it, which takes much longer */
        RT_SYS3(SYS_madvise, p, size, MADV_RANDOM);
    RT_SYS3(SYS_madvise, p, size, MADV_POPULATE_WRITE); /* on kernels without it, pages come one by one */
    fill_header(s, p, offset, now, discarded);
    if (!s->packet && (done = give_name(s)) < 0) {
        RT_SYS2(SYS_munmap, p, size);
        return done;
    }
    if (s->packet) {
        rt_ctf_tell(s->packet, RT_CTF_AT_SIZE, s->size * 8);
        RT_SYS2(SYS_munmap, s->packet, s->size);
    }
    s->packet = p;
    s->offset = offset;
    s->size = size;
    s->at = p + RT_CTF_HEADER;
    s->end = p + size;
    s->time = now;
    s->sequence++;
    return 0;
}

/* -ENOBUFS: the settings' limit is reached. Signals are blocked. */
static long next_packet(const rt_lane *l, rt_ctf_stream *s, uint64_t now, size_t need)
{
    bool first = !s->packet;
    uint64_t offset = first ? 0 : s->offset + s->size, limit = tl_rt.set.limit, least = tl_rt_ctf_page;
    uint64_t size = first ? least : s->size < LAST_PACKET / GROWTH ? GROWTH * s->size : (uint64_t)LAST_PACKET;
    while (least < RT_CTF_HEADER + need)
        least *= 2;
    if (size < least)
        size = least;
    if (limit && __atomic_load_n(&tl_rt_ctf_taken, __ATOMIC_RELAXED) + size > limit)
        return -ENOBUFS;
    long fd = open_file(s, first ? O_CREAT : 0), done = 0;
    if (fd < 0)
        return fd;
    uint64_t discarded = rt_ctf_lost(l) - s->lost_before;
    while (((done = take(s, fd, offset, size, now, discarded)) == -ENOSPC || done == -EFBIG) && size > least)
        size /= 2;
    RT_SYS1(SYS_close, fd);
    if (done < 0)
        return done;
    __atomic_fetch_add(&tl_rt_ctf_taken, size, __ATOMIC_RELAXED);
    if (first)
        s->has_row = tl_rt_ctf_table_track(s, NULL);
    return 0;
}

/* After a failure it retries less and less often, because each attempt takes system calls. */
void tl_rt_ctf_drop(rt_lane *l, rt_ctf_stream *s, long error)
{
    if (error) {
        s->wait = s->wait ? (s->wait < LAST_WAIT ? 2 * s->wait : (uint32_t)LAST_WAIT) : (uint32_t)FIRST_WAIT;
        s->deaf = s->wait;
        if (error != -ENOBUFS) {
            char path[RT_PATH + 8];
            tl_rt_files_live(path, RT_MODE_CTF);
            tl_rt_say_error("events are missing in", path, (int)-error);
        }
        if (!tl_rt_ctf_failed)
            tl_rt_ctf_failed = error == -ENOBUFS ? EFBIG : error == -EFBIG ? ENOSPC : (int)-error;
    }
    if (tl_rt_ctf_failed == EFBIG)
        l->lost.memory++;
    else
        l->lost.disk++;
    if (s->packet)
        rt_ctf_tell(s->packet, RT_CTF_AT_DISCARDED, rt_ctf_lost(l) - s->lost_before);
}

char *tl_rt_ctf_room(rt_lane *l, rt_ctf_stream *s, uint64_t *time, uint32_t class, size_t n)
{
    if (*time < s->time) /* another processor's counter, or an event that was put aside */
        *time = s->time;
    bool is_long = class >= RT_CTF_LONG_ID || *time - s->time > UINT32_MAX;
    if ((size_t)(s->end - s->at) < (is_long ? RT_CTF_LONG : RT_CTF_SHORT) + n) {
        if (s->file != tl_rt.file) /* a signal handler forked: the interrupted event is the parent's */
            return NULL;
        if (s->deaf) {
            s->deaf--;
            tl_rt_ctf_drop(l, s, 0);
            return NULL;
        }
        uint64_t mask = rt_signals_block();
        long done = next_packet(l, s, *time, RT_CTF_LONG + n);
        if (done < 0)
            tl_rt_ctf_drop(l, s, done);
        rt_signals_restore(mask);
        if (done < 0)
            return NULL;
        s->wait = 0;
        is_long = class >= RT_CTF_LONG_ID;
    }
    char *p = s->at;
    if (!is_long) {
        rt_put16(p, (uint16_t) class);
        rt_put32(p + 2, (uint32_t)*time);
        return p + RT_CTF_SHORT;
    }
    rt_put16(p, RT_CTF_LONG_ID);
    rt_put32(p + 2, class);
    rt_put64(p + 6, *time);
    return p + RT_CTF_LONG;
}

void tl_rt_ctf_stream_forget(rt_ctf_stream *s)
{
    if (s->packet)
        RT_SYS2(SYS_munmap, s->packet, s->size);
    s->packet = s->at = s->end = NULL;
    s->size = s->offset = s->file_size = 0;
    s->sequence = s->lost_before = 0;
    s->deaf = s->wait = s->copy = 0;
    s->has_row = false;
    s->nopen = s->beyond = 0;
    s->late_used = 0;
    s->time = 0;
}

void tl_rt_ctf_stream_tell_lost(void)
{
    rt_ctf_stream s = {.number = 0, .pid = (uint32_t)tl_rt.pid, .tid = (uint32_t)tl_rt.pid, .file_size = RT_CTF_HEADER};
    char packet[RT_CTF_HEADER];
    fill_header(&s, packet, 0, rt_now(), __atomic_exchange_n(&tl_rt_ctf_homeless, 0, __ATOMIC_RELAXED));
    long fd = open_file(&s, O_CREAT);
    if (fd < 0)
        return;
    if (tl_rt_store_write(fd, packet, sizeof packet, 0) == 0)
        give_name(&s);
    RT_SYS1(SYS_close, fd);
}

void tl_rt_ctf_stream_end(const rt_lane *l, rt_ctf_stream *s)
{
    const uint64_t lost = rt_ctf_lost(l);
    uint64_t discarded = lost - s->lost_before;
    if (!s->packet) {
        __atomic_fetch_add(&tl_rt_ctf_homeless, discarded, __ATOMIC_RELAXED);
    } else {
        discarded += __atomic_exchange_n(&tl_rt_ctf_homeless, 0, __ATOMIC_RELAXED);
        rt_ctf_tell(s->packet, RT_CTF_AT_DISCARDED, discarded);
        uint64_t used = ((uint64_t)(s->at - s->packet) + 7) & ~UINT64_C(7);
        long fd = open_file(s, 0);
        if (fd >= 0) {
            rt_ctf_tell(s->packet, RT_CTF_AT_SIZE, used * 8);
            if (RT_SYS2(SYS_ftruncate, fd, s->offset + used) < 0)
                rt_ctf_tell(s->packet, RT_CTF_AT_SIZE, (s->file_size - s->offset) * 8);
            RT_SYS1(SYS_close, fd);
        }
    }
    tl_rt_ctf_stream_forget(s);
    s->lost_before = lost;
}
