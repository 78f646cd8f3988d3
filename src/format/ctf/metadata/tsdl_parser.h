/* Internals of the TSDL front end, shared by its parts.
 *
 *   tsdl_names, tsdl_lexer   text -> names and tokens
 *   tsdl_value               numbers, strings, paths; lists of assignments
 *   tsdl_scope               which name is declared where
 *   tsdl_types               making types: arrays, bit-fields, copies
 *   tsdl_specifiers          integer {...}, unsigned long, enum {...}, declarators, typedef, typealias
 *   tsdl_compound            struct {...}, variant {...}
 *   tsdl_blocks              trace, env, clock, stream, event
 *   tsdl_clocks              which fields hold which time
 *   tsdl_locate              where the lengths and tags are that types refer to
 *   tsdl_bind                puts types where they are used: roles, locations, ranges of options
 *   tsdl_parser              ctf_tsdl_parse(): all of it, and the finished schema */
#ifndef TL_FORMAT_TSDL_PARSER_H
#define TL_FORMAT_TSDL_PARSER_H

#include "format/ctf/metadata/tsdl_lexer.h"

/* Fields of one type, and of all structures where they are used, with the ranges of options. Shared types count at each
 * use: a few lines of text can double a type again and again, and what is made from types later does not share. */
#define TSDL_TYPE_FIELDS_MAX 65536u
#define TSDL_FIELDS_MAX      (1u << 19)
/* Steps in the search for tags, lengths and clocks in types: about a second. */
#define TSDL_STEPS_MAX       (1u << 24)
/* Names in a path, and words in the name of a type ("unsigned long long int"). */
#define TSDL_PATH_MAX        CTF_DEPTH_MAX
#define TSDL_WORDS_MAX       8u
/* Levels of nesting in the text, which cost stack: those of types, and a block around them and in them. */
#define TSDL_NESTING_MAX     (CTF_DEPTH_MAX + 2)
/* Scopes of fields: the roots in the order of a packet, and nested structs in the last one. */
#define TSDL_FRAMES_MAX      (CTF_FROM_PAYLOAD + 1 + CTF_DEPTH_MAX)

#define TSDL_NONE       UINT32_MAX
/* Ticks per second of a clock without a frequency: each is a nanosecond. */
#define TSDL_HZ_DEFAULT 1000000000u

/* ctf_origin, and [env.NAME] as the length of an array. */
enum { TSDL_FROM_ENVIRONMENT = CTF_FROM_SCOPES + 1 };

/* `a.b.c` in a length or a tag. */
typedef struct tsdl_path {
    uint64_t position;
    uint8_t origin; /* ctf_origin */
    uint32_t n;     /* names after the origin, at least 1 */
    tsdl_name *const *name;
    uint32_t scope; /* of the struct, open where the path was written, with the first name; TSDL_NONE */
} tsdl_path;

/* The values of each label of an enumeration, and its labels by name. */
typedef struct tsdl_labels {
    uint32_t exact, stripped; /* keys for tsdl_parser.index: labels as written, and without a leading '_' */
    struct tsdl_label {
        tsdl_name *name;
        ctf_range *range;
        uint32_t n;
    } * label;
} tsdl_labels;

/* A type, with data that the schema does not need. */
typedef struct tsdl_type {
    ctf_type t;
    uint32_t id;      /* unique except for bound copies */
    uint32_t scope;   /* of a struct: its own scope */
    uint32_t shown;   /* if indexed: key for names without a leading '_' */
    uint32_t weight;  /* types in it, counting repetitions; at most TSDL_TYPE_FIELDS_MAX */
    uint8_t depth;    /* 1: contains no other */
    bool native;      /* `order` is that of the trace, which may be unknown so far */
    bool is_enum;     /* even without labels */
    bool indexed;     /* its members are in tsdl_parser.index */
    tsdl_name *clock; /* the clock it is mapped to */
    uint64_t clock_position;
    struct tsdl_type *next;     /* in tsdl_parser.pending */
    const tsdl_path *path;      /* of the length or the tag */
    tsdl_name *const *name;     /* of each member or label, as written */
    tsdl_labels *labels;        /* NULL: not needed yet */
    const ctf_location *simple; /* `path` as written */
} tsdl_type;

