/* traceloom ctl: controls the recorder of a running program. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text/json_write.h"
#include "base/text/number.h"
#include "cli/message.h"
#include "cli/nearest.h"
#include "cli/record/control_page.h"
#include "cli/record/record.h"
#include "cli/verbs.h"
#include "rt/control/control_layout.h"

/* By the recorder's enum rt_state. */
static const char *const state_name[] = {"off", "waiting", "recording", "over"};
enum { STATE_WAITING = 1, STATE_ON = 2, STATES = TL_COUNT(state_name) };

/* "14:03:12 (5 min ago)": when recording began. */
static char *since_text(char *buf, size_t size, uint64_t since)
{
    char ago[32];
    struct timespec now;
    const time_t seconds = (time_t)(since / 1000000000u);
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    localtime_r(&seconds, &tm);
    const size_t n = strftime(buf, size, "%F %T", &tm);
    snprintf(buf + n, size - n, " (%s ago)", tl_human_time(ago, sizeof ago, now_ns > since ? now_ns - since : 0, true));
    return buf;
}

static int print_text(const tl_control *p)
{
    const tl_control_status s = tl_control_read(p);
    char a[32], b[32], since[96], clean[sizeof s.path];
    const char *state = s.state < STATES ? state_name[s.state] : "unknown";
    printf("process     %ld %s\n", p->pid, tl_text_clean(clean, sizeof clean, p->name));
    if (s.state == STATE_ON)
        printf("state       recording since %s\n", since_text(since, sizeof since, s.since));
    else if (s.state == STATE_WAITING)
        printf("state       waiting for traceloom ctl %ld start\n", p->pid);
    else
        printf("state       %s\n", state);
    printf("mode        %s\n", tl_record_mode_name(s.modes));
    if (s.known)
        printf("functions   %s of %s\n", tl_human_grouped(a, sizeof a, s.functions),
               tl_human_grouped(b, sizeof b, s.known));
    printf("threads     %s\n", tl_human_grouped(a, sizeof a, s.lanes));
    if (s.bytes)
        printf("recorded    %s\n", tl_human_bytes(a, sizeof a, s.bytes));
    if (s.lost)
        printf("lost        %s events\n", tl_human_grouped(a, sizeof a, s.lost));
    const bool live = s.modes != CONTROL_MODE_SAMPLES && (s.state == STATE_ON || s.since);
    if (*s.path)
        printf("file        %s%s\n", tl_text_clean(clean, sizeof clean, s.path), live ? ".live" : "");
    return TL_EXIT_DONE;
}

static int print_json(const tl_control *p)
{
    const tl_control_status s = tl_control_read(p);
    tl_output *out = NULL;
    tl_json j;
    tl_error e = {0};
    if (tl_output_open(&out, "-", true, TL_PLAIN, 0, &e) < 0)
        return tl_say_failure(NULL, &e);
    tl_json_init(&j, out);
    tl_json_object(&j);
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key_i64(&j, "pid", p->pid);
    tl_json_key_string(&j, "state", s.state < STATES ? state_name[s.state] : "unknown");
    tl_json_key_string(&j, "mode", tl_record_mode_name(s.modes));
    tl_json_key_u64(&j, "functions", s.functions);
    tl_json_key_u64(&j, "known", s.known);
    tl_json_key_u64(&j, "threads", s.lanes);
    tl_json_key_u64(&j, "bytes", s.bytes);
    tl_json_key_u64(&j, "lost", s.lost);
    tl_json_key_u64(&j, "since", s.since);
    tl_json_key_string(&j, "path", *s.path ? s.path : NULL);
    tl_json_object_end(&j);
    tl_output_puts(out, "\n");
    const int status = tl_output_finish(out, &e);
    tl_output_close(out);
    return status < 0 ? tl_say_failure(NULL, &e) : TL_EXIT_DONE;
}

/* "ctl: WORD: what is wrong with it", or without a word. */
static int wrong(const char *word, const char *what)
{
    tl_say_error(NULL, "ctl: %s%s%s", word ? word : "", word ? ": " : "", what);
    return TL_EXIT_USAGE;
}

/* The command for the recorder. "show" updates the numbers of the page. */
static int make_command(const tl_arguments *a, char *out, size_t size)
{
    static const char *const known[] = {"status", "start", "stop", "flush", "set"};
    const char *word = a->file.n > 1 ? a->file.word[1] : "status";
    size_t which = 0;
    while (which < TL_COUNT(known) && strcmp(word, known[which]) != 0)
        which++;
    if (which == TL_COUNT(known)) {
        const char *nearest = tl_nearest(word, known, TL_COUNT(known));
        tl_say_error(NULL, "ctl: there is no command %s; %s%s%s", word, nearest ? "did you mean " : "there are ",
                     nearest ? nearest : "status, start, stop, flush and set", nearest ? "?" : "");
        return TL_EXIT_USAGE;
    }
    const bool set = strcmp(word, "set") == 0;
    if (set ? a->file.n < 3 : a->file.n > 2)
        return wrong(word, set ? "expected KEY=VALUE behind it, such as threshold=5us" : "takes no arguments");
    int n = snprintf(out, size, "%s", strcmp(word, "status") == 0 ? "show" : word);
    for (size_t i = 2; i < a->file.n && n >= 0 && (size_t)n < size; i++) {
        const char *pair = a->file.word[i];
        if (!strchr(pair, '='))
            return wrong(pair, "expected KEY=VALUE, such as threshold=5us");
        n += snprintf(out + n, size - (size_t)n, "%s%s", i == 2 ? " " : ":", pair);
    }
    return n < 0 || (size_t)n >= size ? wrong(NULL, "the command is too long") : TL_EXIT_DONE;
}

int tl_verb_ctl(tl_cli *c)
{
    const tl_arguments *a = c->args;
    char command[TL_CONTROL_COMMAND], answer[TL_CONTROL_RESULT];
    uint64_t pid;
    if (a->file.n == 0)
        return wrong(NULL, "no process; see traceloom ctl --help");
    if (!tl_parse_u64(a->file.word[0], &pid) || pid == 0 || pid > INT32_MAX)
        return wrong(a->file.word[0], "expected the number of a process");
    int status = make_command(a, command, sizeof command);
    const bool show = strcmp(command, "show") == 0;
    if (status == TL_EXIT_DONE && a->json && !show)
        status = wrong(NULL, "--json goes with status");
    if (status != TL_EXIT_DONE)
        return status;
    tl_control page;
    status = tl_control_open(&page, "ctl", (long)pid);
    if (status != TL_EXIT_DONE)
        return status;
    status = tl_control_ask(&page, command, answer);
    if (show && status != TL_EXIT_NO) {
        if (status != TL_EXIT_DONE)
            tl_say(c, NULL, "these numbers are older");
        status = tl_exit_worse(status, a->json ? print_json(&page) : print_text(&page));
    } else if (status == TL_EXIT_NO) {
        tl_say_error(NULL, "process %ld: %s", page.pid, answer);
    } else if (status == TL_EXIT_DONE) {
        tl_say(c, NULL, "process %ld: %s", page.pid, answer);
    }
    tl_control_close(&page);
    return status;
}
