/* Every answer about traces in one form: parts with rows of named, typed columns, and sentences for people. The columns
 * define an answer once; each file of src/view shows it in one way. */
#ifndef TL_MODEL_RELATION_IMPL_H
#define TL_MODEL_RELATION_IMPL_H

#include <stddef.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/wide_sum.h"
#include "model/prose.h"
#include "traceloom/relation.h"

typedef enum tl_cell_kind {
    TL_CELL_NULL,
    TL_CELL_UINT,
    TL_CELL_INT,
    TL_CELL_SUM, /* more than 64 bits, perhaps negative */
    TL_CELL_REAL,
    TL_CELL_TEXT,
    TL_CELL_ROWS /* some of the rows of the part's `list` */
} tl_cell_kind;

typedef struct tl_cell {
    tl_cell_kind kind;
    bool negative; /* of a sum */
    union {
        uint64_t u64;
        int64_t i64;
        tl_sum sum;
        double real;
        const char *text;
        struct {
            uint64_t first, n;
        } rows;
    };
} tl_cell;

typedef enum tl_column_role {
    TL_ROLE_NUMBER, /* a column of its own before the name, even if it is text */
    TL_ROLE_BAR,    /* a share, shown only as a bar after the preceding columns */
    TL_ROLE_PREFIX, /* the lines of a tree, before the name */
    TL_ROLE_NAME,   /* the subject of the row: the last column, the only one that may be long */
    TL_ROLE_SUFFIX  /* after the name if there is room */
} tl_column_role;

/* How to find a column in a row: a member of the row's struct. */
typedef enum tl_member {
    TL_MEMBER_NONE,
    TL_MEMBER_U64,
    TL_MEMBER_U32,
    TL_MEMBER_I64,
    TL_MEMBER_SUM,
    TL_MEMBER_REAL,
    TL_MEMBER_TEXT
} tl_member;
/* A member of a column of type REAL and unit SHARE, unless it is REAL itself: it is divided by the answer's `whole`. */
#define TL_AT(kind, type, name) .member = TL_MEMBER_##kind, .offset = offsetof(type, name)
/* The value exists only if this bool of the row is set. */
#define TL_ONLY_IF(type, name)  .guarded = true, .guard = offsetof(type, name)

enum {
    TL_WITH_BAR = 1,    /* a share, followed by a bar */
    TL_LEFT_OUT = 2,    /* --json has no member where it is null */
    TL_BLANK = 4,       /* null is "" for people, else "-" */
    TL_APPROXIMATE = 8, /* marked with "~" if the part's `approximate` returns true for the row */
    TL_SIGNED = 16,     /* "+3" for people */
    TL_NOT_0 = 32,      /* --json has no member where it is 0 */
    TL_NOT_IN_JSON = 64 /* not in --json, where another column stands for it */
};

/* The part, row and column of a requested value, which is initially null. */
typedef struct tl_at {
    const struct tl_part *part;
    const void *table; /* of the answer */
    const void *row;
    const struct tl_column *column;
} tl_at;

typedef struct tl_column {
    tl_column_info info;
    /* Name in --json, if not info.name. "loads.bytes": member of an object; "misses[]": element of a list. */
    const char *json;
    void (*get)(const struct tl_at *at, tl_cell *out); /* otherwise a member of the row: */
    uint8_t member;
    bool guarded;
    uint16_t offset, guard;
    uint8_t role, flags;
    uint8_t place;    /* order on the terminal: lower numbers first, equal ones as listed here */
    uint8_t drop;     /* 0: stays on narrow terminals; otherwise columns with a higher number are dropped first */
    uint8_t decimals; /* of a number that is not a share; 0: six significant digits */
    uint32_t which;   /* distinguishes columns with the same `get` */
} tl_column;

struct tl_answer;

/* Rows of one kind. If its columns have titles, a part is a table for people; if they have names, for programs; most
 * are both. */
