/* Records a process that runs already: through its recorder, which is loaded into it if it has none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/number.h"
#include "cli/attach/attach.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/record/control_page.h"
#include "cli/record/process_status.h"
#include "cli/record/record.h"
#include "cli/record/record_facts.h"

enum { STEP_MS = 50 };

const char *tl_record_process_name(tl_record *r)
{
    const long pid = (long)r->cli->args->pid;
    const bool found = tl_process_name(pid, r->program, sizeof r->program);
    for (char *c = r->program; *c; c++) /* it becomes the name of a file */
        *c = (unsigned char)*c <= ' ' || *c == '/' || *c == 0x7f ? '_' : *c;
    if (!found || !*r->program) {
        tl_say_error(NULL, "there is no process %ld", pid);
        return NULL;
    }
    return r->program;
}

/* Is the shared recorder in it, by itself: loaded to patch a program that has none? */
static bool is_loaded(long pid)
{
    char path[64];
    tl_record_facts f;
    tl_error e = {0};
    tl_attach_maps m;
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    const bool loaded =
        tl_attach_maps_read(&m, pid) && tl_attach_maps_find(&m, TL_RECORD_SHARED) != TL_ATTACH_NO_OBJECT;
    tl_attach_maps_free(&m);
    return loaded && tl_record_facts_read(&f, path, &e) == 0 && !f.has_recorder;
}

/* Its page, after its recorder was loaded if need be. */
static int open_page(tl_record *r, tl_control *page)
{
    char name[32];
    const long pid = (long)r->cli->args->pid;
    r->way = is_loaded(pid) ? TL_WAY_PATCH : TL_WAY_LINKED;
    if (tl_control_find(page, "record", pid)) {
        const char *only = tl_record_only_patched(r->cli->args);
        if (r->way == TL_WAY_PATCH || !only)
            return TL_EXIT_DONE;
        tl_say_error(NULL, "record: --%s is for programs that are patched: process %ld (%s) has the recorder in it",
                     only, pid, page->name);
        tl_control_close(page);
        return TL_EXIT_RECORD;
    }
    r->way = TL_WAY_PATCH;
    snprintf(name, sizeof name, "%ld", pid);
    int status = tl_record_library(name, &tl_record_recorder, r->library);
    if (status == TL_EXIT_DONE)
        status = tl_attach_inject(pid, r->library);
    return status == TL_EXIT_DONE ? tl_control_open(page, "record", pid) : status;
}

/* Sends a command; failures of its recorder are reported. */
static int ask(tl_control *page, const char *command)
{
    char answer[TL_CONTROL_RESULT];
    const int status = tl_attach_ask(page, command, answer);
    if (status == TL_EXIT_NO)
        tl_say_error(NULL, "process %ld: %s", page->pid, answer);
    return status == TL_EXIT_NO ? TL_EXIT_RECORD : status;
}

static int begin(const tl_record *r, tl_control *page)
{
    char command[TL_CONTROL_COMMAND];
    char *settings = tl_record_settings(r);
    const int n = settings ? snprintf(command, sizeof command, "open %s", settings) : -1;
    if (settings)
        tl_say_more(r->cli, NULL, "TRACELOOM=%s", settings);
    free(settings);
    if (n < 0 || (size_t)n >= sizeof command) {
        tl_say_error(NULL, "record: %s",
                     n < 0 ? "out of memory" : "path and patterns are too long for a process that runs");
        return TL_EXIT_RECORD;
    }
    const int status = ask(page, command);
    return status == TL_EXIT_DONE ? ask(page, "start") : status;
}

/* Until the time is over, ^C, or its end. */
static void wait_for_end(const tl_record *r, const tl_control *page)
{
    char time[32];
    const uint64_t wanted = r->cli->args->duration, from = tl_record_now();
    if (wanted)
        tl_say(r->cli, NULL, "recording process %ld (%s) for %s", page->pid, page->name,
               tl_human_time(time, sizeof time, wanted, true));
    else
        tl_say(r->cli, NULL, "recording process %ld (%s) until it ends, or Ctrl-C", page->pid, page->name);
    for (uint64_t done; !tl_interrupted() && tl_attach_is_served(page);) {
        done = tl_record_now() - from;
        if (wanted && done >= wanted)
            break;
        const uint64_t step = STEP_MS * UINT64_C(1000000), rest = wanted ? wanted - done : step;
        nanosleep(&(struct timespec){0, (long)(rest < step ? rest : step)}, NULL);
        tl_attach_let_go_late();
    }
}

int tl_record_process(tl_record *r)
{
    tl_control page;
    clock_gettime(CLOCK_REALTIME, &r->begin);
    tl_interrupt_catch();
    int status = open_page(r, &page);
    if (status != TL_EXIT_DONE)
        return status;
    status = begin(r, &page);
    if (status == TL_EXIT_DONE) {
        wait_for_end(r, &page);
        if (tl_attach_is_served(&page)) {
            status = ask(&page, "stop");
            if (status == TL_EXIT_DONE)
                status = ask(&page, "close");
        }
        if (!tl_attach_is_served(&page)) /* it wrote its recording itself, or left it */
            status = TL_EXIT_DONE;
    }
    tl_control_close(&page);
    return status;
}
