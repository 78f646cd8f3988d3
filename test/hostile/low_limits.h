/* Lowers limits that no test could reach. The files that use them are compiled once more after this header, for the
 * command traceloom_low: there the environment sets each limit, TL_LOW="NAME=N". */
#ifndef TEST_LOW_LIMITS_H
#define TEST_LOW_LIMITS_H

#include <stdint.h>

/* The limit of this name; `real` if the environment does not set it. */
uint64_t low_limit(const char *name, uint64_t real);

#include "analysis/instruction/block_table.h"
#include "analysis/instruction/branch_table.h"
#include "analysis/instruction/cache_table.h"
#include "analysis/instruction/page_table.h"
#include "analysis/instruction/reuse_stack.h"
#include "analysis/instruction/syscall_table.h"
#include "format/ctf/metadata/tsdl_parser.h"
#include "format/ctf/plan/ctf_run.h"
#include "format/perfetto/perfetto_writer.h"
#include "format/xtrace/xtrace_core.h"
#include "format/xtrace/xtrace_layout.h"
#include "format/xtrace/xtrace_touch.h"
#include "model/place_tree.h"
#include "model/profile_impl.h"
#include "model/recording.h"
#include "model/stack_nodes.h"
#include "model/trace_impl.h"
#include "op/callstack.h"
#include "op/symbols/named_file.h"
#include "traceloom/split.h"

/* Limits in headers: their real values. */
static const uint64_t real_blocks = TL_BLOCKS_MAX, real_branches = TL_BRANCHES_MAX,
                      real_targets = TL_BRANCH_TARGETS_MAX, real_pages = TL_PAGES_MAX, real_lines = TL_REUSE_LINES_MAX,
                      real_pcs = TL_CACHE_PCS_MAX, real_rows = TL_SYSCALL_ROWS_MAX, real_calls = TL_SYSCALL_LIST_MAX,
                      real_slots = CTF_EVENT_SLOTS_MAX, real_frames = TL_STACK_FRAMES_MAX, real_places = TL_PLACES_MAX,
                      real_depth = TL_STACK_DEPTH_MAX, real_functions = TL_RECORDING_FUNCTIONS_MAX,
                      real_core = XTRACE_CORE_PAGES, real_vec = XTRACE_VEC_MAX, real_touch = XTRACE_TOUCH_PAGES,
                      real_tracks = TL_TRACKS_MAX, real_items = TSDL_ITEMS_MAX, real_steps = TSDL_STEPS_MAX,
                      real_interned = INTERNED_MAX, real_stacks = TL_STACK_NODES_MAX,
                      real_names = TL_STACK_NAME_BYTES_MAX, real_open = TL_SPLIT_OPEN_MAX,
                      real_parts = TL_SPLIT_PARTS_MAX, real_named = TL_NAMED_BYTES_MAX;

