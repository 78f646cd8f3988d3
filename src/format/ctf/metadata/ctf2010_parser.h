/* The metadata language of 2010 as a tree of words, before anything of it has a meaning.
 *
 *     trace { major = 1; minor = 1; }                       an item: a word and a block
 *     type uint8_t { parent = integer; size = 8; }          an item with a name
 *     fields = { { uint8_t, a }, { type { ... }, b } };     a member of a block: a name and a value
 *
 * Values are numbers, names, strings, `type { block }`, and values in braces; a member may also hold a block. ',' and
 * ';' only separate, wherever and how often they stand; a '.' before the name of a member says nothing. NUL bytes are
 * white space: the text comes as strings that end with one. */
#ifndef TL_FORMAT_CTF_CTF2010_PARSER_H
#define TL_FORMAT_CTF_CTF2010_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "traceloom/error.h"

#define CTF2010_NODES_MAX   (2u << 20) /* 32 bytes each; the kernel's 2000 events need a third of a million */
#define CTF2010_NESTING_MAX 256u       /* nesting of braces: each level costs stack, and a type has up to three */

typedef enum ctf2010_kind {
    CTF2010_END,
    CTF2010_NUMBER,
    CTF2010_NAME,
    CTF2010_STRING, /* including quotes */
    CTF2010_MARK,
    CTF2010_TYPE,   /* type { members }; the word is `type` */
    CTF2010_BRACES, /* { values }; the word is '{' */
    CTF2010_BLOCK,  /* { members }; the word is '{' */
    CTF2010_MEMBER, /* the word is its name, the only child its value */
    CTF2010_ITEM    /* the word is the kind of item; the children are its name, if any, and its block */
} ctf2010_kind;

typedef struct ctf2010_node {
    uint32_t position, n; /* of its word in the text, in bytes */
    uint32_t count;       /* children */
    uint8_t kind;
    const struct ctf2010_node *first, *next; /* child, sibling */
} ctf2010_node;

/* The text, and where failures are described. */
typedef struct ctf2010_source {
    const char *text;
    size_t n;
    tl_error *e;
} ctf2010_source;

/* Fails with the place of a word. */
#define ctf2010_fail(source, position, ...)                                                                            \
    ctf_metadata_fail((source)->e, (source)->text, (source)->n, position, __VA_ARGS__)

/* Parses the text, at most CTF_METADATA_MAX bytes. *root: a node whose children are the items; all are in the arena.
 * Errors: TL_EDAMAGED with the offset of the wrong word, invalid words before anything else; TL_ENOMEM. */
int ctf2010_tree(const ctf2010_node **root, tl_arena *arena, const ctf2010_source *source);

/* Is this the word of a node? */
bool ctf2010_is(const ctf2010_source *source, const ctf2010_node *node, const char *word);
/* The word of a node as arguments of "%.*s", shortened. */
#define CTF2010_SHOWN 40u
#define CTF2010_WORD(source, node)                                                                                     \
    (int)((node)->n < CTF2010_SHOWN ? (node)->n : CTF2010_SHOWN), (source)->text + (node)->position

/* A number of the text: its sign and its magnitude. */
typedef struct ctf2010_number {
    bool negative; /* only if the magnitude is not 0 */
    uint64_t magnitude;
} ctf2010_number;

/* The value of a node that must be a number: decimal, 0 octal, 0x hexadecimal, at most 64 bits. */
int ctf2010_number_of(const ctf2010_source *source, const ctf2010_node *node, ctf2010_number *out);
/* As int64_t, saturated. */
int64_t ctf2010_to_int64(ctf2010_number number);
/* The text of a node that must be a name, string or number, without quotes and backslashes, as UTF-8 in the arena:
 * *out. A NUL in it becomes a space. */
int ctf2010_text_of(const ctf2010_source *source, const ctf2010_node *node, tl_arena *arena, const char **out);

#endif
