/* The start file: the part of the recorder that every object with sleds has for itself, the program and each library.
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
#include "rt/rt_object_start.h"

#include "rt/rt_sys.h"

#pragma GCC visibility push(hidden)
/* Given by the linker where there is such a section, and a header in memory. */
extern const char __start_xray_instr_map[] __attribute__((weak));
extern const char __stop_xray_instr_map[] __attribute__((weak));
extern const char __ehdr_start[] __attribute__((weak));

/* rt_trampoline_*.S */
extern const char tl_rt_trampoline_entry[], tl_rt_trampoline_exit[], tl_rt_trampoline_tail[],
    tl_rt_trampoline_argument[];
extern const rt_handlers *tl_rt_start_handlers;
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

static rt_sled_map map = {
    .version = RT_START_VERSION,
    .trampoline = {[RT_SLED_ENTRY] = tl_rt_trampoline_entry,
                   [RT_SLED_EXIT] = tl_rt_trampoline_exit,
                   [RT_SLED_TAIL] = tl_rt_trampoline_tail,
                   [RT_SLED_ARGUMENT] = tl_rt_trampoline_argument},
    .handlers = &tl_rt_start_handlers,
};

/* As early as a constructor may be, so that other constructors are recorded, too; and as late as a destructor. */
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
