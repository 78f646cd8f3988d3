/* The source location of an instruction: from the code tables of fun inf, or from lin src in saved sessions. */
#ifndef TL_FORMAT_TRACELOG_CODE_H
#define TL_FORMAT_TRACELOG_CODE_H

#include "base/hash.h"
#include "traceloom/error.h"
#include "traceloom/model.h"

/* A piece of the native code of a function. */
typedef struct tracelog_piece {
    uint64_t function; /* iid */
    uint64_t start, size;
    uint64_t before;    /* bytes of the function's code in earlier pieces */
    uint32_t map, nmap; /* its function's il_map in tracelog_code.map */
    uint32_t order;     /* of two that begin at one address, the later one counts */
} tracelog_piece;

typedef struct tracelog_il {
    uint64_t il, begin, end; /* offsets: in the intermediate code, and of the native code */
} tracelog_il;

typedef struct tracelog_line {
    uint64_t file; /* iid */
    uint32_t line;
} tracelog_line;

/* A zeroed one is empty. */
typedef struct tracelog_code {
    tracelog_piece *piece; /* by function and start, once sorted */
    uint32_t npiece, piece_capacity;
    tracelog_il *map;
    uint32_t nmap, map_capacity;
    tracelog_line *line;
    uint32_t nline, line_capacity;
    tl_hash line_of; /* iid -> index in line */
    const char **file;
    uint32_t nfile, file_capacity;
    tl_hash file_of; /* iid -> index in file */
} tracelog_code;

/* Adds the code of a function: the lists of code_info items (start, size) and of il_map items (three numbers), as on a
 * tape. TL_ENOMEM. */
int tracelog_code_add(tracelog_code *c, uint64_t function, const tl_value *code_info, const tl_value *il_map,
                      tl_error *e);
int tracelog_code_add_line(tracelog_code *c, uint64_t line, uint64_t file, uint64_t number, tl_error *e);
/* The path lives as long as the trace. */
int tracelog_code_add_file(tracelog_code *c, uint64_t file, const char *path, tl_error *e);
/* Call before the first lookup. */
void tracelog_code_sort(tracelog_code *c);
bool tracelog_code_locate(const tracelog_code *c, const tl_frame *frame, tl_location *out);
void tracelog_code_fini(tracelog_code *c);

#endif
