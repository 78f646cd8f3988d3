/* Words, numbers and strings of TSDL text, and the table of all names in it. */
#ifndef TL_FORMAT_TSDL_LEXER_H
#define TL_FORMAT_TSDL_LEXER_H

#include "base/hash.h"
#include "format/ctf/ctf_schema.h"

/* Members, labels, types, names ... of one text. Each costs less than 200 bytes, so this bounds the memory of a hostile
 * text; 65536 event classes of ten fields stay far below. */
#define TSDL_ITEMS_MAX (1u << 21)

/* What a name may mean at the same time. */
typedef enum tsdl_space {
    TSDL_TYPE,    /* typedef and typealias: "uint8_t", "unsigned long", "struct page *" */
    TSDL_STRUCT,  /* struct NAME */
    TSDL_VARIANT, /* variant NAME */
    TSDL_ENUM,    /* enum NAME */
    TSDL_FIELD,   /* member of a struct */
    TSDL_SHOWN,   /* the same without its leading '_' */
    TSDL_OPTION,  /* member of a variant */
    TSDL_SPACES
} tsdl_space;

/* Words with a meaning of their own, which are still names where only a name is possible. */
typedef enum tsdl_word {
    TSDL_PLAIN,
    TSDL_W_ALIGN,
    TSDL_W_CALLSITE,
    TSDL_W_CLOCK,
    TSDL_W_CONST,
    TSDL_W_ENUM,
    TSDL_W_ENV,
    TSDL_W_EVENT,
    TSDL_W_FLOATING_POINT,
    TSDL_W_INTEGER,
    TSDL_W_STREAM,
    TSDL_W_STRING,
    TSDL_W_STRUCT,
    TSDL_W_TRACE,
    TSDL_W_TYPEALIAS,
    TSDL_W_TYPEDEF,
    TSDL_W_VARIANT,
    TSDL_W_ARITHMETIC /* char, int, unsigned, void, ...: several of them form the name of a type */
} tsdl_word;

/* A name: equal text has equal pointers. Lives in the schema's arena. */
typedef struct tsdl_name {
    const char *text;           /* UTF-8, NUL-terminated */
    uint32_t n;                 /* bytes */
    uint32_t id;                /* 0, 1, ... */
    uint8_t word;               /* tsdl_word */
    uint32_t property;          /* 1 + index of the environment entry with this name; 0: none */
    uint32_t clock;             /* 1 + index of the clock with this name; 0: none */
    uint32_t top[TSDL_SPACES];  /* 1 + index of the innermost symbol with this name; 0: none */
    struct tsdl_name *stripped; /* without one leading '_'; NULL: not needed yet */
    struct tsdl_name *next;     /* with the same hash */
} tsdl_name;

typedef enum tsdl_kind {
    TSDL_END,
    TSDL_WORD,
    TSDL_NUMBER,
    TSDL_CHARACTER, /* 'a': a number, or text where that is expected */
    TSDL_STRING,
    TSDL_BECOMES,  /* := */
    TSDL_ELLIPSIS, /* ... */
    TSDL_ARROW     /* -> */
} tsdl_kind;

typedef struct tsdl_token {
    int kind;          /* tsdl_kind, or the character itself: '{' */
    tsdl_name *name;   /* of words, strings and characters */
    uint64_t number;   /* of numbers and characters */
    uint64_t position; /* offset in the text */
    uint32_t length;   /* bytes in the text, at most 1000 */
} tsdl_token;

typedef struct tsdl_lexer {
    ctf_schema *s;
    const char *text;
    size_t n, at;
    tl_error *e;
    tsdl_token token, ahead;
    bool has_ahead;
    tl_hash hash; /* of names: hash of the text -> index */
    tsdl_name **name;
    uint32_t nname, name_capacity;
    uint32_t items;
    char *buffer; /* to decode strings and join words */
    size_t buffer_size;
} tsdl_lexer;

/* All return >= 0, or fill l->e. */
int tsdl_lexer_init(tsdl_lexer *l, ctf_schema *s, const char *text, size_t n, tl_error *e);
void tsdl_lexer_fini(tsdl_lexer *l);
/* Advances to the next token. */
int tsdl_next(tsdl_lexer *l);
/* The token after the current one. */
int tsdl_peek(tsdl_lexer *l, const tsdl_token **token);
/* Whether the current token is of this kind. */
static inline bool tsdl_is(const tsdl_lexer *l, int kind)
{
    return l->token.kind == kind;
}
/* Skips a token that must be of this kind. */
int tsdl_expect(tsdl_lexer *l, int kind);
/* Skips a token if it is of this kind: 1; otherwise 0. */
int tsdl_accept(tsdl_lexer *l, int kind);

/* The name of a text. */
int tsdl_intern(tsdl_lexer *l, const char *s, size_t n, tsdl_name **out);
/* The name `a` SEPARATOR `b`. */
int tsdl_join(tsdl_lexer *l, const tsdl_name *a, const char *separator, const tsdl_name *b, tsdl_name **out);
/* The name without one leading '_'; unchanged if it has none, or consists of it. */
int tsdl_strip(tsdl_lexer *l, tsdl_name *name, tsdl_name **out);
/* Counts things that take memory. */
int tsdl_count(tsdl_lexer *l, uint32_t items);

static inline int tsdl_no_memory(tsdl_lexer *l)
{
    tl_fail(l->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the metadata");
    return TL_ENOMEM;
}
__attribute__((format(printf, 3, 4))) int tsdl_fail(tsdl_lexer *l, uint64_t position, const char *format, ...);
/* "expected WHAT, found '}'" at the current token. */
int tsdl_fail_expected(tsdl_lexer *l, const char *what);

#define TSDL_TRY(call)                                                                                                 \
    do {                                                                                                               \
        int rc_ = (call);                                                                                              \
        if (rc_ < 0)                                                                                                   \
            return rc_;                                                                                                \
    } while (0)

#endif
