/* The steps of the recorder's life: begin, start, stop, flush, finish, and fork. */
#include "rt/rt_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "rt/control/rt_control.h"
#include "rt/mode/rt_ctf.h"
#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_profile.h"
#include "rt/object/rt_objects.h"
#include "rt/object/rt_wanted.h"
#include "rt/rt_clock.h"
#include "rt/rt_files.h"
#include "rt/rt_lane.h"
#include "rt/rt_note.h"
#include "rt/rt_record.h"
#include "rt/rt_say.h"
#include "rt/rt_settings.h"
#include "rt/rt_store.h"

rt_core tl_rt;

enum { STATUS_USELESS = 125 }; /* with "strict": nothing could be recorded */
enum { TRIES = 100 };          /* attempts at a name when other processes take it first */

static rt_hook *hooks;
static rt_lock steps; /* one step at a time: the end of the program and the control thread may coincide */
static bool has_clock, has_file;
static uint32_t tabled; /* number of objects whose addresses are in the image of a profile */

void tl_rt_hook_add(rt_hook *h)
{
    h->next = hooks;
    hooks = h;
}

bool tl_rt_hook_others(const rt_hook *than)
{
    for (rt_hook *h = hooks; h; h = h->next)
        if (h != than && h->functions && h->functions() > 0)
            return true;
    return false;
}

static void set_state(enum rt_state state)
{
    __atomic_store_n(&tl_rt.state, (uint32_t)state, __ATOMIC_RELEASE);
}

void tl_rt_losses(rt_losses *sum)
{
    *sum = (rt_losses){.threads = __atomic_load_n(&tl_rt_lane_missed, __ATOMIC_RELAXED)};
    for (uint32_t i = 0; i < tl_rt_lanes(); i++) {
        const rt_losses *l = &tl_rt_lane_get(i)->lost;
        if (tl_rt_lane_get(i)->file != tl_rt.file) /* the parent's, from before a fork */
            continue;
        sum->late += l->late;
        sum->depth += l->depth;
        sum->memory += l->memory;
        sum->disk += l->disk;
        sum->places += l->places;
        sum->exits += l->exits;
    }
}

/* Adds the functions' addresses of new objects to the image of a profile. */
static void add_tables(void)
{
    if (!(tl_rt.set.modes & RT_MODE_PROFILE) || !has_file)
        return;
    for (; tabled < tl_rt_objects(); tabled++) {
        const rt_object *o = tl_rt_object(tabled);
        if (o->map) /* those of patched functions are notes */
            tl_rt_profile_table(o->id, o->base, o->count, o->function);
    }
}

/* How many functions the patterns select. UINT32_MAX: no hook has a list of functions. */
static uint32_t select_functions(void)
{
    uint32_t known = 0, wanted = 0;
    tl_rt_wanted_forget();
    for (rt_hook *h = hooks; h; h = h->next) {
        uint32_t n = h->functions ? h->functions() : 0;
        known += n;
        if (n && h->select)
            wanted += h->select();
    }
    return known ? wanted : UINT32_MAX;
}

static int open_mode(unsigned mode, int (*start)(void))
{
    if (!(tl_rt.set.modes & mode))
        return 0;
    int status = start();
    for (int i = 0; status == -EEXIST && i < TRIES; i++) { /* another process has taken the same name */
        tl_rt_files_choose(mode);
        status = start();
    }
    if (status < 0) {
        char live[RT_PATH + 8];
        tl_rt_files_live(live, mode);
        tl_rt_say_error("cannot record to", live, -status);
    }
    return status;
}

static int open_files(void)
{
    if (!has_clock)
        tl_rt_clock_start(tl_rt.set.clock);
    has_clock = true;
    tl_rt.file++;
    tl_rt_files_choose(tl_rt.set.modes);
    int status = open_mode(RT_MODE_FDR, tl_rt_fdr_start);
    if (status >= 0)
        status = open_mode(RT_MODE_PROFILE, tl_rt_profile_start);
    if (status >= 0)
        status = open_mode(RT_MODE_CTF, tl_rt_ctf_start);
    if (status < 0)
        return status;
    has_file = true;
    tabled = 0;
    tl_rt_note_begin();
    add_tables();
    return 0;
}

