/* Whether two schemas, or the classes made from them, are the same. */
#ifndef TL_FORMAT_CTF_SAME_H
#define TL_FORMAT_CTF_SAME_H

#include "format/ctf/plan/ctf_plan.h"

/* A number that schemas with the same classes share, and others most likely do not. */
uint64_t ctf_same_key(const ctf_schema *s);
/* Whether plans of one serve the other: they differ only in clocks, uuid, session, name and environment. Too large ones
 * count as different. */
bool ctf_same_schema(const ctf_schema *a, const ctf_schema *b);

/* Merges equal classes: removes those from `first` on that equal an earlier one, which the plans use instead. `known`:
 * hashes of names -> classes, kept up to date. */
int ctf_same_classes(ctf_class_list *l, uint32_t first, ctf_plans *plans, tl_hash *known, tl_error *e);

#endif
