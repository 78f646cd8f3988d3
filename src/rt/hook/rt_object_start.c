/* The start file: the part of the recorder that every object with sleds has: the program and each library.
 *
 * Sleds reach only what is near, and a library may be loaded anywhere; so each object has its own trampolines
 * (rt_trampoline_*.S). They call through a pointer to the recorder's handlers. Until the object is registered, and in
 * programs without the recorder for ever, that is a table of functions that do nothing.
 *
 * This file and the trampolines are an archive of their own, traceloom-rt-start. It is linked as a whole into every
 * object, all its symbols are hidden, and nothing but tl_rt_object_(un)register is undefined in it:
 *
 *   program   -Wl,--whole-archive -ltraceloom-rt-start -Wl,--no-whole-archive -Wl,-u,tl_rt_object_register
 * -ltraceloom-rt and for libraries that are opened later: -Wl,--export-dynamic-symbol=tl_rt_object_register
 *                                                      -Wl,--export-dynamic-symbol=tl_rt_object_unregister
 *   library   -Wl,--whole-archive -ltraceloom-rt-start -Wl,--no-whole-archive */
#include "rt/hook/rt_object_start.h"

#include "rt/rt_sys.h"

#pragma GCC visibility push(hidden)
/* Defined by the linker if the section exists; and the ELF header in memory. */
extern const char __start_xray_instr_map[] __attribute__((weak));
extern const char __stop_xray_instr_map[] __attribute__((weak));
extern const char __ehdr_start[] __attribute__((weak));

/* rt_trampoline_*.S */
extern const char tl_rt_trampoline_entry[], tl_rt_trampoline_exit[], tl_rt_trampoline_tail[],
    tl_rt_trampoline_argument[];
extern const rt_handlers *tl_rt_start_handlers;
/* registers: the first three of a call, as the sled left them. back: the sled's return address. pushed: what it
 * pushed. */
void tl_rt_start_custom(const uint64_t registers[3], const char *back, const uint64_t *pushed);
void tl_rt_start_typed(const uint64_t registers[3], const char *back, const uint64_t *pushed);
#pragma GCC visibility pop

#pragma weak tl_rt_object_register
#pragma weak tl_rt_object_unregister

RT_UNTRACED static void idle_call(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    (void)id, (void)sp, (void)keep;
}

RT_UNTRACED static void idle_argument(uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value)
{
    (void)id, (void)sp, (void)keep, (void)value;
}

RT_UNTRACED static void idle_custom(const void *data, size_t n)
{
    (void)data, (void)n;
}

RT_UNTRACED static void idle_typed(uint32_t type, const void *data, size_t n)
{
    (void)type, (void)data, (void)n;
}

static const rt_handlers idle = {
    .enter = idle_call,
    .exit = idle_call,
    .tail = idle_call,
    .argument = idle_argument,
    .custom = idle_custom,
    .typed = idle_typed,
};

const rt_handlers *tl_rt_start_handlers = &idle;

/* Which registers the last instructions of an event's sled move into the first n argument registers: the index among
 * the first three, or -1 for others. And which of the three the sled has pushed: pushed[at[i]]; -1: not pushed. */
#if defined(__x86_64__)
RT_UNTRACED static void read_moves(const char *back, int n, int from[3], int at[3])
{
    static const unsigned char number[] = {7, 6, 2};          /* of rdi, rsi, rdx */
    const unsigned char *p = (const unsigned char *)back - 5; /* before the call; each move has 3 bytes */
    int depth = 0;
    for (int i = n - 1; i >= 0; i--) {
        bool moved = (p[-3] & 0xfb) == 0x48 && p[-2] == 0x89 && (p[-1] & 0xc7) == (0xc0 | number[i]);
        from[i] = moved ? -1 : i;
        at[i] = moved ? depth++ : -1;
        for (int k = 0; moved && k < 3; k++)
            if (p[-3] == 0x48 && (p[-1] >> 3 & 7) == number[k])
                from[i] = k;
        p -= moved ? 3 : 0;
    }
}
#else
RT_UNTRACED static void read_moves(const char *back, int n, int from[3], int at[3])
{
    const uint32_t *p = (const uint32_t *)(const void *)back - 1 - n; /* the moves, then the call */
    for (int i = 0; i < n; i++) {
        int source = p[i] >> 16 & 31;
        bool moved = (p[i] & 0xffe0ffff) == (0xaa0003e0 | (uint32_t)i);
        from[i] = moved && source < 3 ? source : -1;
        at[i] = i;
    }
}
#endif

/* Reads the arguments that the compiler meant to pass. It moves them into registers one after the other, and an earlier
 * move may overwrite the source of a later one, as LLVM's sources note. The overwritten value is on the stack. */
RT_UNTRACED static void read_arguments(uint64_t out[3], int n, const uint64_t *registers, const char *back,
                                       const uint64_t *pushed)
{
    int from[3], at[3];
    read_moves(back, n, from, at);
    for (int i = 0; i < n; i++)
        out[i] = from[i] >= 0 && from[i] < i && at[from[i]] >= 0 ? pushed[at[from[i]]] : registers[i];
}

RT_UNTRACED void tl_rt_start_custom(const uint64_t registers[3], const char *back, const uint64_t *pushed)
{
    uint64_t a[3];
    read_arguments(a, 2, registers, back, pushed);
    tl_rt_start_handlers->custom((const void *)(uintptr_t)a[0], (size_t)a[1]);
}

/* The type has 16 bits; the higher ones are undefined. */
RT_UNTRACED void tl_rt_start_typed(const uint64_t registers[3], const char *back, const uint64_t *pushed)
{
    uint64_t a[3];
    read_arguments(a, 3, registers, back, pushed);
    tl_rt_start_handlers->typed((uint16_t)a[0], (const void *)(uintptr_t)a[1], (size_t)a[2]);
}

static rt_sled_map map = {
    .version = RT_START_VERSION,
    .trampoline = {[RT_SLED_ENTRY] = tl_rt_trampoline_entry,
                   [RT_SLED_EXIT] = tl_rt_trampoline_exit,
                   [RT_SLED_TAIL] = tl_rt_trampoline_tail,
                   [RT_SLED_ARGUMENT] = tl_rt_trampoline_argument},
    .handlers = &tl_rt_start_handlers,
};

/* As early as a constructor may be, so that other constructors are recorded, too; and as late as a destructor may
 * be. */
RT_UNTRACED __attribute__((constructor(101))) static void object_loaded(void)
{
    map.begin = __start_xray_instr_map;
    map.end = __stop_xray_instr_map;
    map.header = __ehdr_start;
    if (tl_rt_object_register)
        tl_rt_object_register(&map);
}

RT_UNTRACED __attribute__((destructor(101))) static void object_unloaded(void)
{
    if (tl_rt_object_unregister)
        tl_rt_object_unregister(&map);
}