static uint64_t ticks_of(uint64_t ns)
{
    uint64_t hz = tl_rt_clock.hz;
    return ns / 1000000000 * hz + ns % 1000000000 * hz / 1000000000;
}

static int start(void)
{
    if (tl_rt.state == RT_ON)
        return 0;
    if (tl_rt.state == RT_OVER)
        return -EINVAL;
    if ((tl_rt.set.nfunc || tl_rt.set.nnot) && select_functions() == 0) {
        rt_line l = {.n = 0};
        tl_rt_line_text(&l, "no function matches the patterns; nothing is recorded");
        tl_rt_say(&l, 0, true);
        if (tl_rt.set.strict)
            RT_SYS1(SYS_exit_group, STATUS_USELESS);
        return -ENOENT;
    }
    if (!tl_rt.set.nfunc && !tl_rt.set.nnot)
        select_functions();
    int status = has_file ? 0 : open_files();
    if (status < 0) {
        set_state(RT_OVER);
        return status;
    }
    tl_rt.threshold = ticks_of(tl_rt.set.threshold_ns);
    set_state(RT_ON);
    tl_rt_handlers_set(true);
    for (rt_hook *h = hooks; h; h = h->next)
        if (h->start)
            h->start();
    return 0;
}

/* Switches hooks off; when it returns, no thread is in the middle of recording. */
static void switch_off(bool unpatch)
{
    for (rt_hook *h = hooks; h && unpatch; h = h->next)
        if (h->stop)
            h->stop();
    tl_rt_handlers_set(false);
    set_state(RT_WAITING);
    __atomic_fetch_add(&tl_rt.epoch, 1, __ATOMIC_SEQ_CST);
    tl_rt_lanes_settle();
}

static void switch_on_again(void)
{
    set_state(RT_ON);
    tl_rt_handlers_set(true);
}

int tl_rt_start(void)
{
    rt_lock_take(&steps);
    int status = start();
    rt_lock_give(&steps);
    tl_rt_control_show();
    return status;
}

static void stop(void)
{
    if (tl_rt.state != RT_ON)
        return;
    switch_off(true);
    for (uint32_t i = 0; i < tl_rt_lanes(); i++)
        if (tl_rt_lane_get(i)->file == tl_rt.file)
            tl_rt_record_pause(tl_rt_lane_get(i), tl_rt.set.modes, tl_rt.threshold > 0);
}

int tl_rt_stop(void)
{
    rt_lock_take(&steps);
    stop();
    rt_lock_give(&steps);
    tl_rt_control_show();
    return 0;
}

void tl_rt_look_around(void)
{
    rt_lock_take(&steps);
    if (tl_rt.state == RT_ON) {
        tl_rt_clock_refine();
        for (rt_hook *h = hooks; h; h = h->next)
            if (h->look)
                h->look();
        add_tables();
    }
    rt_lock_give(&steps);
}

/* Hooks are off while the slots of rings, which are reused, are copied; otherwise only for a moment. */
static int flush_fdr(void)
{
    bool was_on = tl_rt.state == RT_ON, ring = tl_rt.set.ring > 0;
    if (was_on)
        switch_off(false);
    int status = tl_rt_fdr_flush_mark();
    if (was_on && !ring)
        switch_on_again();
    if (status == 0)
        status = tl_rt_fdr_flush_copy(tl_rt_files_path(RT_MODE_FDR));
    if (was_on && ring)
        switch_on_again();
    return status;
}

