/* Names in the C library of a process: what is called there, and where its threads wait. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf/elf_file.h"
#include "base/endian.h"
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

/* Calls visit for each function that the file exports; false: it cannot be read. Stops when visit returns false. */
static bool each_export(const char *path, bool (*visit)(void *arg, const char *name, uint64_t value, uint64_t size),
                        void *arg)
{
    tl_elf *elf = NULL;
    tl_error e = {0};
    const uint8_t *s, *text;
    size_t n, bytes;
    if (tl_elf_open(&elf, path, &e) < 0)
        return false;
    const tl_elf_section *dynamic = tl_elf_section_find(elf, ".dynsym");
    bool good = dynamic && dynamic->link < tl_elf_sections(elf) && !tl_elf_big_endian(elf) &&
                tl_elf_section_data(elf, dynamic, &s, &n, &e) == 0 &&
                tl_elf_section_data(elf, tl_elf_section_get(elf, dynamic->link), &text, &bytes, &e) == 0;
    for (; good && n >= sizeof(Elf64_Sym); s += sizeof(Elf64_Sym), n -= sizeof(Elf64_Sym)) {
        const uint32_t name = tl_load32(s, false);
        const uint8_t type = s[offsetof(Elf64_Sym, st_info)] & 15;
        const bool defined = tl_load16(s + offsetof(Elf64_Sym, st_shndx), false) != SHN_UNDEF;
        if (!defined || (type != STT_FUNC && type != STT_GNU_IFUNC) || name >= bytes ||
            !memchr(text + name, 0, bytes - name))
            continue;
        if (!visit(arg, (const char *)text + name, tl_load64(s + offsetof(Elf64_Sym, st_value), false),
                   tl_load64(s + offsetof(Elf64_Sym, st_size), false)))
            break;
    }
    tl_elf_close(elf);
    return good;
}

typedef struct search {
    tl_attach *a;
    uint64_t bias;
    bool no_memory;
} search;

static bool see(void *arg, const char *name, uint64_t value, uint64_t size)
{
    search *w = arg;
    tl_attach *a = w->a;
    for (size_t i = 0; i < TL_ATTACH_FUNCTIONS; i++)
        if (!a->function[i] && strcmp(name, function_name[i]) == 0)
            a->function[i] = w->bias + value;
    const bool on_lock = tl_word_place(name, locks) >= 0;
    if (!on_lock && tl_word_place(name, calls) < 0)
        return true;
    if (!TL_GROW(a->waits, a->nwaits, 1, a->room)) {
        w->no_memory = true;
        return false;
    }
    a->waits[a->nwaits++] = (tl_attach_wait){w->bias + value, size, on_lock};
    return true;
}

bool tl_attach_symbols_add(tl_attach *a, const char *path, uint64_t bias)
{
    search w = {.a = a, .bias = bias};
    return each_export(path, see, &w) && !w.no_memory;
}

static bool is_malloc(void *arg, const char *name, uint64_t value, uint64_t size)
{
    (void)value;
    (void)size;
    return !(*(bool *)arg = strcmp(name, "malloc") == 0);
}

bool tl_attach_symbols_allocate(const char *path)
{
    bool found = false;
    return !each_export(path, is_malloc, &found) || found;
}
