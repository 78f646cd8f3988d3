/* Reading a profile as the recorder keeps it, finished or not: live_layout.h.
 *
 * The file is read by following references, whatever its size; it may have holes. open() reads all of it, to know of
 * damage and which functions there are; read_profile() reads it again, when functions have names. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/tlp/live_format.h"
#include "model/recording.h"

enum { MAGIC_BYTES = 8 };
enum {
    LIVE_LANES_MAX = 1 << 20, /* the recorder makes 256 */
    LIVE_TEXT_MAX = 1 << 20   /* bytes of one text; the recorder's have 16 KiB */
};

static int probe(const tl_probe *p)
{
    return p->size >= MAGIC_BYTES && memcmp(p->head, LIVE_MAGIC, MAGIC_BYTES) == 0 ? 8 * MAGIC_BYTES : 0;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read the profile");
}

static int bad_reference(live_reader *r, uint32_t at, const char *what, tl_error *e)
{
    return tl_trace_add_damage(r->trace, e, live_offset(at), 0, "live.bad-reference", "%s", what);
}

/* ---- chains ---- */

/* Follows a chain whose entries begin with the reference of the next one: reads the first n bytes of each. visit()
 * returns < 0 for an error. */
static int each(live_reader *r, uint32_t first, size_t n, const char *what,
                int (*visit)(live_reader *r, uint32_t at, const uint8_t *entry, uint64_t when, tl_error *e),
                tl_error *e)
{
    live_chain chain = {0};
    uint64_t when = 0;
    uint8_t entry[LIVE_LANE_SIZE];
    for (uint32_t at = first; at; at = tl_load32(entry, false)) {
        int status = live_bytes_get(&r->bytes, live_offset(at), entry, n, &when, e);
        if (status < 0)
            return status;
        if (status == 0 || live_circles(&chain, at))
            return bad_reference(r, at, what, e);
        status = visit(r, at, entry, when, e);
        if (status < 0)
            return status;
    }
    return 0;
}

static int take_lane(live_reader *r, uint32_t at, const uint8_t *entry, uint64_t when, tl_error *e)
{
    (void)when;
    if (r->nlane == LIVE_LANES_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, live_offset(at), "more than %d threads", LIVE_LANES_MAX);
    if (!TL_GROW(r->lane, r->nlane, 1, r->lane_capacity))
        return no_memory(e);
    live_lane *l = &r->lane[r->nlane++];
    *l = (live_lane){.at = at,
                     .root = tl_load32(entry + LIVE_LANE_ROOT, false),
                     .pid = tl_load32(entry + LIVE_LANE_PID, false),
                     .tid = tl_load32(entry + LIVE_LANE_TID, false),
                     .threads = tl_load32(entry + LIVE_LANE_THREADS, false),
                     .open = tl_load32(entry + LIVE_LANE_OPEN, false),
                     .lost = tl_load64(entry + LIVE_LANE_LOST, false),
                     .exits = tl_load64(entry + LIVE_LANE_EXITS, false)};
    memcpy(l->name, entry + LIVE_LANE_NAME, sizeof l->name - 1);
    return 0;
}

/* A text is passed on as it is. */
static int take_text(live_reader *r, uint32_t at, const uint8_t *entry, uint64_t when, tl_error *e)
{
    const uint32_t used = tl_load32(entry + LIVE_TEXT_USED, false);
    const uint64_t offset = live_offset(at) + LIVE_TEXT_BYTES;
    char *text = used <= LIVE_TEXT_MAX ? malloc((size_t)used + 1) : NULL;
    if (!text && used <= LIVE_TEXT_MAX)
        return no_memory(e);
    int status = text ? live_bytes_get(&r->bytes, offset, text, used, &when, e) : 0;
    if (status == 0)
        status = bad_reference(r, at, "a text that is too long", e);
    else if (status > 0)
        status = tl_recording_add(r->trace, text, used, offset, e);
    free(text);
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return TL_COMPARE(x, y);
}

