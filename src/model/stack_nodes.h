/* Stacks of samples as nodes of one tree, for outputs that write a stack once and then refer to it by number. */
#ifndef TL_MODEL_STACK_NODES_H
#define TL_MODEL_STACK_NODES_H

#include "base/hash.h"
#include "model/trace_impl.h"

/* Distinct stacks, and bytes of their names; samples with further ones are left out. */
#define TL_STACK_NODES_MAX      (1u << 20)
#define TL_STACK_NAME_BYTES_MAX ((size_t)64 << 20)

#define TL_DROP_MANY_STACKS "samples with one of too many different stacks"

typedef struct tl_stack_node {
    uint32_t parent; /* 0: outermost */
    uint32_t label;  /* index in labels */
    uint32_t depth;
} tl_stack_node;

typedef struct tl_stack_nodes {
    const tl_trace *trace;
    uint32_t depth_most; /* how many of the outermost frames to keep of deeper stacks; 0: all */
    tl_stack_node *node; /* [n]; 0 is the empty stack */
    uint32_t n, capacity;
    tl_hash child; /* parent, label -> node */
    tl_strings names;
    tl_hash label_index; /* address of a name -> label */
    const char **label;
    uint32_t nlabel, label_capacity;
    struct tl_stack_memo *memo;   /* nodes of frames seen with the same contents of a batch ... */
    struct tl_stack_named *named; /* ... and labels of names */
    uint64_t contents;            /* tl_arena.contents; 0: remembers nothing */
    uint64_t held, newest;        /* tl_arena_held(), and the highest so far */
    struct tl_stack_memo *last;   /* [nlast] the same for frames that outlive their batch, whatever their address */
    uint32_t nlast, last_capacity;
    tl_hash last_index; /* address -> index in last */
    uint64_t looked;    /* frames examined so far */
    const tl_frame **path;
    uint32_t path_capacity;
    uint64_t cut, too_many; /* samples */
} tl_stack_nodes;

void tl_stack_nodes_init(tl_stack_nodes *s, const tl_trace *t, uint32_t depth_most); /* after zeroing */
void tl_stack_nodes_fini(tl_stack_nodes *s);

/* Forgets the frames that stay, if there are many: most of them are gone when there are new ones. */
void tl_stack_nodes_forget(tl_stack_nodes *s);

/* The next samples are from this batch. Frames stay known until its contents change, or what it holds, if they outlive
 * their batch. Runs of a batch may be as short as one event. */
static inline void tl_stack_nodes_run(tl_stack_nodes *s, const tl_batch *b)
{
    s->contents = b->arena ? b->arena->contents : 0;
    s->held = b->arena ? tl_arena_held(b->arena) : 0;
    if (TL_UNLIKELY(s->held > s->newest))
        tl_stack_nodes_forget(s);
}

typedef enum tl_stack_found { TL_STACK_NO_MEMORY, TL_STACK_NODE, TL_STACK_TOO_MANY } tl_stack_found;

/* Is it a class of samples with stacks? */
bool tl_sample_class(const tl_class *c);

/* A sample. */
typedef struct tl_sample {
    uint64_t count;  /* how many; 0: only updates the stack */
    uint64_t weight; /* ticks that each represents */
    const tl_value *stack;
} tl_sample;

tl_sample tl_sample_get(const tl_batch *b, uint32_t i, const tl_class *c);

/* The node of a sample's stack. */
tl_stack_found tl_stack_nodes_get(tl_stack_nodes *s, const tl_sample *sample, uint32_t *node);

#endif
