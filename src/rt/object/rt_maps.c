/* Finds what is in memory, with system calls only: /proc/self/maps says what is mapped, program headers the rest.
 *
 * A line of maps, with the path from some column on, in which a line feed is four characters:
 *
 *   55d0c0000000-55d0c0001000 r--p 00000000 fe:01 131099                     /usr/bin/app */
#include "rt/object/rt_maps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "rt/rt_say.h"
#include "rt/rt_store.h"
#include "rt/rt_sys.h"

enum { ROOM = 32768 /* more than the longest line */, PAGE_MIN = 4096, BUILD_ID_MAX = 32 };

static const char *read_hex(const char *s, uintptr_t *out)
{
    uintptr_t v = 0;
    for (;; s++) {
        unsigned digit = (unsigned char)*s;
        if (digit - '0' <= 9)
            digit -= '0';
        else if ((digit | 32) - 'a' <= 5)
            digit = (digit | 32) - 'a' + 10;
        else
            break;
        v = v << 4 | digit;
    }
    *out = v;
    return s;
}

static const char *skip_word(const char *s)
{
    while (*s && *s != ' ')
        s++;
    while (*s == ' ')
        s++;
    return s;
}

static rt_mapping read_line(const char *s)
{
    rt_mapping m;
    s = read_hex(s, &m.from);
    s = read_hex(*s ? s + 1 : s, &m.to);
    s = *s ? s + 1 : s;
    m.readable = *s == 'r';
    m.writable = *s && s[1] == 'w';
    s = read_hex(skip_word(s), &m.offset);
    m.path = skip_word(skip_word(skip_word(s)));
    return m;
}

/* Calls visit() for all whole lines of n bytes, until it returns false; returns their size. */
static size_t take_lines(char *text, size_t n, rt_mapping_visit *visit, void *arg, bool *more)
{
    size_t begin = 0;
    for (size_t i = 0; i < n && *more; i++)
        if (text[i] == '\n') {
            text[i] = '\0';
            const rt_mapping m = read_line(text + begin);
            *more = visit(arg, &m);
            begin = i + 1;
        }
    return begin;
}

static long read_maps(long fd, char *room, rt_mapping_visit *visit, void *arg)
{
    bool more = true;
    for (size_t n = 0; more;) {
        long got = RT_SYS3(SYS_read, fd, room + n, ROOM - n);
        if (got <= 0)
            return got;
        n += (size_t)got;
        size_t used = take_lines(room, n, visit, arg, &more);
        if (used == 0 && n == ROOM)
            return -EOVERFLOW;
        n -= used;
        rt_copy(room, room + used, n);
    }
    return 0;
}

int tl_rt_maps_each(rt_mapping_visit *visit, void *arg)
{
    char *room = tl_rt_memory_take(ROOM);
    if (!room)
        return -ENOMEM;
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    long status = fd < 0 ? fd : read_maps(fd, room, visit, arg);
    if (fd >= 0)
        RT_SYS1(SYS_close, fd);
    tl_rt_memory_give(room, ROOM);
    return (int)status;
}

/* The kernel appends " (deleted)" to the name of a removed file. */
static void copy_path(char path[static RT_PATH], const char *s)
{
    static const char removed[] = " (deleted)";
    size_t n = rt_length(s), tail = sizeof removed - 1;
    if (n > RT_PATH - 1)
        n = RT_PATH - 1;
    if (n > tail && tl_rt_same(s + n - tail, removed))
        n -= tail;
    rt_copy(path, s, n);
    path[n] = '\0';
}

struct search {
    uintptr_t address, header;
    char *path;         /* of the latest first mapping of a file, at `header` */
    char file[RT_PATH]; /* the same, as spelt in maps */
    bool found;
};

/* Mappings are ordered by address; those of a file follow its first one. */
static bool see(void *arg, const rt_mapping *m)
{
    struct search *s = arg;
    if (m->path[0] == '/' && m->offset == 0 && m->readable && m->from <= s->address) {
        s->header = m->from;
        size_t n = rt_length(m->path);
        rt_copy(s->file, m->path, (n < RT_PATH ? n : RT_PATH - 1) + 1);
        s->file[RT_PATH - 1] = '\0';
        copy_path(s->path, m->path);
    }
    if (s->address >= m->to)
        return true;
    s->found = s->address >= m->from && s->header && tl_rt_same(m->path, s->file);
    return false;
}

