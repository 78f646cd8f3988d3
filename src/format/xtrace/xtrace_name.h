/* The names of recordings: xtrace.<time>.<thread or processor>.hint<9|13>.<xinsndata|xsnapshot>.bin, maybe compressed.
 */
#ifndef TL_XTRACE_NAME_H
#define TL_XTRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum xtrace_kind { XTRACE_NO_KIND, XTRACE_STREAM, XTRACE_SNAPSHOTS } xtrace_kind;

typedef struct xtrace_name {
    xtrace_kind kind; /* the kind of file by its name: STREAM or SNAPSHOTS by the words alone */
    bool is_file;     /* only a compression suffix follows: a file of a recording, not one about it */
    bool complete;    /* has all the parts: */
    char who[24];     /* the thread or processor, as text; "0" if the name is not complete */
    int64_t number;   /* the same */
    unsigned hint;    /* 9 or 13 */
    const char *time; /* the part of the name, not terminated */
    size_t time_length;
} xtrace_name;

/* Parses the last part of a path. */
void xtrace_name_parse(xtrace_name *n, const char *path);
/* The path of the other file of a pair (snapshots for a stream, or the other way round), with the same compression
 * suffix; to be freed. NULL if the name has no such word, or when memory runs out. */
char *xtrace_name_partner(const char *path);

#endif
