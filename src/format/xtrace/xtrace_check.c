/* Checks a recording: each stream with its snapshots, several at a time. */
#include "format/xtrace/xtrace_check.h"

#include <stdlib.h>

#include "base/pool.h"
#include "format/xtrace/xtrace_image.h"
#include "format/xtrace/xtrace_read.h"

typedef struct checking {
    xtrace_reader *reader;
    tl_error *e; /* of each file */
} checking;

/* Checks a stream, the snapshots of its pair, or both. */
static int check_pair(const xtrace_reader *r, const xtrace_file *stream, const xtrace_file *snapshots, tl_error *e)
{
    if (!snapshots)
        return xtrace_check_stream(stream->in, r->trace, stream->name, NULL, r->want.resync, e);
    tl_input *beside = NULL;
    int status = stream ? 0 : xtrace_partner_open(&beside, tl_input_path(snapshots->in), e);
    if (status < 0)
        return status;
    tl_input *const in = stream ? stream->in : beside;
    xtrace_claims claims;
    status = xtrace_claims_init(&claims, &snapshots->snapshots, in, e);
    if (status >= 0 && (stream || claims.n > 0))
        status =
            xtrace_check_stream(in, stream ? r->trace : NULL, stream ? stream->name : NULL, &claims, r->want.resync, e);
    xtrace_claims_fini(&claims);
    tl_input_close(beside);
    return status;
}

static int check_file(void *arg, unsigned worker, uint32_t i)
{
    (void)worker;
    checking *const c = arg;
    const xtrace_reader *const r = c->reader;
    const xtrace_file *const f = &r->file[i];
    const xtrace_file *const partner = f->partner == XTRACE_NONE ? NULL : &r->file[f->partner];
    if (f->parts.kind != XTRACE_SNAPSHOTS) {
        const int status = check_pair(r, f, partner, &c->e[i]);
        return status < 0 || !f->name ? status : xtrace_image_check_beside(f->in, f->name, r->trace, &c->e[i]);
    }
    return partner ? 0 : check_pair(r, NULL, f, &c->e[i]);
}

int xtrace_check(void *reader, unsigned threads, tl_error *e)
{
    checking c = {.reader = reader};
    const uint32_t n = c.reader->n;
    c.e = calloc((size_t)n + 1, sizeof *c.e);
    if (!c.e)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to check a recording");
    int status = tl_parallel(threads ? threads : 1, n, check_file, &c);
    for (uint32_t i = 0; status < 0 && i < n; i++)
        if (c.e[i].code == status) {
            if (e)
                *e = c.e[i];
            break;
        }
    free(c.e);
    return status;
}
