/* What the plugin uses of QEMU: version 1 of the interface for plugins, QEMU 6 to 8, of which no package has the
 * header; and functions for the debugger, which Debian's command exports. The interface gives neither registers nor
 * values. */
#ifndef TL_QEMU_API1_H
#define TL_QEMU_API1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_NO_REGISTERS = 0, QEMU_READS = 1, QEMU_WRITES = 2, QEMU_READS_AND_WRITES = 3 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t);
bool qemu_plugin_mem_is_store(uint32_t);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int,
                                      int, void *);
typedef void qemu_syscall(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, qemu_syscall *);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned, int64_t, int64_t));
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned));
void qemu_plugin_register_flush_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t));

/* GLib's array, to which the functions for the debugger append. */
typedef struct qemu_bytes {
    uint8_t *data;
    unsigned len;
} qemu_bytes;
qemu_bytes *g_byte_array_new(void);
qemu_bytes *g_byte_array_set_size(qemu_bytes *, unsigned);
extern __thread void *current_cpu;
extern uintptr_t guest_base;
int aarch64_cpu_gdb_read_register(void *cpu, qemu_bytes *, int);
int aarch64_fpu_gdb_get_reg(void *env, qemu_bytes *, int);

/* How it translates. Without these there are no slices. */
extern int singlestep __attribute__((weak)); /* one instruction a block */
void tb_flush(void *cpu) __attribute__((weak));
_Noreturn void cpu_loop_exit_restore(void *cpu, uintptr_t translated) __attribute__((weak));

/* Numbers of registers for the debugger. */
enum { QEMU_SP = 31, QEMU_PC = 32, QEMU_CPSR = 33, QEMU_FPSR = 32, QEMU_FPCR = 33 };

#endif
