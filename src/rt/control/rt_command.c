/* Commands from outside: start, stop, flush, set. */
#include "rt/control/rt_command.h"

#include <errno.h>

#include "rt/mode/rt_ctf.h"
#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_profile.h"
#include "rt/object/rt_ids.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_clock.h"
#include "rt/rt_lane.h"
#include "rt/rt_note.h"
#include "rt/rt_settings.h"

static uint32_t last_state;
static uint64_t since; /* ns since 1970, of the last start */

static uint64_t bytes_recorded(void)
{
    uint64_t n = 0;
    if (tl_rt.set.modes & RT_MODE_FDR)
        n += tl_rt_fdr_bytes();
    if (tl_rt.set.modes & RT_MODE_PROFILE)
        n += tl_rt_profile_bytes();
    if (tl_rt.set.modes & RT_MODE_CTF)
        n += tl_rt_ctf_bytes();
    return n;
}

static void count_address(void *arg, uint32_t id, uintptr_t address)
{
    (void)id;
    (void)address;
    ++*(uint32_t *)arg;
}

/* Functions with sleds, and those seen by address. */
static void count_functions(rt_status *s)
{
    uint32_t met = 0;
    s->functions = s->known = 0;
    for (uint32_t i = 0; i < tl_rt_objects(); i++) {
        const rt_object *o = tl_rt_object(i);
        if (o->gone || !o->wanted)
            continue;
        s->known += o->count;
        for (uint32_t k = 0; k < o->count; k++)
            s->functions += o->wanted[k] != 0;
    }
    tl_rt_ids_each_address(count_address, &met);
    s->functions += met;
    s->known += met;
}

void tl_rt_command_status(rt_status *s)
{
    rt_losses lost;
    tl_rt_losses(&lost);
    s->state = tl_rt.state;
    if (s->state == RT_ON && last_state != RT_ON)
        since = tl_rt_clock_unix();
    last_state = s->state;
    s->since = since;
    s->modes = tl_rt.set.modes;
    count_functions(s);
    s->lanes = tl_rt_lanes();
    s->bytes = s->state == RT_ON || s->since ? bytes_recorded() : 0;
    s->lost = lost.late + lost.depth + lost.memory + lost.disk + lost.places + lost.threads; /* exits are not calls */
}

static void say(rt_line *result, const char *what, const char *path)
{
    tl_rt_line_text(result, what);
    if (path)
        tl_rt_line_text(result, path);
}

/* "WHAT: FILE: why". If the patterns are the reason, the recorder keeps waiting. */
static void say_failure(rt_line *result, const char *what, int status)
{
    const bool useless = status == -ENOENT && tl_rt.state != RT_OVER;
    const char *why = useless ? "no function matches the patterns" : tl_rt_errno_text(status);
    say(result, what, NULL);
    if (!useless)
        say(result, ": ", tl_rt.path);
    if (why)
        say(result, ": ", why);
}

static int start(rt_line *result)
{
    if (tl_rt.state == RT_ON) {
        say(result, "was recording already, to ", tl_rt.path);
        return 0;
    }
    int status = tl_rt_start();
    if (status < 0)
        say_failure(result, "recording could not start", status);
    else
        say(result, "recording to ", tl_rt.path);
    return status;
}

static int stop(rt_line *result)
{
    if (tl_rt.state != RT_ON) {
        say(result, "was not recording", NULL);
        return 0;
    }
    int status = tl_rt_stop();
    say(result, status < 0 ? "recording could not stop" : "stopped", NULL);
    return status;
}

static int flush(rt_line *result)
{
    int status = tl_rt_flush();
    if (status == 0 && tl_rt.set.modes == RT_MODE_CTF) {
        say(result, "what there is can be read in ", tl_rt.path); /* streams are complete at any time */
        say(result, ".live", NULL);
        return 0;
    }
    say(result, status < 0 ? "could not write " : "wrote ", tl_rt.path);
    const char *why = status == -EINTR ? "the program ends, and writes it itself" : tl_rt_errno_text(status);
    if (status < 0 && why)
        say(result, ": ", why);
    return status;
}

/* Hooks get new settings when recording stops and starts. */
static int restart(const rt_settings *with)
{
    if (tl_rt.state != RT_ON) {
        tl_rt_settings_copy(&tl_rt.set, with);
        return 0;
    }
    tl_rt_stop();
    tl_rt_settings_copy(&tl_rt.set, with);
    int status = tl_rt_start();
    if (status == 0)
        tl_rt_note_options();
    return status;
}

/* Observers do not see that recording stops meanwhile. */
static int set(const char *pairs, rt_line *result)
{
    uint64_t began = since;
    static rt_settings before, changed; /* static: one thread runs all commands, on a small stack */
    char error[256];
    tl_rt_settings_copy(&before, &tl_rt.set);
    tl_rt_settings_copy(&changed, &tl_rt.set);
    if (!tl_rt_settings_set(&changed, pairs, error)) {
        say(result, error, NULL);
        return -EINVAL;
    }
    int status = restart(&changed);
    if (status < 0) {
        tl_rt_settings_copy(&tl_rt.set, &before);
        tl_rt_start();
        since = began;
        if (status == -ENOENT && tl_rt.state != RT_OVER)
            say(result, "no function matches; all is as before", NULL);
        else
            say_failure(result, "recording could not go on", status);
        return status;
    }
    since = began;
    say(result, "set ", pairs);
    return 0;
}

static int open_new(const char *settings, rt_line *result)
{
    char error[256];
    int status = tl_rt_open(settings, error);
    if (status == -EBUSY && tl_rt.state == RT_ON)
        say(result, "is being recorded already, to ", tl_rt.path);
    else if (status == -EBUSY)
        say(result, "a thread is stopped in the middle of recording to ", tl_rt.path);
    else
        say(result, status < 0 ? error : "ready", NULL);
    return status;
}

static int close_file(rt_line *result)
{
    int status = tl_rt_close();
    if (status < 0)
        say(result, "a thread is stopped in the middle of recording to ", tl_rt.path);
    else
        say(result, "wrote ", tl_rt.path);
    return status;
}

int tl_rt_command(const char *command, rt_line *result)
{
    if (tl_rt_same(command, "show"))
        return 0;
    if (tl_rt.state == RT_OVER) {
        say(result, "recording is over", NULL);
        return -ESRCH;
    }
    tl_rt.set.strict = false; /* from here on an error does not end the program */
    if (tl_rt_same(command, "start"))
        return start(result);
    if (tl_rt_same(command, "stop"))
        return stop(result);
    if (tl_rt_same(command, "flush"))
        return flush(result);
    if (tl_rt_same(command, "close"))
        return close_file(result);
    if (tl_rt_glob("open *", command))
        return open_new(command + 5, result);
    if (tl_rt_glob("set *", command))
        return set(command + 4, result);
    say(result, "this recorder does not know the command: ", command);
    return -EINVAL;
}
