/* Dates and times of day, read from text. */
#ifndef TL_BASE_UTC_TEXT_H
#define TL_BASE_UTC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads "2026-01-31T12:00:00.5Z" (seconds, fraction and Z may be missing; UTC, unless it ends in an offset such as
 * +01:00) to ns since 1970. */
bool tl_parse_utc(const char *s, size_t n, uint64_t *ns);
/* "23:01:24.5", "23:01:24+01:00": ns since midnight, and how many ns that clock is ahead of UTC. */
bool tl_parse_time_of_day(const char *s, size_t n, uint64_t *ns, int64_t *ahead);

#endif
