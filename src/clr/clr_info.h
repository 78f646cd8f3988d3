/* What the runtime is asked for. */
#ifndef TL_CLR_INFO_H
#define TL_CLR_INFO_H

#include "clr/clr_abi.h"

/* Keeps the runtime's object, ICorProfilerInfo5 or newer. False: it has none. */
bool clr_info_take(clr_object *unknown);
/* What is told, in two words; `gc`: collections, without keeping them from running beside the program, if the runtime
 * can. */
bool clr_info_tell(uint32_t events, uint32_t more, bool gc);
void clr_info_thread(void); /* the calling thread, which is not the runtime's, will ask */

clr_id clr_info_this_thread(void); /* what the runtime calls the calling thread; 0: it does not */

/* Calls for each module, or managed thread, that there is. */
void clr_info_modules(void (*each)(clr_id module));
void clr_info_threads(void (*each)(clr_id thread, uint32_t tid));

clr_id clr_info_function_at(uintptr_t ip); /* 0: none */
/* Names in UTF-8, to be freed; NULL: not known. */
char *clr_info_module(clr_id module, uintptr_t *base, clr_id *assembly);
char *clr_info_assembly(clr_id assembly, clr_id *domain, clr_id *module);
char *clr_info_domain(clr_id domain);
typedef struct clr_function {
    clr_id class, module;
    uint32_t token;
    uintptr_t start, size; /* of its first piece of code; 0: unknown */
    char *name;            /* "Space.Class:Method" */
} clr_function;
bool clr_info_function(clr_id function, clr_function *f);
/* A class by its id; the name is "Space.Outer.Inner<Argument>[]". False: not known. */
typedef struct clr_class {
    clr_id module;
    uint32_t token;
    char *name;
} clr_class;
bool clr_info_class(clr_id class, clr_class *c);
/* May its assembly be unloaded? Also in a stopped world. */
bool clr_info_class_collectible(clr_id class);
uintptr_t clr_info_object_size(clr_id object);

/* The pieces of a function's first code, to be freed; NULL: not known. */
clr_map *clr_info_map(clr_id function, uint32_t *n);

clr_id clr_info_module_of(clr_id function); /* 0: not known */
/* Every call goes to these; `number` gives a function its own, or 0. */
bool clr_info_hooks(uintptr_t (*number)(clr_id function, void *unused, int32_t *wanted), void (*enter)(void),
                    void (*leave)(void), void (*tail)(void));

#endif
