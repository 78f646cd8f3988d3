/* Shared by tests of the writer of folders: a trace with fields of every kind, and the resulting files. */
#ifndef TL_TEST_CTF_WRITE_FIXTURE_H
#define TL_TEST_CTF_WRITE_FIXTURE_H

#include <fcntl.h>
#include <unistd.h>

#include "base/endian.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/plan/ctf_fields.h"
#include "format/ctf/write/ctf_write.h"
#include "scratch.h"
#include "writer_fixture.h"

static const tl_format ctf_writer_only = {
    .name = "ctf",
    .event_writer = &(const tl_event_writer){.folder = true,
                                             .wants = {.fields = true, .cpu = true, .packets = true},

                                             .size = sizeof(ctf_writer),
                                             .create = ctf_create,
                                             .accept = ctf_accept,
                                             .write = ctf_write,
                                             .finish = ctf_finish,
                                             .discard = ctf_discard},
};

/* Replaces the classes of the trace. */
static inline void folder_classes(fixture *w, const tl_class *c, uint32_t n)
{
    assert_int_equal(tl_trace_set_classes(&w->trace, c, n, NULL), 0);
}

static inline int folder_create(fixture *w, const char *version, tl_error *e)
{
    w->options.version = version;
    assert_int_equal(tl_output_folder_open(&w->folder, "out", false, NULL, e), 0);
    const int r = fixture_create_for(w, &ctf_writer_only, &w->trace, e);
    for (uint32_t i = 0; r == 0 && i < w->trace.ncls; i++)
        ctf_accept(w->writer, &w->trace.cls[i]);
    return r;
}

static inline void folder_start(fixture *w, const char *version)
{
    tl_error e;
    must(folder_create(w, version, &e), &e);
}

static inline void remove_files(const char *path)
{
    int here = open(".", O_RDONLY | O_DIRECTORY);
    if (chdir(path) == 0)
        scratch_files(1);
    assert_int_equal(fchdir(here), 0);
    close(here);
    rmdir(path);
}

/* Also removes the folder. */
static inline void folder_fini(fixture *w)
{
    fixture_fini(w);
    remove_files("out/index");
    remove_files("out");
}

/* A file of the folder, terminated; free(). */
static inline uint8_t *folder_file(const char *name, size_t *n)
{
    char path[300];
    snprintf(path, sizeof path, "out/%s", name);
    uint8_t *bytes = (uint8_t *)scratch_read(path, n);
    if (!bytes)
        fail_msg("there is no %s", path);
    return bytes;
}

/* --- packets --- */

/* Bytes of the headers of events. */
enum { COMPACT = 4, COMPACT_EXTENDED = 13, LARGE = 6, LARGE_EXTENDED = 14 };

static const tl_field number_field[] = {{.name = "n", .type = TL_U64, .bits = 8}};
static const tl_class number_class = {.kind = TL_INSTANT, .name = "number", .field = number_field, .nfield = 1};

static inline void put_number(fixture *w, uint32_t track, int32_t cpu, uint64_t ts, uint64_t n)
{
    const tl_value v = {.type = TL_U64, .as.u = n};
    fixture_event(w, 1, track, cpu, ts, 0, &v, 1);
}

/* A trace with the class of packets and a class of one byte. */
static inline void start_packets(fixture *w, const char *version)
{
    const tl_class classes[] = {ctf_packet_class, number_class};
    memset(w, 0, sizeof *w);
    fixture_init(w);
    folder_classes(w, classes, 2);
    folder_start(w, version);
}

/* The same for a source without packets: the number is class 1, too. */
static inline void start_plain(fixture *w, const char *version)
{
    const tl_class classes[] = {number_class, number_class};
    memset(w, 0, sizeof *w);
    fixture_init(w);
    for (uint32_t i = 0; i < w->trace.ntrack; i++)
        w->trace.track[i].has_pid = w->trace.track[i].has_tid = false;
    folder_classes(w, classes, 2);
    folder_start(w, version);
}

typedef struct packet {
    const uint8_t *p;
    uint64_t begin, end, content, size, sequence, discarded;
} packet;

/* The packets of a stream file of 1.8 or 2. */
static inline uint32_t packets_of(const uint8_t *bytes, size_t n, packet *out, uint32_t most)
{
    uint32_t count = 0;
    for (size_t at = 0; at < n; count++) {
        const uint8_t *p = bytes + at;
        assert_true(count < most);
        assert_int_equal(tl_load32(p, false), (uint32_t)CTF_MAGIC_PACKET);
        out[count] = (packet){.p = p,
                              .begin = tl_load64(p + CTF_WRITTEN_BEGIN, false),
                              .end = tl_load64(p + CTF_WRITTEN_END, false),
                              .content = tl_load64(p + CTF_WRITTEN_CONTENT_SIZE, false),
                              .size = tl_load64(p + CTF_WRITTEN_PACKET_SIZE, false),
                              .sequence = tl_load64(p + CTF_WRITTEN_SEQUENCE, false),
                              .discarded = tl_load64(p + CTF_WRITTEN_DISCARDED, false)};
        assert_int_equal(out[count].size % 8, 0);
        assert_true(out[count].size >= 8 * CTF_WRITTEN_HEADER && out[count].size / 8 <= n - at);
        assert_true(out[count].content <= out[count].size);
        at += (size_t)out[count].size / 8;
    }
    return count;
}

/* A packet of the source; UINT64_MAX: unknown. */
static inline void put_packet(fixture *w, uint32_t track, int32_t cpu, uint64_t begin, uint64_t end, uint64_t discarded,
                              uint64_t sequence)
{
    const uint64_t said[] = {begin, end, discarded, sequence};
    tl_value v[4];
    for (int i = 0; i < 4; i++)
        v[i] = (tl_value){.type = said[i] == UINT64_MAX ? TL_ABSENT : TL_U64, .n = i < 2 ? 0 : 32, .as.u = said[i]};
    fixture_event(w, 0, track, cpu, begin == UINT64_MAX ? 0 : begin, 0, v, 4);
}

#endif
