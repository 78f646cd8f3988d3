/* The hook "llvm": the recorder as modes of LLVM's own XRay runtime, for programs that are linked with it.
 *
 *   XRAY_OPTIONS="patch_premain=true xray_mode=traceloom-fdr"        or traceloom-profile
 *   __xray_log_select_mode("traceloom-fdr"); __xray_log_init_mode("traceloom-fdr", "threshold=5us"); __xray_patch();
 *
 * Further settings are those of TRACELOOM; what the program gives as options comes after them. The file is written when
 * the program ends, whether it calls __xray_log_finalize() or not. With TRACELOOM alone the program is recorded as any
 * other program is, and its functions are patched by us.
 *
 * The symbols of that runtime are hidden in the program, so all this needs the static library. Its headers are of C++:
 * what is needed of them is declared here.
 *
 * Its trampolines keep vector registers, and call us at some distance below the traced function's frame, which is
 * another one for entries and exits, and for each version. The distances are measured at the begin, by trampolines that
 * we call ourselves with a number that no function has. So a call's place is exact: the stack pointer before it. */
#include "rt/hook/rt_llvm.h"

#include <fcntl.h>
#include <stdlib.h>

#include "rt/control/rt_control.h"
#include "rt/hook/rt_object_start.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_life.h"
#include "rt/rt_say.h"
#include "rt/rt_settings.h"
#include "rt/rt_sys.h"

enum log_init { LOG_UNINITIALIZED = 0, LOG_INITIALIZED = 2, LOG_FINALIZED = 4 };
enum log_flush { LOG_NOT_FLUSHING = 0, LOG_FLUSHED = 2 };
enum { REGISTERED = 0 };

struct log_mode {
    int (*init)(size_t buffer_size, size_t max_buffers, void *options, size_t size);
    int (*finalize)(void);
    void (*handle)(int32_t function, int kind);
    int (*flush)(void);
};

#define WEAK __attribute__((weak))
WEAK int __xray_log_register_mode(const char *mode, struct log_mode functions);
WEAK int __xray_log_select_mode(const char *mode);
WEAK int __xray_log_init_mode(const char *mode, const char *options);
WEAK int __xray_set_handler(void (*handler)(int32_t function, int kind));
WEAK int __xray_set_handler_arg1(void (*handler)(int32_t function, int kind, uint64_t value));
WEAK int __xray_set_customevent_handler(void (*handler)(void *data, size_t size));
WEAK int __xray_set_typedevent_handler(void (*handler)(size_t type, const void *data, size_t size));
WEAK int __xray_remove_handler(void);
WEAK int __xray_remove_handler_arg1(void);
WEAK int __xray_remove_customevent_handler(void);
WEAK int __xray_remove_typedevent_handler(void);
WEAK int __xray_patch(void);
WEAK int __xray_unpatch(void);
WEAK int __xray_patch_function(int32_t function);
WEAK const char *__xray_default_options(void);
WEAK extern const char __xray_FunctionEntry[], __xray_FunctionExit[], __xray_FunctionTailExit[],
    __xray_ArgLoggerEntry[];

/* Defined by the linker. */
#pragma GCC visibility push(hidden)
WEAK extern const char __start_xray_instr_map[], __stop_xray_instr_map[], __ehdr_start[];
#pragma GCC visibility pop

static const rt_object *object; /* the program */
static bool by_mode;            /* recording was begun through the runtime: the program decides what is patched */
static uintptr_t above[RT_TRAMPOLINES]; /* distance from our frame to the stack pointer before the call */

/* ---- events ---- */

/* The program may patch a function that the patterns leave out. */
RT_INLINE bool is_left(int32_t function)
{
    uint32_t i = (uint32_t)function - 1;
    return i < object->count && (!by_mode || object->wanted[i]);
}

