/* Packets of names and places for mode "ctf", see rt_ctf_table.h. */
#include "rt/mode/rt_ctf_table.h"

#include <fcntl.h>

#include "format/ctf/ctf_layout.h"
#include "rt/mode/rt_ctf_text.h"
#include "rt/rt_clock.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

enum { AT_BEGIN = 24, AT_END = 32, AT_CONTENT = 40, AT_SIZE = 48, AT_EVENT = 56 };
enum { FILE_MODE = 0600, ROOM = 2 * RT_PAGE, UNIT = 64, TRACK_SIZE = 256, NAME_MOST = 1000 };

static rt_lock lock;
static struct {
    const char *name;
    uint64_t size, time; /* time: of the last entry */
} files[] = {{RT_CTF_FILE_FUNCTIONS, 0, 0}, {RT_CTF_FILE_OBJECTS, 0, 0}};
static char room[ROOM]; /* the packet in the making, with the lock */
static size_t used;

/* Processors' counters may differ a little: keeps time from going back. */
static uint64_t later(unsigned which)
{
    uint64_t now = rt_now();
    if (now > files[which].time)
        files[which].time = now;
    return files[which].time;
}

static void begin(uint32_t class)
{
    rt_zero(room, sizeof room);
    rt_put32(room, (uint32_t)CTF_MAGIC_PACKET);
    rt_copy(room + RT_CTF_AT_UUID, tl_rt_ctf_uuid, sizeof tl_rt_ctf_uuid);
    rt_put32(room + RT_CTF_AT_CLASS, class);
    used = AT_EVENT;
}

static void put(uint64_t v, unsigned bytes)
{
    if (used + bytes <= ROOM)
        rt_copy(room + used, &v, bytes);
    used += bytes;
}

static void put_text(const char *s, size_t n)
{
    n = tl_rt_ctf_clean(room + used, ROOM > used ? ROOM - used : 0, s, n);
    used += n + 1; /* with its zero */
}

static void begin_event(uint16_t class, uint64_t now)
{
    put(class, 2);
    put(now, 8);
}

/* Writes the packet: at the end of the file, or at `at`. */
static bool end(unsigned which, uint64_t now, uint64_t size, uint64_t *at, bool again)
{
    if (size == 0)
        size = (used + UNIT - 1) / UNIT * UNIT;
    if (used > size || size > ROOM)
        return false;
    rt_put64(room + AT_BEGIN, now);
    rt_put64(room + AT_END, now);
    rt_put64(room + AT_CONTENT, used * 8);
    rt_put64(room + AT_SIZE, size * 8);
    char path[RT_PATH + 64];
    tl_rt_ctf_path(path, files[which].name);
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return false;
    uint64_t offset = again ? *at : files[which].size;
    bool ok = tl_rt_store_write(fd, room, size, offset) == 0;
    if (!ok && !again)
        RT_SYS2(SYS_ftruncate, fd, offset);
    RT_SYS1(SYS_close, fd);
    if (ok && !again) {
        files[which].size += size;
        if (at)
            *at = offset;
        __atomic_fetch_add(&tl_rt_ctf_taken, size, __ATOMIC_RELAXED);
    }
    return ok;
}

bool tl_rt_ctf_table_function(uint64_t id, const char *name, size_t n)
{
    rt_lock_take(&lock);
    uint64_t now = later(0);
    begin(RT_CTF_STREAM_FUNCTIONS);
    begin_event(RT_CTF_FUNCTION, now);
    put(id, 8);
    put(0, 8); /* address */
    put(0, 4); /* line */
    put_text(name, n < NAME_MOST ? n : (size_t)NAME_MOST);
    put_text("", 0); /* linkage name, file, module */
    put_text("", 0);
    put_text("", 0);
    bool ok = end(0, now, 0, NULL, false);
    rt_lock_give(&lock);
    return ok;
}

bool tl_rt_ctf_table_track(rt_ctf_stream *s, const char *called)
{
    char file[64];
    tl_rt_ctf_stream_name(s, file);
    rt_line name;
    rt_line_begin(&name);
    tl_rt_line_text(&name, called ? called : "thread");
    tl_rt_line_text(&name, " ");
    tl_rt_line_number(&name, s->tid);
    rt_lock_take(&lock);
    uint64_t now = s->has_row ? s->row_time : later(0);
    s->row_time = now;
    begin(RT_CTF_STREAM_FUNCTIONS);
    begin_event(RT_CTF_TRACK, now);
    put_text(file, rt_length(file));
    put_text(name.text, name.n < 64 ? name.n : 64);
    put(3, 1); /* process and thread are present */
    put(s->pid, 8);
    put(s->tid, 8);
    bool ok = end(0, now, TRACK_SIZE, &s->row, s->has_row);
    rt_lock_give(&lock);
    return ok;
}

static unsigned digit(char c)
{
    return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

bool tl_rt_ctf_table_object(const rt_object *o)
{
    /* Addresses relative to the place of the file's address 0, or absolute ones. */
    uint64_t base = (o->bias ? o->bias : o->low) + o->apart;
    size_t digits = rt_length(o->build_id);
    rt_lock_take(&lock);
    uint64_t now = later(1);
    begin(RT_CTF_STREAM_OBJECTS);
    begin_event(RT_CTF_BIN_INFO, now);
    put(base, 8);
    put(o->high + o->apart - base, 8);
    put_text(o->path, rt_length(o->path));
    put(o->bias != 0, 1);
    put(digits > 0, 1);
    put(0, 1); /* has_debug_link */
    if (digits) {
        begin_event(RT_CTF_BUILD_ID, now);
        put(base, 8);
        put(digits / 2, 4);
        for (size_t i = 0; i + 1 < digits; i += 2)
            put(digit(o->build_id[i]) << 4 | digit(o->build_id[i + 1]), 1);
    }
    bool ok = end(1, now, used <= RT_PAGE ? (size_t)RT_PAGE : (size_t)ROOM, NULL, false);
    rt_lock_give(&lock);
    return ok;
}

void tl_rt_ctf_table_reset(void)
{
    lock = (rt_lock){.held = 0};
    files[0].size = files[1].size = files[0].time = files[1].time = 0;
}
