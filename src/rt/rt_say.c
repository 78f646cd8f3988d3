/* Messages of the recorder: lines made without stdio, and written to standard error in one piece. */
#include "rt/rt_say.h"

#include <errno.h>
#include <signal.h>

#include "rt/rt_core.h"

static void add(rt_line *l, const char *s, size_t n)
{
    size_t room = sizeof l->text - 1 - l->n;
    if (n > room)
        n = room;
    rt_copy(l->text + l->n, s, n);
    l->n += n;
    l->text[l->n] = 0;
}

void tl_rt_line_text(rt_line *l, const char *s)
{
    if (!s)
        s = "(null)";
    add(l, s, rt_length(s));
}

static void add_digits(rt_line *l, uint64_t v, unsigned base)
{
    char digit[20];
    unsigned n = 0;
    do {
        digit[sizeof digit - ++n] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    add(l, digit + sizeof digit - n, n);
}

void tl_rt_line_number(rt_line *l, uint64_t v)
{
    add_digits(l, v, 10);
}

void tl_rt_line_signed(rt_line *l, int64_t v)
{
    if (v < 0)
        add(l, "-", 1);
    add_digits(l, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10);
}

void tl_rt_line_hex(rt_line *l, uint64_t v)
{
    add_digits(l, v, 16);
}

void tl_rt_line_escaped(rt_line *l, const char *s)
{
    for (; s && *s; s++) {
        if (sizeof l->text - 1 - l->n < 2)
            return; /* half an escape would change its meaning */
        if (*s == '\n')
            add(l, "\\n", 2);
        else if (*s == '\\')
            add(l, "\\\\", 2);
        else
            add(l, s, 1);
    }
}

const char *tl_rt_errno_text(int sys_errno)
{
    static const struct {
        int number;
        const char *text;
    } table[] = {{EPERM, "Operation not permitted"},
                 {ENOENT, "No such file or directory"},
                 {EINTR, "Interrupted system call"},
                 {EIO, "Input/output error"},
                 {EBADF, "Bad file descriptor"},
                 {EAGAIN, "Resource temporarily unavailable"},
                 {ENOMEM, "Cannot allocate memory"},
                 {EACCES, "Permission denied"},
                 {EFAULT, "Bad address"},
                 {EBUSY, "Device or resource busy"},
                 {EEXIST, "File exists"},
                 {EXDEV, "Invalid cross-device link"},
                 {ENOTDIR, "Not a directory"},
                 {EISDIR, "Is a directory"},
                 {EINVAL, "Invalid argument"},
                 {ENFILE, "Too many open files in system"},
                 {EMFILE, "Too many open files"},
                 {ETXTBSY, "Text file busy"},
                 {EFBIG, "File too large"},
                 {ENOSPC, "No space left on device"},
                 {EROFS, "Read-only file system"},
                 {ERANGE, "Numerical result out of range"},
                 {ENAMETOOLONG, "File name too long"},
                 {ENOSYS, "Function not implemented"},
                 {ENOTEMPTY, "Directory not empty"},
                 {ELOOP, "Too many levels of symbolic links"},
                 {EOVERFLOW, "Value too large for defined data type"},
                 {EOPNOTSUPP, "Operation not supported"},
                 {ETIMEDOUT, "Connection timed out"},
                 {ESTALE, "Stale file handle"},
                 {EDQUOT, "Disk quota exceeded"}};
    if (sys_errno < 0)
        sys_errno = -sys_errno;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].number == sys_errno)
            return table[i].text;
    return NULL;
}

/* Writes to standard error. Signals that this raises (a closed pipe, a full file) do not reach the program. */
static long write_error(const char *p, size_t n)
{
    static const uint64_t raised = UINT64_C(1) << (SIGPIPE - 1) | UINT64_C(1) << (SIGXFSZ - 1);
    static const long at_once[2] = {0, 0};
    uint64_t before = 0;
    RT_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, &raised, &before, sizeof raised);
    long written = RT_SYS3(SYS_write, 2, p, n);
    if (written == -EPIPE || written == -EFBIG)
        RT_SYS4(SYS_rt_sigtimedwait, &raised, NULL, at_once, sizeof raised);
    rt_signals_restore(before);
    return written;
}

void tl_rt_say(const rt_line *l, int sys_errno, bool error)
{
    if (tl_rt.set.quiet && !error)
        return;
    static const char prefix[] = "traceloom-rt: ";
    char out[sizeof prefix + sizeof l->text + 64];
    rt_line reason;
    rt_line_begin(&reason);
    if (sys_errno) {
        const char *text = tl_rt_errno_text(sys_errno);
        tl_rt_line_text(&reason, ": ");
        tl_rt_line_text(&reason, text ? text : "error ");
        if (!text)
            tl_rt_line_number(&reason, (uint64_t)(sys_errno < 0 ? -(int64_t)sys_errno : sys_errno));
    }
    size_t n = sizeof prefix - 1;
    rt_copy(out, prefix, n);
    rt_copy(out + n, l->text, l->n);
    n += l->n;
    rt_copy(out + n, reason.text, reason.n);
    n += reason.n;
    out[n++] = '\n';
    for (size_t done = 0; done < n;) {
        long written = write_error(out + done, n - done);
        if (written <= 0 && written != -EINTR)
            return; /* no reader */
        done += written > 0 ? (size_t)written : 0;
    }
}

/* True the first time for each text. Once the table is full, no more messages: enough was said. */
static bool first_time(const char *what)
{
    enum { SLOTS = 64 };
    static uint32_t said[SLOTS];
    uint32_t h = 2166136261u; /* FNV-1a */
    for (const char *p = what; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    h |= 1; /* 0 marks a free slot */
    for (unsigned i = 0; i < SLOTS; i++) {
        uint32_t found = 0;
        if (__atomic_compare_exchange_n(&said[(h + i) % SLOTS], &found, h, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
        if (found == h)
            return false;
    }
    return false;
}

void tl_rt_say_error(const char *what, const char *path, int sys_errno)
{
    if (!first_time(what))
        return;
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, what);
    if (path) {
        tl_rt_line_text(&l, " '");
        tl_rt_line_text(&l, path);
        tl_rt_line_text(&l, "'");
    }
    tl_rt_say(&l, sys_errno, true);
}
