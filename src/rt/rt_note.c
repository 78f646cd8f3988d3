/* What a recording says about itself: the notes that do not depend on the hooks. */
#include "rt/rt_note.h"

#include <fcntl.h>

#include "rt/mode/rt_ctf.h"
#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_profile.h"
#include "rt/rt_clock.h"
#include "rt/rt_lane.h"
#include "rt/rt_settings.h"

bool tl_rt_note(const rt_line *l)
{
    bool ok = true;
    if (tl_rt.set.modes & RT_MODE_FDR)
        ok &= tl_rt_fdr_note(l->text, l->n);
    if (tl_rt.set.modes & RT_MODE_PROFILE)
        ok &= tl_rt_profile_note(l->text, l->n);
    if (tl_rt.set.modes & RT_MODE_CTF)
        ok &= tl_rt_ctf_note(l->text, l->n);
    return ok;
}

static void begin(rt_line *l, const char *word)
{
    rt_line_begin(l);
    tl_rt_line_text(l, word);
}

static void put_number(rt_line *l, const char *key, uint64_t value)
{
    tl_rt_line_text(l, " ");
    tl_rt_line_text(l, key);
    tl_rt_line_text(l, "=");
    tl_rt_line_number(l, value);
}

static void put_text(rt_line *l, const char *key, const char *value)
{
    tl_rt_line_text(l, " ");
    tl_rt_line_text(l, key);
    tl_rt_line_text(l, "=");
    tl_rt_line_text(l, value);
}

static const char *clock_name(void)
{
#if defined(__x86_64__)
    return tl_rt_clock.counter ? "tsc" : "monotonic_raw";
#else
    return tl_rt_clock.counter ? "cntvct" : "monotonic_raw";
#endif
}

static void note_clock(uint64_t hz, uint64_t ticks, uint64_t raw, uint64_t unix_time)
{
    rt_line l;
    begin(&l, "clock");
    put_text(&l, "name", clock_name());
    put_number(&l, "hz", hz);
    put_number(&l, "ticks", ticks);
    put_number(&l, "raw", raw);
    put_number(&l, "unix", unix_time);
    tl_rt_note(&l);
}

static void note_process(void)
{
    rt_line l;
    begin(&l, "process");
    put_number(&l, "pid", (uint64_t)(unsigned)tl_rt.pid);
    put_number(&l, "parent", (uint64_t)RT_SYS0(SYS_getppid));
    put_number(&l, "start", tl_rt_clock_unix());
    tl_rt_line_text(&l, " exe=");
    tl_rt_line_escaped(&l, tl_rt.exe);
    tl_rt_note(&l);
}

void tl_rt_note_options(void)
{
    const rt_settings *s = &tl_rt.set;
    rt_line l;
    begin(&l, "option");
    put_text(&l, "mode", tl_rt_settings_mode(s->modes));
    put_number(&l, "threshold", s->threshold_ns);
    put_number(&l, "ring", s->ring);
    put_number(&l, "limit", s->limit);
    put_number(&l, "depth", s->depth);
    put_number(&l, "func", s->nfunc); /* how many patterns there are */
    put_number(&l, "not", s->nnot);
    tl_rt_note(&l);
}

void tl_rt_note_begin(void)
{
    rt_line l;
    begin(&l, "traceloom");
    put_number(&l, "version", 1);
    tl_rt_note(&l);
    note_process();
    note_clock(tl_rt_clock.hz, tl_rt_clock.ticks0, tl_rt_clock.raw0, tl_rt_clock.unix0);
    tl_rt_note_options();
    tl_rt_objects_note();
    tl_rt_ids_note();
    tl_rt_spans_note();
}

/* "/proc/PID/task/4711/comm", the part after the folder of threads. */
static void comm_path(char *out, size_t size, uint32_t tid)
{
    rt_line l;
    begin(&l, "/proc/self/task/");
    tl_rt_line_number(&l, tid);
    tl_rt_line_text(&l, "/comm");
    rt_copy(out, l.text, l.n < size ? l.n + 1 : size);
    out[size - 1] = 0;
}

/* The current name of a thread; not for threads that have ended. */
static void note_thread(uint32_t tid)
{
    char path[64], name[32];
    comm_path(path, sizeof path, tid);
    long fd = RT_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    long n = RT_SYS3(SYS_read, fd, name, sizeof name - 1);
    RT_SYS1(SYS_close, fd);
    if (n <= 1)
        return;
    name[name[n - 1] == '\n' ? n - 1 : n] = 0;
    rt_line l;
    begin(&l, "thread");
    put_number(&l, "tid", tid);
    tl_rt_line_text(&l, " name=");
    tl_rt_line_escaped(&l, name);
    tl_rt_note(&l);
}

static void put_losses(rt_line *l, const rt_losses *lost, uint64_t memory, uint64_t disk)
{
    begin(l, "lost");
    put_number(l, "late", lost->late);
    put_number(l, "depth", lost->depth);
    put_number(l, "memory", memory);
    put_number(l, "disk", disk);
    put_number(l, "exits", lost->exits);
    put_number(l, "threads", lost->threads);
}

/* Each file says what it lacks: with both modes on, one may be full and the other complete. */
static void note_losses(void)
{
    rt_losses lost;
    rt_line l;
    tl_rt_losses(&lost);
    put_losses(&l, &lost, lost.memory, lost.disk);
    if (tl_rt.set.modes & RT_MODE_FDR)
        tl_rt_fdr_note(l.text, l.n);
    if (tl_rt.set.modes & RT_MODE_CTF)
        tl_rt_ctf_note(l.text, l.n);
    put_losses(&l, &lost, lost.places, 0);
    if (tl_rt.set.modes & RT_MODE_PROFILE)
        tl_rt_profile_note(l.text, l.n);
}

void tl_rt_note_end(void)
{
    uint64_t hz = tl_rt_clock_refine(), raw = tl_rt_clock_slow();
    uint64_t ticks = rt_now(), now = tl_rt_clock_unix();
    note_clock(hz, ticks, tl_rt_clock.counter ? raw : ticks, now);
    for (uint32_t i = 0; i < tl_rt_lanes(); i++) {
        const rt_lane *lane = tl_rt_lane_get(i);
        if (lane && lane->tid && lane->file == tl_rt.file)
            note_thread(lane->tid);
    }
    note_losses();
    rt_line l;
    begin(&l, "end");
    put_number(&l, "unix", now);
    put_number(&l, "ticks", ticks);
    tl_rt_note(&l);
}
