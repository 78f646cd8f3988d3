/* Chooses the name of a recording's file. */
#include <errno.h>
#include <fcntl.h>

#include "rt/rt_say.h"
#include "rt/rt_settings.h"
#include "rt/rt_sys.h"

enum { PATH_MAX_USED = RT_PATH - 48 }; /* room for a number, a suffix and ".live" */

typedef struct file_name {
    char *text; /* of RT_PATH bytes */
    size_t n;
} file_name;

static void add(file_name *p, const char *s, size_t n)
{
    size_t room = p->n < PATH_MAX_USED ? PATH_MAX_USED - p->n : 0;
    n = n < room ? n : room;
    rt_copy(p->text + p->n, s, n);
    p->n += n;
    p->text[p->n] = 0;
}

static void add_number(file_name *p, uint64_t v)
{
    char digit[20];
    unsigned n = 0;
    do {
        digit[sizeof digit - ++n] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    add(p, digit + sizeof digit - n, n);
}

/* The pattern with %e, %p and %% replaced. */
static void expand(file_name *p, const char *pattern, const char *exe, int pid)
{
    for (; *pattern; pattern++) {
        char kind = pattern[0] == '%' ? pattern[1] : 0;
        if (kind == 'e')
            add(p, tl_rt_base(exe), rt_length(tl_rt_base(exe)));
        else if (kind == 'p')
            add_number(p, (uint64_t)(unsigned)pid);
        else
            add(p, pattern, 1);
        pattern += kind == 'e' || kind == 'p' || kind == '%';
    }
}

static bool ends_with(const file_name *p, const char *suffix)
{
    size_t n = rt_length(suffix);
    return p->n > n && tl_rt_same(p->text + p->n - n, suffix) && p->text[p->n - n - 1] != '/';
}

static bool exists(const char *path)
{
    char link;
    long n = RT_SYS4(SYS_readlinkat, AT_FDCWD, path, &link, 1);
    return n >= 0 || n == -EINVAL; /* a dangling link is in the way, too */
}

/* Adds the suffix, with a number before it if the name is taken. */
static void add_suffix(file_name *p, const char *suffix)
{
    size_t stem = p->n;
    for (uint64_t number = 0; number < 1000000; number++) {
        p->n = stem;
        if (number) {
            p->text[p->n++] = '.';
            add_number(p, number);
        }
        rt_copy(p->text + p->n, suffix, rt_length(suffix) + 1);
        p->n += rt_length(suffix);
        rt_copy(p->text + p->n, ".live", 6);
        bool taken = exists(p->text);
        p->text[p->n] = 0;
        if (!taken && !exists(p->text))
            return;
    }
}

void tl_rt_settings_path(const rt_settings *s, unsigned mode, const char *exe, int pid, char out[static RT_PATH])
{
    static const char *const suffix[] = {".xray", ".tlp", ".ctf"};
    file_name p = {out, 0};
    out[0] = 0;
    if (s->out[0] != '/') {
        long n = RT_SYS2(SYS_getcwd, out, RT_PATH / 2);
        if (n > 1 && out[0] == '/') {
            p.n = (size_t)n - 1;
            if (p.n > 1)
                add(&p, "/", 1);
        }
    }
    expand(&p, s->out, exe, pid);
    for (size_t i = 0; i < sizeof suffix / sizeof suffix[0]; i++)
        if (ends_with(&p, suffix[i])) {
            p.n -= rt_length(suffix[i]);
            break;
        }
    add_suffix(&p, suffix[mode == RT_MODE_FDR ? 0 : mode == RT_MODE_PROFILE ? 1 : 2]);
}
