/* Heads of logs from other sources. Ids that only a runtime would know are invented: 1, 2, 3, ... in the order of use;
 * unknown values are 0, since the IDE's viewer does not accept `?` there. */
#include "format/tracelog/tracelog_write_heads.h"

#include <string.h>

enum { MS_PER_S = 1000, MS_PER_DAY = 86400000, NS_PER_MS = 1000000 };

void tracelog_heads_fini(tracelog_heads *h)
{
    tl_strings_fini(&h->libraries);
    tl_hash_fini(&h->library_id);
    tl_pb_fini(&h->scratch);
}

/* n decimal digits with leading zeros. */
static char *put_digits(char *p, uint32_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0; v /= 10)
        p[i] = (char)('0' + v % 10);
    return p + n;
}

/* Year, month and day of a day since 1970, by the 400-year cycle of the calendar, with years that begin in March. */
static char *put_date(char *p, int64_t day)
{
    const int64_t since = day + 719468, era = (since >= 0 ? since : since - 146096) / 146097;
    const uint32_t of_era = (uint32_t)(since - era * 146097);
    const uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const uint32_t month = (5 * of_year + 2) / 153; /* 0 is March */
    p = put_digits(p, (uint32_t)(year + era * 400 + (month >= 10)), 4);
    *p++ = '-';
    p = put_digits(p, month < 10 ? month + 3 : month - 9, 2);
    *p++ = '-';
    return put_digits(p, of_year - (153 * month + 2) / 5 + 1, 2);
}

static void put_time(tl_text_writer *tw, int64_t ns)
{
    int64_t ms = ns / NS_PER_MS - (ns % NS_PER_MS < 0), day = ms / MS_PER_DAY;
    ms -= day * MS_PER_DAY;
    if (ms < 0) {
        ms += MS_PER_DAY;
        day--;
    }
    const uint32_t s = (uint32_t)(ms / MS_PER_S);
    TL_TEXT_PUT(tw, "prf stm ");
    tl_text_room(tw, 64);
    char *p = put_date(tw->p, day);
    *p++ = ' ';
    p = put_digits(p, s / 3600, 2);
    *p++ = ':';
    p = put_digits(p, s / 60 % 60, 2);
    *p++ = ':';
    p = put_digits(p, s % 60, 2);
    *p++ = '.';
    tw->p = put_digits(p, (uint32_t)(ms % MS_PER_S), 3);
    TL_TEXT_PUT(tw, " +00:00\n");
}

void tracelog_head_time(tl_text_writer *tw, const tl_clock *clock, uint64_t begin)
{
    tl_scale scale;
    tl_scale_init(&scale, clock->hz);
    if (clock->has_utc)
        put_time(tw, (int64_t)((uint64_t)clock->utc_offset_ns + tl_scale_ns(&scale, begin)));
}

void tracelog_head_settings(tl_text_writer *tw, bool calls, uint64_t period_ms)
{
    TL_TEXT_PUT(tw, "prf cfg CollectionMethod Sampling\nprf cfg SamplingTimeoutMs ");
    tl_text_room(tw, TRACELOG_NUMBER_ROOM);
    tw->p = tl_put_u64(tw->p, period_ms);
    /* With low granularity the runtime's writer, too, writes the ticks when the stack changes. */
    TL_TEXT_PUT(tw, "\nprf cfg HighGranularityEnabled F\n");
    if (calls)
        TL_TEXT_PUT(tw, "prf cfg ExecutionTraceEnabled T\n");
}

bool tracelog_head_process(tl_text_writer *tw, tracelog_heads *h, int64_t pid, const char *name)
{
    h->has_pid = true;
    h->pid = pid;
    TL_TEXT_PUT(tw, "apd crf 0x0000000000000001 ");
    tl_text_room(tw, TRACELOG_NUMBER_ROOM);
    tw->p = h->vs ? tracelog_put_short(tw->p, (uint64_t)pid) : tl_put_u64(tw->p, (uint64_t)pid);
    TL_TEXT_PUT(tw, " 0x00000000 ");
    if (!tracelog_put_name(tw, name, &h->scratch, &h->losses->breaks, &h->losses->bad_text))
        return false;
    tl_text_char(tw, '\n');
    return true;
}

/* Is the name just the id, "thread 4711"? */
static bool is_plain_name(const tl_track *track)
{
    char text[32];
    memcpy(text, "thread ", 7);
    char *end = tl_put_i64(text + 7, track->tid);
    return track->has_tid && strncmp(track->name, text, (size_t)(end - text)) == 0 && !track->name[end - text];
}