static void on_call(int32_t function, int kind)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    if (!is_left(function))
        return;
    uint32_t id = object->base + (uint32_t)function;
    if (kind == RT_SLED_EXIT) {
        sp += above[RT_SLED_EXIT];
        tl_rt_handlers.exit(id, sp, sp);
    } else if (kind == RT_SLED_TAIL) {
        sp += above[RT_SLED_TAIL];
        tl_rt_handlers.tail(id, sp, sp);
    } else {
        sp += above[RT_SLED_ENTRY];           /* an entry with an argument comes here, too, until that handler is set */
        tl_rt_handlers.enter(id, sp, sp + 1); /* an older call at the same place was left */
    }
}

static void on_argument(int32_t function, int kind, uint64_t value)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0) + above[RT_SLED_ARGUMENT];
    (void)kind;
    if (is_left(function))
        tl_rt_handlers.argument(object->base + (uint32_t)function, sp, sp + 1, value);
}

static void on_custom(void *data, size_t size)
{
    tl_rt_handlers.custom(data, size);
}

static void on_typed(size_t type, const void *data, size_t size)
{
    tl_rt_handlers.typed((uint32_t)type, data, size);
}

/* ---- places of calls ---- */

enum { NO_FUNCTION = 0x0ffffff0 };
static uintptr_t measured;

static void on_measure(int32_t function, int kind)
{
    (void)kind;
    if (function == NO_FUNCTION)
        measured = (uintptr_t)__builtin_frame_address(0);
}

static void on_measure_argument(int32_t function, int kind, uint64_t value)
{
    (void)kind, (void)value;
    if (function == NO_FUNCTION)
        measured = (uintptr_t)__builtin_frame_address(0);
}

/* Calls a trampoline as a sled does. Returns what the stack pointer would be before a call of the traced function. */
static uintptr_t call_trampoline(const char *trampoline, bool is_exit)
{
    uintptr_t sp;
#if defined(__x86_64__)
    /* An entry sled calls, on top of the function's own return address; an exit sled jumps, in place of the return. */
    uintptr_t pushed = is_exit ? 0 : 8;
    __asm__ volatile("mov %%rsp, %%rbx\n\t"
                     "sub $256, %%rsp\n\t"
                     "and $-16, %%rsp\n\t"
                     "mov %%rsp, %%r12\n\t"
                     "sub %[pushed], %%rsp\n\t"
                     "mov %[id], %%r10d\n\t"
                     "call *%[trampoline]\n\t"
                     "mov %%rbx, %%rsp\n\t"
                     "mov %%r12, %[sp]"
                     : [sp] "=r"(sp)
                     : [pushed] "r"(pushed), [trampoline] "r"(trampoline), [id] "i"(NO_FUNCTION)
                     : "rbx", "r12", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
#else
    (void)is_exit; /* all sleds are alike: they push two registers */
    __asm__ volatile("mov x19, sp\n\t"
                     "sub sp, sp, #256\n\t"
                     "mov x20, sp\n\t"
                     "sub sp, sp, #16\n\t"
                     "mov w0, %w[id]\n\t"
                     "mov w17, %w[id]\n\t"
                     "mov x16, %[trampoline]\n\t"
                     "blr x16\n\t"
                     "mov sp, x19\n\t"
                     "mov %[sp], x20"
                     : [sp] "=r"(sp)
                     : [trampoline] "r"(trampoline), [id] "r"(NO_FUNCTION)
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17", "x18", "x19", "x20", "x30", "memory", "cc");
#endif
    return sp;
}

/* False: an unknown version of the runtime. */
static bool measure(void)
{
    static const char *const trampoline[RT_TRAMPOLINES] = {__xray_FunctionEntry, __xray_FunctionExit,
                                                           __xray_FunctionTailExit, __xray_ArgLoggerEntry};
    bool good = true;
    __xray_set_handler(on_measure);
    __xray_set_handler_arg1(on_measure_argument);
    for (unsigned kind = 0; kind < RT_TRAMPOLINES; kind++) {
        const char *to = trampoline[kind];
        measured = 0;
        uintptr_t sp = to ? call_trampoline(to, kind == RT_SLED_EXIT) : 0;
        above[kind] = sp - measured;
        good = good && measured && above[kind] < RT_PATH;
    }
    __xray_remove_handler_arg1();
    __xray_remove_handler();
    return good;
}

/* ---- the hook ---- */

static uint32_t none(void)
{
    return 0; /* the hook "sleds" counts the program's functions, and selects among them */
}

static void patch(void)
{
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < object->count; i++)
        wanted += object->wanted[i];
    if (wanted == object->count) {
        __xray_patch();
        return;
    }
    __xray_unpatch();
    for (uint32_t i = 0; i < object->count; i++)
        if (object->wanted[i])
            __xray_patch_function((int32_t)i + 1);
}

static void start(void)
{
    __xray_set_handler(on_call);
    __xray_set_handler_arg1(on_argument);
    __xray_set_customevent_handler(on_custom);
    __xray_set_typedevent_handler(on_typed);
    if (!by_mode)
        patch();
}

static void stop(void)
{
    if (!by_mode)
        __xray_unpatch();
    __xray_remove_typedevent_handler();
    __xray_remove_customevent_handler();
    __xray_remove_handler_arg1();
    __xray_remove_handler();
}

static rt_hook hook = {.name = "llvm", .functions = none, .start = start, .stop = stop};

/* ---- the modes ---- */

static bool refuse(const char *what, const char *why)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, what);
    tl_rt_line_text(&l, why);
    tl_rt_say(&l, 0, true);
    return false;
}

