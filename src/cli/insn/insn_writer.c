/* Takes blocks of tokens and snapshots out of the memory that is shared with the plugin, and writes them to the files
 * of their threads. */
#include "cli/insn/insn_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/endian.h"
#include "cli/insn/insn_file.h"
#include "format/xtrace/xtrace_layout.h"

enum { SLEEP_NS = 50000000, STATE_OFFSET = 8, HEADER_TIMES = 18 };

typedef struct stream_files {
    bool is_open; /* was, perhaps in vain */
    tl_insn_file stream, states;
    uint64_t bytes; /* of the stream */
} stream_files;

struct tl_insn_writer {
    insn_shared *memory;
    int fd, folder;
    long long begin; /* in the names of the files */
    pthread_t thread;
    bool has_thread;
    uint32_t ending; /* 1: the program has ended */
    bool packed;
    int failed; /* errno of the first failure */
    tl_insn_wanted wanted;
    tl_insn_totals totals;
    stream_files files[INSN_STREAMS_MOST];
};

int tl_insn_writer_new(tl_insn_writer **out, const char *folder, const tl_insn_wanted *wanted, tl_error *e)
{
    tl_insn_writer *const w = calloc(1, sizeof *w);
    if (!w)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "out of memory");
    w->begin = (long long)time(NULL);
    w->packed = wanted->packed;
    w->wanted = *wanted;
    w->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w->fd = (int)syscall(SYS_memfd_create, "traceloom-insns", 0);
    void *memory = MAP_FAILED;
    if (w->folder >= 0 && w->fd >= 0 && ftruncate(w->fd, (off_t)INSN_SHARED_SIZE) == 0)
        memory = mmap(NULL, (size_t)INSN_SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
    if (memory == MAP_FAILED) {
        const int why = errno;
        tl_insn_writer_free(w);
        return tl_fail(e, TL_EIO, TL_NO_OFFSET, "no memory to share with QEMU: %s", strerror(why));
    }
    w->memory = memory;
    w->memory->magic = INSN_MAGIC;
    w->memory->command = (int32_t)getpid();
    w->memory->interval = wanted->interval;
    w->memory->frames = wanted->packed;
    w->memory->slice = wanted->slice;
    *out = w;
    return 0;
}

void tl_insn_writer_free(tl_insn_writer *w)
{
    if (!w)
        return;
    if (w->memory)
        munmap(w->memory, (size_t)INSN_SHARED_SIZE);
    if (w->fd >= 0)
        close(w->fd);
    if (w->folder >= 0)
        close(w->folder);
    free(w);
}

const insn_shared *tl_insn_writer_memory(const tl_insn_writer *w)
{
    return w->memory;
}

int tl_insn_writer_fd(const tl_insn_writer *w)
{
    return w->fd;
}

/* After the first failure nothing more is written, and the program runs on. */
static void fail(tl_insn_writer *w, int why)
{
    if (!w->failed)
        w->failed = why;
    __atomic_store_n(&w->memory->stop, 1, __ATOMIC_RELAXED);
}

static void note(tl_insn_writer *w, int result, const tl_error *e)
{
    if (result < 0)
        fail(w, e->sys_errno ? e->sys_errno : ENOMEM);
}

static void open_file(tl_insn_writer *w, const insn_stream *s, tl_insn_file *f, const char *kind)
{
    char name[96];
    tl_error e = {0};
    snprintf(name, sizeof name, "xtrace.%lld.%ld.hint9.%s.bin%s", w->begin, (long)s->tid, kind,
             w->packed ? ".zst" : "");
    if (!w->failed)
        note(w, tl_insn_file_open(f, w->folder, name, w->packed, &e), &e);
}

static void open_files(tl_insn_writer *w, const insn_stream *s, stream_files *f)
{
    const uint8_t header[INSN_STATE_HEADER] = {
        'T', 'L', 'T', 'X', [8] = 1, [16] = 1 /* of all instructions */, [18] = (uint8_t)(s->has_times != 0)};
    tl_error e = {0};
    f->bytes = 0;
    f->is_open = true;
    open_file(w, s, &f->stream, "xinsndata");
    w->totals.threads++;
    if (w->memory->interval)
        open_file(w, s, &f->states, "xsnapshot");
    if (tl_insn_file_is_open(&f->states))
        note(w, tl_insn_file_write(&f->states, header, sizeof header, &e), &e);
}

/* Their offsets count from the begin of the file. */
static void put_states(tl_insn_writer *w, stream_files *f, uint8_t *states, uint32_t n)
{
    tl_error e = {0};
    for (uint32_t at = 0; n - at >= INSN_STATE; at += INSN_STATE) {
        uint8_t *const offset = states + at + STATE_OFFSET;
        tl_store64(offset, tl_load64(offset, false) + f->bytes, false);
        w->totals.snapshots++;
    }
    if (!w->failed && tl_insn_file_is_open(&f->states))
        note(w, tl_insn_file_write(&f->states, states, n - n % INSN_STATE, &e), &e);
}

