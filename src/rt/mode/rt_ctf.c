/* The mode "ctf": calls by the addresses of their functions, streams of lanes, and the contents of notes.
 *
 *   FOLDER.live/metadata           rt_ctf_metadata.c
 *   FOLDER.live/stream_4711        rt_ctf_stream.c, one for each thread
 *   FOLDER.live/functions, objects rt_ctf_table.c
 *
 * Spans, instants and counters are in rt_ctf_site.c. */
#include "rt/mode/rt_ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>

#include "rt/mode/rt_ctf_metadata.h"
#include "rt/mode/rt_ctf_site.h"
#include "rt/mode/rt_ctf_stream.h"
#include "rt/mode/rt_ctf_table.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_clock.h"
#include "rt/rt_files.h"
#include "rt/rt_note.h"
#include "rt/rt_store.h"

enum { FOLDER_MODE = 0700 };

static rt_ctf_stream *streams[RT_LANES]; /* by lane; each made once */
static uint32_t nstream;                 /* of the trace */

/* ---- addresses of functions ---- */

enum { CHUNK = 4096, CHUNKS = (RT_ID_MAX + 1) / CHUNK };
static uint64_t *chunks[CHUNKS]; /* function -> address; 0: not looked up yet; never freed */

static void remember(uint32_t function, uint64_t address)
{
    uint64_t **chunk = &chunks[function / CHUNK];
    uint64_t *there = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);
    if (!there) {
        uint64_t *fresh = tl_rt_memory_take(CHUNK * sizeof *fresh);
        if (!fresh)
            return;
        if (__atomic_compare_exchange_n(chunk, &there, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            there = fresh;
        else
            tl_rt_memory_give(fresh, CHUNK * sizeof *fresh);
    }
    __atomic_store_n(&there[function % CHUNK], address, __ATOMIC_RELAXED);
}

/* Remembers the address if it is of the function *arg. */
static void remember_one(void *arg, uint32_t function, uintptr_t address)
{
    if (function != *(const uint32_t *)arg)
        return;
    const rt_object *o = tl_rt_object_at(address);
    remember(function, address + (o ? o->apart : 0));
}

static uint64_t known(uint32_t function)
{
    const uint64_t *chunk = __atomic_load_n(&chunks[function / CHUNK], __ATOMIC_ACQUIRE);
    return chunk ? __atomic_load_n(&chunk[function % CHUNK], __ATOMIC_RELAXED) : 0;
}

/* A function without an address has its number in place of it. */
static RT_COLD uint64_t find_address(uint32_t function)
{
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        const rt_object *o = tl_rt_object(i);
        if (function > o->base && function - o->base <= o->count && o->function) {
            remember(function, o->function[function - o->base - 1] + o->bias + o->apart);
            return known(function);
        }
    }
    tl_rt_ids_each_address(remember_one, &function); /* a site whose note a signal handler could not write */
    if (!known(function))
        remember(function, function);
    uint64_t address = known(function);
    return address ? address : function;
}

static inline uint64_t address_of(uint32_t function)
{
    uint64_t address = known(function & RT_ID_MAX);
    return RT_LIKELY(address != 0) ? address : find_address(function & RT_ID_MAX);
}

/* ---- calls ---- */

static inline void put_call(rt_lane *l, uint64_t time, uint32_t function, uint32_t class, const rt_frame *frame)
{
    rt_ctf_stream *s = l->ctf;
    if (RT_UNLIKELY(!s)) {
        l->lost.memory++;
        return;
    }
    if (RT_UNLIKELY(s->late_used != 0))
        tl_rt_ctf_add_late(l, s);
    if (RT_UNLIKELY(s->nopen != 0))
        tl_rt_ctf_end_spans(l, s, time, frame->sp, class == RT_CTF_CLASS_EXIT ? frame->begin : UINT64_MAX);
    char *p = rt_ctf_reserve(l, s, &time, class, 8);
    if (RT_UNLIKELY(!p))
        return;
    rt_put64(p, address_of(function));
    rt_ctf_commit(s, time, p + 8);
}

void tl_rt_ctf_enter(rt_lane *l, uint64_t time, uint32_t function)
{
    put_call(l, time, function, RT_CTF_CLASS_ENTRY, l->top);
}

void tl_rt_ctf_exit(rt_lane *l, uint64_t time, uint32_t function)
{
    put_call(l, time, function, RT_CTF_CLASS_EXIT, l->top + 1); /* the call is off the stack already */
}

/* ---- lanes ---- */