/* Does what tl_rt_begin() does, with the given mode and the program's options. */
static bool read_settings(unsigned mode, const char *options)
{
    char error[256];
    const char *text = secure_getenv("TRACELOOM");
    tl_rt_settings_default(&tl_rt.set);
    if (text && !tl_rt_settings_read(&tl_rt.set, text, error))
        return refuse("TRACELOOM: ", error);
    tl_rt.set.modes = mode;
    if (!tl_rt_settings_read(&tl_rt.set, options, error))
        return refuse("options of the XRay mode: ", error);
    if (tl_rt.set.modes != mode)
        return refuse("options of the XRay mode: ", "the mode is chosen by its name");
    tl_rt.pid = (int)RT_SYS0(SYS_getpid);
    long n = RT_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", tl_rt.exe, RT_PATH - 1);
    tl_rt.exe[n > 0 ? n : 0] = '\0';
    return true;
}

static int begin(unsigned mode, const char *options)
{
    if (!read_settings(mode, options))
        return LOG_UNINITIALIZED;
    by_mode = true;
    tl_rt.state = RT_WAITING;
    int status = tl_rt.set.start ? tl_rt_start() : 0;
    if (tl_rt.set.control && tl_rt.state != RT_OVER) {
        int failed = tl_rt_control_begin();
        if (failed < 0)
            tl_rt_say_error("no control from outside", tl_rt.exe, -failed);
    }
    return status < 0 ? LOG_UNINITIALIZED : LOG_INITIALIZED;
}

static int init_mode(unsigned mode, const void *options, size_t size)
{
    char text[RT_TEXT / 2];
    size_t n = !options ? 0 : size ? size : rt_length(options); /* for a text, the runtime passes no length */
    if (n >= sizeof text)
        return refuse("options of the XRay mode: ", "they are too long"), LOG_UNINITIALIZED;
    rt_copy(text, options, n);
    text[n] = '\0';
    if (tl_rt.state == RT_OFF)
        return begin(mode, text);
    if (tl_rt.set.modes == mode)
        return tl_rt_start() < 0 ? LOG_UNINITIALIZED : LOG_INITIALIZED;
    refuse("another mode is recorded already: ", tl_rt_settings_mode(tl_rt.set.modes));
    return LOG_UNINITIALIZED;
}

static int init_fdr(size_t buffer_size, size_t max_buffers, void *options, size_t size)
{
    (void)buffer_size, (void)max_buffers;
    return init_mode(RT_MODE_FDR, options, size);
}

static int init_profile(size_t buffer_size, size_t max_buffers, void *options, size_t size)
{
    (void)buffer_size, (void)max_buffers;
    return init_mode(RT_MODE_PROFILE, options, size);
}

