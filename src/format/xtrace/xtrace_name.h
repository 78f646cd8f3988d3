/* The names of recordings: xtrace.<time>.<thread or processor>.hint<9|13>.<xinsndata|xsnapshot>.bin, maybe compressed.
 */
#ifndef TL_XTRACE_NAME_H
#define TL_XTRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum xtrace_kind { XTRACE_NO_KIND, XTRACE_STREAM, XTRACE_SNAPSHOTS } xtrace_kind;

typedef struct xtrace_name {
    xtrace_kind kind; /* what the name says the file is: STREAM or SNAPSHOTS only by the words alone */
    bool is_file;     /* nothing follows but a suffix of compression: a file of a recording, not one about it */
    bool complete;    /* it has all the parts: */
    char who[24];     /* of the thread or processor, as text; "0" if the name is not complete */
    int64_t number;   /* the same */
    unsigned hint;    /* 9 or 13 */
    const char *time; /* the part of the name, not terminated */
    size_t time_length;
} xtrace_name;

/* Takes the last part of a path apart. */
void xtrace_name_parse(xtrace_name *n, const char *path);
/* The path of the other file of a pair (of the snapshots of a stream, or the other way round), with the same suffix of
 * compression; to be freed. NULL if the name has no such word, or when memory runs out. */
char *xtrace_name_partner(const char *path);

#endif