/* Addresses of the profile's functions in a table. */
static int take_table(live_reader *r, uint32_t at, const uint8_t *entry, uint64_t when, tl_error *e)
{
    const uint64_t base = tl_load32(entry + LIVE_TABLE_BASE, false), n = tl_load32(entry + LIVE_TABLE_COUNT, false);
    const tl_recording *notes = r->trace->recording;
    const tl_recording_object *o = tl_recording_object_of(notes, tl_load32(entry + LIVE_TABLE_OBJECT, false));
    uint32_t low = 0, high = r->nused;
    while (low < high) { /* the first that is above base */
        const uint32_t middle = low + (high - low) / 2;
        if (r->used[middle] <= base)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low; o && i < r->nused && r->used[i] - base <= n; i++) {
        uint8_t address[8];
        uint64_t as_of = when;
        const uint64_t offset = live_offset(at) + LIVE_TABLE_ADDRESS + (r->used[i] - base - 1) * sizeof address;
        const int status = live_bytes_get(&r->bytes, offset, address, sizeof address, &as_of, e);
        if (status < 0)
            return status;
        if (status == 0)
            return bad_reference(r, at, "a table of addresses that extends beyond the end of the file", e);
        if (tl_hash_get(&notes->function_at, r->used[i]) != TL_HASH_NONE)
            continue; /* has a note of its own */
        const tl_function f = {.id = r->used[i],
                               .address = tl_load64(address, false),
                               .module = o->build_id,
                               .library = o == tl_recording_program(notes) ? NULL : o->path};
        const int added = tl_trace_add_function(r->trace, &f, e);
        if (added < 0)
            return added;
    }
    return 0;
}

/* ---- opening ---- */

static int read_header(live_reader *r, uint8_t header[static LIVE_HEADER_SIZE], tl_error *e)
{
    size_t got = 0;
    const int status = tl_input_read(r->in, 0, header, LIVE_HEADER_SIZE, &got, e);
    if (status < 0)
        return status;
    if (got < MAGIC_BYTES || memcmp(header, LIVE_MAGIC, MAGIC_BYTES) != 0)
        return tl_fail(e, TL_EFORMAT, 0, "does not begin like a recorded profile");
    if (got < LIVE_HEADER_SIZE)
        return tl_trace_add_damage(r->trace, e, 0, got, "live.truncated",
                                   "the file has %zu bytes, its header alone takes %d", got, LIVE_HEADER_SIZE);
    const uint32_t version = tl_load32(header + LIVE_HEADER_VERSION, false);
    if (version != LIVE_VERSION)
        return tl_fail(e, TL_EUNSUPPORTED, LIVE_HEADER_VERSION, "the file is of version %" PRIu32 ", only %d is known",
                       version, LIVE_VERSION);
    r->has_header = true;
    r->done = tl_load32(header + LIVE_HEADER_STATE, false) != 0;
    return 0;
}

/* Losses, as lanes count them. A lane adds its own when its thread ends, the notes have all at the end: so the larger
 * number is better. */
static void sum_up(live_reader *r)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < r->nlane; i++) {
        lost = tl_add_saturated(lost, r->lane[i].lost);
        r->exits = tl_add_saturated(r->exits, r->lane[i].exits);
        r->open = tl_add_saturated(r->open, r->lane[i].open);
    }
    if (lost > r->trace->lost_events)
        r->trace->lost_events = lost;
}

/* The chain begins with the newest lane. */
static void reverse_lanes(live_reader *r)
{
    for (uint32_t i = 0; i < r->nlane / 2; i++) {
        const live_lane l = r->lane[i];
        r->lane[i] = r->lane[r->nlane - 1 - i];
        r->lane[r->nlane - 1 - i] = l;
    }
}

/* Counts the content of the profile, and notes its functions. */
static int describe(live_reader *r, const tl_profile *p, tl_error *e)
{
    tl_trace *t = r->trace;
    t->profile_threads = tl_profile_threads(p);
    t->profile_trees = p->ntrack;
    t->profile_paths = p->nplace - 1 - p->ntrack;
    for (uint32_t i = 1; i < p->nplace; i++) {
        t->profile_calls = tl_add_saturated(t->profile_calls, p->stat[i].calls);
        t->profile_self = tl_add_saturated(t->profile_self, p->stat[i].self);
    }
    r->used = tl_alloc((size_t)p->nfunction + 1, sizeof *r->used);
    if (!r->used)
        return no_memory(e);
    for (uint32_t i = 0; i < p->nfunction; i++)
        r->used[i] = (uint32_t)p->function[i].id;
    r->nused = p->nfunction;
    qsort(r->used, r->nused, sizeof *r->used, compare_ids);
    return 0;
}

