/* A plugin for QEMU's user mode with callbacks that do nothing: what record --insn costs at least. */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int,
                                      int, void *);

int qemu_plugin_version = 1;

static void on_insn(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
}

static void on_access(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
    (void)cpu, (void)info, (void)address, (void)data;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    enum { NO_REGISTERS = 0, BOTH = 3 };
    (void)id;
    for (size_t k = 0; k < qemu_plugin_tb_n_insns(block); k++) {
        struct qemu_plugin_insn *const one = qemu_plugin_tb_get_insn(block, k);
        qemu_plugin_register_vcpu_insn_exec_cb(one, on_insn, NO_REGISTERS, NULL);
        qemu_plugin_register_vcpu_mem_cb(one, on_access, NO_REGISTERS, BOTH, NULL);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