static int flush_profile(void)
{
    bool was_on = tl_rt.state == RT_ON;
    if (was_on)
        switch_off(false);
    for (uint32_t i = 0; i < tl_rt_lanes(); i++)
        if (tl_rt_lane_get(i)->file == tl_rt.file)
            tl_rt_profile_commit(tl_rt_lane_get(i));
    if (was_on)
        switch_on_again();
    return tl_rt_profile_flush(tl_rt_files_path(RT_MODE_PROFILE));
}

int tl_rt_flush(void)
{
    rt_lock_take(&steps);
    int status = has_file && tl_rt.state != RT_OVER ? 0 : -EINVAL;
    tl_rt_clock_refine();
    add_tables();
    if (status == 0 && (tl_rt.set.modes & RT_MODE_FDR))
        status = flush_fdr();
    if (status == 0 && (tl_rt.set.modes & RT_MODE_PROFILE))
        status = flush_profile();
    rt_lock_give(&steps);
    return status;
}

static void finish_mode(unsigned mode, int (*finish)(int *))
{
    if (!(tl_rt.set.modes & mode))
        return;
    int named = 0, status = finish(&named);
    if (named < 0) { /* it belongs to another user by now, or is in another root */
        char live[RT_PATH + 8];
        tl_rt_files_live(live, mode);
        tl_rt_say_error("the recording cannot be finished, and stays", live, -named);
    } else if (status == -ENOBUFS || (mode == RT_MODE_CTF && status == -EFBIG)) {
        rt_line l = {.n = 0};
        tl_rt_line_text(&l, "the limit was reached; later events are missing in '");
        tl_rt_line_text(&l, tl_rt_files_path(mode));
        tl_rt_line_text(&l, "'");
        tl_rt_say(&l, 0, true);
    } else if (status < 0)
        tl_rt_say_error("events are missing in", tl_rt_files_path(mode), -status);
}

static void finish_files(void)
{
    tl_rt_clock_refine();
    add_tables();
    tl_rt_note_end();
    finish_mode(RT_MODE_FDR, tl_rt_fdr_finish);
    finish_mode(RT_MODE_PROFILE, tl_rt_profile_finish);
    finish_mode(RT_MODE_CTF, tl_rt_ctf_finish);
    has_file = false;
}

void tl_rt_finish(void)
{
    if (!rt_lock_take(&steps))
        return; /* the program ends in a signal handler that interrupted a step: the live file stays */
    if (tl_rt.state == RT_ON)
        switch_off(true);
    if (has_file)
        finish_files();
    bool was = tl_rt.state != RT_OFF && tl_rt.state != RT_OVER;
    set_state(RT_OVER);
    rt_lock_give(&steps);
    if (was)
        tl_rt_control_end();
}

/* Gives back the memory of the files: nothing is recorded into them from here on. */
static void forget_files(void)
{
    if (tl_rt.set.modes & RT_MODE_FDR)
        tl_rt_fdr_child();
    if (tl_rt.set.modes & RT_MODE_PROFILE)
        tl_rt_profile_child();
    if (tl_rt.set.modes & RT_MODE_CTF)
        tl_rt_ctf_child();
    has_file = false;
}

/* Is a thread in the middle of an event, where it was stopped for long? It still uses the memory of the file. */
static bool some_lane_is_busy(void)
{
    for (uint32_t i = 0; i < tl_rt_lanes(); i++)
        if (tl_rt_lane_get(i)->busy)
            return true;
    return false;
}

static int close_files(void)
{
    stop();
    if (!has_file || tl_rt.state == RT_OVER)
        return 0;
    if (some_lane_is_busy())
        return -EBUSY;
    finish_files();
    forget_files();
    tl_rt.file++; /* what lanes have is of another file */
    return 0;
}

int tl_rt_close(void)
{
    rt_lock_take(&steps);
    int status = close_files();
    rt_lock_give(&steps);
    tl_rt_control_show();
    return status;
}

