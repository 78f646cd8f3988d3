/* What CoreCLR's profiling interface looks like from C. An object is a pointer to a table of functions, which get the
 * object first; they return a status, an HRESULT. The numbers below are places in these tables: a newer interface goes
 * on behind an older one, so that its table has all of them.
 *
 *   WCHAR     16 bits, UTF-16
 *   GUID      as in memory
 *   an id     the address of something in the runtime */
#ifndef TL_CLR_ABI_H
#define TL_CLR_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t clr_status; /* negative: a failure */
typedef uint16_t clr_char;
typedef uintptr_t clr_id;
typedef struct clr_guid {
    uint32_t a;
    uint16_t b, c;
    uint8_t d[8];
} clr_guid;

enum {
    CLR_OK = 0,
    CLR_NO = 1, /* S_FALSE */
    CLR_NO_INTERFACE = (int)0x80004002,
    CLR_NO_AGGREGATION = (int)0x80040110,
    CLR_FAILED = (int)0x80004005
};

/* Any object. */
typedef struct clr_object {
    void *const *table;
} clr_object;

enum clr_any { CLR_QUERY, CLR_ADD_REF, CLR_RELEASE };

/* ICorProfilerInfo and what follows it. */
enum clr_info {
    CLR_GET_FUNCTION_FROM_IP = 7,
    CLR_IS_ARRAY_CLASS = 11,
    CLR_GET_THREAD_INFO = 12,
    CLR_GET_CURRENT_THREAD = 13,
    CLR_GET_FUNCTION_INFO = 15,
    CLR_SET_EVENT_MASK = 16,
    CLR_GET_MODULE_INFO = 20,
    CLR_GET_MODULE_METADATA = 21,
    CLR_GET_APP_DOMAIN_INFO = 25,
    CLR_GET_ASSEMBLY_INFO = 26,
    CLR_GET_IL_TO_NATIVE = 35,
    CLR_GET_CLASS_INFO_2 = 41, /* of ICorProfilerInfo2 */
    CLR_GET_CODE_INFO_2 = 42,
    CLR_SET_FUNCTION_ID_MAPPER_2 = 59, /* 3 */
    CLR_SET_HOOKS_3 = 61,
    CLR_ENUM_MODULES = 66,
    CLR_GET_MODULE_INFO_2 = 70,
    CLR_ENUM_THREADS = 71, /* 4 */
    CLR_INITIALIZE_THREAD = 72,
    CLR_GET_OBJECT_SIZE_2 = 80,
    CLR_SET_EVENT_MASK_2 = 82 /* 5 */
};

/* Lists of ids */
enum clr_enum { CLR_NEXT = 7 };

/* IMetaDataImport */
enum clr_metadata { CLR_GET_TYPE_DEF_PROPS = 12, CLR_GET_METHOD_PROPS = 30, CLR_GET_NESTED_CLASS_PROPS = 62 };

/* ICorProfilerCallback and what follows it: 9 is the newest that the table has the places of. */
enum clr_callback {
    CLR_ON_INITIALIZE = 3,
    CLR_ON_SHUTDOWN = 4,
    CLR_ON_APP_DOMAIN = 6,
    CLR_ON_ASSEMBLY = 10,
    CLR_ON_MODULE = 14,
    CLR_ON_MODULE_ATTACHED = 17,
    CLR_ON_CLASS = 19, /* its loading has ended */
    CLR_ON_JIT_BEGIN = 23,
    CLR_ON_JIT_END = 24,
    CLR_ON_SEARCH = 25, /* for code that was compiled before */
    CLR_ON_FOUND = 26,
    CLR_ON_INLINING = 28,
    CLR_ON_THREAD_CREATED = 29,
    CLR_ON_THREAD_DESTROYED = 30,
    CLR_ON_THREAD_ASSIGNED = 31,
    CLR_ON_RESUMED = 46,
    CLR_ON_OBJECT = 50,
    CLR_ON_REFERENCES = 52,
    CLR_ON_GC_BEGIN = 73,
    CLR_ON_GC_END = 75,
    CLR_ON_ATTACH = 80, /* in place of CLR_ON_INITIALIZE */
    CLR_ON_ATTACHED = 81,
    CLR_CALLBACKS = 128 /* more than there are */
};

/* What is told: bits of SetEventMask, and the second word of SetEventMask2. */
enum clr_events {
    CLR_TELL_CLASSES = 0x2,
    CLR_TELL_MODULES = 0x4,
    CLR_TELL_ASSEMBLIES = 0x8,
    CLR_TELL_APP_DOMAINS = 0x10,
    CLR_TELL_JIT = 0x20,
    CLR_TELL_GC = 0x80,
    CLR_TELL_OBJECTS = 0x100 | 0x800000, /* each; and code that makes them so that it can */
    CLR_TELL_THREADS = 0x200,
    CLR_TELL_CALLS = 0x1000,
    CLR_TELL_STOPS = 0x10000,
    CLR_TELL_SEARCHES = 0x20000
};
enum {
    CLR_COMPILE_ONCE = 0x8, /* is no event: methods are compiled as well as they can be at once */
    CLR_TELL_GC_ONLY = 0x10
};

/* A piece of code, by its offsets in the intermediate and in the native one. The last three numbers of the former mean
 * no place there. */
typedef struct clr_map {
    uint32_t il, begin, end;
} clr_map;
enum { CLR_NO_IL = -3 };

/* Flags of a module. */
enum { CLR_COLLECTIBLE = 0x8 };

#define CLR_CALL(object, slot, type) ((type)(object)->table[slot])

#endif
