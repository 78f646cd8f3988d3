/* What a table of `report` is: what it is made of, what it takes, and how its answer is made. Each has a file of its
 * own with its columns; src/tables.def lists them. */
#ifndef TL_ANALYSIS_TABLE_KIND_H
#define TL_ANALYSIS_TABLE_KIND_H

#include "analysis/instruction/insn_pass.h"
#include "model/relation_impl.h"

struct tl_code_map;

#define TL_TABLE_MESSAGE 300u

/* What the tables' own options say; each table names those that it takes. */
typedef struct tl_table_options {
    uint64_t interval, sample;
    uint32_t line_size;
    const char *cache, *predictor;
    bool calls;
    bool several;                   /* several inputs are read into one table */
    const struct tl_code_map *code; /* names of the program's functions, by address; NULL: not known */
    bool no_demangle;
} tl_table_options;

/* What a profile has to be for a table that is made of one, straight from no events. */
enum {
    TL_PROFILE_FLAT = 1, /* sums by function are enough */
    TL_PROFILE_TREE = 2,
    TL_PROFILE_PER_THREAD = 4,
    TL_PROFILE_LINES = 8,    /* functions of samples by line */
    TL_PROFILE_MODULES = 16, /* is regrouped, by module */
    TL_PROFILE_NEEDS_SAMPLES = 32,
    TL_PROFILE_NEEDS_DURATIONS = 64,
    TL_PROFILE_TREES = 128 /* shows trees, also one for each thread */
};

/* A table: made straight from the events of sources, or of a profile (see analysis/function/profile_answer.h). */
typedef struct tl_table_kind {
    tl_table_info info;
    const char *what;  /* "garbage collections": what an empty table has none of */
    const char *sorts; /* words of --sort that it knows; NULL: it has one order */
    const char *takes; /* words of its own options: "cache"; NULL: none */
    /* Which traces it is made of, if a table of another kind has the same name; else NULL. */
    bool (*only_of)(const tl_trace *t);
    unsigned profile; /* of a profile: TL_PROFILE_FLAT and so on; 0: of events */
    bool several;     /* sources can be added up; those of instructions always can */
    bool late;        /* need not know names and threads before the end */
    bool reads_fields;
    const char *no_thread; /* why threads cannot be chosen, or NULL */
    size_t size;           /* of the table, zeroed at first; with a pass it is known */
    size_t options_size;   /* of the struct that the pass gets, zeroed; 0: NULL */
    /* Takes options into that struct, or, without one, into the table; false with one line about what is wrong. May be
     * NULL. */
    bool (*set)(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE]);
    /* Adds a source: a pass over instructions, which can be chosen by level and pc, too; or a function of its own. */
    const tl_insn_table *pass;
    const tl_insn_table *calls_pass; /* in its place, if options say `calls` */
    int (*read)(void *table, tl_source *s, const tl_select *select, tl_error *e);
    bool (*empty)(const void *table);
    int (*answer)(void *table, const tl_ask *ask, tl_answer *a, tl_error *e);
    void (*fini)(void *table); /* with a pass it is known */
    /* What it is for programs: the columns of its first relation. */
    const tl_column *column;
    uint32_t ncolumn;
} tl_table_kind;
#define TL_TABLE_COLUMNS(array) .column = (array), .ncolumn = TL_COUNT(array)

/* Can sources be added up? */
static inline bool tl_table_adds_up(const tl_table_kind *kind)
{
    return kind->several || kind->pass;
}

/* Each of src/tables.def. */
#define TL_TABLE(word)           extern const tl_table_kind tl_table_##word;
#define TL_TABLE_OF_SOME(symbol) TL_TABLE(symbol)
#include "tables.def"
#undef TL_TABLE
#undef TL_TABLE_OF_SOME
/* All of them. */
const tl_table_kind *const *tl_table_kinds(size_t *n);
/* One by its name, for a first trace; trace NULL: whatever it is. NULL if there is none. */
const tl_table_kind *tl_table_find(const char *name, const tl_trace *trace);

#endif