int tl_rt_open(const char *settings, char error[static 256])
{
    static rt_settings next; /* static: one thread runs all commands, on a small stack */
    error[0] = 0;
    tl_rt_settings_default(&next);
    if (!tl_rt_settings_read(&next, settings, error))
        return -EINVAL;
    next.strict = false;
    if (next.patch != RT_PATCH_OFF)
        tl_rt_memory_far();
    rt_lock_take(&steps);
    int status = tl_rt.state == RT_WAITING ? close_files() : -EBUSY;
    if (status == 0)
        tl_rt_settings_copy(&tl_rt.set, &next);
    rt_lock_give(&steps);
    tl_rt_control_show();
    return status;
}

static void read_exe(void)
{
    long n = RT_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", tl_rt.exe, RT_PATH - 1);
    tl_rt.exe[n > 0 ? n : 0] = '\0';
}

static bool is_chosen_file(const char *path)
{
    struct stat st;
    return RT_SYS4(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 && st.st_dev == tl_rt.set.exe_device &&
           st.st_ino == tl_rt.set.exe_inode;
}

/* Is this the program that is to be recorded? Its children inherit the settings. Under qemu /proc/self/exe names the
 * program, but is qemu. */
static bool is_chosen(void)
{
    return !tl_rt.set.has_exe || is_chosen_file("/proc/self/exe") || is_chosen_file(tl_rt.exe);
}

void tl_rt_begin(void)
{
    const char *text = secure_getenv("TRACELOOM");
    if (!text || !*text || tl_rt.state != RT_OFF) /* an empty value means unset */
        return;
    char error[256];
    tl_rt.pid = (int)RT_SYS0(SYS_getpid);
    read_exe();
    tl_rt_settings_default(&tl_rt.set);
    if (!tl_rt_settings_read(&tl_rt.set, text, error)) {
        rt_line l = {.n = 0};
        tl_rt_line_text(&l, "TRACELOOM: ");
        tl_rt_line_text(&l, error);
        tl_rt_say(&l, 0, true);
        if (tl_rt.set.strict)
            RT_SYS1(SYS_exit_group, STATUS_USELESS);
        return;
    }
    if (!is_chosen())
        return;
    if (tl_rt.set.patch != RT_PATCH_OFF)
        tl_rt_memory_far();
    set_state(RT_WAITING);
    tl_rt_lanes_begin();
    if (tl_rt.set.start && tl_rt_start() < 0 && tl_rt.set.strict)
        RT_SYS1(SYS_exit_group, STATUS_USELESS);
    if (tl_rt.set.control && tl_rt.state != RT_OVER) {
        int status = tl_rt_control_begin();
        if (status < 0)
            tl_rt_say_error("no control from outside", tl_rt.exe, -status);
    }
}

int tl_rt_offer(void)
{
    if (tl_rt.state != RT_OFF)
        return tl_rt.state == RT_OVER ? -ESRCH : 0;
    tl_rt.pid = (int)RT_SYS0(SYS_getpid);
    read_exe();
    tl_rt_settings_default(&tl_rt.set);
    tl_rt.set.start = false;
    tl_rt.set.quiet = true;
    tl_rt_memory_far();
    set_state(RT_WAITING);
    tl_rt_lanes_begin();
    int status = tl_rt_control_begin();
    if (status < 0)
        set_state(RT_OFF);
    return status;
}

void tl_rt_before_fork(void)
{
    rt_lock_take(&steps);
}

void tl_rt_after_fork(void)
{
    rt_lock_give(&steps);
}

void tl_rt_child(void)
{
    steps = (rt_lock){.held = 0};
    tl_rt_handlers_child();
    uint32_t state = tl_rt.state;
    if (state == RT_OFF || state == RT_OVER)
        return;
    tl_rt_handlers_set(false);
    tl_rt.pid = (int)RT_SYS0(SYS_getpid);
    tl_rt.epoch++;
    if (has_file)
        forget_files();
    tl_rt_lanes_child();
    tl_rt_objects_child();
    set_state(RT_WAITING);
    if (state == RT_ON)
        tl_rt_start();
    if (tl_rt.set.control && tl_rt.state != RT_OVER)
        tl_rt_control_begin();
}
