/* Tests of the cache of indexes: which are found again, which are not, and that damaged ones do no harm. */
#include "ctf_source.h"
#include "format/ctf/read/index_cache.h"
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

/* Everything is below the scratch folder: "trace" and "cache". */
static int start(void **state)
{
    char path[512];
    if (scratch_enter(state) < 0 || mkdir("trace", 0777) < 0 || mkdir("trace/sub", 0777) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/cache", scratch_path);
    setenv("XDG_CACHE_HOME", path, 1);
    unsetenv("TRACELOOM_NO_CACHE");
    return 0;
}

static void remove_all(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        char inside[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (unlink(inside) < 0)
            remove_all(inside);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

static int stop(void **state)
{
    remove_all("trace");
    remove_all("other");
    remove_all("cache");
    remove_all("home");
    return scratch_leave(state);
}

/* The second of the cache's clock; time() may be some ms behind it. */
static time_t second(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    return now.tv_sec;
}

/* Writes a file whose last change is `age` seconds ago. */
static void put_file(const char *name, const char *content, time_t age)
{
    scratch_write(name, content, strlen(content));
    const struct timespec then = {.tv_sec = second() - age, .tv_nsec = 12345};
    const struct timespec times[2] = {then, then};
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static void put_trace(void)
{
    put_file("trace/metadata", "text", 1000);
    put_file("trace/stream", "0123456789", 1000);
    put_file("trace/sub/more", "abc", 1000);
}

static tl_folder *open_folder(const char *path)
{
    tl_folder *f = NULL;
    assert_int_equal(tl_folder_open(&f, path, NULL), 0);
    return f;
}

/* The cached content for a folder: "" if there is none. */
static const char *cached(const char *path)
{
    static char text[256];
    tl_folder *f = open_folder(path);
    size_t n = 0;
    char *data = index_cache_load(f, &n);
    text[0] = '\0';
    if (data) {
        assert_true(n < sizeof text);
        memcpy(text, data, n);
        text[n] = '\0';
    }
    free(data);
    tl_folder_close(f);
    return text;
}

static void store(const char *path, const char *text)
{
    tl_folder *f = open_folder(path);
    index_cache_store(f, text, strlen(text));
    tl_folder_close(f);
}

/* The files in the cache; the name of one in `name`. */
static unsigned cache_files(char name[512])
{
    unsigned n = 0;
    DIR *d = opendir("cache/traceloom");
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (entry->d_name[0] != '.') {
            snprintf(name, 512, "cache/traceloom/%s", entry->d_name);
            n++;
        }
    if (d)
        closedir(d);
    return n;
}

static void what_was_stored_is_found(void **state)
{
    char name[512];
    put_trace();
    assert_string_equal(cached("trace"), "");
    store("trace", "hello");
    assert_string_equal(cached("trace"), "hello");
    assert_string_equal(cached("trace/"), "hello"); /* by any of its names */
    assert_string_equal(cached("./trace/../trace"), "hello");
    store("trace", "other");
    assert_string_equal(cached("trace"), "other");
    assert_int_equal(cache_files(name), 1); /* nothing else is left */
    struct stat st;
    assert_int_equal(stat("cache/traceloom", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void any_change_makes_it_another_trace(void **state)
{
    static const char *const content[] = {"0123456789", "01234567890"};
    for (unsigned i = 0; i < 7; i++) {
        put_trace();
        store("trace", "hello");
        assert_string_equal(cached("trace"), "hello");
        if (i == 0) /* size */
            put_file("trace/stream", content[1], 1000);
        else if (i == 1) /* time */
            put_file("trace/stream", content[0], 999);
        else if (i == 2) /* one more */
            put_file("trace/sub/x", "", 1000);
        else if (i == 3) /* one less */
            assert_int_equal(unlink("trace/sub/more"), 0);
        else if (i == 4) /* another name */
            assert_int_equal(rename("trace/stream", "trace/streak"), 0);
        else if (i == 5) /* another place */
            assert_int_equal(rename("trace", "other"), 0);
        else { /* another time, by a nanosecond */
            struct stat st;
            assert_int_equal(stat("trace/metadata", &st), 0);
            const struct timespec times[2] = {st.st_mtim,
                                              {.tv_sec = st.st_mtim.tv_sec, .tv_nsec = st.st_mtim.tv_nsec + 1}};
            assert_int_equal(utimensat(AT_FDCWD, "trace/metadata", times, 0), 0);
        }
        assert_string_equal(cached(i == 5 ? "other" : "trace"), "");
        if (i == 5)
            assert_int_equal(rename("other", "trace"), 0);
        remove_all("trace");
        assert_int_equal(mkdir("trace", 0777), 0);
        assert_int_equal(mkdir("trace/sub", 0777), 0);
    }
}

/* A file just written may be written again within the same tick of its clock. */
static void young_files_are_not_kept(void **state)
{
    char name[512];
    static const time_t ages[] = {0, 1, -1000};
    for (unsigned i = 0; i < 3; i++) {
        const time_t begin = second();
        put_trace();
        put_file("trace/sub/more", "abc", ages[i]);
        store("trace", "hello");
        const unsigned kept = cache_files(name);
        if (second() == begin) {
            assert_int_equal(kept, 0);
            continue;
        }
        i--; /* another second began meanwhile, and the file may no longer have been young: repeat */
        if (kept)
            assert_int_equal(unlink(name), 0);
    }
}

static void it_can_be_turned_off(void **state)
{
    char name[512];
    put_trace();
    setenv("TRACELOOM_NO_CACHE", "1", 1);
    store("trace", "hello");
    assert_int_equal(cache_files(name), 0);
    setenv("TRACELOOM_NO_CACHE", "0", 1);
    store("trace", "hello");
    assert_string_equal(cached("trace"), "hello");
    setenv("TRACELOOM_NO_CACHE", "1", 1);
    assert_string_equal(cached("trace"), "");
}

static void homes(void **state)
{
    char path[512];
    put_trace();
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    store("trace", "nowhere");
    assert_string_equal(cached("trace"), "");
    setenv("HOME", "relative", 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    store("trace", "nowhere");
    assert_int_equal(access("relative", F_OK), -1);
    snprintf(path, sizeof path, "%s/home", scratch_path);
    assert_int_equal(mkdir("home", 0777), 0);
    setenv("HOME", path, 1);
    store("trace", "home");
    assert_string_equal(cached("trace"), "home");
    assert_int_equal(access("home/.cache/traceloom", F_OK), 0);
    setenv("XDG_CACHE_HOME", "", 1); /* as if it were not there */
    assert_string_equal(cached("trace"), "home");
}

/* A cache folder that is a file, or cannot be made: nothing is stored, and nothing fails. */
static void a_cache_that_cannot_be(void **state)
{
    put_trace();
    scratch_write("cache", "", 0);
    store("trace", "hello");
    assert_string_equal(cached("trace"), "");
    assert_int_equal(unlink("cache"), 0);
    setenv("XDG_CACHE_HOME", "/nonexistent/folder", 1);
    store("trace", "hello");
    assert_string_equal(cached("trace"), "");
}

static void memory_has_no_cache(void **state)
{
    char name[512];
    tl_folder *f = NULL;
    size_t n = 0;
    assert_int_equal(tl_folder_open_memory(&f, "a\0\1\0\0\0x", 7, "trace", NULL), 0);
    index_cache_store(f, "hello", 5);
    assert_null(index_cache_load(f, &n));
    assert_int_equal(cache_files(name), 0);
    tl_folder_close(f);
}

static void damaged_files_are_not_used(void **state)
{
    char name[512];
    put_trace();
    store("trace", "hello, world");
    assert_int_equal(cache_files(name), 1);
    size_t n;
    char *good = scratch_read(name, &n);
    assert_non_null(good);
    char *bad = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        for (unsigned bit = 0; bit < 8; bit += 3) {
            memcpy(bad, good, n);
            bad[i] = (char)(bad[i] ^ 1 << bit);
            scratch_write(name, bad, n);
            assert_string_equal(cached("trace"), "");
        }
    for (size_t cut = 0; cut < n; cut++) {
        scratch_write(name, good, cut);
        assert_string_equal(cached("trace"), "");
    }
    memcpy(bad, good, n);
    bad[n] = 'x';
    scratch_write(name, bad, n + 1);
    assert_string_equal(cached("trace"), "");
    scratch_write(name, good, n);
    assert_string_equal(cached("trace"), "hello, world");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkfifo(name, 0600), 0); /* does not block */
    assert_string_equal(cached("trace"), "");
    free(good);
    free(bad);
}

static void the_oldest_go(void **state)
{
    char name[512];
    put_trace();
    store("trace", "hello");
    assert_int_equal(cache_files(name), 1);
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    const struct timespec then[2] = {{.tv_sec = 2000}, {.tv_sec = 2000}};
    assert_int_equal(utimensat(AT_FDCWD, name, then, 0), 0);
    /* Holes: they count, and take no room. */
    for (unsigned i = 0; i < 5; i++) {
        char large[64];
        snprintf(large, sizeof large, "cache/traceloom/%u.index", i);
        scratch_write(large, "", 0);
        assert_int_equal(truncate(large, 15 << 20), 0);
        assert_int_equal(utimensat(AT_FDCWD, large, i ? then : long_ago, 0), 0);
    }
    scratch_write("cache/traceloom/notes.txt", "mine", 4);
    assert_int_equal(mkdir("other", 0777), 0);
    put_file("other/metadata", "text", 1000);
    store("other", "two");
    assert_string_equal(cached("other"), "two");
    assert_int_equal(access("cache/traceloom/0.index", F_OK), -1);
    assert_int_equal(access("cache/traceloom/notes.txt", F_OK), 0);
    assert_true(cache_files(name) <= 1 + 5 + 1); /* 60 MiB, the one stored now, and the notes */

    char *large = calloc(1, INDEX_CACHE_FILE_MAX + 1);
    tl_folder *f = open_folder("other");
    index_cache_store(f, large, INDEX_CACHE_FILE_MAX + 1); /* too large: not stored */
    tl_folder_close(f);
    free(large);
    assert_string_equal(cached("other"), "two");
}

/* ---- the reader ---- */

enum { PACKETS = 5000 };

static void write_trace(void)
{
    ctf_bytes b = {0};
    made_metadata(&b, &(ctf_made){.parts = MADE_ALL});
    scratch_write("trace/metadata", b.data, b.n);
    b.n = 0;
    for (unsigned i = 0; i < PACKETS; i++)
        made_packet(&b, MADE_ALL,
                    (ctf_made_packet){
                        .begin = 10 * i, .end = 10 * i + 5, .sequence = 2 * i, .discarded = i, .events = i % 100 == 0});
    scratch_write("trace/stream", b.data, b.n);
    free(b.data);
    const struct timespec then[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, "trace/metadata", then, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, "trace/stream", then, 0), 0);
}

/* Opens the trace, and checks everything in the index. */
static uint64_t check_trace(void)
{
    tl_source *s = NULL;
    tl_error e = {0};
    must(tl_source_open(&s, "trace", NULL, &e), &e);
    const uint64_t damage = s->trace.damage_count;
    if (damage == 0) {
        assert_int_equal(s->trace.lost_packets, PACKETS - 1);
        assert_int_equal(s->trace.lost_events, PACKETS - 1);
        assert_int_equal(s->trace.begin, 0);
        assert_int_equal(s->trace.end, 10 * (PACKETS - 1) + 5);
        assert_int_equal(s->trace.ntrack, 1);
        assert_int_equal(track_of(s, "0/stream")->end, s->trace.end);
        assert_int_equal(read_all(s), PACKETS / 100);
        tl_cursor *c = NULL;
        const tl_batch *b;
        assert_int_equal(tl_cursor_open(&c, s, 0, NULL), 0);
        assert_int_equal(tl_cursor_limit(c, 10 * 4000, 10 * 4001, NULL), 0);
        assert_int_equal(tl_cursor_next(c, &b, NULL), 1);
        assert_int_equal(b->ts[0], 10 * 4000);
        tl_cursor_close(c);
    }
    tl_source_close(s);
    return damage;
}

/* Spoils a packet without changing size and time of the file. */
static void spoil(void)
{
    FILE *f = fopen("trace/stream", "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 1234 * 80 + 13 * 13, SEEK_SET), 0);
    assert_int_equal(fwrite("spoilt", 1, 6, f), 6);
    assert_int_equal(fclose(f), 0);
    const struct timespec then[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, "trace/stream", then, 0), 0);
}

static void large_traces_are_looked_through_once(void **state)
{
    char name[512];
    write_trace();
    assert_int_equal(check_trace(), 0);
    assert_int_equal(cache_files(name), 1);
    assert_int_equal(check_trace(), 0);
    spoil(); /* not read */
    assert_int_equal(check_trace(), 0);
    setenv("TRACELOOM_NO_CACHE", "1", 1);
    assert_int_equal(check_trace(), 1);
    unsetenv("TRACELOOM_NO_CACHE");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(check_trace(), 1);
    assert_int_equal(cache_files(name), 0); /* damaged traces are read again each time */
}

/* One without any stream class: its packets have no track. */
static void an_index_without_tracks(void **state)
{
    /* packets, lost events, lost packets, files; index, packets, flags, instance, processor, spans, points */
    static const uint8_t index[24 + 4 + 4 + 8 + 1 + 8 + 4 + 4 + 4] = {[24] = 1, [28] = 1};
    tl_folder *f = NULL;
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_batch *b;
    write_trace();
    assert_int_equal(tl_folder_open(&f, "trace", &e), 0);
    assert_string_equal(f->file[1].name, "stream");
    index_cache_store(f, index, sizeof index);
    tl_folder_close(f);
    assert_int_equal(tl_source_open(&s, "trace", NULL, &e), 0);
    assert_int_equal(s->trace.ntrack, 0);
    assert_int_equal(tl_source_next(s, &b, &e), TL_EIO);
    assert_contains(e.message, "stream: the file, or its index in the cache, changed: stream class 0 is new");
    tl_source_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_stored_is_found, start, stop),
        cmocka_unit_test_setup_teardown(any_change_makes_it_another_trace, start, stop),
        cmocka_unit_test_setup_teardown(young_files_are_not_kept, start, stop),
        cmocka_unit_test_setup_teardown(it_can_be_turned_off, start, stop),
        cmocka_unit_test_setup_teardown(homes, start, stop),
        cmocka_unit_test_setup_teardown(a_cache_that_cannot_be, start, stop),
        cmocka_unit_test_setup_teardown(memory_has_no_cache, start, stop),
        cmocka_unit_test_setup_teardown(damaged_files_are_not_used, start, stop),
        cmocka_unit_test_setup_teardown(the_oldest_go, start, stop),
        cmocka_unit_test_setup_teardown(large_traces_are_looked_through_once, start, stop),
        cmocka_unit_test_setup_teardown(an_index_without_tracks, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
