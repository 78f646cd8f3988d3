/* The plugin that `traceloom record --insn` loads into QEMU's user mode:
 *
 *     qemu-aarch64 -cpu neoverse-n1 -singlestep -plugin libtraceloom-qemu.so,memory=FD[,hint=on][,order=on] PROGRAM
 *
 *     memory=FD   of the memory that is shared with the command, see insn_layout.h
 *     hint=on     records between two HINT #9, which are not recorded
 *     order=on    a TIME before each access, also while there is only one thread
 *
 * Without -singlestep it records a slice, which the memory describes.
 *
 * Values of registers are those before an instruction with -singlestep only. Accesses of SVE are not seen, so that the
 * processor must not have it. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu/insn_thread.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC extern int qemu_plugin_version;
int qemu_plugin_version = 1;
PUBLIC int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

/* Instructions that were translated, until QEMU drops all its translations. */
enum { INSNS_OF_CHUNK = 4096 };
typedef struct chunk {
    struct chunk *next;
    size_t n;
    insn insn[INSNS_OF_CHUNK];
} chunk;
static chunk *chunks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static insn *new_insn(void)
{
    if (!chunks || chunks->n == INSNS_OF_CHUNK) {
        chunk *const c = malloc(sizeof *c);
        if (!c)
            insn_refuse(INSN_NO_MEMORY);
        c->next = chunks;
        c->n = 0;
        chunks = c;
    }
    return &chunks->insn[chunks->n++];
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    if (insn_slice_translates(block))
        return;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < qemu_plugin_tb_n_insns(block); k++) {
        struct qemu_plugin_insn *const one = qemu_plugin_tb_get_insn(block, k);
        insn *const i = new_insn();
        uint32_t opcode;
        memcpy(&opcode, qemu_plugin_insn_data(one), sizeof opcode);
        insn_examine(i, qemu_plugin_insn_vaddr(one), opcode);
        qemu_plugin_register_vcpu_insn_exec_cb(one, insn_on_insn, QEMU_NO_REGISTERS, i);
        if (i->is & INSN_ACCESSES)
            qemu_plugin_register_vcpu_mem_cb(one, insn_on_access, QEMU_NO_REGISTERS, QEMU_READS_AND_WRITES, i);
    }
    pthread_mutex_unlock(&lock);
}

/* No thread is in translated code now. */
static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    pthread_mutex_lock(&lock);
    for (chunk *c = chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    chunks = NULL;
    pthread_mutex_unlock(&lock);
}

static void on_exit_of_thread(qemu_plugin_id_t id, unsigned cpu)
{
    (void)id, (void)cpu;
    if (insn_me)
        insn_end_thread(insn_me);
}

static bool map_memory(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size != INSN_SHARED_SIZE)
        return false;
    void *const memory = mmap(NULL, (size_t)INSN_SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd); /* the program gets the numbers that it gets without us */
    insn_memory = memory;
    return memory != MAP_FAILED && insn_memory->magic == INSN_MAGIC;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    int fd = -1;
    (void)info;
    insn_how.always = true;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "memory=", 7) == 0)
            fd = atoi(argv[i] + 7);
        else if (strcmp(argv[i], "hint=on") == 0)
            insn_how.always = false;
        else if (strcmp(argv[i], "order=on") == 0)
            insn_how.times = true;
        else
            return -1;
    }
    if (fd < 0 || !map_memory(fd))
        return -1;
    insn_memory->attached = 1;
    insn_how.slice = insn_memory->slice.wanted;
    if (insn_how.slice && (!&singlestep || !tb_flush || !cpu_loop_exit_restore))
        insn_refuse(INSN_NO_SLICES);
    insn_watch_forks();
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_vcpu_syscall_cb(id, insn_on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, insn_on_result);
    qemu_plugin_register_vcpu_exit_cb(id, on_exit_of_thread);
    return 0;
}
