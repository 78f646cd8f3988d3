/* The one table of verbs and options: the parser, --help, the man pages and the shell completions are made from it. */
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
    TL_VERB_RECORD,
    TL_VERB_CTL,
    TL_VERB_HELP
} tl_verb_id;

#define TL_VERB_BIT(id) (1u << (id))

typedef struct tl_example {
    const char *arguments; /* without the program's name if that is the first word */
    const char *text;      /* what it shows: a few words */
} tl_example;

typedef struct tl_verb {
    tl_verb_id id;
    const char *name, *alias;  /* alias: another name, or NULL */
    const char *arguments;     /* "FILE..." */
    const char *summary;       /* one line, no full stop */
    const tl_example *example; /* ends with one whose arguments are NULL */
    const char *manual;        /* body of DESCRIPTION in mdoc, without the options */
} tl_verb;

typedef enum tl_option_group {
    TL_GROUP_VERB,   /* what this verb is about */
    TL_GROUP_OUTPUT, /* where it goes */
    TL_GROUP_SELECT, /* which part of the trace */
    TL_GROUP_INSNS,  /* of instructions; the short help has only their names */
    TL_GROUP_INPUT,  /* how the input is read */
    TL_GROUP_ALWAYS  /* the same for all */
} tl_option_group;
#define TL_GROUPS 6u

typedef struct tl_option tl_option;
struct tl_option_parser;
/* Puts the value of an option (NULL: a flag) where it belongs. False: it is wrong, and the message says why. */
typedef bool tl_option_take(struct tl_option_parser *p, const tl_option *o, const char *value);
tl_option_take tl_take_flag, tl_take_text, tl_take_choice, tl_take_amount, tl_take_word;
tl_option_take tl_take_at, tl_take_color, tl_take_depth, tl_take_level, tl_take_line_size, tl_take_quiet,
    tl_take_threads, tl_take_top, tl_take_verbose, tl_take_version, tl_take_weight, tl_take_workers;

struct tl_option {
    tl_option_take *take;
    size_t place;      /* of the member of tl_arguments */
    char letter;       /* 0: none */
    const char *name;  /* without the dashes */
    const char *value; /* what its value is called: "GLOB"; NULL: a flag */
    tl_option_group group;
    unsigned verbs;     /* TL_VERB_BIT of each verb that knows it */
    const char *brief;  /* for --help: a few words */
    const char *manual; /* for the man page: sentences in mdoc, one a line */
    const char *values; /* for completion: words; "@file", "@read", "@write" (format names), or NULL */
};

/* The tables end with an entry whose name is NULL. */
extern const tl_verb tl_verb_table[];
extern const tl_option tl_option_table[];

/* The verb of a name or alias, or NULL. */
const tl_verb *tl_verb_find(const char *name);
/* The verb, or one of two other words, that a mistyped one is near to; or NULL. */
const char *tl_nearest_verb(const char *name, const char *also, const char * or);
/* Does the example lack the program's name in front? */
bool tl_example_is_bare(const tl_verb *verb, const tl_example *example);
/* What a verb's options of one group are about: "Which part of the trace". */
const char *tl_group_title(const tl_verb *verb, tl_option_group group);

typedef struct tl_words {
    const char **word;
    size_t n;
} tl_words;

/* A command line, taken apart. Strings are borrowed from argv, or copied. */
typedef struct tl_arguments {
    const tl_verb *verb;
    const char *called; /* what the verb was called: its name or its alias; NULL if no words were parsed */
    bool help;
    bool no_memory; /* to take the words apart */
    tl_words file;

    const char *by;     /* of --by; NULL: not given */
    const char *weight; /* of samples: name of a tl_weight, or NULL */
    const char *sort;   /* a column's name, checked, or NULL */
    bool has_top, wide, per_thread, count, json;
    uint32_t top;

    /* Tables of instructions; 0, NULL: not given. */
    uint64_t interval;             /* in instructions */
    uint32_t line_size;            /* in bytes: a power of two */
    uint64_t sample;               /* one of so many */
    const char *cache, *predictor; /* as given: what they mean is the table's business */
    bool calls;
    bool has_at;
    uint64_t at; /* the number of an instruction */

    const char *output, *to, *text_style, *split; /* or NULL */
    bool force;
    const char *format_version;      /* or NULL */
    const char *compress, *checksum; /* of packets; or NULL */

    const char *time, *min_dur; /* or NULL; see selection.h */
    const char *insns, *pc;     /* the same */
    unsigned levels;            /* as tl_select.levels */
    const char *slice_at;       /* the number of a snapshot, or a TIME; or NULL; see convert_slice.h */
    uint64_t slice_insns;       /* instructions from there on; 0: not given */
    tl_words thread, cpu, func, not_func, cls;
    tl_words copied; /* words that are not argv's: they are freed with this */
    uint32_t depth;  /* 0: any */

    const char *mode, *threshold, *ring, *limit, *start; /* of record; or NULL */
    bool any;

    tl_words exe_word;      /* -e as given: see exe_files.h */
    const char *exe, *from; /* or NULL */
    bool no_demangle, strict, resync, follow;
    uint32_t threads; /* 0: as many as there are processors */

    tl_color color;
    bool quiet, verbose;
} tl_arguments;

/* Whether the output goes to standard output. */
bool tl_to_stdout(const tl_arguments *a);

/* One line about what is wrong with a command line. */
#define TL_USAGE_SIZE 320u

/* Parses the words after the program's name: argv[0] is the verb. Options may stand before and after files; `--` ends
 * them. Returns false with a message, without "traceloom: " in front, if the line is wrong. Either way `a` has to be
 * finished. */
bool tl_arguments_parse(tl_arguments *a, int argc, const char *const *argv, char message[static TL_USAGE_SIZE]);
void tl_arguments_fini(tl_arguments *a);
/* The verb as the user called it, for messages. */
const char *tl_called(const tl_arguments *a);

#endif
