/* Names of fields for messages. */
#include "format/ctf/plan/ctf_path.h"

#include <stdio.h>
#include <string.h>

/* Puts the path of a member into text if it is in the type. */
static bool find(const ctf_type *t, const ctf_member *m, unsigned depth, char *text, size_t size)
{
    const size_t at = strlen(text);
    for (uint32_t i = 0; t && depth < CTF_DEPTH_MAX && i < t->nmember; i++) {
        const ctf_member *child = &t->member[i];
        if (child->name)
            snprintf(text + at, size - at, "%s%s", at ? "." : "", child->name);
        if (child == m || find(child->type, m, depth + 1, text, size))
            return true;
        text[at] = 0;
    }
    return false;
}

const char *ctf_path(const ctf_program *p, const ctf_run *r, const ctf_type *const *scope, unsigned n, char *text,
                     size_t size)
{
    text[0] = 0;
    if (r->bad_op >= p->nop)
        return text;
    const ctf_op *op = &p->op[r->bad_op];
    const ctf_member *m = p->op_member[r->bad_op];
    const bool is_run = op->code == CTF_OP_RUN || op->code == CTF_OP_RUN_LE || op->code == CTF_OP_RUN_BE;
    if (is_run && r->bad_load >= op->a && r->bad_load - op->a < op->n)
        m = p->load_member[r->bad_load];
    if (op->code == CTF_OP_BITS || op->code == CTF_OP_VARINT)
        m = p->load_member[op->a];
    for (unsigned i = 0; m && i < n; i++)
        if (scope[i] && find(scope[i], m, 0, text, size))
            return text;
    return text;
}
