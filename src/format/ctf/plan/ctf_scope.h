/* Scopes: the fields that a location can mean, while a type tree is compiled. */
#ifndef TL_FORMAT_CTF_SCOPE_H
#define TL_FORMAT_CTF_SCOPE_H

#include "base/arena.h"
#include "format/ctf/plan/ctf_program.h"
#include "traceloom/error.h"

#define CTF_NO_NODE UINT32_MAX
#define CTF_SCOPES  6u /* ctf_origin 0 .. 5 */

/* A number that a location may name: each number of the tree, in the order of compilation. */
typedef struct ctf_occurrence {
    const ctf_type *type;
    uint16_t reg;
    bool conditional; /* inside a variant, an optional or an array: may be missing */
    bool referenced;  /* by a length or a selector */
} ctf_occurrence;

/* A field, or a level between fields: options, elements. */
typedef struct ctf_node {
    const char *name, *raw; /* NULL: none */
    const ctf_type *type;
    uint32_t parent, first, last, next;
    uint32_t occurrence; /* of a number, else CTF_NO_NODE */
    bool option;         /* an option of a variant, the content of an optional, or an element */
    bool closed;         /* an array that has ended: its content can no longer be named */
} ctf_node;

typedef struct ctf_scopes {
    ctf_node *node;
    uint32_t n, capacity;
    uint32_t root[CTF_SCOPES]; /* CTF_NO_NODE: not there */
    ctf_occurrence *occurrence;
    uint32_t noccurrence, occurrence_capacity;
    uint32_t registers; /* used so far */
    uint32_t steps;     /* of all searches; see SEARCH_MAX */
    bool no_memory;
} ctf_scopes;

void ctf_scopes_init(ctf_scopes *s);
void ctf_scopes_fini(ctf_scopes *s);
/* A new node below `parent` (CTF_NO_NODE: a root); its index, or CTF_NO_NODE without memory. */
uint32_t ctf_scopes_add(ctf_scopes *s, uint32_t parent, const char *name, const char *raw, const ctf_type *type,
                        bool option);
/* Removes the nodes and occurrences from these numbers on. */
void ctf_scopes_cut(ctf_scopes *s, uint32_t nodes);
/* A new occurrence of a number, or with `replay` the one made at the same place the first time. */
uint32_t ctf_scopes_number(ctf_scopes *s, uint32_t node, bool conditional, uint32_t *replay);

/* Finds the meaning of a location for a field below `here`: its register, and the type of the (first) number. Returns
 * TL_EDAMAGED with a message without a position, TL_ENOMEM. */
int ctf_scopes_find(ctf_scopes *s, const ctf_location *l, uint32_t here, uint16_t *reg, const ctf_type **type,
                    tl_error *e);

/* Whether a word of a location means this member. In TSDL (`raw` not NULL) either may have a leading '_' that the other
 * lacks. */
bool ctf_same_name(const char *word, const char *name, const char *raw);

#endif
