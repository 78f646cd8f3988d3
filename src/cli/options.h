/* The table of verbs and options, from which the parser, --help, the man pages and the shell completions are made. */
#ifndef TL_CLI_OPTIONS_H
#define TL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/words.h"
#include "view/terminal.h"

typedef enum tl_verb_id {
    TL_VERB_INFO,
    TL_VERB_CHECK,
    TL_VERB_REPORT,
    TL_VERB_CONVERT,
    TL_VERB_QUERY,
    TL_VERB_SERVE,
    TL_VERB_LOAD,
    TL_VERB_RECORD,
    TL_VERB_CTL,
    TL_VERB_HELP
} tl_verb_id;

#define TL_VERB_BIT(id) (1u << (id))

typedef struct tl_example {
    const char *arguments; /* without the program's name if that comes first */
    const char *text;      /* a few words about it */
} tl_example;

/* The texts of a verb's alias. */
typedef struct tl_alias {
    const char *summary;   /* "Print events as text" */
    const char *arguments; /* mdoc */
    const char *manual;    /* mdoc: the verb is "Is traceloom-convert(1)" before it */
} tl_alias;

typedef struct tl_verb {
    tl_verb_id id;
    const char *name, *alias;  /* alias: another name, or NULL */
    const char *arguments;     /* "FILE..." */
    const char *summary;       /* one line, no full stop */
    const tl_example *example; /* ends with an example whose arguments are NULL */
    const char *manual;        /* body of DESCRIPTION in mdoc, without the options */
    const tl_alias *as_alias;  /* NULL without an alias */
} tl_verb;

typedef enum tl_option_group {
    TL_GROUP_VERB,   /* specific to the verb */
    TL_GROUP_OUTPUT, /* output */
    TL_GROUP_SELECT, /* selection of a part of the trace */
    TL_GROUP_INSNS,  /* of instructions, or of patching; the short help has only their names */
    TL_GROUP_DIFF,   /* of comparisons; the same */
    TL_GROUP_DOTNET, /* of recorded programs of .NET; the same */
    TL_GROUP_INPUT,  /* reading the input */
    TL_GROUP_ALWAYS  /* common to all verbs */
} tl_option_group;
#define TL_GROUPS 8u

typedef struct tl_option tl_option;
struct tl_option_parser;
/* Stores the value of an option (NULL: a flag). False if it is wrong, with the reason in the message. */
typedef bool tl_option_take(struct tl_option_parser *p, const tl_option *o, const char *value);
tl_option_take tl_take_flag, tl_take_text, tl_take_optional, tl_take_choice, tl_take_amount, tl_take_word;
tl_option_take tl_take_at, tl_take_color, tl_take_depth, tl_take_jobs, tl_take_level, tl_take_duration,
    tl_take_line_size, tl_take_percent, tl_take_pid, tl_take_port, tl_take_quiet, tl_take_repeat, tl_take_rows,
    tl_take_threads, tl_take_top, tl_take_verbose, tl_take_version, tl_take_weight, tl_take_workers;

struct tl_option {
    tl_option_take *take;
    size_t place;      /* offset of the member in tl_arguments */
    char letter;       /* 0: none */
    const char *name;  /* without the dashes */
    const char *value; /* name of its value: "GLOB", or "[=GLOB]" if it may be missing; NULL: a flag */
    tl_option_group group;
    unsigned verbs;     /* TL_VERB_BIT of each verb that has it */
    const char *brief;  /* for --help: a few words */
    const char *manual; /* for the man page: sentences in mdoc, one per line */
    const char *values; /* for completion: words; "@file", "@read", "@write" (format names), or NULL */
};
/* May its value be missing? Then it is behind '=' in the same word. */
static inline bool tl_option_may_stand_alone(const tl_option *o)
{
    return o->value && *o->value == '[';
}

/* The tables end with an entry whose name is NULL. */
extern const tl_verb tl_verb_table[];
extern const tl_option tl_option_table[];

/* The verb of a name or alias, or NULL. */
const tl_verb *tl_verb_find(const char *name);
/* The verb, or one of two other words, similar to a mistyped one; or NULL. */
const char *tl_nearest_verb(const char *name, const char *also, const char * or);
/* Must the program's name be put before the example? */
bool tl_example_is_bare(const tl_verb *verb, const tl_example *example);
/* The title of a group of options of a verb: "Which part of the trace". */
const char *tl_group_title(const tl_verb *verb, tl_option_group group);

/* Processes of --jobs: each may take --memory, and some files. */
#define TL_JOBS_MAX 64u

typedef struct tl_words {
    const char **word;
    size_t n;
} tl_words;

/* "5%": 0.05. */
typedef struct tl_percent {
    bool given;
    double share;
} tl_percent;

/* A parsed command line. Strings are borrowed from argv, or copied. */
#define TL_OPTION_WORDS 3u /* of 64 options */