/* Every type of this front end, except bound copies, is a tsdl_type. */
static inline tsdl_type *tsdl_type_of(const ctf_type *t)
{
    return (tsdl_type *)t;
}

typedef struct tsdl_symbol {
    tsdl_name *name;
    tsdl_type *type;
    uint32_t scope;
    uint32_t below; /* 1 + index of the symbol with the same name and space that this one hides */
    uint32_t index; /* of a field in its struct */
    uint8_t space;
} tsdl_symbol;

typedef struct tsdl_member {
    tsdl_name *name;
    tsdl_type *type;
} tsdl_member;

/* A value of an attribute. */
typedef struct tsdl_value {
    enum { TSDL_V_NUMBER, TSDL_V_TEXT, TSDL_V_PATH } kind;
    bool negative; /* number: -`number` */
    uint64_t number;
    tsdl_name *text; /* of texts; of paths with dots between the names */
    uint32_t first;  /* of paths: the names are tsdl_parser.part[first .. first + n) */
    uint32_t n;
    uint64_t position;
} tsdl_value;

/* `left = value;` or `left := type;` */
typedef struct tsdl_assignment {
    const char *left;
    uint64_t position;
    bool is_type;
    tsdl_value value;
    tsdl_type *type;
} tsdl_assignment;

typedef struct tsdl_stream {
    uint64_t position, id;
    bool has_id;
    tsdl_type *packet_context, *event_header, *event_context;
    uint32_t nevent;
} tsdl_stream;

typedef struct tsdl_event {
    uint64_t position, id, stream_id;
    uint32_t stream; /* index */
    bool has_id, has_stream_id;
    tsdl_name *name, *uri, *level;
    int32_t level_value;
    tsdl_type *context, *payload;
} tsdl_event;

/* A struct around the field being bound, or the root of an earlier scope. */
typedef struct tsdl_frame {
    tsdl_type *type;
    uint8_t origin; /* ctf_origin of its root */
    bool root;
} tsdl_frame;

typedef struct tsdl_parser {
    tsdl_lexer l;
    ctf_schema *s;
    uint32_t nesting; /* of the parser itself */
    uint32_t types;   /* made so far; also keys for `index` */

    /* Scopes: a stack of symbols. */
    tsdl_symbol *symbol;
    uint32_t nsymbol, symbol_capacity;
    uint32_t scope, scopes; /* the current one, and how many there have been */

    /* Stacks of the parser. */
    tsdl_member *member;
    uint32_t nmember, member_capacity;
    tsdl_name **part;
    uint32_t npart, part_capacity;
    tl_mapping *mapping;
    uint32_t nmapping, mapping_capacity;

    /* Contents of the blocks. */
    bool has_trace;
    tsdl_type *packet_header;
    tsdl_type *pending; /* types waiting for the byte order or a clock */
    ctf_clock **clock;
    uint32_t nclock, clock_capacity;
    tl_property *property;
    uint32_t nproperty, property_capacity;
    tsdl_stream *stream;
    uint32_t nstream, stream_capacity;
    tsdl_event *event;
    uint32_t nevent, event_capacity;

    /* Binding. */
    uint32_t fields, steps; /* done so far, see TSDL_FIELDS_MAX, TSDL_STEPS_MAX */
    tsdl_frame frame[TSDL_FRAMES_MAX];
    uint32_t nframe, base; /* base: frame of the current root */
    uint32_t in_array;
    const ctf_clock *stream_clock; /* of the stream class whose types are bound */
    tl_hash index;                 /* type id << 32 | name id -> index of the member, label group */
    tl_hash copies;                /* hash -> index in `copy` */
    struct tsdl_copy *copy;
    uint32_t ncopy, copy_capacity;
    ctf_member *bound;
    uint32_t nbound, bound_capacity;
} tsdl_parser;