static int read_all(live_reader *r, const uint8_t *header, tl_error *e)
{
    tl_profile *p = NULL;
    int status = tl_recording_begin(r->trace, e);
    if (status >= 0)
        status = each(r, tl_load32(header + LIVE_HEADER_TEXT, false), LIVE_TEXT_BYTES,
                      "a text beyond the end of the file, or a cycle of texts", take_text, e);
    if (status >= 0)
        status = tl_recording_finish(r->trace, r->done ? TL_RECORDING_DONE : TL_RECORDING_LIVE, e);
    if (status >= 0)
        status = each(r, tl_load32(header + LIVE_HEADER_LANES, false), LIVE_LANE_SIZE,
                      "a thread beyond the end of the file, or a cycle of threads", take_lane, e);
    if (status < 0)
        return status;
    reverse_lanes(r);
    sum_up(r);
    status = tl_profile_new(&p, &r->trace->clock, e);
    if (status >= 0)
        status = live_read_trees(r, p, true, e);
    if (status >= 0)
        status = describe(r, p, e);
    tl_profile_free(p);
    if (status >= 0)
        status = each(r, tl_load32(header + LIVE_HEADER_TABLES, false), LIVE_TABLE_ADDRESS,
                      "a table beyond the end of the file, or a cycle of tables", take_table, e);
    return status;
}

static int open_file(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    (void)want;
    live_reader *r = reader;
    uint8_t header[LIVE_HEADER_SIZE];
    r->in = in;
    r->trace = t;
    t->version = "1";
    t->byte_order = "little";
    tl_trace_set_clock(t, "ticks", 0);
    int status = read_header(r, header, e);
    if (status < 0 || !r->has_header)
        return status;
    status = live_bytes_init(&r->bytes, in, e);
    r->bytes.grows = !r->done;
    if (status >= 0)
        status = read_all(r, header, e);
    tl_trace_sort_damage(t);
    if (status >= 0 && progress)
        __atomic_fetch_add(progress, tl_input_size(in), __ATOMIC_RELAXED);
    return status < 0 ? status : 0;
}

static uint32_t streams(void *reader)
{
    (void)reader;
    return 0;
}

static int read_profile(void *reader, tl_profile *p, tl_error *e)
{
    live_reader *r = reader;
    const tl_trace *t = r->trace;
    p->per_thread = true;
    int status = r->has_header ? live_read_trees(r, p, false, e) : 0;
    p->unmatched_exits = r->exits;
    p->unmatched_open = r->open;
    p->lost_events = t->lost_events;
    for (uint32_t i = 0; i < t->ndamage; i++)
        if (t->damage[i].kind & TL_DAMAGE_LOSS)
            p->damaged_bytes = tl_add_saturated(p->damaged_bytes, t->damage[i].bytes);
    p->build_id = tl_profile_intern(p, t->build_id);
    p->exe = tl_profile_intern(p, t->exe);
    if (status >= 0 && ((t->build_id && !p->build_id) || (t->exe && !p->exe)))
        status = no_memory(e);
    return status;
}

static void close_file(void *reader)
{
    live_reader *r = reader;
    live_bytes_fini(&r->bytes);
    free(r->lane);
    free(r->used);
}

const tl_format tl_format_tlp_live = {
    .name = "tlp-live",
    .summary = "Traceloom's profile as the recorder keeps it, also while the program runs",
    .suffixes = ".tlp.live",
    .reader = &(const tl_reader){.size = sizeof(live_reader),
                                 .probe = probe,
                                 .open = open_file,
                                 .streams = streams,
                                 .profile = read_profile,
                                 .close = close_file},
};
