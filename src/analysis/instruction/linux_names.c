/* Tables of flags and named numbers. */
#include "analysis/instruction/linux_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/instruction/linux_syscalls.h"
#include "base/compiler.h"
#include "base/text/words.h"

typedef struct flag {
    uint32_t bits;
    const char *name;
} flag;

/* Names of several bits come before those of one of them. */
/* clang-format off */
static const flag open_flags[] = {
    {0100, "O_CREAT"}, {0200, "O_EXCL"}, {0400, "O_NOCTTY"}, {01000, "O_TRUNC"}, {02000, "O_APPEND"},
    {04000, "O_NONBLOCK"}, {04010000, "O_SYNC"}, {010000, "O_DSYNC"}, {020000, "O_ASYNC"},
    {020040000, "O_TMPFILE"}, {040000, "O_DIRECTORY"}, {0100000, "O_NOFOLLOW"}, {0200000, "O_DIRECT"},
    {0400000, "O_LARGEFILE"}, {01000000, "O_NOATIME"}, {02000000, "O_CLOEXEC"}, {010000000, "O_PATH"}
};
static const flag prot_flags[] = {
    {1, "PROT_READ"}, {2, "PROT_WRITE"}, {4, "PROT_EXEC"}, {0x10, "PROT_BTI"}, {0x20, "PROT_MTE"},
    {0x01000000, "PROT_GROWSDOWN"}, {0x02000000, "PROT_GROWSUP"}
};
static const flag map_flags[] = {
    {3, "MAP_SHARED_VALIDATE"}, {1, "MAP_SHARED"}, {2, "MAP_PRIVATE"}, {0x10, "MAP_FIXED"}, {0x20, "MAP_ANONYMOUS"},
    {0x100, "MAP_GROWSDOWN"}, {0x800, "MAP_DENYWRITE"}, {0x1000, "MAP_EXECUTABLE"}, {0x2000, "MAP_LOCKED"},
    {0x4000, "MAP_NORESERVE"}, {0x8000, "MAP_POPULATE"}, {0x10000, "MAP_NONBLOCK"}, {0x20000, "MAP_STACK"},
    {0x40000, "MAP_HUGETLB"}, {0x80000, "MAP_SYNC"}, {0x100000, "MAP_FIXED_NOREPLACE"}
};
static const flag access_flags[] = {{4, "R_OK"}, {2, "W_OK"}, {1, "X_OK"}};
static const flag at_flags[] = {
    {0x100, "AT_SYMLINK_NOFOLLOW"}, {0x200, "AT_EACCESS"}, {0x400, "AT_SYMLINK_FOLLOW"}, {0x800, "AT_NO_AUTOMOUNT"},
    {0x1000, "AT_EMPTY_PATH"}, {0x2000, "AT_STATX_FORCE_SYNC"}, {0x4000, "AT_STATX_DONT_SYNC"}
};
static const flag unlink_flags[] = {{0x200, "AT_REMOVEDIR"}};
static const flag futex_flags[] = {{0x80, "FUTEX_PRIVATE_FLAG"}, {0x100, "FUTEX_CLOCK_REALTIME"}};
static const char *const access_modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR"};
static const char *const whences[] = {"SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE"};
static const char *const clocks[] = {
    "CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW",
    "CLOCK_REALTIME_COARSE", "CLOCK_MONOTONIC_COARSE", "CLOCK_BOOTTIME", "CLOCK_REALTIME_ALARM",
    "CLOCK_BOOTTIME_ALARM", NULL, "CLOCK_TAI"
};
static const char *const signals[] = {
    NULL, "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
    "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
    "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR",
    "SIGSYS"
};
static const char *const futexes[] = {
    "FUTEX_WAIT", "FUTEX_WAKE", "FUTEX_FD", "FUTEX_REQUEUE", "FUTEX_CMP_REQUEUE", "FUTEX_WAKE_OP", "FUTEX_LOCK_PI",
    "FUTEX_UNLOCK_PI", "FUTEX_TRYLOCK_PI", "FUTEX_WAIT_BITSET", "FUTEX_WAKE_BITSET", "FUTEX_WAIT_REQUEUE_PI",
    "FUTEX_CMP_REQUEUE_PI", "FUTEX_LOCK_PI2"
};
/* clang-format on */

/* Appends flags after `first`, which may be NULL; `none` is the name of 0. */
static bool put_flags(char *text, const char *first, const flag *table, size_t n, uint32_t value, const char *none)
{
    size_t at = 0;
    text[0] = 0;
    if (first)
        tl_words_add(text, TL_LINUX_NAME_SIZE, &at, "|", first);
    for (size_t i = 0; i < n; i++)
        if ((value & table[i].bits) == table[i].bits) {
            tl_words_add(text, TL_LINUX_NAME_SIZE, &at, "|", table[i].name);
            value &= ~table[i].bits;
        }
    char rest[16];
    snprintf(rest, sizeof rest, "0x%" PRIx32, value);
    if (value || !at)
        tl_words_add(text, TL_LINUX_NAME_SIZE, &at, "|", value ? rest : none);
    return true;
}

static bool put_choice(char *text, const char *const *table, size_t n, uint32_t value)
{
    if (value >= n || !table[value])
        return false;
    snprintf(text, TL_LINUX_NAME_SIZE, "%s", table[value]);
    return true;
}

static bool put_open(char *text, uint32_t v)
{
    if ((v & 3) == 3)
        return false;
    return put_flags(text, access_modes[v & 3], open_flags, TL_COUNT(open_flags), v & ~UINT32_C(3), "");
}

static bool put_futex(char *text, uint32_t v)
{
    const uint32_t op = v & 0x7f;
    if (op >= TL_COUNT(futexes))
        return false;
    return put_flags(text, futexes[op], futex_flags, TL_COUNT(futex_flags), v - op, "");
}

bool tl_linux_value_name(char text[static TL_LINUX_NAME_SIZE], char kind, uint64_t value, const char *call)
{
    const uint32_t v = (uint32_t)value; /* all of these are ints */
    switch (kind) {
    case TL_ARG_DIR:
        snprintf(text, TL_LINUX_NAME_SIZE, v == (uint32_t)-100 ? "AT_FDCWD" : "%" PRId32, (int32_t)v);
        return true;
    case TL_ARG_OPEN:
        return put_open(text, v);
    case TL_ARG_FD_FLAGS:
        return put_flags(text, NULL, open_flags, TL_COUNT(open_flags), v, "0");
    case TL_ARG_ACCESS:
        return put_flags(text, NULL, access_flags, TL_COUNT(access_flags), v, "F_OK");
    case TL_ARG_PROT:
        return put_flags(text, NULL, prot_flags, TL_COUNT(prot_flags), v, "PROT_NONE");
    case TL_ARG_MAP:
        return put_flags(text, NULL, map_flags, TL_COUNT(map_flags), v, "0");
    case TL_ARG_AT:
        if (strcmp(call, "unlinkat") == 0)
            return put_flags(text, NULL, unlink_flags, TL_COUNT(unlink_flags), v, "0");
        return put_flags(text, NULL, at_flags, TL_COUNT(at_flags), v, "0");
    case TL_ARG_WHENCE:
        return put_choice(text, whences, TL_COUNT(whences), v);
    case TL_ARG_CLOCK:
        return put_choice(text, clocks, TL_COUNT(clocks), v);
    case TL_ARG_SIGNAL:
        return put_choice(text, signals, TL_COUNT(signals), v);
    case TL_ARG_FUTEX:
        return put_futex(text, v);
    default:
        return false;
    }
}
