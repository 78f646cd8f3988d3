/* Reads /proc/self/maps, character by character: lines may be of any length. */
#include <errno.h>
#include <fcntl.h>

#include "rt/patch/rt_patch_space.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

enum { ROOM = 1 << 16, TAG = 12 };

/* Where in a line: FROM-TO, then until its end. */
enum { IN_FROM, IN_TO, IN_REST };

typedef struct line {
    uintptr_t from, to;
    int phase;
    bool named; /* a path has begun */
    char tag[TAG];
    unsigned n;
} line;

static void begin(line *l)
{
    l->from = l->to = 0;
    l->phase = IN_FROM;
    l->named = false;
    l->n = 0;
    l->tag[0] = '\0';
}

static unsigned digit_of(char c)
{
    unsigned digit = (unsigned char)c - (unsigned)'0';
    return digit <= 9 ? digit : ((unsigned char)c | 32u) - 'a' + 10;
}

static void put_tag(line *l, char c)
{
    if (c == '/')
        l->named = true;
    if (l->named || (l->n == 0 && c != '[') || l->n == TAG - 1)
        return;
    l->tag[l->n++] = c;
    l->tag[l->n] = '\0';
}

static void take(line *l, char c, rt_mapping_visit *visit, void *arg)
{
    if (c == '\n') {
        visit(arg, l->from, l->to, l->tag);
        begin(l);
    } else if (l->phase == IN_FROM && c == '-') {
        l->phase = IN_TO;
    } else if (l->phase == IN_FROM) {
        l->from = l->from << 4 | digit_of(c);
    } else if (l->phase == IN_TO && c == ' ') {
        l->phase = IN_REST;
    } else if (l->phase == IN_TO) {
        l->to = l->to << 4 | digit_of(c);
    } else {
        put_tag(l, c);
    }
}

int tl_rt_patch_mappings(rt_mapping_visit *visit, void *arg)
{
    char *room = tl_rt_memory_take(ROOM);
    if (!room)
        return -ENOMEM;
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n = fd;
    line l;
    begin(&l);
    while (fd >= 0 && (n = RT_SYS3(SYS_read, fd, room, ROOM)) > 0)
        for (long i = 0; i < n; i++)
            take(&l, room[i], visit, arg);
    if (fd >= 0)
        RT_SYS1(SYS_close, fd);
    tl_rt_memory_give(room, ROOM);
    return (int)n;
}