#undef TL_BLOCKS_MAX
#define TL_BLOCKS_MAX ((unsigned)low_limit("TL_BLOCKS_MAX", real_blocks))
#undef TL_BRANCHES_MAX
#define TL_BRANCHES_MAX ((unsigned)low_limit("TL_BRANCHES_MAX", real_branches))
#undef TL_BRANCH_TARGETS_MAX
#define TL_BRANCH_TARGETS_MAX ((unsigned)low_limit("TL_BRANCH_TARGETS_MAX", real_targets))
#undef TL_PAGES_MAX
#define TL_PAGES_MAX ((unsigned)low_limit("TL_PAGES_MAX", real_pages))
#undef TL_REUSE_LINES_MAX
#define TL_REUSE_LINES_MAX ((unsigned)low_limit("TL_REUSE_LINES_MAX", real_lines))
#undef TL_CACHE_PCS_MAX
#define TL_CACHE_PCS_MAX ((unsigned)low_limit("TL_CACHE_PCS_MAX", real_pcs))
#undef TL_SYSCALL_ROWS_MAX
#define TL_SYSCALL_ROWS_MAX ((unsigned)low_limit("TL_SYSCALL_ROWS_MAX", real_rows))
#undef TL_SYSCALL_LIST_MAX
#define TL_SYSCALL_LIST_MAX ((unsigned)low_limit("TL_SYSCALL_LIST_MAX", real_calls))
#undef CTF_EVENT_SLOTS_MAX
#define CTF_EVENT_SLOTS_MAX ((unsigned)low_limit("CTF_EVENT_SLOTS_MAX", real_slots))
#undef TL_STACK_FRAMES_MAX
#define TL_STACK_FRAMES_MAX low_limit("TL_STACK_FRAMES_MAX", real_frames)
#undef TL_PLACES_MAX
#define TL_PLACES_MAX ((unsigned)low_limit("TL_PLACES_MAX", real_places))
#undef TL_STACK_DEPTH_MAX
#define TL_STACK_DEPTH_MAX ((unsigned)low_limit("TL_STACK_DEPTH_MAX", real_depth))
#undef TL_RECORDING_FUNCTIONS_MAX
#define TL_RECORDING_FUNCTIONS_MAX ((unsigned)low_limit("TL_RECORDING_FUNCTIONS_MAX", real_functions))
#undef XTRACE_CORE_PAGES
#define XTRACE_CORE_PAGES ((unsigned)low_limit("XTRACE_CORE_PAGES", real_core))
#undef XTRACE_VEC_MAX
#define XTRACE_VEC_MAX ((unsigned)low_limit("XTRACE_VEC_MAX", real_vec))
#undef XTRACE_TOUCH_PAGES
#define XTRACE_TOUCH_PAGES ((unsigned)low_limit("XTRACE_TOUCH_PAGES", real_touch))
#undef TL_TRACKS_MAX
#define TL_TRACKS_MAX ((unsigned)low_limit("TL_TRACKS_MAX", real_tracks))
#undef TSDL_ITEMS_MAX
#define TSDL_ITEMS_MAX ((unsigned)low_limit("TSDL_ITEMS_MAX", real_items))
#undef TSDL_STEPS_MAX
#define TSDL_STEPS_MAX ((unsigned)low_limit("TSDL_STEPS_MAX", real_steps))
#undef INTERNED_MAX
#define INTERNED_MAX ((unsigned)low_limit("INTERNED_MAX", real_interned))
#undef TL_STACK_NODES_MAX
#define TL_STACK_NODES_MAX ((unsigned)low_limit("TL_STACK_NODES_MAX", real_stacks))
#undef TL_STACK_NAME_BYTES_MAX
#define TL_STACK_NAME_BYTES_MAX low_limit("TL_STACK_NAME_BYTES_MAX", real_names)
#undef TL_SPLIT_OPEN_MAX
#define TL_SPLIT_OPEN_MAX ((unsigned)low_limit("TL_SPLIT_OPEN_MAX", real_open))
#undef TL_SPLIT_PARTS_MAX
#define TL_SPLIT_PARTS_MAX ((unsigned)low_limit("TL_SPLIT_PARTS_MAX", real_parts))
#undef TL_NAMED_BYTES_MAX
#define TL_NAMED_BYTES_MAX low_limit("TL_NAMED_BYTES_MAX", real_named)

/* Limits in single files: the copy that is compiled lacks their own lines. */
#define BLOCKS_MAX        ((unsigned)low_limit("BLOCKS_MAX", 1u << 24))
#define EVENT_MOST        ((unsigned)low_limit("EVENT_MOST", 64u << 20))
#define DECOMPRESSED_MAX  ((size_t)low_limit("DECOMPRESSED_MAX", 64u << 20))
#define TRACKS_MOST       ((unsigned)low_limit("TRACKS_MOST", 256))
#define BATCHES_MOST      ((unsigned)low_limit("BATCHES_MOST", 2048))
#define PAGES_MOST        ((unsigned)low_limit("PAGES_MOST", 1u << 18))
#define SECTIONS_MAX      ((unsigned)low_limit("SECTIONS_MAX", 1u << 20))
#define SECTION_BYTES_MAX low_limit("SECTION_BYTES_MAX", 1u << 30)
#define NAMES_BYTES_MAX   low_limit("NAMES_BYTES_MAX", 512u << 20)
#define STEPS_MAX         low_limit("STEPS_MAX", 1u << 30)
#define SEARCH_MAX        ((unsigned)low_limit("SEARCH_MAX", 1u << 26))
#define CHOICES_MAX       ((unsigned)low_limit("CHOICES_MAX", 1u << 21))
#define FUNCTIONS_MAX     ((unsigned)low_limit("FUNCTIONS_MAX", 1u << 20))
#define MODULES_MAX       ((unsigned)low_limit("MODULES_MAX", 65536))
#define LIVE_LANES_MAX    ((unsigned)low_limit("LIVE_LANES_MAX", 1u << 20))
#define LIVE_TEXT_MAX     low_limit("LIVE_TEXT_MAX", 1u << 20)
#define CHROME_TOLD_MAX   ((unsigned)low_limit("CHROME_TOLD_MAX", 1u << 22))
#define ZEROS_MAX         ((unsigned)low_limit("ZEROS_MAX", 1u << 20))
#define IMAGE_PAGES_MOST  ((size_t)low_limit("IMAGE_PAGES_MOST", 1u << 18))
#define CALLS_MAX         ((unsigned)low_limit("CALLS_MAX", (1u << 20) - 16))

#endif
