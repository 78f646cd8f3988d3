/* A plugin for QEMU's user mode that counts how often given places of files are reached: what patched recordings are
 * compared with. It shares nothing with the recorder, neither code nor the way of counting.
 *
 *     qemu-x86_64 -plugin ./oracle_plugin.so,list=FILE,counts=FILE PROGRAM
 *
 *     list     text: "file PATH", followed by its places, "OFFSET END": bytes from the begin of the file, hexadecimal,
 *              of a function's first instruction and behind its last one
 *     counts   two u64 for each place, in the order of the list, zero before: executions of the first instruction, but
 *              for those that the function itself jumped to; and those of them that come right behind a call.
 *              Processes that are forked add to the same file
 *
 * For version 1 of the interface, QEMU 6 to 8; no package has its header, so this file declares what it uses. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* QEMU's plugin interface. */
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { NO_REGISTERS = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id, void (*)(plugin_id, unsigned, int64_t, int64_t));

/* Where the program's address 0 is in the emulator: exported for its debugger. */
extern uintptr_t guest_base;

PUBLIC int qemu_plugin_version = 1;
PUBLIC int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

typedef struct place {
    uint64_t offset, end;
    uint64_t *count; /* two */
} place;

typedef struct object {
    dev_t device;
    ino_t inode;
    place *place; /* by offset */
    size_t places, room;
} object;

typedef struct mapping {
    uint64_t begin, end, offset;
    object *of;
} mapping;

/* What the last instruction of a translated block is. */
typedef struct block {
    uint64_t jumps_to; /* the begin of its own function; 0: it does not */
    bool calls;
} block;

/* A first instruction in a block, as it is executed. */
typedef struct arrival {
    const place *at;
    uint64_t address;
    bool first; /* of the block; otherwise the instruction before went on to it */
} arrival;

enum { OBJECTS = 64, MAPPINGS = 4096 };
static object objects[OBJECTS];
static size_t object_count;
static mapping mappings[MAPPINGS];
static size_t mapping_count;
static bool mappings_old = true;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* QEMU runs each thread of the program in one of its own. */
static __thread const block *before, *now;

static void die(const char *what)
{
    fprintf(stderr, "oracle_plugin: %s\n", what);
    _exit(3);
}

static void add_object(const char *path)
{
    struct stat status;
    if (object_count == OBJECTS || stat(path, &status))
        die(path);
    objects[object_count++] = (object){.device = status.st_dev, .inode = status.st_ino};
}

static size_t add_place(uint64_t offset, uint64_t end)
{
    object *o = &objects[object_count - 1];
    if (o->places == o->room) {
        o->room = o->room ? 2 * o->room : 1024;
        o->place = realloc(o->place, o->room * sizeof *o->place);
        if (!o->place)
            die("no memory");
    }
    o->place[o->places++] = (place){offset, end, NULL};
    return 1;
}

static void read_list(const char *path, const char *counts)
{
    char line[4096];
    size_t all = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        die(path);
    while (fgets(line, sizeof line, f)) {
        uint64_t offset, end;
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "file ", 5))
            add_object(line + 5);
        else if (object_count && sscanf(line, "%" SCNx64 " %" SCNx64, &offset, &end) == 2)
            all += add_place(offset, end);
        else
            die("bad line in the list");
    }
    fclose(f);
    const int fd = open(counts, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)(all * 2 * sizeof(uint64_t))))
        die(counts);
    uint64_t *count = all ? mmap(NULL, all * 2 * sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
    if (count == MAP_FAILED)
        die(counts);
    close(fd);
    for (size_t i = 0; i < object_count; i++)
        for (size_t j = 0; j < objects[i].places; j++, count += 2)
            objects[i].place[j].count = count;
}

/* Files are mapped for the program as the emulator's own mappings. */
static void read_mappings(void)
{
    char line[4096];
    FILE *f = fopen("/proc/self/maps", "r");
    if (!f)
        die("cannot read /proc/self/maps");
    mapping_count = 0;
    while (fgets(line, sizeof line, f) && mapping_count < MAPPINGS) {
        unsigned major, minor;
        mapping m;
        uint64_t inode;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64, &m.begin, &m.end, &m.offset, &major,
                   &minor, &inode) != 6)
            continue;
        for (size_t i = 0; i < object_count; i++) {
            /* The device of a file on some file systems is not that of its mappings. */
            if (objects[i].inode == inode) {
                m.of = &objects[i];
                mappings[mapping_count++] = m;
                break;
            }
        }
    }
    fclose(f);
    mappings_old = false;
}

static const place *find_place(uint64_t address)
{
    const uint64_t here = address + guest_base;
    for (size_t i = 0; i < mapping_count; i++) {
        const mapping *m = &mappings[i];
        if (here < m->begin || here >= m->end)
            continue;
        const uint64_t offset = here - m->begin + m->offset;
        size_t low = 0, high = m->of->places;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (m->of->place[middle].offset < offset)
                low = middle + 1;
            else
                high = middle;
        }
        return low < m->of->places && m->of->place[low].offset == offset ? &m->of->place[low] : NULL;
    }
    return NULL;
}

