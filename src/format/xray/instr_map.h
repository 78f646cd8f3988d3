/* xray_instr_map: the table of sleds in an instrumented binary, which maps function ids to addresses. */
#ifndef TL_FORMAT_XRAY_INSTR_MAP_H
#define TL_FORMAT_XRAY_INSTR_MAP_H

#include "base/elf/elf_file.h"
#include "model/trace_impl.h"

/* Adds a function (id, address) to t for every function of the map: id n is the n-th run of equal function addresses.
 * Errors: TL_EUNSUPPORTED without a map, TL_EDAMAGED with the offset for a broken one. */
int xray_instr_map_read(tl_elf *elf, tl_trace *t, tl_error *e);

#endif