static int finalize(void)
{
    tl_rt_stop();
    return LOG_FINALIZED;
}

static int flush(void)
{
    return tl_rt_flush() < 0 ? LOG_NOT_FLUSHING : LOG_FLUSHED;
}

/* ---- begin ---- */

/* The modes in TRACELOOM=mode=..., which take precedence over XRAY_OPTIONS (traceloom record sets them); 0: not set. */
static unsigned chosen_modes(void)
{
    char error[256];
    const char *text = secure_getenv("TRACELOOM");
    tl_rt_settings_default(&tl_rt.set); /* tl_rt_begin() repeats this */
    return text && *text && tl_rt_settings_read(&tl_rt.set, text, error) && tl_rt.set.has_mode ? tl_rt.set.modes : 0;
}

bool tl_rt_llvm_present(void)
{
    return __xray_log_register_mode && __xray_set_handler && &__start_xray_instr_map[0] != &__stop_xray_instr_map[0];
}

/* The program among the objects: registered here, unless it was linked with the start file. Our own runtime must not
 * touch its sleds. */
static const rt_object *find_program(void)
{
    static const rt_handlers *handlers; /* never called through */
    static rt_sled_map map = {.version = RT_START_VERSION, .handlers = &handlers};
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < tl_rt_objects(); i++) {
            rt_object *o = (rt_object *)tl_rt_object(i);
            if (!o->map || o->map->begin != __start_xray_instr_map)
                continue;
            o->refused = true;
            return o;
        }
        map.begin = __start_xray_instr_map;
        map.end = __stop_xray_instr_map;
        map.header = __ehdr_start;
        tl_rt_object_register(&map);
    }
    return NULL;
}

/* The value of xray_mode among options in the manner of the sanitizers: key=value, between them blanks or any of ",:".
 */
static bool names_mode(const char *options, const char *mode)
{
    static const char key[] = "xray_mode=";
    bool found = false;
    for (const char *p = options; p && *p;) {
        size_t n = 0, k = 0;
        while (p[n] && !tl_rt_glob("[ ,:\n\t\r]", (char[]){p[n], '\0'}))
            n++;
        while (k < sizeof key - 1 && k < n && p[k] == key[k])
            k++;
        if (k == sizeof key - 1) { /* the last one counts */
            const char *value = p + k;
            size_t length = n - k;
            if (length >= 2 && (value[0] == '"' || value[0] == '\'')) {
                value++;
                length -= 2;
            }
            size_t same = 0;
            while (same < length && mode[same] == value[same])
                same++;
            found = same == length && !mode[same];
        }
        p += n + (p[n] != '\0');
    }
    return found;
}

void tl_rt_llvm_begin(void)
{
    static const struct {
        const char *name;
        unsigned modes;
        struct log_mode functions;
    } mode[] = {{"traceloom-fdr", RT_MODE_FDR, {init_fdr, finalize, on_call, flush}},
                {"traceloom-profile", RT_MODE_PROFILE, {init_profile, finalize, on_call, flush}}};
    if (!tl_rt_llvm_present() || object)
        return;
    object = find_program();
    if (!object || !measure()) {
        refuse("this is not the XRay runtime that the recorder knows", "; functions are not recorded");
        return;
    }
    tl_rt_hook_add(&hook);
    const char *options = secure_getenv("XRAY_OPTIONS");
    const unsigned chosen = chosen_modes();
    for (unsigned i = 0; i < sizeof mode / sizeof *mode; i++) {
        bool good = __xray_log_register_mode(mode[i].name, mode[i].functions) == REGISTERED;
        if (good && (!chosen || chosen == mode[i].modes) &&
            (names_mode(options, mode[i].name) ||
             (!options && __xray_default_options && names_mode(__xray_default_options(), mode[i].name)))) {
            __xray_log_select_mode(mode[i].name);
            __xray_log_init_mode(mode[i].name, "");
        }
    }
}