bool tl_rt_ctf_attach(rt_lane *l)
{
    rt_ctf_stream *s = streams[l->index];
    if (!s) {
        s = tl_rt_memory_take(sizeof *s);
        if (!s) {
            l->ctf = NULL;
            return false;
        }
        streams[l->index] = s;
    }
    if (s->file == tl_rt.file) /* the stream of a thread that has ended */
        tl_rt_ctf_stream_end(l, s);
    else
        tl_rt_ctf_stream_forget(s);
    s->file = tl_rt.file;
    s->number = __atomic_add_fetch(&nstream, 1, __ATOMIC_RELAXED);
    s->pid = l->pid;
    s->tid = l->tid;
    l->ctf = s;
    return true;
}

/* Is the event whose class is at `class`, and which ends at the end of the content, the entry of this function? */
static bool is_entry(const rt_ctf_stream *s, const char *class, uint32_t function)
{
    return class >= s->packet + RT_CTF_HEADER && *(const rt_u16 *)(const void *)class == RT_CTF_CLASS_ENTRY &&
           *(const rt_u64 *)(const void *)(s->at - 8) == address_of(function);
}

/* The size of the content says which events are complete. A call is on the stack before its entry is written. */
bool tl_rt_ctf_repair(rt_lane *l)
{
    rt_ctf_stream *s = l->ctf;
    const rt_frame *f = l->top;
    if (!s || s->file != tl_rt.file || !s->packet)
        return true;
    uint64_t bits = *(const volatile uint64_t *)(const void *)(s->packet + RT_CTF_AT_CONTENT);
    if (s->at != s->packet + bits / 8) {
        s->at = s->packet + bits / 8;
        s->time = *(const volatile uint64_t *)(const void *)(s->packet + RT_CTF_AT_END);
    }
    return f != l->entering || is_entry(s, s->at - 8 - RT_CTF_SHORT, f->function) ||
           is_entry(s, s->at - 8 - RT_CTF_LONG + 2, f->function);
}

/* ---- life ---- */

uint64_t tl_rt_ctf_bytes(void)
{
    return __atomic_load_n(&tl_rt_ctf_taken, __ATOMIC_RELAXED);
}

static void make_uuid(void)
{
    enum { NONBLOCK = 1 };
    if (RT_SYS3(SYS_getrandom, tl_rt_ctf_uuid, sizeof tl_rt_ctf_uuid, NONBLOCK) != (long)sizeof tl_rt_ctf_uuid) {
        uint64_t a = rt_now() * UINT64_C(0x9e3779b97f4a7c15),
                 b = tl_rt_clock.unix0 ^ (uint64_t)(unsigned)tl_rt.pid << 40;
        rt_copy(tl_rt_ctf_uuid, &a, 8);
        rt_copy(tl_rt_ctf_uuid + 8, &b, 8);
    }
    tl_rt_ctf_uuid[6] = (uint8_t)((tl_rt_ctf_uuid[6] & 0x0f) | 0x40); /* version 4: random */
    tl_rt_ctf_uuid[8] = (uint8_t)((tl_rt_ctf_uuid[8] & 0x3f) | 0x80);
}

