/* Rows of answers as JSON: objects whose members are the columns. */
#ifndef TL_MODEL_ROW_JSON_H
#define TL_MODEL_ROW_JSON_H

#include "base/text/json_write.h"
#include "model/relation_impl.h"

#define TL_MEMBERS_LEVELS 4u

/* A writer that tracks its open objects by the path of names: "pause.count" is in "pause". */
typedef struct tl_members {
    tl_json json;
    struct {
        const char *name;
        size_t length;
        bool is_list;
    } open[TL_MEMBERS_LEVELS];
    unsigned depth;
} tl_members;

/* Closes objects down to this depth. */
void tl_members_leave(tl_members *m, unsigned depth);
/* Closes and opens objects between the last member and this one, and writes its key. */
void tl_members_go(tl_members *m, const char *path);
/* The columns of a row as members of the open object. plain: by their names, all of them; else as --json has them. */
void tl_members_row(tl_members *m, const tl_part *part, uint64_t row, bool plain);
/* A row as an object. */
void tl_row_json(tl_json *j, const tl_part *part, uint64_t row, bool plain);
/* A value of a column. */
void tl_cell_json(tl_json *j, const tl_part *part, const tl_column *c, const tl_cell *v, bool plain);
/* Rows of a list (TL_CELL_ROWS) as JSON, plain, in scratch. */
const char *tl_rows_json(const tl_part *part, const tl_cell *rows);

#endif
