/* Events through the writer of babeltrace2's text, for tests. */
#ifndef TEST_BABELTRACE_FIXTURE_H
#define TEST_BABELTRACE_FIXTURE_H

#include "rich_fixture.h"

extern const tl_format tl_format_babeltrace;

/* In two pieces: "?" "?)" would be a trigraph. */
#define UNKNOWN                                                                                                        \
    "(+?.????????"                                                                                                     \
    "?) "
#define FIRST "[00:00:00.000000001] " UNKNOWN

static inline void start(fixture *f)
{
    assert_int_equal(fixture_create(f, &tl_format_babeltrace), 0);
}

static inline void add_bare(fixture *f, uint64_t ts)
{
    fixture_event(f, RICH_BARE, 0, -1, ts, 0, NULL, 0);
}

#endif
