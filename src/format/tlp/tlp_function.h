/* A function in a .tlp file: its strings are still numbers, which compare like the strings. */
#ifndef TL_FORMAT_TLP_FUNCTION_H
#define TL_FORMAT_TLP_FUNCTION_H

#include "traceloom/model.h"

typedef struct tlp_function {
    uint32_t module, name, file, linkage_name, library, renamed;
    int64_t id;
    uint64_t line, address, flags, offset;
} tlp_function;

/* The order of tl_profile_function_order(). */
static inline bool tlp_function_is_after(const tlp_function *f, const tlp_function *before)
{
    const bool hex = f->flags & TL_FUNCTION_HEX_ID, hex_before = before->flags & TL_FUNCTION_HEX_ID;
    if (f->module != before->module)
        return f->module > before->module;
    if (hex != hex_before)
        return hex;
    if (f->id != before->id)
        return hex ? (uint64_t)f->id > (uint64_t)before->id : f->id > before->id;
    if (f->name != before->name)
        return f->name > before->name;
    if (f->file != before->file)
        return f->file > before->file;
    if (f->line != before->line)
        return f->line > before->line;
    if (f->library != before->library)
        return f->library > before->library;
    if (f->renamed != before->renamed)
        return f->renamed > before->renamed;
    return f->offset != before->offset ? f->offset > before->offset : f->flags > before->flags;
}

/* With the strings themselves. */
static inline tl_function tlp_function_details(const tlp_function *f, const char *const *string)
{
    return (tl_function){.id = f->id,
                         .address = f->address,
                         .name = string[f->name],
                         .linkage_name = string[f->linkage_name],
                         .file = string[f->file],
                         .module = string[f->module],
                         .library = string[f->library],
                         .renamed = string[f->renamed],
                         .line = (uint32_t)f->line,
                         .flags = (uint32_t)f->flags,
                         .offset = (uint32_t)f->offset};
}

#endif
