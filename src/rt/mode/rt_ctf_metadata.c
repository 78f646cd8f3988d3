/* Writes metadata of CTF 2 while events are recorded: a sequence of JSON objects, each after a record separator.
 *
 * A file that ends inside an object cannot be read at all. A write within one page happens as a whole or not at all,
 * even if the program is killed: so no object crosses the end of a page, and blanks fill the rest. */
#include "rt/mode/rt_ctf_metadata.h"

#include <errno.h>
#include <fcntl.h>

#include "rt/hook/rt_spans.h"
#include "rt/mode/rt_ctf.h"
#include "rt/mode/rt_ctf_table.h"
#include "rt/mode/rt_ctf_text.h"
#include "rt/rt_clock.h"
#include "rt/rt_say.h"
#include "rt/rt_store.h"

enum { FILE_MODE = 0600, NAME_MOST = 256, FIELD_MOST = 40, CLOCK_ROOM = 512 };

static rt_lock lock;
static char text[RT_PAGE]; /* the object in the making, with the lock */
static uint64_t size, clock_at;
static uint32_t written[RT_SITES]; /* tl_rt.file that has the site's classes */

#define LITTLE              "\"byte-order\":\"little-endian\",\"alignment\":8"
#define ROLE(role)          ",\"roles\":[\"" role "\"]"
#define UINT(bits)          "{\"type\":\"fixed-length-unsigned-integer\",\"length\":" #bits "," LITTLE "}"
#define SINT(bits)          "{\"type\":\"fixed-length-signed-integer\",\"length\":" #bits "," LITTLE "}"
#define ADDRESS             "{\"type\":\"fixed-length-unsigned-integer\",\"length\":64,\"preferred-display-base\":16," LITTLE "}"
#define REAL                "{\"type\":\"fixed-length-floating-point-number\",\"length\":64," LITTLE "}"
#define TEXT                "{\"type\":\"null-terminated-string\"}"
#define KNOWN(bits, role)   "{\"type\":\"fixed-length-unsigned-integer\",\"length\":" #bits "," LITTLE ROLE(role) "}"
#define MEMBER(name, class) "{\"name\":\"" name "\",\"field-class\":" class "}"
#define STRUCTURE(members)  "{\"type\":\"structure\",\"member-classes\":[" members "]}"
#define TIMES                                                                                                          \
    MEMBER("timestamp_begin", KNOWN(64, "default-clock-timestamp"))                                                    \
    "," MEMBER("timestamp_end", KNOWN(64, "packet-end-default-clock-timestamp"))
#define SIZES                                                                                                          \
    MEMBER("content_size", KNOWN(64, "packet-content-length"))                                                         \
    "," MEMBER("packet_size", KNOWN(64, "packet-total-length"))
#define OPTION(name, low, high, members)                                                                               \
    "{\"name\":\"" name "\",\"selector-field-ranges\":[[" low "," high "]],\"field-class\":" STRUCTURE(members) "}"

static const char trace_class[] = STRUCTURE(MEMBER("magic", KNOWN(32, "packet-magic-number")) "," MEMBER(
    "uuid", "{\"type\":\"static-length-blob\",\"length\":16" ROLE(
                "metadata-stream-uuid") "}") "," MEMBER("stream_id", KNOWN(32, "data-stream-class-id")));

/* Packets and event headers of threads, see rt_ctf_stream.h. */
static const char thread_class[] =
    "{\"type\":\"data-stream-class\",\"id\":0,\"name\":\"threads\",\"default-clock-class-id\":\"clock\","
    "\"packet-context-field-class\":" STRUCTURE(MEMBER(
        "stream_instance_id",
        UINT(
            64)) "," TIMES "," SIZES
                 "," MEMBER("packet_seq_num", KNOWN(64, "packet-sequence-number")) "," MEMBER("events_discarded", KNOWN(64, "discarded-event-record-counter-snapshot")) "," MEMBER(
                     "pid",
                     UINT(
                         32)) "," MEMBER("tid",
                                         UINT(
                                             32)) "," MEMBER("name",
                                                             "{\"type\":\"static-length-string\",\"length\":"
                                                             "16}")) ","
                                                                     "\"event-record-header-field-"
                                                                     "class\":" STRUCTURE(MEMBER(
                                                                         "id",
                                                                         "{\"type\":\"fixed-"
                                                                         "length-unsigned-"
                                                                         "integer\",\"length\":"
                                                                         "16," LITTLE ",\"mapping"
                                                                         "s\":{"
                                                                         "\"compact"
                                                                         "\":[[0,"
                                                                         "65534]],"
                                                                         "\"extended"
                                                                         "\":[["
                                                                         "65535,"
                                                                         "65535]]"
                                                                         "}" ROLE(
                                                                             "e"
                                                                             "v"
                                                                             "e"
                                                                             "n"
                                                                             "t"
                                                                             "-"
                                                                             "r"
                                                                             "e"
                                                                             "c"
                                                                             "o"
                                                                             "r"
                                                                             "d"
                                                                             "-"
                                                                             "c"
                                                                             "l"
                                                                             "a"
                                                                             "s"
                                                                             "s"
                                                                             "-"
                                                                             "i"
                                                                             "d") "}") "," MEMBER("v",
                                                                                                  "{\"type\":"
                                                                                                  "\"variant\","
                                                                                                  "\"selector-field-"
                                                                                                  "location\":{"
                                                                                                  "\"path\":[\"id\"]},"
                                                                                                  "\"options\":"
                                                                                                  "[" OPTION("compact", "0", "65534", MEMBER("timestamp", KNOWN(32, "default-clock-timestamp"))) "," OPTION(
                                                                                                      "extended",
                                                                                                      "65535", "65535",
                                                                                                      MEMBER(
                                                                                                          "id",
                                                                                                          KNOWN(
                                                                                                              32,
                                                                                                              "event"
                                                                                                              "-reco"
                                                                                                              "rd-"
                                                                                                              "class"
                                                                                                              "-id")) "," MEMBER("timestamp",
                                                                                                                                 KNOWN(
                                                                                                                                     64,
                                                                                                                                     "default-clock-"
                                                                                                                                     "timestamp"))) "]}")) "}";