void tracelog_head_thread(tl_text_writer *tw, tracelog_heads *h, uint64_t iid, const tl_track *track)
{
    tl_text_room(tw, 5 * TRACELOG_NUMBER_ROOM);
    TL_TEXT_COPY(tw, "thr crt ");
    tw->p = tracelog_put_hex(tw->p, iid + 1, TRACELOG_POINTER_DIGITS, TRACELOG_UPPER);
    *tw->p++ = ' ';
    tw->p = tracelog_put_hex(tw->p, iid, TRACELOG_IID_DIGITS, TRACELOG_UPPER);
    *tw->p++ = '\n';
    if (!track)
        return;
    if (track->has_tid && track->tid >= 0) {
        TL_TEXT_COPY(tw, "thr aos ");
        tw->p = tracelog_put_hex(tw->p, iid, TRACELOG_IID_DIGITS, TRACELOG_UPPER);
        *tw->p++ = ' ';
        tw->p = tl_put_u64(tw->p, (uint64_t)track->tid);
        *tw->p++ = '\n';
    }
    h->losses->thread_name += track->name && !is_plain_name(track);
    h->losses->other_process += track->has_pid && (!h->has_pid || track->pid != h->pid);
}

/* The moduleId of a file, written if new. TL_HASH_NONE when memory runs out. */
static uint32_t library_id(tl_text_writer *tw, tracelog_heads *h, const char *path)
{
    const char *name = tl_strings_get(&h->libraries, path, strlen(path));
    if (!name)
        return TL_HASH_NONE;
    uint32_t id = tl_hash_get(&h->library_id, (uint64_t)(uintptr_t)name);
    if (id != TL_HASH_NONE)
        return id;
    id = h->library_id.n + 1;
    if (!tl_hash_put(&h->library_id, (uint64_t)(uintptr_t)name, id))
        return TL_HASH_NONE;
    TL_TEXT_PUT(tw, "mod ldf ");
    tl_text_room(tw, TRACELOG_NUMBER_ROOM);
    tw->p = tracelog_put_hex(tw->p, id, TRACELOG_POINTER_DIGITS, TRACELOG_UPPER);
    TL_TEXT_PUT(tw, " 0x0000000000000000 0x0000000000000000 0x00000000 ");
    if (!tracelog_put_name(tw, name, &h->scratch, &h->losses->breaks, &h->losses->bad_text))
        return TL_HASH_NONE;
    tl_text_char(tw, '\n');
    return id;
}

bool tracelog_head_name(tl_text_writer *tw, tracelog_heads *h, uint64_t iid, const char *name)
{
    TL_TEXT_PUT(tw, "fun nam ");
    tl_text_room(tw, TRACELOG_NUMBER_ROOM);
    tw->p = tracelog_put_hex(tw->p, iid, TRACELOG_IID_DIGITS, TRACELOG_UPPER);
    tl_text_char(tw, ' ');
    if (!tracelog_put_name(tw, name, &h->scratch, &h->losses->breaks, &h->losses->bad_text))
        return false;
    TL_TEXT_PUT(tw, " \"\" \"\"\n");
    return true;
}

bool tracelog_head_function(tl_text_writer *tw, tracelog_heads *h, uint64_t iid, const tl_function *f)
{
    const char *library = f && f->library ? f->library : h->library;
    uint32_t module = 0;
    if (library && (module = library_id(tw, h, library)) == TL_HASH_NONE)
        return false;
    tl_text_room(tw, 6 * TRACELOG_NUMBER_ROOM);
    TL_TEXT_COPY(tw, "fun inf ");
    tw->p = tracelog_put_hex(tw->p, iid, TRACELOG_IID_DIGITS, TRACELOG_UPPER);
    *tw->p++ = ' ';
    tw->p = tracelog_put_hex(tw->p, f ? f->address : 0, TRACELOG_POINTER_DIGITS, TRACELOG_UPPER);
    TL_TEXT_COPY(tw, " 0x0000000000000000 ");
    tw->p = tracelog_put_hex(tw->p, module, TRACELOG_POINTER_DIGITS, TRACELOG_UPPER);
    TL_TEXT_COPY(tw, " 0x00000000\n");
    h->losses->source_line += f && f->file;
    return !f || !f->name || tracelog_head_name(tw, h, iid, f->name);
}
