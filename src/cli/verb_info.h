/* What `info` found out, and its two ways of showing it. */
#ifndef TL_CLI_VERB_INFO_H
#define TL_CLI_VERB_INFO_H

#include "base/output.h"
#include "cli/verbs.h"
#include "traceloom/source.h"

typedef struct tl_facts {
    const tl_trace *trace;
    tl_count count; /* of events; empty for a profile */
    bool is_profile;
    uint64_t profile_threads, profile_paths, profile_calls, profile_self; /* self in ticks */
} tl_facts;

void tl_info_json(const tl_facts *f, tl_output *out);
void tl_info_text(const tl_facts *f, const tl_cli *c, tl_output *out);

/* "enter", "instant", ... */
const char *tl_kind_name(tl_kind kind);

/* UTC ns since 1970 as "2026-01-31T12:00:00.500000000Z". Returns buf. */
char *tl_utc_text(char *buf, size_t size, int64_t ns);

#endif
