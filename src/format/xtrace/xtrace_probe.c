/* Is a content an instruction stream, or snapshots? Neither has a magic number: names decide, or valid tokens. */
#include "format/xtrace/xtrace_read.h"

/* Without a name, each valid token is a little evidence. */
enum { TOKENS_MOST = 40, TOKENS_LEAST = 4, BY_TAIL = 24 };

/* A header of this size, then records of this one, the first of which ends in its vector length? Only for vectors so
 * short that this is within the probed bytes. */
static bool fits(const uint8_t *head, size_t size, uint64_t total, uint32_t header, uint32_t vl)
{
    const uint64_t record = xtrace_snapshot_size(vl), end = header + record;
    return total >= end && (total - header) % record == 0 && size >= end && tl_load64(head + end - 8, false) == vl;
}

bool xtrace_looks_like_snapshots(const uint8_t *head, size_t size, uint64_t total)
{
    static const uint32_t header[] = {24, 19, 0, 32};
    for (uint32_t i = 0; i < TL_COUNT(header); i++)
        for (uint32_t vl = XTRACE_VL_STEP; vl <= XTRACE_VL_MOST; vl += XTRACE_VL_STEP)
            if (fits(head, size, total, header[i], vl))
                return true;
    return false;
}

int xtrace_probe(const tl_probe *p)
{
    xtrace_name name;
    xtrace_name_parse(&name, p->path ? p->path : "");
    if (name.kind != XTRACE_NO_KIND)
        return XTRACE_BY_NAME;
    if (p->size > 0 && xtrace_looks_like_snapshots(p->head, p->size, p->total))
        return BY_TAIL;
    if (p->size == 0 || !xtrace_token_is_insn(p->head[0]))
        return 0;
    size_t at = 0;
    int tokens = 0;
    while (at < p->size && p->size - at >= XTRACE_VEC_HEAD && tokens < TOKENS_MOST) {
        uint64_t size;
        if (xtrace_token_size(p->head + at, p->total - at, &size))
            return 0;
        tokens++;
        if (size > p->size - at)
            break;
        at += (size_t)size;
    }
    return tokens >= TOKENS_LEAST ? tokens : 0;
}
