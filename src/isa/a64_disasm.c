/* Text of instructions through LLVM's disassembler, which is loaded at run time: the build needs nothing of it, and
 * only the better text is missing without it. */
#include "isa/a64_disasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"

#ifdef TL_HAVE_LLVM
#include <dlfcn.h>
#include <pthread.h>

enum {
    NEWEST = 40, /* version to look for first */
    OLDEST = 14, /* older ones do not know all features below, and would complain on standard error */
    HAS_ALL = 16 /* from here on, one feature has every instruction */
};

/* The parts of the library used, declared as in llvm-c/Disassembler.h. */
typedef struct llvm {
    const char *name;
    void (*init_info)(void), (*init_code)(void), (*init_disassembler)(void);
    void *(*create)(const char *triple, const char *cpu, const char *features, void *info, int tag, void *get_info,
                    void *look_up);
    void (*dispose)(void *context);
    size_t (*text)(void *context, uint8_t *bytes, uint64_t size, uint64_t pc, char *out, size_t room);
    bool has_all;
} llvm;

static llvm library; /* name NULL: not loaded */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char features_of_14[] =
    "+v9.3a,+sve,+sve2,+sve2-aes,+sve2-bitperm,+sve2-sha3,+sve2-sm4,+sme,+f32mm,+f64mm,+bf16,+i8mm,+crypto,+aes,+sha2,"
    "+sha3,+sm4,+fullfp16,+fp16fml,+mte,+lse,+ls64,+mops,+hbc,+tme,+brbe,+pauth,+ras,+rcpc,+rcpc-immo,+rdm,+dotprod,"
    "+rand,+sb,+ssbs,+predres,+ccpp,+spe,+spe-eef,+trbe,+ete,+el3,+rme,+xs,+wfxt,+hcx,+flagm,+altnzcv,+fptoint,"
    "+complxnum,+jsconv,+nv,+lor,+pan-rwv,+vh,+ccidx,+tlb-rmi,+am,+amvs,+ecv,+mpam,+perfmon,+sel2,+dit,+tracev8.4,"
    "+specrestrict,+pan,+uaops,+crc,+bti";

/* POSIX allows conversion of an object pointer to a function pointer; C needs a copy. */
static bool get(void *handle, const char *name, void *function)
{
    void *p = dlsym(handle, name);
    if (p)
        memcpy(function, &p, sizeof p);
    return p != NULL;
}

/* Takes a library if it has all required functions. */
static bool take(const char *file, const char *name)
{
    void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    llvm l = {.name = name};
    if (!handle)
        return false;
    if (!get(handle, "LLVMInitializeAArch64TargetInfo", &l.init_info) ||
        !get(handle, "LLVMInitializeAArch64TargetMC", &l.init_code) ||
        !get(handle, "LLVMInitializeAArch64Disassembler", &l.init_disassembler) ||
        !get(handle, "LLVMCreateDisasmCPUFeatures", &l.create) || !get(handle, "LLVMDisasmDispose", &l.dispose) ||
        !get(handle, "LLVMDisasmInstruction", &l.text)) {
        dlclose(handle); /* built without this processor */
        return false;
    }
    l.has_all = dlsym(handle, "LLVMGetVersion") != NULL; /* a function as old as HAS_ALL */
    l.init_info();
    l.init_code();
    l.init_disassembler();
    library = l;
    return true;
}

static void find_library(void)
{
    static const char *const pattern[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so"};
    static char name[32];
    const char *asked = getenv("TRACELOOM_LLVM");
    if (asked && asked[0]) {
        if (strcmp(asked, "off") != 0)
            take(asked, asked);
        return;
    }
    for (int version = NEWEST; version >= OLDEST; version--)
        for (size_t i = 0; i < TL_COUNT(pattern); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(name, sizeof name, pattern[i], version);
#pragma GCC diagnostic pop
            if (take(name, name))
                return;
        }
}

struct a64_disasm {
    void *context; /* NULL: none */
};

int a64_disasm_new(a64_disasm **out, bool plain, tl_error *e)
{
    a64_disasm *d = calloc(1, sizeof *d);
    if (!d)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a disassembler");
    if (!plain) {
        pthread_once(&once, find_library);
        if (library.name)
            d->context = library.create("aarch64-linux-gnu", "generic",
                                        library.has_all ? "+v9.3a,+all" : features_of_14, NULL, 0, NULL, NULL);
    }
    *out = d;
    return 0;
}

void a64_disasm_free(a64_disasm *d)
{
    if (d && d->context)
        library.dispose(d->context);
    free(d);
}

const char *a64_disasm_engine(const a64_disasm *d)
{
    return d->context ? library.name : "built in";
}

/* Turns "\tldr\tx0, [sp, #16]" into "ldr x0, [sp, #16]", and the last operand into the address that it means. */
static size_t tidy(char *text, uint32_t op, bool has_pc, uint64_t pc)
{
    char *to = text;
    uint64_t place;
    for (const char *from = text; *from; from++) {
        const char c = *from == '\t' || *from == '\n' ? ' ' : *from;
        if (c == '/' && from[1] == '/') /* a remark */
            break;
        if (c != ' ' || (to > text && to[-1] != ' '))
            *to++ = c;
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
    if (!has_pc || !a64_text_place(op, pc, &place))
        return (size_t)(to - text);
    char *operand = strrchr(text, '#');
    if (!operand)
        return (size_t)(to - text);
    return (size_t)(operand - text) + (size_t)snprintf(operand, 20, "0x%llx", (unsigned long long)place);
}

size_t a64_disasm_text(a64_disasm *d, uint32_t op, bool has_pc, uint64_t pc, char text[static A64_TEXT_MAX])
{
    uint8_t bytes[4];
    if (!d->context)
        return a64_text(op, has_pc, pc, text);
    tl_store32(bytes, op, false);
    /* The address of the instruction matters only for operands that tidy() replaces. */
    if (library.text(d->context, bytes, sizeof bytes, 0, text, A64_TEXT_MAX - 20) != sizeof bytes)
        return a64_text(op, has_pc, pc, text);
    return tidy(text, op, has_pc, pc);
}

#else

/* Built without LLVM. */
struct a64_disasm {
    char none;
};

int a64_disasm_new(a64_disasm **out, bool plain, tl_error *e)
{
    (void)plain;
    a64_disasm *d = calloc(1, sizeof *d);
    if (!d)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a disassembler");
    *out = d;
    return 0;
}

void a64_disasm_free(a64_disasm *d)
{
    free(d);
}

const char *a64_disasm_engine(const a64_disasm *d)
{
    (void)d;
    return "built in";
}

size_t a64_disasm_text(a64_disasm *d, uint32_t op, bool has_pc, uint64_t pc, char text[static A64_TEXT_MAX])
{
    (void)d;
    return a64_text(op, has_pc, pc, text);
}

#endif
