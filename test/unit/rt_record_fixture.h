/* Shared by tests of the recorder: children record, and the library reads the result. */
#ifndef TL_TEST_RT_RECORD_FIXTURE_H
#define TL_TEST_RT_RECORD_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "rt/rt_core.h"
#include "scratch.h"
#include "traceloom/profile.h"
#include "traceloom/source.h"

/* ---- recording ---- */

static inline void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        unlink(name);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

static inline int leave(void **state)
{
    DIR *d = opendir(".");
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strstr(entry->d_name, ".ctf"))
            remove_folder(entry->d_name);
    if (d)
        closedir(d);
    return scratch_leave(state);
}

/* The first packet of a stream is mapped before its file gets its name, the next ones beside it afterwards. This makes
 * Valgrind 3.19 abort. */
static inline void map_file_that_is_renamed(void)
{
    enum { PART = 1 << 16, PARTS = 4 };
    char *before = NULL;
    for (int i = 0; i < PARTS; i++) {
        int fd = open(i ? "named" : "nameless", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || ftruncate(fd, PART * PARTS) < 0)
            _exit(2);
        char *p = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)i * PART);
        if (p == MAP_FAILED || close(fd) < 0 || (i == 0 && rename("nameless", "named") < 0) ||
            (before && munmap(before, PART) < 0))
            _exit(2);
        before = p;
    }
    _exit(unlink("named") < 0 ? 2 : 0);
}

static inline void skip_where_streams_cannot_grow(void)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        map_file_that_is_renamed();
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status == 0)
        return;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1); /* how valgrind aborts */
    unlink("named");
    skip_because("this valgrind ends itself when a file is renamed between two maps of it");
}

/* Runs `body` in a process that records; returns its status. Skips the test if valgrind, not `body`, ended it. */
static inline int record(const char *settings, void (*body)(void))
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("TRACELOOM", settings, 1);
        tl_rt_begin();
        body();
        tl_rt_finish();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
        skip_where_streams_cannot_grow();
    return status;
}

/* Is something of this process mapped from a file with `name` in its path? */
static inline bool is_mapped(const char *name)
{
    char line[600];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        found = found || strstr(line, name) != NULL;
    if (f)
        fclose(f);
    return found;
}

/* ---- reading ---- */

static inline tl_source *open_trace(const char *path, bool fields)
{
    const tl_open_options options = {.no_names = true, .want = {.fields = fields}};
    tl_source *s;
    tl_error e;
    if (tl_source_open(&s, path, &options, &e) < 0)
        fail_msg("%s: %s", path, e.message);
    return s;
}

static inline void is_sound(tl_source *s)
{
    const tl_trace *t = tl_source_trace(s);
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        print_error("damage: %s\n", tl_trace_damage(t, i)->what);
    assert_int_equal(tl_trace_damage_count(t), 0);
    assert_int_equal(tl_trace_out_of_order(t), 0);
}

static inline void put_values(char *out, size_t size, const tl_value *v, const tl_value *end)
{
    for (; v < end; v++) {
        char *p = out + strlen(out);
        const size_t room = size - strlen(out);
        if (v->type == TL_STRING)
            snprintf(p, room, " \"%.*s\"", (int)v->n, (const char *)v->as.p);
        else if (v->type == TL_F64)
            snprintf(p, room, " %g", v->as.f);
        else if (v->type == TL_I64)
            snprintf(p, room, " %" PRId64, v->as.i);
        else
            snprintf(p, room, " %" PRIu64, v->as.u);
    }
}

/* The events of the threads, a line each: class and fields, for spans without their number. */
static inline char *list(const char *path)
{
    const size_t size = 1 << 20;
    char *out = calloc(1, size);
    tl_source *s = open_trace(path, true);
    const tl_trace *t = tl_source_trace(s);
    const tl_batch *b;
    tl_error e;
    int status;
    while ((status = tl_source_next(s, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_class *c = tl_trace_class(t, b->cls[i]);
            if (strncmp(c->name, "lttng_ust_statedump", 19) == 0)
                continue;
            const bool is_span = c->key == TL_KEY_FUNCTION;
            snprintf(out + strlen(out), size - strlen(out), "%s", c->name);
            put_values(out, size, b->v + b->val[i] + is_span, b->v + b->val[i + 1]);
            strcat(out, "\n");
        }
    assert_int_equal(status, 0);
    is_sound(s);
    tl_source_close(s);
    return out;
}

/* How many events of classes with this name. */
static inline uint64_t events(const char *path, const char *name)
{
    tl_source *s = open_trace(path, false);
    const tl_trace *t = tl_source_trace(s);
    tl_count count;
    tl_error e;
    uint64_t n = 0;
    must(tl_source_count(s, 1, &count, &e), &e);
    for (uint32_t i = 0; i < tl_trace_classes(t); i++)
        n += strcmp(tl_trace_class(t, i)->name, name) == 0 ? count.by_class[i] : 0;
    tl_count_free(&count);
    is_sound(s);
    tl_source_close(s);
    return n;
}

/* How many calls of a function; *unmatched: entries and exits without the other, of all functions. */
static inline uint64_t calls(const char *path, const char *name, uint64_t *unmatched)
{
    tl_source *s = open_trace(path, false);
    const tl_profile_options options = {.flat = true, .threads = 1};
    tl_profile *p;
    tl_error e;
    uint64_t n = 0;
    if (tl_profile_from_source(&p, s, &options, &e) < 0)
        fail_msg("%s: %s", path, e.message);
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        n += f->name && strcmp(f->name, name) == 0 ? stat.calls : 0;
    }
    *unmatched = tl_profile_unmatched_exits(p) + tl_profile_unmatched_open(p);
    tl_profile_free(p);
    is_sound(s);
    tl_source_close(s);
    return n;
}

static inline uint64_t lost_events(const char *path)
{
    tl_source *s = open_trace(path, false);
    const uint64_t n = tl_trace_lost_events(tl_source_trace(s));
    tl_source_close(s);
    return n;
}

#endif
