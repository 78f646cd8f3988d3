/* Fuzz target: the cache of indexes of CTF traces. The cache may contain anything, so the trace is a small valid one,
 * and the input is the cache's record of its packets. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "format/ctf/read/index_cache.h"
#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PACKET = 64, PACKETS = 6 };

static char root[] = "/tmp/fuzz-index-XXXXXX", trace[64];

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "clock { name = c; freq = 1000; };\n"
    "typealias integer { size = 32; align = 8; signed = false; map = clock.c.value; } := t32;\n"
    "stream { packet.context := struct { t32 timestamp_begin; t32 timestamp_end; u32 packet_size; u32 content_size;\n"
    "  u32 events_discarded; u32 cpu_id; }; event.header := struct { t32 timestamp; }; };\n"
    "event { name = e; fields := struct { u32 value; }; };\n";

static void remove_all(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", root);
}

static void write_file(const char *name, const void *data, size_t n)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}}; /* the cache ignores recent files */
    char path[96];
    snprintf(path, sizeof path, "%s/%s", trace, name);
    FILE *f = fopen(path, "wb");
    promise(f && fwrite(data, 1, n, f) == n && fclose(f) == 0 && utimensat(AT_FDCWD, path, old, 0) == 0, "a file");
}

/* One packet: header, context, three events. */
static void make_packet(uint32_t *p, uint32_t number)
{
    const uint32_t begin = number * 10,
                   words[] = {0xc1fc1fc1, begin, begin + 9, PACKET * 8, (7 + 6) * 32, number / 2, number % 2,
                              begin,      1,     begin + 4, 2,          begin + 9,    3};
    memcpy(p, words, sizeof words);
}

static void make_trace(void)
{
    uint32_t stream[PACKETS * PACKET / 4] = {0};
    for (uint32_t i = 0; i < PACKETS; i++)
        make_packet(stream + i * (PACKET / 4), i);
    promise(mkdtemp(root) != NULL, "there is a folder");
    atexit(remove_all);
    snprintf(trace, sizeof trace, "%s/trace", root);
    promise(mkdir(trace, 0700) == 0 && setenv("XDG_CACHE_HOME", root, 1) == 0, "folders can be made");
    unsetenv("TRACELOOM_NO_CACHE");
    write_file("metadata", metadata, sizeof metadata - 1);
    write_file("stream", stream, sizeof stream);
}

/* Reads from the middle, where the index says to begin. */
static void read_part(tl_source *s)
{
    const tl_batch *b;
    tl_error e;
    for (uint32_t i = 0; i < tl_source_streams(s); i++) {
        tl_cursor *c = NULL;
        if (tl_cursor_open(&c, s, i, &e) < 0)
            continue;
        if (tl_cursor_limit(c, 25, 45, &e) >= 0)
            while (tl_cursor_next(c, &b, &e) > 0)
                promise(b->n <= TL_BATCH_MAX, "a batch has its limit");
        tl_cursor_close(c);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_folder *folder = NULL;
    tl_source *s = NULL;
    tl_error e = {0};
    if (!*trace)
        make_trace();
    promise(tl_folder_open(&folder, trace, &e) == 0, "the folder is there");
    index_cache_store(folder, data, size);
    tl_folder_close(folder);
    const tl_open_options options = {.from = "ctf", .want = {.fields = true, .cpu = true}};
    promise(tl_source_open(&s, trace, &options, &e) == 0, "the trace opens, whatever the cache says");
    const uint64_t events = fuzz_iterate(s);
    promise(events <= 3 * PACKETS, "and has no more events than the file");
    fuzz_merge(s, events);
    read_part(s);
    tl_source_close(s);
    return 0;
}
