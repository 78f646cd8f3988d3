/* What a column of a table is in files of columns. */
#ifndef TL_MODEL_STORED_COLUMN_H
#define TL_MODEL_STORED_COLUMN_H

#include "base/arena.h"
#include "base/columnar/column_batch.h"
#include "traceloom/relation.h"

/* The unit of a column in outputs for programs: "ns"; NULL: none. Static. */
const char *tl_unit_word(const tl_column_info *c, bool is_ns);
/* How values of the declared type are stored. */
tl_store tl_store_of(const tl_column_info *c);
/* Column i of *as [i + 1], whose names are before it, stored as `store`; the name is in the arena. is_compound: rows
 * may come from SELECTs that the columns do not describe. False: no memory. */
bool tl_stored_describe(tl_arena *arena, tl_stored_as *as, uint32_t i, const tl_column_info *info, tl_store store,
                        bool is_ns, bool is_compound);

#endif