static void remove_new(void)
{
    char path[RT_PATH + 64];
    tl_rt_ctf_path(path, "metadata");
    RT_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
    tl_rt_ctf_path(path, "");
    RT_SYS3(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

/* The folder and its metadata, which appear together. */
static long make_folder(void)
{
    char path[RT_PATH + 64], live[RT_PATH + 8];
    tl_rt_ctf_is_new = true;
    tl_rt_ctf_path(path, "");
    long done = RT_SYS3(SYS_mkdirat, AT_FDCWD, path, FOLDER_MODE);
    if (done == -EEXIST) { /* left by a program that was killed right here */
        remove_new();
        done = RT_SYS3(SYS_mkdirat, AT_FDCWD, path, FOLDER_MODE);
    }
    if (done == 0 && (done = tl_rt_ctf_metadata_start()) == 0) {
        tl_rt_files_live(live, RT_MODE_CTF);
        done = RT_SYS4(SYS_renameat, AT_FDCWD, path, AT_FDCWD, live);
    }
    if (done < 0 && done != -EEXIST)
        remove_new();
    tl_rt_ctf_is_new = false;
    return done;
}

int tl_rt_ctf_start(void)
{
    nstream = 0;
    tl_rt_ctf_taken = 0;
    tl_rt_ctf_failed = 0;
    tl_rt_ctf_homeless = 0;
    tl_rt_ctf_page = getauxval(AT_PAGESZ);
    make_uuid();
    tl_rt_ctf_table_reset();
    return (int)make_folder();
}

/* Ends the streams with packets, or those that never got a packet or a file. */
static void end_streams(bool with_packet)
{
    for (uint32_t i = 0; i < tl_rt_lanes(); i++) {
        rt_ctf_stream *s = streams[i];
        rt_lane *l = tl_rt_lane_get(i);
        if (!s && !with_packet && l->file == tl_rt.file)
            tl_rt_ctf_homeless += rt_ctf_lost(l);
        if (!s || s->file != tl_rt.file || !s->packet == with_packet)
            continue;
        if (l->busy && l != tl_rt_lane)
            continue; /* stopped in the middle of an event: its packet stays as it is, which is valid */
        if (s->late_used)
            tl_rt_ctf_add_late(l, s);
        tl_rt_ctf_stream_end(l, s);
        s->file = 0;
        l->ctf = NULL;
    }
}

int tl_rt_ctf_finish(int *named)
{
    end_streams(false); /* the other streams report the losses of these */
    tl_rt_ctf_homeless += tl_rt_lane_missed;
    end_streams(true);
    if (tl_rt_ctf_homeless)
        tl_rt_ctf_stream_tell_lost();
    *named = tl_rt_files_settle(RT_MODE_CTF);
    return -tl_rt_ctf_failed;
}

void tl_rt_ctf_child(void)
{
    for (uint32_t i = 0; i < RT_LANES && i < tl_rt_lanes(); i++)
        if (streams[i]) {
            rt_ctf_stream *s = streams[i];
            if (s->packet && tl_rt_lane_get(i) == tl_rt_lane && tl_rt_lane->busy)
                tl_rt_store_leave(s->packet, s->size, true); /* the parent's event continues after the fork */
            else
                tl_rt_ctf_stream_forget(s);
            s->file = 0;
        }
    tl_rt_ctf_table_reset();
    tl_rt_ctf_metadata_child();
}

/* ---- notes ---- */

/* The value of a key in a line, or NULL. */
static const char *value_of(const char *line, const char *key)
{
    size_t n = rt_length(key);
    for (; *line; line++) {
        size_t i = 0;
        while (i < n && line[i] == key[i])
            i++;
        if (i == n)
            return line + n;
    }
    return NULL;
}

static uint64_t number_at(const char *s)
{
    uint64_t v = 0;
    if (s[0] == '0' && s[1] == 'x') {
        for (s += 2; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
            v = v << 4 | (uint64_t)(*s >= 'a' ? *s - 'a' + 10 : *s - '0');
        return v;
    }
    for (; *s >= '0' && *s <= '9'; s++)
        v = 10 * v + (uint64_t)(*s - '0');
    return v;
}

static const rt_object *object_of(const char *id)
{
    uint64_t wanted = id ? number_at(id) : 0;
    for (uint32_t i = 0; i < tl_rt_objects(); i++)
        if (tl_rt_object(i)->id == wanted)
            return tl_rt_object(i);
    return NULL;
}

/* Reverses tl_rt_line_escaped(). */
static size_t unescape(char *out, size_t size, const char *s)
{
    size_t n = 0;
    for (; *s && n < size; s++) {
        bool escaped = *s == '\\' && s[1];
        s += escaped;
        out[n++] = escaped && *s == 'n' ? '\n' : *s;
    }
    return n;
}

static bool note_function(const char *line)
{
    const char *id = value_of(line, " id="), *address = value_of(line, " address="), *name = value_of(line, " name=");
    if (!id)
        return false;
    if (address) {
        const rt_object *o = object_of(value_of(line, " object="));
        remember((uint32_t)number_at(id) & RT_ID_MAX, number_at(address) + (o ? o->bias + o->apart : 0));
        return true;
    }
    char text[sizeof((rt_line *)NULL)->text];
    return name && tl_rt_ctf_table_function(number_at(id), text, unescape(text, sizeof text, name));
}

static bool note_thread(const char *line)
{
    const char *tid = value_of(line, " tid="), *name = value_of(line, " name=");
    for (uint32_t i = 0; tid && name && i < tl_rt_lanes(); i++) {
        rt_ctf_stream *s = streams[i];
        if (s && s->file == tl_rt.file && s->has_row && s->tid == number_at(tid))
            return tl_rt_ctf_table_track(s, name);
    }
    return true;
}

bool tl_rt_ctf_note(const char *line, size_t n)
{
    (void)n; /* it ends with a zero */
    const char *rest;
    if ((rest = value_of(line, "function ")) && rest == line + 9)
        return note_function(line);
    if ((rest = value_of(line, "object ")) && rest == line + 7) {
        const rt_object *o = object_of(value_of(line, " id="));
        return o && tl_rt_ctf_table_object(o);
    }
    if ((rest = value_of(line, "thread ")) && rest == line + 7)
        return note_thread(line);
    if ((rest = value_of(line, "clock ")) && rest == line + 6)
        tl_rt_ctf_metadata_clock();
    return true;
}
