/* The tokens of an instruction stream as events. */
#include "format/xtrace/xtrace_classes.h"

#include "base/compiler.h"
#include "format/xtrace/xtrace_layout.h"

static const tl_field insn_fields[] = {{.name = "pc", .type = TL_HEX, .base = 16, .flags = TL_FIELD_NULLABLE},
                                       {.name = "opcode", .type = TL_HEX, .base = 16, .bits = 32},
                                       {.name = "el", .type = TL_U64, .bits = 2}};
static const tl_field mem_fields[] = {{.name = "addr", .type = TL_HEX, .base = 16, .role = TL_FIELD_BASE},
                                      {.name = "size", .type = TL_U64, .role = TL_FIELD_BYTES},
                                      {.name = "value", .type = TL_BYTES, .role = TL_FIELD_VALUE}};
static const tl_field value_field[] = {{.name = "value", .type = TL_HEX, .base = 16}};
static const tl_field time_field[] = {{.name = "value", .type = TL_U64}};
static const tl_field flags_field[] = {{.name = "nzcv", .type = TL_HEX, .base = 16, .role = TL_FIELD_FLAGS_REGISTER}};
static const tl_field register_field = {.type = TL_HEX, .base = 16};
static const tl_field all_gpr_field[] = {{.name = "x",
                                          .type = TL_LIST,
                                          .member = &register_field,
                                          .nmember = 1,
                                          .flags = TL_FIELD_FIXED,
                                          .length = XTRACE_REGISTERS,
                                          .role = TL_FIELD_GENERAL}};
static const tl_field buffer_members[] = {{.name = "base", .type = TL_HEX, .base = 16, .role = TL_FIELD_BASE},
                                          {.name = "len", .type = TL_U64, .role = TL_FIELD_BYTES}};
static const tl_field buffer = {.type = TL_STRUCT, .member = buffer_members, .nmember = 2};
static const tl_field vec_field[] = {
    {.name = "iov", .type = TL_LIST, .member = &buffer, .nmember = 1, .role = TL_FIELD_ITEMS}};

#define STATE(n, r, f)                                                                                                 \
    {                                                                                                                  \
        .kind = TL_STATE, .key = TL_KEY_VALUE, .name = (n), .field = (f), .nfield = 1, .role = TL_ROLE_##r,            \
        .flags = TL_CLASS_KEY_IS_FIELD                                                                                 \
    }

const tl_class xtrace_classes[XTRACE_CLASSES] = {
    [XTRACE_CLASS_INSN] = {.kind = TL_INSN,
                           .key = TL_KEY_PC,
                           .name = "insn",
                           .field = insn_fields,
                           .nfield = TL_COUNT(insn_fields),
                           .role = TL_ROLE_A64,
                           .aux = TL_AUX_INSN,
                           .flags = TL_CLASS_KEY_IS_FIELD},
    [XTRACE_CLASS_LOAD] = {.kind = TL_MEM,
                           .key = TL_KEY_ADDRESS,
                           .name = "load",
                           .field = mem_fields,
                           .nfield = TL_COUNT(mem_fields),
                           .role = TL_ROLE_LOAD,
                           .aux = TL_AUX_SIZE,
                           .flags = TL_CLASS_KEY_IS_FIELD},
    [XTRACE_CLASS_STORE] = {.kind = TL_MEM,
                            .key = TL_KEY_ADDRESS,
                            .name = "store",
                            .field = mem_fields,
                            .nfield = TL_COUNT(mem_fields),
                            .role = TL_ROLE_STORE,
                            .aux = TL_AUX_SIZE,
                            .flags = TL_CLASS_KEY_IS_FIELD},
    [XTRACE_CLASS_STXR] = STATE("stxr", STORED, value_field),
    [XTRACE_CLASS_MRS] = STATE("mrs", SYSTEM_VALUE, value_field),
    [XTRACE_CLASS_SVC_ARG] = STATE("svc_arg", CALL_ARGUMENT, value_field),
    [XTRACE_CLASS_SVC_RET] = STATE("svc_ret", CALL_RESULT, value_field),
    [XTRACE_CLASS_DC] = STATE("dc", CACHE_ADDRESS, value_field),
    [XTRACE_CLASS_TARGET] = STATE("target", TARGET, value_field),
    [XTRACE_CLASS_ALL_GPR] =
        {.kind = TL_REGS, .name = "all_gpr", .field = all_gpr_field, .nfield = 1, .role = TL_ROLE_GENERAL},
    [XTRACE_CLASS_FLAGS] = STATE("flags", FLAGS, flags_field),
    [XTRACE_CLASS_VEC] =
        {.kind = TL_STATE, .name = "syscall_vec", .field = vec_field, .nfield = 1, .role = TL_ROLE_CALL_BUFFERS},
    [XTRACE_CLASS_TIME] = STATE("time", ORDER, time_field),
};

const uint8_t xtrace_value_class[6] = {XTRACE_CLASS_STXR,    XTRACE_CLASS_MRS, XTRACE_CLASS_SVC_ARG,
                                       XTRACE_CLASS_SVC_RET, XTRACE_CLASS_DC,  XTRACE_CLASS_TARGET};
