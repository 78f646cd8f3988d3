/* Records samples of a process of CoreCLR that runs already: has its runtime load the profiler, which writes as long as
 * this command holds a lock on the file. So it ends also if the command is killed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text/number.h"
#include "cli/attach/attach_maps.h"
#include "cli/interrupt.h"
#include "cli/managed/managed_ipc.h"
#include "cli/managed/managed_record.h"
#include "cli/message.h"
#include "cli/record/process_status.h"
#include "managed/managed_layout.h"

enum { STEP_MS = 50, END_MS = 5000 };

bool tl_managed_runs(long pid)
{
    tl_attach_maps m;
    const bool runs = tl_attach_maps_read(&m, pid) && tl_attach_maps_find(&m, "libcoreclr.so") != TL_ATTACH_NO_OBJECT;
    tl_attach_maps_free(&m);
    return runs;
}

int tl_managed_attach_look(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const char *only = a->alloc ? "alloc" : a->heap ? "heap" : NULL;
    const char *other = tl_first_given(a, "min-size exact");
    r->way = TL_WAY_MANAGED;
    if (only) {
        tl_say_error(r->name, "--%s needs a program that is started by record: CoreCLR decides it then", only);
        return TL_EXIT_RECORD;
    }
    if (other) {
        tl_say_error(r->name, "is recorded by its runtime: --%s is for other programs", other);
        return TL_EXIT_RECORD;
    }
    return tl_record_library(r->name, &tl_record_clr, r->library);
}

/* The file, with our lock, such that the process can write it. -1: after a message. */
static int make_file(const char *path, long pid)
{
    char process[64];
    struct stat st;
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    snprintf(process, sizeof process, "/proc/%ld", pid);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        (geteuid() != 0 || stat(process, &st) != 0 || st.st_uid == 0 || fchown(fd, st.st_uid, st.st_gid) == 0))
        return fd;
    tl_say_error(path, "cannot be written: %s", strerror(errno));
    if (fd >= 0) {
        unlink(path);
        close(fd);
    }
    return -1;
}

static int load(const tl_record *r, long pid)
{
    char text[160];
    uint32_t status = 0;
    const int port = tl_managed_port(pid, r->name);
    char *settings = port >= 0 ? tl_managed_settings(r) : NULL;
    const bool answered = settings && tl_managed_ask_attach(port, r->library, settings, &status);
    if (settings && !answered)
        tl_say_error(r->name, "process %ld cannot be attached to: its runtime gives no answer", pid);
    else if (answered && status)
        tl_say_error(r->name, "process %ld cannot be attached to: %s", pid, tl_managed_status_text(status, text));
    free(settings);
    if (port >= 0)
        close(port);
    return answered && !status ? TL_EXIT_DONE : TL_EXIT_RECORD;
}

static void pause_for(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

static void wait_for_end(const tl_record *r, long pid)
{
    char time[32];
    const uint64_t wanted = r->cli->args->duration, from = tl_record_now(), step = STEP_MS * UINT64_C(1000000);
    if (wanted)
        tl_say(r->cli, NULL, "recording process %ld (%s) for %s", pid, r->name,
               tl_human_time(time, sizeof time, wanted, true));
    else
        tl_say(r->cli, NULL, "recording process %ld (%s) until it ends, or Ctrl-C", pid, r->name);
    while (!tl_interrupted() && !tl_process_has_ended(pid, 0)) {
        const uint64_t done = tl_record_now() - from;
        if (wanted && done >= wanted)
            break;
        pause_for(wanted && wanted - done < step ? wanted - done : step);
    }
}

/* Has the profiler written its last line? */
static bool is_whole(int fd)
{
    enum { END = 64 };
    char text[END + 1];
    const off_t size = lseek(fd, 0, SEEK_END);
    const ssize_t n = size > END ? pread(fd, text, END, size - END) : 0;
    text[n > 0 ? n : 0] = 0;
    return n > 0 && text[n - 1] == '\n' && strstr(text, "\n" MANAGED_LAST_LINE);
}

int tl_managed_attach(const tl_record *r, const char *live)
{
    const long pid = (long)r->cli->args->pid;
    tl_interrupt_catch();
    const int fd = make_file(live, pid);
    if (fd < 0)
        return TL_EXIT_RECORD;
    if (load(r, pid) != TL_EXIT_DONE) {
        unlink(live);
        close(fd);
        return TL_EXIT_RECORD;
    }
    wait_for_end(r, pid);
    flock(fd, LOCK_UN);
    const uint64_t from = tl_record_now();
    while (!is_whole(fd) && !tl_process_has_ended(pid, 0) && tl_record_now() - from < END_MS * UINT64_C(1000000))
        pause_for(5000000);
    if (!is_whole(fd) && !tl_process_has_ended(pid, 0))
        tl_say_error(r->name, "process %ld does not end the recording; what it has written until now is kept", pid);
    close(fd);
    return TL_EXIT_DONE;
}