bool tl_rt_maps_find(uintptr_t address, uintptr_t *header, char path[static RT_PATH])
{
    struct search *s = tl_rt_memory_take(sizeof *s);
    if (!s)
        return false;
    s->address = address;
    s->path = path;
    tl_rt_maps_each(see, s);
    bool found = s->found;
    *header = s->header;
    tl_rt_memory_give(s, sizeof *s);
    if (!found)
        path[0] = '\0';
    return found;
}

bool tl_rt_notes_build_id(const unsigned char *p, size_t n, char out[static 65])
{
    static const char digit[] = "0123456789abcdef";
    Elf64_Nhdr h;
    while (n >= sizeof h) {
        rt_copy(&h, p, sizeof h);
        size_t name = ((size_t)h.n_namesz + 3) & ~(size_t)3, value = ((size_t)h.n_descsz + 3) & ~(size_t)3;
        p += sizeof h, n -= sizeof h;
        if (name > n || h.n_descsz > n - name)
            return false;
        if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && tl_rt_same((const char *)p, "GNU") && h.n_descsz > 0 &&
            h.n_descsz <= BUILD_ID_MAX) {
            for (size_t i = 0; i < h.n_descsz; i++) {
                out[2 * i] = digit[p[name + i] >> 4];
                out[2 * i + 1] = digit[p[name + i] & 15];
            }
            out[2 * h.n_descsz] = '\0';
            return true;
        }
        if (value > n - name)
            return false;
        p += name + value, n -= name + value;
    }
    return false;
}

static bool in_file_part(const Elf64_Phdr *p, size_t n, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_R) && address >= p[i].p_vaddr &&
            address - p[i].p_vaddr <= p[i].p_filesz && size <= p[i].p_filesz - (address - p[i].p_vaddr))
            return true;
    return false;
}

/* Program headers beyond the first page would be very odd, and need not be mapped. */
static bool is_elf(const Elf64_Ehdr *e)
{
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    for (size_t i = 0; i < sizeof ident; i++)
        if (e->e_ident[i] != ident[i])
            return false;
    return e->e_phentsize == sizeof(Elf64_Phdr) && e->e_phnum > 0 && e->e_phoff <= PAGE_MIN &&
           e->e_phnum <= (PAGE_MIN - e->e_phoff) / sizeof(Elf64_Phdr);
}

bool tl_rt_image_read(rt_object *o, uintptr_t header)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)header;
    if (!is_elf(e))
        return false;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(header + e->e_phoff);
    uint64_t low = UINT64_MAX, high = 0, begin = UINT64_MAX;
    for (size_t i = 0; i < e->e_phnum; i++) {
        if (p[i].p_type != PT_LOAD)
            continue;
        if (p[i].p_vaddr < low)
            low = p[i].p_vaddr;
        if (p[i].p_vaddr + p[i].p_memsz > high)
            high = p[i].p_vaddr + p[i].p_memsz;
        if (p[i].p_offset < PAGE_MIN && begin == UINT64_MAX)
            begin = p[i].p_vaddr - p[i].p_offset;
        o->writable |= (p[i].p_flags & (PF_X | PF_W)) == (PF_X | PF_W);
    }
    if (begin == UINT64_MAX || high <= low)
        return false;
    o->header = header;
    o->bias = header - begin;
    o->low = o->bias + low;
    o->high = o->bias + high;
    for (size_t i = 0; i < e->e_phnum && !o->build_id[0]; i++)
        if (p[i].p_type == PT_NOTE && in_file_part(p, e->e_phnum, p[i].p_vaddr, p[i].p_filesz))
            tl_rt_notes_build_id((const unsigned char *)o->bias + p[i].p_vaddr, p[i].p_filesz, o->build_id);
    return true;
}
