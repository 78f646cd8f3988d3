/* Calls each function of patch_registers.S with many states of all registers, and prints what it left different: the
 * output must be the same whether the program is patched or not. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { RAX, RCX, RDX, RBX, FLAGS /* in the place of rsp */, RBP, RSI, RDI, R8, R9, R10, R11, REGISTERS = 16 };
enum { X87_ENV = 6 /* bytes of fxsave: not the last instruction and operand */, X87_STACK = 32, MXCSR = 24, XMM = 160 };
enum { TURNS = 8, PAGE = 4096, CONDITIONS = 0x8d5, ALWAYS = 0x202 };

typedef struct state {
    uint8_t fx[512];
    uint64_t reg[REGISTERS];
    uint8_t unused[1024 - 512 - 8 * REGISTERS];
    uint8_t ymm[16][32];
} __attribute__((aligned(64))) state;

typedef void function(void);
typedef struct entry {
    const char *name;
    function *code;
    uint64_t zero; /* rcx may be 0 */
} entry;

extern const entry registers_table[];
extern void registers_probe(function *);
extern function r_leaf_a, r_leaf_b;

/* Also used by the assembly. */
state registers_in, registers_out;
uint64_t registers_sp, registers_moved;
uint32_t registers_wide, registers_mxcsr;
uint8_t registers_memory[PAGE] __attribute__((aligned(64)));

static const char *const names[REGISTERS] = {"rax", "rcx", "rdx", "rbx", "flags", "rbp", "rsi", "rdi",
                                             "r8",  "r9",  "r10", "r11", "r12",   "r13", "r14", "r15"};

/* Conditions after each combination of the flags that functions test. */
static const uint64_t conditions[TURNS] = {0, CONDITIONS, 0x40, 0x01, 0x80, 0x800, 0x44, 0x881};

static void prepare(unsigned turn, int zero)
{
    static const double value[8] = {1, -2, 3.5, 1e300, -1e-300, 7, 0.125, 9};
    const uint16_t control = turn & 1 ? 0x0f7f : 0x037f; /* rounding to zero, or to nearest */
    registers_mxcsr = 0x1f80;
    __asm__ volatile("fninit");
    for (unsigned i = 0; i < turn % 7; i++)
        __asm__ volatile("fldl %0" ::"m"(value[i]));
    __asm__ volatile("fldcw %0" ::"m"(control));
    __asm__ volatile("fxsave %0" : "=m"(registers_in.fx));
    __asm__ volatile("fninit");
    memset(registers_in.fx + 8, 0, 16);
    for (unsigned i = 0; i < 16 * 16; i++)
        registers_in.fx[XMM + i] = registers_in.ymm[i / 16][i % 16] = (uint8_t)(i * 7 + turn);
    for (unsigned i = 0; i < 16 * 16; i++)
        registers_in.ymm[i / 16][16 + i % 16] = (uint8_t)(i * 5 + turn + 1);
    const uint32_t mxcsr = turn & 2 ? 0x7f80 : 0x1f80;
    memcpy(registers_in.fx + MXCSR, &mxcsr, sizeof mxcsr);
    for (unsigned i = 0; i < REGISTERS; i++)
        registers_in.reg[i] = 0x1111111111111111u * i + turn;
    registers_in.reg[FLAGS] = ALWAYS | conditions[turn];
    registers_in.reg[RAX] = 39; /* getpid */
    registers_in.reg[RCX] = zero && turn % 2 ? 0 : 1 + turn % 3;
    registers_in.reg[RDX] = (uint64_t)&r_leaf_a;
    registers_in.reg[R11] = (uint64_t)&r_leaf_b;
    registers_in.reg[RSI] = turn % 4;
    registers_in.reg[RDI] = (uint64_t)registers_memory;
    registers_out = registers_in;
}

/* But for flags: no calling convention keeps them. Functions that need theirs make them registers. */
static void show(const entry *e, unsigned turn)
{
    printf("state %s %u:", e->name, turn);
    for (unsigned i = 0; i < REGISTERS; i++)
        if (i != FLAGS && registers_out.reg[i] != registers_in.reg[i])
            printf(" %s=%llx", names[i], (unsigned long long)registers_out.reg[i]);
    for (unsigned i = 0; i < 16; i++)
        if (memcmp(registers_out.fx + XMM + 16 * i, registers_in.fx + XMM + 16 * i, 16) ||
            (registers_wide && memcmp(registers_out.ymm[i], registers_in.ymm[i], 32))) {
            printf(" ymm%u=", i);
            for (unsigned j = 0; j < 32; j++)
                printf("%02x", j < 16 ? registers_out.fx[XMM + 16 * i + j] : registers_out.ymm[i][j]);
        }
    if (memcmp(registers_out.fx, registers_in.fx, X87_ENV) ||
        memcmp(registers_out.fx + X87_STACK, registers_in.fx + X87_STACK, 128)) {
        printf(" x87=");
        for (unsigned j = 0; j < XMM; j++)
            if (j < X87_ENV || j >= X87_STACK)
                printf("%02x", registers_out.fx[j]);
    }
    if (memcmp(registers_out.fx + MXCSR, registers_in.fx + MXCSR, 4))
        printf(" mxcsr");
    if (registers_moved)
        printf(" rsp%+lld", (long long)registers_moved);
    printf(" memory=%x\n", registers_memory[0]);
}

int main(void)
{
    registers_wide = __builtin_cpu_supports("avx") != 0;
    for (const entry *e = registers_table; e->name; e++)
        for (unsigned turn = 0; turn < TURNS; turn++) {
            prepare(turn, e->zero != 0);
            memset(registers_memory, 0, 64);
            registers_probe(e->code);
            show(e, turn);
        }
    return 0;
}
