/* Numbers, then the profile as in a file. */
#include "mpi/sum_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "base/io/output.h"
#include "model/format_impl.h"
#include "traceloom/source.h"

enum { FILES = 0, READ = 8, UNREAD = 16, LAST = 24, LOSSES = 32, FLAGS = 40, PROFILE = 48 };
enum { LACKS_NAMES = 1, EXPLAINED = 2, OF_EVENTS = 4 };

static int write_profile(tl_output *out, const tl_profile *p, tl_error *e)
{
    const tl_write_context context = {.out = out, .options = &(const tl_write_options){0}};
    return p ? tl_format_by_name(TL_SUM_FORMAT)->profile_writer->write(&context, p, e) : 0;
}

int tl_sum_pack(const tl_report_sum *s, tl_rank_bytes *b, tl_error *e)
{
    uint8_t head[PROFILE];
    tl_output *out = NULL;
    tl_store64(head + FILES, s->files, false);
    tl_store64(head + READ, s->read, false);
    tl_store64(head + UNREAD, s->unread, false);
    tl_store64(head + LAST, s->last, false);
    tl_store64(head + LOSSES, (uint64_t)s->losses, false);
    tl_store64(head + FLAGS,
               (s->lacks_names ? LACKS_NAMES : 0u) | (s->explained ? EXPLAINED : 0u) | (s->of_events ? OF_EVENTS : 0u),
               false);
    int status = tl_output_open_memory(&out, TL_PLAIN, e);
    if (status < 0)
        return status;
    tl_output_write(out, head, sizeof head);
    status = write_profile(out, s->profile, e);
    if (status == 0)
        status = tl_output_finish(out, e);
    if (status == 0)
        b->data = tl_output_take_memory(out, &b->n);
    tl_output_close(out);
    return status;
}

/* As it was made: nothing is looked up again. */
static int read_profile(tl_profile **out, const uint8_t *data, size_t n, tl_error *e)
{
    static const tl_open_options open = {
        .from = TL_SUM_FORMAT, .no_names = true, .no_demangle = true, .want = {.threads = 1}};
    static const tl_profile_options options = {.lines = true, .threads = 1};
    tl_source *s = NULL;
    int status = tl_source_open_memory(&s, data, n, "part", &open, e);
    if (status == 0)
        status = tl_profile_from_source(out, s, &options, e);
    tl_source_close(s);
    return status;
}

int tl_sum_unpack(tl_report_sum *s, const uint8_t *data, size_t n, tl_error *e)
{
    *s = (tl_report_sum){0};
    if (n < PROFILE)
        return tl_fail(e, TL_EDAMAGED, n, "part: too short");
    const uint64_t losses = tl_load64(data + LOSSES, false), flags = tl_load64(data + FLAGS, false);
    if (losses > TL_EXIT_LIMIT)
        return tl_fail(e, TL_EDAMAGED, LOSSES, "part: no such exit status");
    *s = (tl_report_sum){.files = tl_load64(data + FILES, false),
                         .read = tl_load64(data + READ, false),
                         .unread = tl_load64(data + UNREAD, false),
                         .last = tl_load64(data + LAST, false),
                         .losses = (int)losses,
                         .lacks_names = flags & LACKS_NAMES,
                         .explained = flags & EXPLAINED,
                         .of_events = flags & OF_EVENTS};
    return n > PROFILE ? read_profile(&s->profile, data + PROFILE, n - PROFILE, e) : 0;
}