/* Those of the tables, see rt_ctf_table.h. */
#define TABLE_CLASS(id, name)                                                                                          \
    "{\"type\":\"data-stream-class\",\"id\":" id ",\"name\":\"" name "\",\"default-clock-class-id\":\"clock\","        \
    "\"packet-context-field-class\":" STRUCTURE(TIMES "," SIZES) ",\"event-record-header-field-class\":" STRUCTURE(    \
        MEMBER("id", KNOWN(16, "event-record-class-id")) "," MEMBER("timestamp",                                       \
                                                                    KNOWN(64, "default-clock-timestamp"))) "}"
#define EVENT_CLASS(stream, id, name, members)                                                                         \
    "{\"type\":\"event-record-class\",\"data-stream-class-id\":" stream ",\"id\":" id ",\"name\":\"" name              \
    "\",\"payload-field-class\":" STRUCTURE(members) "}"

/* Function tracing with LTTng's names, which readers of CTF know. */
static const char *const classes[] = {
    thread_class,
    EVENT_CLASS("0", "0", "lttng_ust_cyg_profile_fast:func_entry", MEMBER("addr", ADDRESS)),
    EVENT_CLASS("0", "1", "lttng_ust_cyg_profile_fast:func_exit", MEMBER("addr", ADDRESS)),
    TABLE_CLASS("1", RT_CTF_FILE_FUNCTIONS),
    EVENT_CLASS("1", "0", "traceloom.function",
                MEMBER("id", SINT(64)) "," MEMBER("address", ADDRESS) "," MEMBER("line", UINT(32)) "," MEMBER(
                    "name", TEXT) "," MEMBER("linkage_name", TEXT) "," MEMBER("file", TEXT) "," MEMBER("module", TEXT)),
    EVENT_CLASS("1", "1", "traceloom.track",
                MEMBER("file", TEXT) "," MEMBER("name", TEXT) "," MEMBER("has", UINT(8)) "," MEMBER(
                    "pid", SINT(64)) "," MEMBER("tid", SINT(64))),
    TABLE_CLASS("2", RT_CTF_FILE_OBJECTS),
    EVENT_CLASS("2", "0", "lttng_ust_statedump:bin_info",
                MEMBER("baddr", ADDRESS) "," MEMBER("memsz", UINT(64)) "," MEMBER("path", TEXT) "," MEMBER(
                    "is_pic", UINT(8)) "," MEMBER("has_build_id", UINT(8)) "," MEMBER("has_debug_link", UINT(8))),
    EVENT_CLASS("2", "1", "lttng_ust_statedump:build_id",
                MEMBER("baddr", ADDRESS) "," MEMBER("build_id_length", UINT(32)) "," MEMBER(
                    "build_id", "{\"type\":\"dynamic-length-array\",\"length-field-location\":{\"path\":[\"build_id_"
                                "length\"]},\"element-field-class\":" UINT(8) "}"))};

/* ---- the file ---- */

static long open_file(int flags)
{
    char path[RT_PATH + 64];
    tl_rt_ctf_path(path, "metadata");
    return RT_SYS4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, FILE_MODE);
}

static long write_all(long fd, const char *p, size_t n)
{
    long done = tl_rt_store_write(fd, p, n, size);
    if (done == 0)
        size += n;
    else
        RT_SYS2(SYS_ftruncate, fd, size);
    return done;
}

