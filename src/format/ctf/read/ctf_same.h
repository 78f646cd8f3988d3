/* Whether two things that metadata says are the same: schemas, and the classes made of them. */
#ifndef TL_FORMAT_CTF_SAME_H
#define TL_FORMAT_CTF_SAME_H

#include "format/ctf/plan/ctf_plan.h"

/* A number that two schemas of the same classes have in common, and others most likely not. */
uint64_t ctf_same_key(const ctf_schema *s);
/* Whether plans of one serve the other: they differ in nothing but clocks, uuid, session, name and environment. Too
 * large ones are different. */
bool ctf_same_schema(const ctf_schema *a, const ctf_schema *b);

/* Makes one class of each two that are the same: of those from `first` on, ones that are the same as an earlier one are
 * taken out, and the plans use that instead. `known`: hashes of names -> classes, kept up to date. */
int ctf_same_classes(ctf_class_list *l, uint32_t first, ctf_plans *plans, tl_hash *known, tl_error *e);

#endif