typedef struct tl_part {
    struct tl_answer *answer;
    /* Name of its rows in --json ("collections", "growth.classes"); NULL: it has one row, whose columns are members of
     * the answer itself. */
    const char *key;
    const tl_column *column;
    uint32_t ncolumn;
    const void *table; /* for getters */
    void *detail;      /* the same, for this part only */
    const void *row;   /* [n] structs of `stride` bytes ... */
    size_t stride;
    const uint32_t *order; /* ... in this order; NULL: in their own */
    uint64_t n;
    const struct tl_part *list; /* whose rows cells of TL_CELL_ROWS hold; in --json only */
    uint64_t list_most;         /* at most so many rows of a cell; 0: all */
    bool (*approximate)(const void *row);
    bool for_programs, for_people; /* its audience */
    bool is_object; /* in --json each row is a member: its name and its value are the first two columns */
    bool verbatim;  /* what `before` writes is laid out in columns */
    /* For people: */
    uint64_t left_out;  /* rows of the table that are not shown ... */
    const char *of;     /* ... "pauses" */
    const char *rest;   /* "--json lists all"; NULL: "--top 0 shows all" */
    const char *none;   /* shown in place of an empty table */
    unsigned name_wish; /* columns that the name should get before others are dropped */
    void (*before)(const struct tl_part *part, const tl_prose *p); /* sentences. May be NULL */
    void (*after)(const struct tl_part *part, const tl_prose *p);
    struct tl_part *next;
} tl_part;

/* Options besides the table. */
typedef struct tl_ask {
    bool for_programs; /* otherwise for people */
    bool has_top;
    uint32_t top; /* 0: all rows */
    const char *sort;
    bool no_fold;      /* recursion is shown level by level */
    bool tty, unicode; /* of the terminal */
    unsigned width;
} tl_ask;

typedef struct tl_answer {
    const char *unit; /* of times and counts; NULL: none */
    bool is_ns;       /* times are nanoseconds */
    tl_column_unit
        times; /* the unit of TL_UNIT_TIME if not time: bytes or a count, in profiles of such a weight; else 0 */
    const char *subject;                                        /* the file and its format, or "3 files" */
    void (*head)(const struct tl_answer *a, const tl_prose *p); /* writes the first lines. May be NULL */
    const void *table, *detail;                                 /* for getters */
    double whole;                                               /* what shares of members are parts of */
    bool unicode;                                               /* block and line characters can be shown */
    const struct tl_code_map *code;                             /* names of functions by address; NULL: unknown */
    bool no_demangle;
    bool labels;           /* for programs, too, functions without a name are their number: "#8" */
    tl_part *first, *last; /* in the arena */
    struct tl_owned *owned;
    tl_arena arena;   /* rows and texts of the answer */
    tl_arena scratch; /* texts of one row, or of a block of rows */
    bool failed;      /* memory ran out */
} tl_answer;

/* Short definitions of columns: TL_COL("ts", "begin", INTEGER, TIME, "when it began"). */
#define TL_COL(name, title, type, unit, what)                                                                          \
    {                                                                                                                  \
        name, title, TL_##type, TL_UNIT_##unit, what                                                                   \
    }

/* Adds a part, zeroed except `answer`; NULL if memory ran out. for_programs and for_people as in *ask. */
tl_part *tl_answer_add(tl_answer *a, const tl_ask *ask);
/* The same with a name, columns and rows: n structs of `stride` bytes, in an order that lives as long as the answer, or
 * NULL. Without a name it has one row. */
tl_part *tl_answer_add_rows(tl_answer *a, const tl_ask *ask, const char *key, const tl_column *column, uint32_t ncolumn,
                            const void *row, size_t stride, const uint32_t *order, uint64_t n);
#define TL_ADD_ROWS(a, ask, key, column, row, order, n)                                                                \
    tl_answer_add_rows((a), (ask), (key), (column), TL_COUNT(column), (row), sizeof *(row), (order), (n))
/* The first of `all` rows: those of --top or, on a terminal, `usual` ones; then people see how many other rows of `of`
 * ("methods") there are. `wish`: the part's name_wish. */
tl_part *tl_answer_add_top(tl_answer *a, const tl_ask *ask, const char *key, const tl_column *column, uint32_t ncolumn,
                           const void *row, size_t stride, const uint32_t *order, uint32_t all, uint32_t usual,
                           const char *of, unsigned wish);
