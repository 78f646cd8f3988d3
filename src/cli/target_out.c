/* The output of convert: one, or several (--split). */
#include "cli/target_out.h"

#include <string.h>

#include "base/text/number.h"
#include "cli/formats_of.h"
#include "cli/losses.h"
#include "cli/message.h"

/* "100MB", "64KiB": false if malformed. */
static bool parse_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = {{"B", 1},
                 {"KB", 1000},
                 {"MB", 1000000},
                 {"GB", 1000000000},
                 {"KiB", 1024},
                 {"MiB", UINT64_C(1) << 20},
                 {"GiB", UINT64_C(1) << 30}};
    const size_t digits = strspn(text, "0123456789");
    char number[20];
    uint64_t n;
    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, text, digits);
    number[digits] = 0;
    for (size_t i = 0; tl_parse_u64(number, &n) && i < sizeof units / sizeof *units; i++)
        if (strcmp(text + digits, units[i].unit) == 0 && n > 0 && n <= UINT64_MAX / units[i].bytes) {
            *bytes = n * units[i].bytes;
            return true;
        }
    return false;
}

int tl_split_how_parse(tl_split_how *h, const tl_arguments *a)
{
    h->set = true;
    if (tl_to_stdout(a)) {
        tl_say_error(NULL, "--split writes several files: name them with -o");
        return TL_EXIT_USAGE;
    }
    if (strcmp(a->split, "track") == 0) {
        h->by = TL_SPLIT_TRACK;
        return TL_EXIT_DONE;
    }
    h->by = TL_SPLIT_BYTES;
    if (parse_size(a->split, &h->each))
        return TL_EXIT_DONE;
    h->by = TL_SPLIT_TIME;
    if (tl_parse_duration(a->split, &h->each) && h->each > 0)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "--split %s: expected a time such as 10s or 500ms, a size such as 100MB or 64KiB, or \"track\"",
                 a->split);
    return TL_EXIT_USAGE;
}

bool tl_split_how_ordered(const tl_split_how *h, bool format_wants_order)
{
    return format_wants_order || (h->set && h->by != TL_SPLIT_TRACK);
}

int tl_out_open(tl_out *o, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e)
{
    o->path = path;
    if (!o->how.set)
        return tl_sink_open(&o->sink, path, t, options, e);
    uint64_t each = o->how.each;
    if (o->how.by == TL_SPLIT_TIME) {
        tl_scale scale;
        if (tl_trace_clock(t)->hz == 0)
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--split: the frequency of the trace's clock is not known");
        tl_scale_init(&scale, tl_trace_clock(t)->hz);
        each = tl_scale_ticks(&scale, each);
        each += each == 0;
    }
    return tl_split_open(&o->split, path, t, options, o->how.by, each, e);
}

int tl_out_write(tl_out *o, const tl_run *run, uint32_t n, tl_error *e)
{
    return o->split ? tl_split_write_runs(o->split, run, n, e) : tl_sink_write_runs(o->sink, run, n, e);
}

int tl_out_flush(tl_out *o, tl_error *e)
{
    return o->split ? 0 : tl_sink_flush(o->sink, e);
}

int tl_out_finish(tl_out *o, tl_error *e)
{
    return o->split ? tl_split_finish(o->split, e) : tl_sink_finish(o->sink, e);
}

void tl_out_say(const tl_out *o, const tl_cli *c)
{
    const uint32_t drops = o->split ? tl_split_drops(o->split) : tl_sink_drops(o->sink);
    for (uint32_t i = 0; i < drops; i++)
        tl_say_drop((void *)(uintptr_t)c, o->split ? tl_split_drop(o->split, i) : tl_sink_drop(o->sink, i));
    for (uint32_t i = 0; o->split && i < tl_split_parts(o->split); i++)
        tl_say_written(c, tl_split_part(o->split, i));
    if (!o->split)
        tl_say_written(c, o->path);
}

void tl_out_close(tl_out *o)
{
    tl_split_close(o->split);
    tl_sink_close(o->sink);
}