#define LINES_16 "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
#define LINES_64 LINES_16 LINES_16 LINES_16 LINES_16

/* Appends `text`, at most a page of it. */
static long append(long fd, size_t n)
{
    static const char blanks[] = LINES_64 LINES_64 LINES_64 LINES_64 LINES_64 LINES_64 LINES_64 LINES_64;
    long done = 0;
    while (done == 0 && size % RT_PAGE + n > RT_PAGE && size % RT_PAGE != 0) {
        size_t rest = RT_PAGE - size % RT_PAGE;
        done = write_all(fd, blanks, rest < sizeof blanks - 1 ? rest : sizeof blanks - 1);
    }
    return done == 0 ? write_all(fd, text, n) : done;
}

static rt_json begin(void)
{
    rt_json j = {.text = text, .size = sizeof text - 1};
    tl_rt_json_raw(&j, "\x1e");
    return j;
}

static long end(long fd, rt_json *j)
{
    if (j->full)
        return -ENAMETOOLONG;
    j->text[j->n++] = '\n';
    return append(fd, j->n);
}

/* ---- known at the start ---- */

static void put_uuid(rt_json *j)
{
    tl_rt_json_raw(j, "[");
    for (int i = 0; i < 16; i++) {
        tl_rt_json_raw(j, i ? "," : "");
        tl_rt_json_number(j, tl_rt_ctf_uuid[i]);
    }
    tl_rt_json_raw(j, "]");
}

static long put_trace(long fd)
{
    rt_json j = begin();
    tl_rt_json_raw(&j, "{\"type\":\"preamble\",\"version\":2,\"uuid\":");
    put_uuid(&j);
    tl_rt_json_raw(&j, "}");
    long done = end(fd, &j);
    if (done < 0)
        return done;
    j = begin();
    tl_rt_json_raw(&j, "{\"type\":\"trace-class\",\"environment\":{\"tracer_name\":\"traceloom-rt\",\"vpid\":");
    tl_rt_json_number(&j, (uint64_t)(unsigned)tl_rt.pid);
    tl_rt_json_raw(&j, ",\"exe\":");
    tl_rt_json_string(&j, tl_rt.exe, 1024, "");
    tl_rt_json_raw(&j, "},\"packet-header-field-class\":");
    tl_rt_json_raw(&j, trace_class);
    tl_rt_json_raw(&j, "}");
    return end(fd, &j);
}

/* The time of tick 0: whole seconds since 1970, and ticks. */
static void find_offset(uint64_t hz, int64_t *seconds, uint64_t *cycles)
{
    const uint64_t ns = 1000000000;
    uint64_t unix0 = tl_rt_clock.unix0, ticks0 = tl_rt_clock.ticks0;
    int64_t s = (int64_t)(unix0 / ns) - (int64_t)(ticks0 / hz);
    uint64_t more = unix0 % ns * hz / ns, less = ticks0 % hz;
    if (more < less) {
        more += hz;
        s--;
    }
    *seconds = s;
    *cycles = more - less;
}

/* Always of the same length, so that a better clock can be written over it. */
static long put_clock(long fd, bool again)
{
    uint64_t hz = tl_rt_clock.hz ? tl_rt_clock.hz : 1;
    int64_t seconds;
    uint64_t cycles;
    find_offset(hz, &seconds, &cycles);
    rt_json j = begin();
    tl_rt_json_raw(&j, "{\"type\":\"clock-class\",\"id\":\"clock\",\"name\":\"");
    tl_rt_json_raw(&j, !tl_rt_clock.counter ? "monotonic_raw" :
#if defined(__x86_64__)
                                            "tsc"
#else
                                            "cntvct"
#endif
    );
    tl_rt_json_raw(&j, "\",\"frequency\":");
    tl_rt_json_number(&j, hz);
    tl_rt_json_raw(&j, ",\"origin\":\"unix-epoch\",\"offset-from-origin\":{\"seconds\":");
    tl_rt_json_signed(&j, seconds);
    tl_rt_json_raw(&j, ",\"cycles\":");
    tl_rt_json_number(&j, cycles);
    tl_rt_json_raw(&j, "}}");
    while (j.n < CLOCK_ROOM - 1)
        tl_rt_json_raw(&j, " ");
    if (again) {
        text[j.n] = '\n';
        return tl_rt_store_write(fd, text, CLOCK_ROOM, clock_at);
    }
    long done = end(fd, &j);
    clock_at = size - CLOCK_ROOM;
    return done;
}

int tl_rt_ctf_metadata_start(void)
{
    rt_lock_take(&lock);
    size = 0;
    long fd = open_file(O_CREAT | O_EXCL);
    long done = fd < 0 ? fd : put_trace(fd);
    if (done == 0)
        done = put_clock(fd, false);
    for (size_t i = 0; done == 0 && i < sizeof classes / sizeof *classes; i++) {
        rt_json j = begin();
        tl_rt_json_raw(&j, classes[i]);
        done = end(fd, &j);
    }
    if (fd >= 0)
        RT_SYS1(SYS_close, fd);
    rt_lock_give(&lock);
    return (int)done;
}

