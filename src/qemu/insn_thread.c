/* Threads of the recorded program: each takes a stream in the shared memory, and fills its blocks. */
#include "qemu/insn_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

insn_settings insn_how;
insn_shared *insn_memory;
__thread insn_thread *insn_me;
static uint32_t threads; /* of this process, that ever began */

void insn_refuse(insn_refusal why)
{
    enum { STATUS = 125 };
    __atomic_store_n(&insn_memory->refused, why, __ATOMIC_RELAXED);
    _exit(STATUS);
}

void insn_wake_command(void)
{
    __atomic_fetch_add(&insn_memory->filled, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &insn_memory->filled, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void forget_last(insn_thread *t)
{
    t->any = false;
    t->last = NULL;
    t->expected = t->quick = INSN_NO_PC;
}

static bool give_up(insn_thread *t)
{
    t->stream = NULL;
    t->finished = true;
    forget_last(t);
    return t->on = false;
}

insn_thread *insn_begin_thread(void)
{
    insn_thread *const t = calloc(1, sizeof *t);
    if (!t)
        insn_refuse(INSN_NO_MEMORY);
    forget_last(t);
    t->on = insn_how.always && !insn_how.slice;
    insn_find_registers(t);
    if (__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) > 0 && !insn_how.slice) {
        insn_how.times = true; /* other threads write, too */
        t->tls = t->x[3];      /* of clone(), which returns from here first; the first thread sets it by MSR */
    }
    insn_me = t;
    return t;
}

void insn_plan_look(insn_thread *t)
{
    const uint64_t most = insn_memory->slice.insns_most;
    t->next_look = most && most < t->next_state ? most : t->next_state;
}

static void begin_block(insn_thread *t)
{
    const uint32_t k = t->stream->head % INSN_BLOCKS;
    t->block = &t->stream->block[k];
    t->at = t->memory + (size_t)k * INSN_BLOCK_ROOM;
    t->full = t->at + INSN_BLOCK_BYTES - INSN_TOKENS_MOST;
}

bool insn_open_stream(insn_thread *t)
{
    if (__atomic_load_n(&insn_memory->stop, __ATOMIC_RELAXED))
        return give_up(t);
    for (uint32_t i = 0; i < INSN_STREAMS_MOST && !t->stream; i++) {
        insn_stream *const s = &insn_memory->stream[i];
        uint32_t is_free = INSN_FREE;
        if (!__atomic_compare_exchange_n(&s->state, &is_free, INSN_TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        t->stream = s;
        t->memory = (uint8_t *)insn_memory + INSN_HEAD + i * INSN_STREAM_ROOM;
        memset(s->block, 0, sizeof s->block);
        s->pid = getpid();
        s->tid = (int32_t)syscall(SYS_gettid);
        s->head = s->tail = 0;
        s->loads = s->stores = s->calls = 0;
        s->has_times = insn_how.times;
        __atomic_store_n(&s->state, INSN_OPEN, __ATOMIC_RELEASE);
    }
    if (!t->stream) {
        __atomic_fetch_add(&insn_memory->too_many, 1, __ATOMIC_RELAXED);
        return give_up(t);
    }
    t->count = t->before = 0;
    t->next_state = insn_memory->interval ? 0 : UINT64_MAX;
    insn_plan_look(t);
    begin_block(t);
    return true;
}

bool insn_command_is_gone(void)
{
    char path[48], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)insn_memory->command);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *const state = strrchr(text, ')'); /* behind the name, which may have any bytes */
    return n <= 0 || (state && strncmp(state, ") Z", 3) == 0);
}

bool insn_next_block(insn_thread *t)
{
    insn_stream *const s = t->stream;
    const uint32_t head = s->head + 1;
    insn_block *const next = &s->block[head % INSN_BLOCKS];
    for (;;) {
        const uint32_t tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);
        if (head - tail < INSN_BLOCKS)
            break;
        if (__atomic_load_n(&insn_memory->stop, __ATOMIC_RELAXED) || insn_command_is_gone())
            return give_up(t);
        syscall(SYS_futex, &s->tail, FUTEX_WAIT, tail, &(struct timespec){1, 0}, NULL, 0);
    }
    *next = (insn_block){.insns = t->count};
    t->before = t->count;
    __atomic_store_n(&s->head, head, __ATOMIC_RELEASE);
    insn_wake_command();
    if (__atomic_load_n(&insn_memory->stop, __ATOMIC_RELAXED))
        return give_up(t);
    begin_block(t);
    return true;
}

void insn_end_thread(insn_thread *t)
{
    if (t->stream)
        __atomic_store_n(&t->stream->state, INSN_ENDED, __ATOMIC_RELEASE);
    give_up(t);
    insn_wake_command();
}

/* The child has one thread, and nothing to do with the streams of its parent. */
static void after_fork(void)
{
    insn_thread *const t = insn_me;
    if (!t)
        return;
    __atomic_store_n(&threads, 1, __ATOMIC_RELAXED);
    t->stream = NULL;
    forget_last(t);
    if (insn_how.slice)
        insn_fork_slice(t);
}

void insn_watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}