/* All functions return >= 0, or fail with p->l.e filled. */

/* tsdl_value.c */
int tsdl_push_part(tsdl_parser *p, tsdl_name *name);
int tsdl_value_parse(tsdl_parser *p, tsdl_value *v);
/* A number, or the end of a range of numbers. */
int tsdl_value_number(tsdl_parser *p, tsdl_value *v);
int tsdl_value_u64(tsdl_parser *p, const tsdl_value *v, uint64_t most, uint64_t *out);
int tsdl_value_i64(tsdl_parser *p, const tsdl_value *v, int64_t *out);
int tsdl_value_bool(tsdl_parser *p, const tsdl_value *v, bool *out);
int tsdl_value_text(tsdl_parser *p, const tsdl_value *v, tsdl_name **out);
int tsdl_value_uuid(tsdl_parser *p, const tsdl_value *v, uint8_t uuid[16]);
/* A path of names: makes one of tsdl_value parts. */
int tsdl_path_new(tsdl_parser *p, const tsdl_value *v, const tsdl_path **out);
/* `{ assignments }`: those to one of the words, a NULL-terminated list, each once (bits in *seen), are passed to `set`
 * by its index; all of them as 0 if words is NULL. Declarations in between are in the block's scope. */
typedef int (*tsdl_setter)(tsdl_parser *p, void *block, int word, const tsdl_assignment *a);
int tsdl_block(tsdl_parser *p, const char *const *words, uint32_t *seen, tsdl_setter set, void *block);
/* Fails if the assignment is of the other kind. */
int tsdl_wants_value(tsdl_parser *p, const tsdl_assignment *a);
int tsdl_wants_struct(tsdl_parser *p, const tsdl_assignment *a, tsdl_type **out);

/* tsdl_scope.c */
typedef struct tsdl_mark {
    uint32_t symbols, scope;
} tsdl_mark;
int tsdl_enter(tsdl_parser *p, tsdl_mark *mark); /* also counts nesting, and limits it */
void tsdl_leave(tsdl_parser *p, const tsdl_mark *mark);
void tsdl_pop(tsdl_parser *p, uint32_t symbols);
/* The innermost symbol, or NULL. */
const tsdl_symbol *tsdl_find(const tsdl_parser *p, tsdl_space space, const tsdl_name *name);
int tsdl_push(tsdl_parser *p, tsdl_space space, tsdl_name *name, tsdl_type *type, uint32_t scope, uint32_t index);
/* Pushes in the current scope, where the name must be new. */
int tsdl_declare(tsdl_parser *p, tsdl_space space, tsdl_name *name, tsdl_type *type, uint64_t position);
/* A field under both its spellings; and the innermost field of either spelling, or NULL. */
int tsdl_push_field(tsdl_parser *p, tsdl_name *name, tsdl_type *type, uint32_t scope, uint32_t index);
int tsdl_find_field(tsdl_parser *p, tsdl_name *name, const tsdl_symbol **out);

/* tsdl_types.c */
int tsdl_type_new(tsdl_parser *p, ctf_kind kind, uint64_t position, tsdl_type **out);
/* A copy with its own id. */
int tsdl_type_copy(tsdl_parser *p, const tsdl_type *source, uint64_t position, tsdl_type **out);
/* Call once for a type whose `native` or `clock` is set, see tsdl_settle(). */
void tsdl_pend(tsdl_parser *p, tsdl_type *t);
/* The alignment that a type needs from its container. */
uint32_t tsdl_type_alignment(const tsdl_type *t);
/* An array with a fixed length, or the one at `path`; text if the elements are characters. */
int tsdl_array(tsdl_parser *p, tsdl_type *element, uint64_t length, const tsdl_path *path, uint64_t position,
               tsdl_type **out);