void tl_rt_ctf_metadata_clock(void)
{
    rt_lock_take(&lock);
    long fd = open_file(0);
    if (fd >= 0) {
        put_clock(fd, true);
        RT_SYS1(SYS_close, fd);
    }
    rt_lock_give(&lock);
}

/* ---- sites ---- */

/* The names of a class's members so far, as written. */
typedef struct members {
    size_t n;
    struct {
        size_t at, length;
    } name[RT_SITE_FIELDS + 1];
} members;

static bool is_taken(const rt_json *j, const members *m, size_t at)
{
    bool taken = false;
    for (size_t i = 0; i < m->n && !taken; i++) {
        size_t same = 0, n = m->name[i].length;
        while (n == j->n - at && same < n && j->text[m->name[i].at + same] == j->text[at + same])
            same++;
        taken = same == n;
    }
    return taken;
}

/* Puts a member's name, with underscores after it if an earlier member has the same. */
static void put_member_name(rt_json *j, members *m, const char *name)
{
    static const char more[] = "________________"; /* one for each earlier member is enough */
    _Static_assert(sizeof more > RT_SITE_FIELDS, "for all of a site's fields");
    const size_t at = j->n;
    size_t k = 0;
    do {
        j->n = at;
        tl_rt_json_string(j, name, FIELD_MOST, more + sizeof more - 1 - k);
    } while (is_taken(j, m, at) && k++ < m->n);
    m->name[m->n].at = at;
    m->name[m->n++].length = j->n - at;
}

static void put_member(rt_json *j, members *m, const char *name, const char *type)
{
    tl_rt_json_raw(j, m->n ? ",{\"name\":" : "{\"name\":");
    put_member_name(j, m, name);
    tl_rt_json_raw(j, ",\"field-class\":");
    tl_rt_json_raw(j, type);
    tl_rt_json_raw(j, "}");
}

static void put_site(rt_json *j, const struct tl_rt_site *s, int phase)
{
    static const char *const types[] = {"", SINT(64), UINT(64), REAL, TEXT};
    bool is_span = s->kind == TL_RT_SPAN_SITE;
    uint32_t n = phase ? 0 : s->nfield;
    tl_rt_json_raw(j, "{\"type\":\"event-record-class\",\"data-stream-class-id\":0,\"id\":");
    tl_rt_json_number(j, RT_CTF_CLASS_SITES + 2 * (uint64_t)(s->id - 1) + (unsigned)phase);
    tl_rt_json_raw(j, ",\"name\":");
    tl_rt_json_string(j, s->name, NAME_MOST, !is_span ? "" : phase ? ":end" : ":begin");
    tl_rt_json_raw(j, ",\"attributes\":{\"babeltrace.org,2020\":{\"emf-uri\":\"traceloom:");
    tl_rt_json_raw(j, is_span                         ? phase ? "exit:function" : "enter:function"
                      : s->kind == TL_RT_COUNTER_SITE ? "counter"
                                                      : "instant");
    tl_rt_json_raw(j, "\"}},\"payload-field-class\":{\"type\":\"structure\",\"member-classes\":[");
    members m;
    m.n = 0; /* not `= {0}`: that may become a call of memset */
    if (is_span)
        put_member(j, &m, "id", UINT(32));
    for (uint32_t i = 0; i < n; i++)
        put_member(j, &m, s->field[i].name, types[s->field[i].type]);
    tl_rt_json_raw(j, "]}}");
}

long tl_rt_ctf_metadata_site(const struct tl_rt_site *site)
{
    uint32_t index = site->id - 1;
    if (__atomic_load_n(&written[index], __ATOMIC_ACQUIRE) == tl_rt.file)
        return 0;
    uint64_t mask = rt_signals_block();
    rt_lock_take(&lock);
    long fd = open_file(0), done = fd < 0 ? fd : 0;
    bool there = written[index] == tl_rt.file;
    for (int phase = RT_CTF_BEGIN; done == 0 && !there && phase <= (site->kind == TL_RT_SPAN_SITE); phase++) {
        rt_json j = begin();
        put_site(&j, site, phase);
        done = end(fd, &j);
    }
    if (fd >= 0)
        RT_SYS1(SYS_close, fd);
    if (done == 0)
        __atomic_store_n(&written[index], tl_rt.file, __ATOMIC_RELEASE);
    rt_lock_give(&lock);
    rt_signals_restore(mask);
    return done;
}

void tl_rt_ctf_metadata_child(void)
{
    lock = (rt_lock){.held = 0};
}