static int64_t signed_at(const uint8_t *p, size_t size)
{
    int8_t byte;
    int32_t word;
    if (size == 1) {
        memcpy(&byte, p, 1);
        return byte;
    }
    memcpy(&word, p, 4);
    return word;
}

/* Of a direct jump; of a string instruction that is repeated, which QEMU does by going to it again; else 0. */
static uint64_t jump_target(const uint8_t *p, size_t size, uint64_t address)
{
    size_t at = 0;
    bool repeats = false;
    while (at < size && (p[at] == 0x66 || p[at] == 0x2e || p[at] == 0x3e || p[at] == 0xf2 || p[at] == 0xf3)) {
        repeats |= p[at] == 0xf2 || p[at] == 0xf3;
        at++;
    }
    if (repeats) {
        const size_t op = at + (at < size && (p[at] & 0xf0) == 0x40);
        if (op < size && ((p[op] >= 0xa4 && p[op] <= 0xa7) || (p[op] >= 0xaa && p[op] <= 0xaf)))
            return address;
    }
    if (at + 2 <= size && (p[at] == 0xeb || (p[at] & 0xf0) == 0x70 || (p[at] & 0xfc) == 0xe0))
        return address + size + (uint64_t)signed_at(p + size - 1, 1);
    if (at + 5 <= size && (p[at] == 0xe9 || (p[at] == 0x0f && (p[at + 1] & 0xf0) == 0x80)))
        return address + size + (uint64_t)signed_at(p + size - 4, 4);
    return 0;
}

/* call rel32, and calls through registers and memory. */
static bool is_call(const uint8_t *p, size_t size)
{
    size_t at = 0;
    while (at < size && (p[at] == 0x66 || p[at] == 0x2e || p[at] == 0x3e || p[at] == 0xf2 || p[at] == 0x67 ||
                         (p[at] & 0xf0) == 0x40))
        at++;
    return at + 2 <= size && (p[at] == 0xe8 || (p[at] == 0xff && (p[at + 1] & 0x38) == 0x10));
}

static void on_block(unsigned cpu, void *data)
{
    (void)cpu;
    before = now;
    now = data;
}

static void on_arrival(unsigned cpu, void *data)
{
    const arrival *a = data;
    (void)cpu;
    if (a->first && before && before->jumps_to == a->address)
        return;
    (void)__atomic_fetch_add(&a->at->count[0], 1, __ATOMIC_RELAXED);
    if (a->first && before && before->calls)
        (void)__atomic_fetch_add(&a->at->count[1], 1, __ATOMIC_RELAXED);
}

/* A jump to the begin of the function that it is in; to that of another one it is a call. */
static uint64_t own_jump(struct qemu_plugin_insn *last)
{
    const uint64_t address = qemu_plugin_insn_vaddr(last);
    const uint64_t target = jump_target(qemu_plugin_insn_data(last), qemu_plugin_insn_size(last), address);
    const place *p = target ? find_place(target) : NULL;
    return p && address >= target && address - target < p->end - p->offset ? target : 0;
}

/* Blocks live as long as the process: QEMU does not say when it forgets one. */
static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
    const size_t n = qemu_plugin_tb_n_insns(tb);
    block *b = calloc(1, sizeof *b);
    (void)id;
    if (!b)
        die("no memory");
    pthread_mutex_lock(&lock);
    if (mappings_old)
        read_mappings();
    if (n) {
        struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
        b->jumps_to = own_jump(last);
        b->calls = is_call(qemu_plugin_insn_data(last), qemu_plugin_insn_size(last));
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGISTERS, b);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const place *p = find_place(qemu_plugin_insn_vaddr(insn));
        if (!p)
            continue;
        arrival *a = malloc(sizeof *a);
        if (!a)
            die("no memory");
        *a = (arrival){p, qemu_plugin_insn_vaddr(insn), i == 0};
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_arrival, NO_REGISTERS, a);
    }
    pthread_mutex_unlock(&lock);
}

static void on_system_call(plugin_id id, unsigned cpu, int64_t number, int64_t result)
{
    enum { MMAP = 9, MPROTECT = 10, MUNMAP = 11, MREMAP = 25 };
    (void)id;
    (void)cpu;
    (void)result;
    if (number == MMAP || number == MPROTECT || number == MUNMAP || number == MREMAP) {
        pthread_mutex_lock(&lock);
        mappings_old = true;
        pthread_mutex_unlock(&lock);
    }
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    const char *list = NULL, *counts = NULL;
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "list=", 5))
            list = argv[i] + 5;
        else if (!strncmp(argv[i], "counts=", 7))
            counts = argv[i] + 7;
    }
    if (!list || !counts)
        die("list= and counts= are needed");
    read_list(list, counts);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call);
    return 0;
}
