/* Names of fields for messages. */
#ifndef TL_FORMAT_CTF_PATH_H
#define TL_FORMAT_CTF_PATH_H

#include "format/ctf/plan/ctf_plan_impl.h"

/* Writes the path of the field that a program failed at ("len", "a.b.c") into text. Returns text, "" if none is known.
 */
const char *ctf_path(const ctf_program *p, const ctf_run *r, const ctf_type *const *scope, unsigned n, char *text,
                     size_t size);

#endif