/* Sets the path of a type's length or tag. */
int tsdl_set_path(tsdl_parser *p, tsdl_type *t, const tsdl_path *path);
int tsdl_bit_field(tsdl_parser *p, const tsdl_type *unit, uint64_t bits, uint64_t position, tsdl_type **out);
/* Gives a struct or variant the members p->member[first ...), and takes them off the stack. */
int tsdl_set_members(tsdl_parser *p, tsdl_type *t, uint32_t first);
int tsdl_wants_tag(tsdl_parser *p, const tsdl_type *t, uint64_t position);
/* Sets the byte order of types declared before it was known, and checks clocks. */
int tsdl_settle(tsdl_parser *p);

/* tsdl_specifiers.c, tsdl_numbers.c, tsdl_compound.c */
typedef struct tsdl_base {
    tsdl_type *type; /* NULL: unknown, or only valid with a pointer */
    tsdl_name *name; /* to which pointers are added; NULL: a type without a name */
    uint64_t position;
} tsdl_base;
typedef struct tsdl_declarator {
    tsdl_name *name; /* NULL: abstract */
    tsdl_type *type;
    uint64_t position;
} tsdl_declarator;
/* named: a declarator with a name must follow. */
int tsdl_specifiers(tsdl_parser *p, bool named, tsdl_base *base);
int tsdl_declare_one(tsdl_parser *p, const tsdl_base *base, bool named, tsdl_declarator *d);
/* The type of specifiers alone. */
int tsdl_base_type(tsdl_parser *p, const tsdl_base *base, uint32_t pointers, tsdl_type **out);
/* typedef and typealias, at the current token. */
int tsdl_typedef(tsdl_parser *p);
int tsdl_typealias(tsdl_parser *p);
/* Any declaration at the current token: 1; 0: there is none. */
int tsdl_declaration(tsdl_parser *p);
/* A power of two of bits. */
int tsdl_alignment(tsdl_parser *p, const tsdl_value *v, uint32_t *out);
int tsdl_integer(tsdl_parser *p, tsdl_type **out);
int tsdl_floating_point(tsdl_parser *p, tsdl_type **out);
int tsdl_string(tsdl_parser *p, tsdl_type **out);
/* struct, variant, enum: `name` as for pointers ("struct page"), or NULL; the type is NULL if not declared. */
int tsdl_struct(tsdl_parser *p, tsdl_base *base);
int tsdl_variant(tsdl_parser *p, tsdl_base *base);
int tsdl_enum(tsdl_parser *p, tsdl_base *base);

/* tsdl_blocks.c */
int tsdl_root(tsdl_parser *p);
int tsdl_add_stream(tsdl_parser *p, const tsdl_stream *s);

/* tsdl_clocks.c */
/* Finds the clock of a stream class, or makes one if the metadata has none. event: the indices of its events. */
int tsdl_stream_clock(tsdl_parser *p, const tsdl_stream *stream, const uint32_t *event, const ctf_clock **out);
/* name: NULL for the elements of an array. */
uint32_t tsdl_roles(const tsdl_parser *p, ctf_origin scope, const tsdl_name *name, const tsdl_type *t);

/* tsdl_locate.c */
/* Where a path leads from the field being bound. `labels`: NULL: to an unsigned integer, a length; otherwise to an
 * enumeration, a tag, with these labels. */
int tsdl_locate(tsdl_parser *p, const tsdl_type *t, const ctf_location **out, tsdl_labels **labels);
/* Sets the values that choose an option. */
int tsdl_option_ranges(tsdl_parser *p, tsdl_type *variant, const tsdl_labels *labels, uint32_t option, ctf_member *m);
/* Counts one step of TSDL_STEPS_MAX. */
int tsdl_step(tsdl_parser *p, uint64_t position);

/* tsdl_bind.c */
/* The type of a root for the schema; leaves its fields as symbols for later scopes. NULL for NULL. */
int tsdl_bind_root(tsdl_parser *p, ctf_origin scope, tsdl_type *root, const ctf_type **out);

#endif