typedef struct tl_arguments {
    uint64_t given[TL_OPTION_WORDS]; /* bits of rows of tl_option_table; see tl_first_given() */
    const tl_verb *verb;
    const char *called; /* the verb's name or alias as given; NULL if no words were parsed */
    bool help;
    bool no_memory; /* memory ran out while parsing */
    tl_words file;

    const char *by;     /* of --by; NULL: not given */
    const char *weight; /* of samples: name of a tl_weight, or NULL */
    const char *sort;   /* a column's name, checked, or NULL */
    bool has_top, wide, per_thread, no_fold, count, json;
    uint32_t top;

    /* Tables of instructions; 0, NULL: not given. */
    uint64_t interval;             /* in instructions */
    uint32_t line_size;            /* in bytes: a power of two */
    uint64_t sample;               /* one in this many */
    const char *cache, *predictor; /* as given: the table interprets them */
    bool calls;
    bool has_at;
    uint64_t at; /* the number of an instruction */

    bool diff, one_run; /* of comparisons */
    tl_percent noise, min_share;
    const char *per, *fail_when; /* or NULL */
    tl_words map, fail_if;

    tl_words param;         /* of query: name=value */
    const char *query_file; /* or NULL */
    const char *export;     /* where all tables go, or NULL */
    bool schema, recipes, explain, each;
    uint32_t jobs;      /* of --each and of load; 0: not given */
    const char *recipe; /* or NULL */
    const char *engine; /* or NULL */
    bool has_rows;
    uint64_t rows;            /* of a table to show; 0: all */
    uint64_t memory, timeout; /* in bytes and ns; 0: not given */
    uint64_t rows_per_file;   /* of --export; 0: not given */

    const char *server, *user, *cluster;             /* of load and query; or NULL */
    bool create, verify, print_ddl, durable, rollup; /* of load */
    tl_words table;                                  /* the same: names */

    const char *output, *to, *text_style, *clock, *split; /* or NULL */
    bool force;
    const char *title;               /* of a page; or NULL */
    uint64_t page_limit;             /* in bytes; 0: not given */
    const char *format_version;      /* or NULL */
    const char *compress, *checksum; /* of packets; or NULL */

    const char *time, *min_dur; /* or NULL; see selection.h */
    const char *insns, *pc;     /* the same */
    unsigned levels;            /* as tl_select.levels */
    const char *slice_at;       /* of convert, see convert_slice.h; of record, see insn_slice_place.c; or NULL */
    uint64_t slice_insns;       /* instructions from there on; 0: not given */
    tl_words thread, cpu, func, not_func, cls;
    tl_words copied; /* words that are not in argv: freed with this */
    uint32_t depth;  /* 0: any */

    uint32_t port;      /* of serve; 0: any */
    const char *socket; /* or NULL */
    bool opens, ipv6;   /* a browser; the other address of this machine */

    const char *mode, *threshold, *ring, *limit, *start; /* of record; or NULL */
    bool any;
    const char *how; /* or NULL */
    tl_words libs;   /* patterns of libraries that are patched, too */
    bool children, exact, dry_run;
    uint32_t pid;                    /* of a process that runs already; 0: not given */
    uint64_t duration;               /* of recording, in ns; 0: not given */
    uint32_t runs;                   /* how often to run the program; 0: not given */
    const char *turns;               /* the other program; or NULL */
    bool insn, plain, hint, order;   /* of instructions: record them; between two HINT #9; with their order */
    const char *qemu_cpu, *sysroot;  /* or NULL */
    uint64_t snapshots;              /* instructions between two; 0: not given */
    uint64_t min_size;               /* of functions that are patched, in bytes; 0: any */
    bool mono, heap, lines, classes; /* of .NET: on Mono; what is recorded besides samples */
    const char *jit;                 /* "all", or "off"; NULL: as usual */
    const char *alloc;               /* as given; "": all objects; NULL: none */
    const char *sampling;            /* cpu, wall or off; or NULL */
    uint64_t period;                 /* ns between two samples; 0: not given */

    tl_words exe_word;      /* -e as given: see exe_files.h */
    const char *exe, *from; /* or NULL */
    const char *glob;       /* of files in folders of profiles; or NULL */
    bool has_folders;       /* a file is such a folder: not an option, found out by `report` */
    bool no_demangle, strict, resync, follow;
    uint32_t threads; /* 0: as many as there are processors */

    tl_color color;
    bool no_pager, quiet, verbose;
} tl_arguments;

/* Whether there may be more than one input. */
static inline bool tl_has_several(const tl_arguments *a)
{
    return a->file.n > 1 || a->has_folders;
}

/* Whether the output goes to standard output. */
bool tl_to_stdout(const tl_arguments *a);

/* Bytes of a message about a wrong command line. */
#define TL_USAGE_SIZE 320u

/* Parses the words after the program's name: argv[0] is the verb. Options may come before and after files; `--` ends
 * them. If the line is wrong, returns false with a message, without "traceloom: " in front. Either way `a` has to be
 * finished. */
bool tl_arguments_parse(tl_arguments *a, int argc, const char *const *argv, char message[static TL_USAGE_SIZE]);
void tl_arguments_fini(tl_arguments *a);
/* The verb as given by the user, for messages. */
const char *tl_called(const tl_arguments *a);
/* The first of these options, "limit start for", that the command line has: its name. NULL: it has none of them. */
const char *tl_first_given(const tl_arguments *a, const char *names);

#endif
