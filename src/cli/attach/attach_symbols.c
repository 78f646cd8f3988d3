/* Names in the C library of a process: what is called there, and where its threads wait. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf/elf_file.h"
#include "base/grow.h"
#include "base/text/words.h"
#include "cli/attach/attach_symbols.h"

static const char *const function_name[TL_ATTACH_FUNCTIONS] = {
    [TL_ATTACH_MMAP] = "mmap",     [TL_ATTACH_MPROTECT] = "mprotect", [TL_ATTACH_MUNMAP] = "munmap",
    [TL_ATTACH_DLOPEN] = "dlopen", [TL_ATTACH_DLSYM] = "dlsym",       [TL_ATTACH_DLERROR] = "dlerror"};

/* What a program calls to wait: it holds no lock of libc then, unless one of libc's own functions called it. */
static const char calls[] =
    "read pread pread64 readv recv recvfrom recvmsg recvmmsg write writev send sendto sendmsg accept accept4 connect "
    "poll ppoll select pselect epoll_wait epoll_pwait nanosleep clock_nanosleep usleep sleep pause sigsuspend sigwait "
    "sigwaitinfo sigtimedwait wait waitpid wait3 wait4 waitid semop semtimedop msgrcv";
/* Perhaps for another thread of the program, which holds a lock. */
static const char locks[] =
    "sched_yield pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_mutex_lock "
    "pthread_mutex_timedlock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_barrier_wait pthread_join "
    "pthread_timedjoin_np sem_wait sem_timedwait sem_clockwait";

/* Calls visit for each function that other objects may call. False: the file cannot be read. */
static bool each_symbol(const char *path, int (*visit)(void *arg, const tl_elf_symbol *s), void *arg)
{
    tl_elf *elf = NULL;
    tl_error e = {0};
    const bool good = tl_elf_open(&elf, path, &e) >= 0 && tl_elf_each_symbol(elf, visit, arg, &e) >= 0;
    tl_elf_close(elf);
    return good;
}

static bool is_exported(const tl_elf_symbol *s)
{
    return s->section != SHN_UNDEF && s->binding != STB_LOCAL && (s->type == STT_FUNC || s->type == STT_GNU_IFUNC);
}

typedef struct search {
    tl_attach *a;
    uint64_t bias;
} search;

static int see(void *arg, const tl_elf_symbol *s)
{
    search *w = arg;
    tl_attach *a = w->a;
    if (!is_exported(s))
        return 0;
    for (size_t i = 0; i < TL_ATTACH_FUNCTIONS; i++)
        if (!a->function[i] && strcmp(s->name, function_name[i]) == 0)
            a->function[i] = w->bias + s->value;
    const bool on_lock = tl_word_place(s->name, locks) >= 0;
    if (!on_lock && tl_word_place(s->name, calls) < 0)
        return 0;
    if (!TL_GROW(a->waits, a->nwaits, 1, a->room))
        return TL_ENOMEM;
    a->waits[a->nwaits++] = (tl_attach_wait){w->bias + s->value, s->size, on_lock};
    return 0;
}

bool tl_attach_symbols_add(tl_attach *a, const char *path, uint64_t bias)
{
    search w = {.a = a, .bias = bias};
    return each_symbol(path, see, &w);
}

static int is_malloc(void *arg, const tl_elf_symbol *s)
{
    return *(bool *)arg = is_exported(s) && strcmp(s->name, "malloc") == 0;
}

bool tl_attach_symbols_allocate(const char *path)
{
    bool found = false;
    return !each_symbol(path, is_malloc, &found) || found;
}
