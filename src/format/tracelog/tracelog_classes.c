/* Classes and shapes of all records, from records.def. */
#include "format/tracelog/tracelog_classes.h"

#include <string.h>

#include "base/compiler.h"

#define MEMBER(n, t, r)                                                                                                \
    {                                                                                                                  \
        .name = (n), .type = (t), .role = TL_FIELD_##r                                                                 \
    }
#define KNOWN_OR_NOT(n, t, r)                                                                                          \
    {                                                                                                                  \
        .name = (n), .type = (t), .role = TL_FIELD_##r, .flags = TL_FIELD_NULLABLE                                     \
    }
static const tl_field frame_members[] = {MEMBER("function", TL_STRING, PLAIN), MEMBER("iid", TL_HEX, FUNCTION),
                                         MEMBER("ip", TL_HEX, IP)};
static const tl_field code_members[] = {KNOWN_OR_NOT("start_addr", TL_HEX, IP), MEMBER("size", TL_HEX, SIZE)};
static const tl_field map_members[] = {MEMBER("ilOffset", TL_HEX, PLAIN), MEMBER("nativeStart", TL_HEX, PLAIN),
                                       MEMBER("nativeEnd", TL_HEX, PLAIN)};
static const tl_field alloc_members[] = {KNOWN_OR_NOT("classIid", TL_HEX, TYPE), MEMBER("allocCount", TL_U64, COUNT),
                                         MEMBER("memSize", TL_U64, BYTES), KNOWN_OR_NOT("ip", TL_HEX, IP)};
static const tl_field size_members[] = {MEMBER("name", TL_STRING, NAME), MEMBER("alloc", TL_U64, BYTES),
                                        MEMBER("reserved", TL_U64, RESERVED)};

#define ITEM_OF(m, n)                                                                                                  \
    {                                                                                                                  \
        .type = TL_STRUCT, .member = (m), .nmember = (n)                                                               \
    }
static const tl_field code_item = ITEM_OF(code_members, 2), map_item = ITEM_OF(map_members, 3),
                      alt_item = ITEM_OF(alloc_members, 3), alloc_item = ITEM_OF(alloc_members, 4),
                      size_item = ITEM_OF(size_members, 3);

/* What each item becomes: one field of a type, or as given here. */
#define ONE(n, t, r)            {.name = (n), .type = (t), .role = TL_FIELD_##r},
#define MAYBE(n, t, r)          {.name = (n), .type = (t), .role = TL_FIELD_##r, .flags = TL_FIELD_NULLABLE},
#define LIST(n, m, r)           {.name = (n), .type = TL_LIST, .member = &(m), .nmember = 1, .role = TL_FIELD_##r},
#define FIELD_THREAD(n, r)      MAYBE(#n, TL_HEX, r)
#define FIELD_ANY_THREAD(n, r)  MAYBE(#n, TL_HEX, r){.name = "osThreadId", .type = TL_U64, .flags = TL_FIELD_OPTIONAL},
#define FIELD_ID(n, r)          MAYBE(#n, TL_HEX, r)
#define FIELD_NEWER_ID(n, r)    MAYBE(#n, TL_HEX, r)
#define FIELD_HEX(n, r)         ONE(#n, TL_HEX, r)
#define FIELD_PID(n, r)         ONE(#n, TL_U64, r)
#define FIELD_DEC(n, r)         ONE(#n, TL_U64, r)
#define FIELD_USAGE(n, r)       ONE(#n, TL_I64, r)
#define FIELD_MS(n, r)          ONE(#n, TL_U64, r)
#define FIELD_COUNT(n, r)       ONE(#n, TL_U64, r)
#define FIELD_OLD_COUNT(n, r)   MAYBE(#n, TL_U64, r)
#define FIELD_TEXT(n, r)        ONE(#n, TL_STRING, r)
#define FIELD_TEXT3(n, r)       ONE(#n, TL_STRING, r)
#define FIELD_TEXT_NEXT(n, r)   MAYBE(#n, TL_STRING, r)
#define FIELD_WORD(n, r)        ONE(#n, TL_STRING, r)
#define FIELD_REST(n, r)        ONE(#n, TL_STRING, r)
#define FIELD_TIME(n, r)        ONE(#n, TL_STRING, r)
#define FIELD_REASON(n, r)      MAYBE(#n, TL_STRING, r)
#define FIELD_GENERATIONS(n, r) ONE(#n, TL_STRING, r)
#define FIELD_STACK(n, r)                                                                                              \
    ONE("kept", TL_U64,                                                                                                \
        KEPT){.name = #n, .type = TL_STACK, .member = frame_members, .nmember = 3, .role = TL_FIELD_##r},
#define FIELD_CODE(n, r)  LIST(#n, code_item, r) LIST("il_map", map_item, PLAIN)
#define FIELD_ALT(n, r)   LIST(#n, alt_item, r)
#define FIELD_ALLOC(n, r) LIST(#n, alloc_item, r)
#define FIELD_SIZES(n, r) LIST(#n, size_item, r)
#define FIELD_AGAIN(n, r)

#define FIELD(name, item, role) FIELD_##item(name, role)
#define RECORD(id, words, kind, key, role, title, other, track, fields)                                                \
    static const tl_field fields_of_##id[] = {fields};
#include "format/tracelog/records.def"
#undef RECORD
#undef FIELD

#define FIELD(n, i, role) {.name = #n, .item = TRACELOG_##i},
#define RECORD(id, words, kind, key, role, title, other, track, fields)                                                \
    static const tracelog_part_of_line parts_of_##id[] = {fields};
#include "format/tracelog/records.def"
#undef RECORD
#undef FIELD

#define OF_PROCESS true
#define OF_THREAD  false
const tracelog_shape tracelog_shapes[TRACELOG_RECORDS] = {
#define RECORD(id, text, kind, key, role, title, other, track, fields)                                                 \
    [tracelog_##id] = {.words = (text),                                                                                \
                       .of_process = OF_##track,                                                                       \
                       .part = parts_of_##id,                                                                          \
                       .nparts = TL_COUNT(parts_of_##id),                                                              \
                       .field = fields_of_##id},
#include "format/tracelog/records.def"
#undef RECORD
};

int tracelog_set_classes(tl_trace *t, bool calls, tl_error *e)
{
    tl_class c[TRACELOG_CLASSES] = {
#define RECORD(i, words, kind_, key_, role_, title_, other, track, fields)                                             \
    [tracelog_##i] = {.kind = TL_##kind_,                                                                              \
                      .key = TL_KEY_##key_,                                                                            \
                      .role = TL_ROLE_##role_,                                                                         \
                      .title = (title_),                                                                               \
                      .pair = tracelog_##other,                                                                        \
                      .field = fields_of_##i,                                                                          \
                      .nfield = TL_COUNT(fields_of_##i)},
#include "format/tracelog/records.def"
#undef RECORD
        [TRACELOG_ENTER] = {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "call.enter"},
        [TRACELOG_EXIT] = {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "call.exit"},
    };
    for (uint32_t i = 0; i < TRACELOG_RECORDS; i++) {
        char name[8];
        memcpy(name, tracelog_shapes[i].words, sizeof name);
        name[3] = '.';
        c[i].name = tl_trace_intern(t, name);
        if (!c[i].name)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the classes of events");
    }
    return tl_trace_set_classes(t, c, calls ? (uint32_t)TRACELOG_CLASSES : (uint32_t)TRACELOG_RECORDS, e);
}