static void put_block(tl_insn_writer *w, uint32_t index, uint32_t number)
{
    const insn_stream *const s = &w->memory->stream[index];
    stream_files *const f = &w->files[index];
    const insn_block *const b = &s->block[number % INSN_BLOCKS];
    uint8_t *const tokens =
        (uint8_t *)w->memory + INSN_HEAD + index * INSN_STREAM_ROOM + (size_t)(number % INSN_BLOCKS) * INSN_BLOCK_ROOM;
    tl_error e = {0};
    /* What another process wrote there is not trusted. */
    const uint32_t states = (uint32_t) * (const volatile uint64_t *)&b->states;
    const uint64_t filled = *(const volatile uint64_t *)&b->filled, insns = filled >> INSN_FILLED_BITS;
    const uint32_t used = (uint32_t)filled;
    if (used > INSN_BLOCK_BYTES || states > INSN_STATES_BYTES) {
        fail(w, EPROTO);
        return;
    }
    if (!f->is_open && used)
        open_files(w, s, f);
    put_states(w, f, tokens + INSN_BLOCK_BYTES, states);
    if (!w->failed && used >= XTRACE_PCINST_SIZE && tokens[0] == XTRACE_PCINST) {
        const xtrace_frame at = {f->bytes, b->insns, b->insns, tl_load64(tokens + 1, false), true};
        note(w, tl_insn_file_put_frame(&f->stream, tokens, used, &at, &e), &e);
    } else if (!w->failed && used) {
        note(w, tl_insn_file_write(&f->stream, tokens, used, &e), &e);
    }
    f->bytes += used;
    if (w->failed)
        w->totals.lost += insns;
    else
        w->totals.insns += insns;
}

static void close_files(tl_insn_writer *w, insn_stream *s, stream_files *f)
{
    const uint8_t one = 1;
    tl_error e = {0};
    if (!w->packed && tl_insn_file_is_open(&f->states) && s->has_times &&
        pwrite(f->states.target.fd, &one, 1, HEADER_TIMES) != 1)
        fail(w, errno);
    note(w, tl_insn_file_close(&f->stream, &e), &e);
    note(w, tl_insn_file_close(&f->states, &e), &e);
    f->is_open = false;
    w->totals.loads += s->loads;
    w->totals.stores += s->stores;
    w->totals.calls += s->calls;
}

/* Full blocks; of a stream that has ended also the last one. True: there was something. */
static bool drain_stream(tl_insn_writer *w, uint32_t index, bool last)
{
    insn_stream *const s = &w->memory->stream[index];
    const uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
    if (state != INSN_OPEN && state != INSN_ENDED)
        return false;
    const uint32_t head = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);
    uint32_t tail = s->tail;
    const bool any = head != tail;
    for (uint32_t n = 0; tail != head && n < INSN_BLOCKS; n++) {
        put_block(w, index, tail);
        __atomic_store_n(&s->tail, ++tail, __ATOMIC_RELEASE);
        syscall(SYS_futex, &s->tail, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    if (!last && state != INSN_ENDED)
        return any;
    put_block(w, index, head);
    close_files(w, s, &w->files[index]);
    __atomic_store_n(&s->state, INSN_FREE, __ATOMIC_RELEASE);
    return true;
}

static bool drain(tl_insn_writer *w, bool last)
{
    bool any = false;
    for (uint32_t i = 0; i < INSN_STREAMS_MOST; i++)
        any |= drain_stream(w, i, last);
    return any;
}

/* The program waits for it. */
static void answer(tl_insn_writer *w)
{
    insn_question *const q = &w->memory->question;
    char path[INSN_PATH];
    if (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) != INSN_ASKED)
        return;
    memcpy(path, q->path, sizeof path);
    path[sizeof path - 1] = '\0';
    q->offset = w->wanted.find ? w->wanted.find(w->wanted.arg, path) : 0;
    __atomic_store_n(&q->state, INSN_ANSWERED, __ATOMIC_RELEASE);
    syscall(SYS_futex, &q->state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *run_thread(void *arg)
{
    tl_insn_writer *const w = arg;
    while (!__atomic_load_n(&w->ending, __ATOMIC_ACQUIRE)) {
        const uint32_t filled = __atomic_load_n(&w->memory->filled, __ATOMIC_ACQUIRE);
        answer(w);
        if (!drain(w, false) && !__atomic_load_n(&w->ending, __ATOMIC_ACQUIRE))
            syscall(SYS_futex, &w->memory->filled, FUTEX_WAIT, filled, &(struct timespec){0, SLEEP_NS}, NULL, 0);
    }
    return NULL;
}

int tl_insn_writer_begin(tl_insn_writer *w, tl_error *e)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread that waits for the program */
    const int why = pthread_create(&w->thread, NULL, run_thread, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    w->has_thread = why == 0;
    return why ? tl_fail(e, TL_EIO, TL_NO_OFFSET, "no thread to write: %s", strerror(why)) : 0;
}

/* A process that the program left behind. */
static uint32_t count_running(const tl_insn_writer *w, long program)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < INSN_STREAMS_MOST; i++) {
        const insn_stream *const s = &w->memory->stream[i];
        const bool open = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == INSN_OPEN;
        n += open && s->pid != program && s->pid > 0 && kill(s->pid, 0) == 0;
    }
    return n;
}

int tl_insn_writer_end(tl_insn_writer *w, long program, tl_insn_totals *totals, tl_error *e)
{
    __atomic_store_n(&w->ending, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &w->memory->filled, FUTEX_WAKE, 1, NULL, NULL, 0);
    if (w->has_thread)
        pthread_join(w->thread, NULL);
    w->has_thread = false;
    w->totals.running = count_running(w, program);
    __atomic_store_n(&w->memory->stop, 1, __ATOMIC_RELAXED);
    drain(w, true);
    *totals = w->totals;
    return w->failed ? tl_fail(e, TL_EIO, TL_NO_OFFSET, "%s", strerror(w->failed)) : 0;
}
