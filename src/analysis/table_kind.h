/* A table of `report`: what it is made from, its options, and how its answer is made. Each has a file of its own with
 * its columns; src/tables.def lists them. */
#ifndef TL_ANALYSIS_TABLE_KIND_H
#define TL_ANALYSIS_TABLE_KIND_H

#include "analysis/instruction/insn_pass.h"
#include "model/relation_impl.h"
#include "op/needs.h"

struct tl_code_map;

#define TL_TABLE_MESSAGE 300u

/* Values of the tables' own options; each table names those that it takes. */
typedef struct tl_table_options {
    uint64_t interval, sample;
    uint32_t line_size;
    const char *cache, *predictor;
    bool calls;
    bool several;                   /* several inputs go into one table */
    const struct tl_code_map *code; /* names of the program's functions, by address; NULL: unknown */
    bool no_demangle;
} tl_table_options;

/* Requirements of a table that is made from a profile, not directly from events. */
enum {
    TL_PROFILE_FLAT = 1, /* sums by function suffice */
    TL_PROFILE_TREE = 2,
    TL_PROFILE_PER_THREAD = 4,
    TL_PROFILE_LINES = 8,    /* functions of samples split by line */
    TL_PROFILE_MODULES = 16, /* regrouped by module */
    TL_PROFILE_NAMES = 64,   /* regrouped by name */
    TL_PROFILE_TREES = 32    /* shows trees, also one per thread */
};

/* A table, made directly from the events of sources, or from a profile (see analysis/function/profile_answer.h). */
typedef struct tl_table_kind {
    tl_table_info info;
    const char *sql;   /* its name in SQL; NULL: it is not there */
    const char *what;  /* "garbage collections": what an empty table lacks */
    const char *sorts; /* its words for --sort; NULL: it has one order */
    const char *takes; /* its own options: "cache"; NULL: none */
    const char *tab;   /* the tab of a page that shows it, of those in view/web/views.js; NULL: none */
    /* Which traces it is for, if a table of another kind has the same name; else NULL. */
    bool (*only_of)(const tl_trace *t);
    unsigned profile;      /* from a profile: TL_PROFILE_FLAT and so on; 0: from events */
    bool several;          /* sources can be added up; for instructions always true */
    bool any_unit;         /* times of sources may have different units */
    bool late;             /* names and threads may become known at the end */
    bool of_any;           /* can be made from any source */
    bool of_runtime;       /* from the fields of a managed runtime's events */
    const char *no_thread; /* why threads cannot be selected, or NULL */
    bool any_event;        /* events can be selected by class and processor, too */
    size_t size;           /* of the table, zeroed at first; known from a pass */
    size_t options_size;   /* of the struct that the pass gets, zeroed; 0: NULL */
    /* Puts options into that struct or, without one, into the table; false with a line about the mistake. May be
     * NULL. */
    bool (*set)(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE]);
    /* Adds a source: a pass over instructions, which also selects by level and pc; or a function. */
    const tl_insn_table *pass;
    const tl_insn_table *calls_pass; /* replaces it with the option `calls` */
    int (*read)(void *table, tl_source *s, const tl_select *select, tl_error *e);
    bool (*empty)(const void *table); /* or a number of the table that is 0 then: */
    uint16_t count, count_size;
    int (*answer)(void *table, const tl_ask *ask, tl_answer *a, tl_error *e);
    void (*fini)(void *table); /* known from a pass */
    /* For programs: the columns of its first relation. */
    const tl_column *column;
    uint32_t ncolumn;
} tl_table_kind;
#define TL_EMPTY_IF_0(type, member) .count = offsetof(type, member), .count_size = sizeof((type *)NULL)->member
#define TL_TABLE_COLUMNS(array)     .column = (array), .ncolumn = TL_COUNT(array)

/* Whether a source has what the table is made from; `p` is the profile that was made from it, or NULL. Errors:
 * TL_EUNSUPPORTED with what the table needs, what the source has, and the tables that it has; those of reading a
 * profile. */
int tl_table_fits(const tl_table_kind *kind, tl_source *s, const tl_profile *p, tl_error *e);

/* What a source has, "calls and samples", and the names in SQL of the tables made from that, as words. Errors: those of
 * reading a profile. */
#define TL_WHAT_SIZE   96u
#define TL_TABLES_SIZE 320u
int tl_source_look(tl_source *s, char what[static TL_WHAT_SIZE], char tables[static TL_TABLES_SIZE], tl_error *e);

/* Can sources be added up? */
static inline bool tl_table_adds_up(const tl_table_kind *kind)
{
    return kind->several || kind->pass;
}

/* The tables of src/tables.def. */
#define TL_TABLE(word)           extern const tl_table_kind tl_table_##word;
#define TL_TABLE_OF_SOME(symbol) TL_TABLE(symbol)
#include "tables.def"
#undef TL_TABLE
#undef TL_TABLE_OF_SOME
/* All tables. */
const tl_table_kind *const *tl_table_kinds(size_t *n);
/* A table by name, for a first trace; trace NULL: any. NULL if there is none. */
const tl_table_kind *tl_table_find(const char *name, const tl_trace *trace);

/* The table for a trace without a profile: that of its classes; NULL if it can have a profile, or has no classes. */
const tl_table_kind *tl_table_without_profile(const tl_trace *t);

#endif