#define TL_ADD_TOP(a, ask, key, column, row, order, all, usual, of, wish)                                              \
    tl_answer_add_top((a), (ask), (key), (column), TL_COUNT(column), (row), sizeof *(row), (order), (all), (usual),    \
                      (of), (wish))
/* Rows for cells of TL_CELL_ROWS: a part that the answer itself does not show. */
tl_part *tl_answer_list(tl_answer *a, const tl_column *column, uint32_t ncolumn, const void *row, size_t stride);
#define TL_ADD_LIST(a, column, row)       tl_answer_list((a), (column), TL_COUNT(column), (row), sizeof *(row))
#define TL_ADD_FACTS(a, ask, column, row) TL_ADD_ROWS(a, ask, NULL, column, row, NULL, 1)
/* A copy of `column` without those whose bits are in `without`, for parts that show fewer; *n becomes their number.
 * NULL, and the answer has failed, when memory runs out. */
tl_column *tl_answer_columns(tl_answer *a, const tl_column *column, uint32_t *n, uint64_t without);
/* Memory that lives as long as the answer; NULL, and the answer has failed, when it runs out. */
void *tl_answer_alloc(tl_answer *a, size_t n, size_t size);
/* Makes the answer free an array of malloc(), or frees it at once if memory runs out; NULL: the answer fails. */
void tl_answer_own(tl_answer *a, void *array);
/* The same for anything else; `release` takes NULL, too. */
void tl_answer_own_by(tl_answer *a, void *thing, void (*release)(void *thing));
void tl_answer_fini(tl_answer *a);
/* The relation to use if there is room for one only: the first with a name. NULL: none. */
const tl_part *tl_answer_main(const tl_answer *a);
/* Writes the answer's subject, in bold, as a line. */
void tl_say_subject(const tl_answer *a, const tl_prose *p);
/* The number of rows to show, at most n: that of --top, else all for programs; for people `on_terminal` or, elsewhere,
 * `in_file`; 0: all. */
uint32_t tl_ask_rows(const tl_ask *ask, uint32_t n, uint32_t on_terminal, uint32_t in_file);

/* The column after another one in the order for people; the first after part->ncolumn, which also follows the last. */
uint32_t tl_part_next_column(const tl_part *part, uint32_t after);
/* Gets the value of a column in a row, 0 .. n-1. Text may be in scratch. */
void tl_part_cell(const tl_part *part, uint64_t row, uint32_t column, tl_cell *out);
static inline const void *tl_part_row(const tl_part *p, uint64_t i)
{
    return (const char *)p->row + p->stride * (p->order ? p->order[i] : i);
}

/* For getters. Text is copied to scratch, NULL is null. */
static inline void tl_cell_u64(tl_cell *c, uint64_t v)
{
    c->kind = TL_CELL_UINT;
    c->u64 = v;
}
static inline void tl_cell_i64(tl_cell *c, int64_t v)
{
    c->kind = TL_CELL_INT;
    c->i64 = v;
}
static inline void tl_cell_sum(tl_cell *c, tl_sum v)
{
    c->kind = TL_CELL_SUM;
    c->sum = v;
}
static inline void tl_cell_real(tl_cell *c, double v)
{
    c->kind = TL_CELL_REAL;
    c->real = v;
}
/* Static text, or text that lives as long as the answer; NULL is null. */
static inline void tl_cell_text(tl_cell *c, const char *text)
{
    c->kind = text ? TL_CELL_TEXT : TL_CELL_NULL;
    c->text = text;
}
/* part / whole, 0 if whole is 0. */
static inline void tl_cell_share(tl_cell *c, double part, double whole)
{
    tl_cell_real(c, whole > 0 ? part / whole : 0);
}
static inline void tl_cell_rows(tl_cell *c, uint64_t first, uint64_t n)
{
    c->kind = TL_CELL_ROWS;
    c->rows.first = first;
    c->rows.n = n;
}
/* A list of n texts, as JSON. */
void tl_cell_texts(const tl_at *at, tl_cell *c, const char *const *text, size_t n);
/* now - before. */
void tl_cell_growth(tl_cell *c, tl_sum now, tl_sum before);
void tl_cell_printf(const tl_at *at, tl_cell *c, const char *format, ...) TL_PRINTF(3, 4);

#endif
