/* Runs the verbs on a trace with one byte changed, or cut off: every change at every place asked for, inside this
 * process, some hundred changes for each child.
 *
 *   hostile_driver [--every N] [--from I] [--places A-B,...] [--memory] [--keep FOLDER] TRACE VICTIM
 *
 * VICTIM is the file to change: TRACE itself, or a file of that folder. In a file of up to 4 KiB every byte is changed;
 * in a larger one the first 2 KiB, the last 512 bytes and the places given. --every and --from take one of N changes.
 * Each run must end in bounded time with a documented exit status; if that is not 0, with a message that names the
 * trace and the offset and cannot drive a terminal. With --memory (for a build without sanitizers) it must also keep to
 * the promised memory. Failures are printed, and the changed file goes to FOLDER. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/verbs.h"

enum {
    SMALL = 4096,
    FRONT = 2048,
    BACK = 512,
    KINDS = 6,         /* five values of a byte, and a cut in front of it */
    BATCH = 500,       /* changes a child */
    RANGES = 256,      /* places given */
    SECONDS_MOST = 2,  /* of processor time a run; five times that with sanitizers */
    PATIENCE = 120,    /* of wall time: it does not end */
    MEMORY_MOST = 256, /* MiB */
    MESSAGE_MOST = 1 << 16,
    SHOWN = 20
};

typedef struct range {
    uint64_t from, to;
} range;

/* Shared by parent and children. */
typedef struct shared {
    uint64_t next; /* the next change, or the one being tried */
    uint64_t runs, failed;
    uint64_t slowest_us, most_kib;
    const char *verb; /* being run; each child has it at the same address */
} shared;

static struct {
    const char *trace, *victim, *keep;
    uint64_t every, from;
    bool memory;
    range range[RANGES];
    size_t nrange;
    uint8_t *bytes;
    uint64_t size, changes; /* of the victim; KINDS for each place */
    int fd, messages;
    shared *s;
} d = {.every = 1};

/* From AddressSanitizer; missing in other builds. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

/* --------------------------------------------------------------------------------------------------------- changes */

static const char *const kind_name[KINDS] = {"to 0x00", "to 0xff",   "^ 0x01",
                                             "^ 0x80",  "at random", "and all behind it away"};

static void add_range(uint64_t from, uint64_t to)
{
    to = to < d.size ? to : d.size;
    const uint64_t begin = d.nrange ? d.range[d.nrange - 1].to : 0; /* ranges ascend */
    from = from > begin ? from : begin;
    if (from < to && d.nrange < RANGES)
        d.range[d.nrange++] = (range){from, to};
}

static void set_places(const char *given)
{
    if (d.size <= SMALL)
        given = NULL;
    add_range(0, d.size <= SMALL ? SMALL : FRONT);
    while (given && *given) {
        char *end;
        const uint64_t from = strtoull(given, &end, 10);
        if (*end != '-')
            break;
        add_range(from, strtoull(end + 1, &end, 10));
        given = *end == ',' ? end + 1 : "";
    }
    if (d.size > SMALL)
        add_range(d.size - BACK, d.size);
    for (size_t i = 0; i < d.nrange; i++)
        d.changes += (d.range[i].to - d.range[i].from) * KINDS;
}

static uint64_t place_of(uint64_t change)
{
    uint64_t n = change / KINDS;
    size_t i = 0;
    for (; n >= d.range[i].to - d.range[i].from; i++)
        n -= d.range[i].to - d.range[i].from;
    return d.range[i].from + n;
}

static uint8_t changed(uint8_t byte, uint64_t change)
{
    switch (change % KINDS) {
    case 0:
        return 0;
    case 1:
        return 0xff;
    case 2:
        return byte ^ 1;
    case 3:
        return byte ^ 0x80;
    default:
        return (uint8_t)((change * 0x9e3779b97f4a7c15u) >> 56);
    }
}

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stdout, "hostile_driver: %s: %s: %s\n", d.victim, what, strerror(errno));
        fflush(stdout);
        _exit(2);
    }
}

/* Makes a change; false if it changes nothing. */
static bool make_change(uint64_t change)
{
    const uint64_t at = place_of(change);
    if (change % KINDS == KINDS - 1) {
        must(ftruncate(d.fd, (off_t)at) == 0, "it cannot be cut");
        return true;
    }
    const uint8_t byte = changed(d.bytes[at], change);
    if (byte == d.bytes[at])
        return false;
    must(pwrite(d.fd, &byte, 1, (off_t)at) == 1, "it cannot be written");
    return true;
}

static void take_back(uint64_t change)
{
    const uint64_t at = place_of(change), n = change % KINDS == KINDS - 1 ? d.size - at : 1;
    must(pwrite(d.fd, d.bytes + at, (size_t)n, (off_t)at) == (ssize_t)n, "it cannot be written");
}

/* Keeps the changed file for inspection. */
static void keep_file(uint64_t change)
{
    char path[4096];
    struct stat st;
    if (!d.keep || d.s->failed > SHOWN || !make_change(change))
        return;
    snprintf(path, sizeof path, "%s/finding-%" PRIu64, d.keep, change);
    FILE *f = fopen(path, "wb");
    must(f && fstat(d.fd, &st) == 0, "it cannot be kept");
    uint8_t *copy = malloc((size_t)st.st_size + 1);
    must(copy && pread(d.fd, copy, (size_t)st.st_size, 0) == st.st_size, "it cannot be read");
    fwrite(copy, 1, (size_t)st.st_size, f);
    fclose(f);
    free(copy);
    take_back(change);
}

/* ------------------------------------------------------------------------------------------------------------ runs */

static void say_failed(uint64_t change, const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (d.s->failed++ < SHOWN)
        fprintf(stdout, "FAILED: %s: byte %" PRIu64 " %s: %s: %s\n", d.victim, place_of(change),
                kind_name[change % KINDS], d.s->verb ? d.s->verb : "", text);
    fflush(stdout);
    keep_file(change);
}

/* The message is about this trace, has an offset, and is only text. */
static void check_message(uint64_t change, int status)
{
    static char text[MESSAGE_MOST];
    const ssize_t n = pread(d.messages, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    for (ssize_t i = 0; i < n; i++)
        if ((uint8_t)text[i] < ' ' && text[i] != '\n')
            return say_failed(change, "a message with the byte 0x%02x", (unsigned)(uint8_t)text[i]);
    if (status == TL_EXIT_DONE || status == TL_EXIT_NO)
        return;
    if (!strstr(text, d.trace))
        return say_failed(change, "status %d, and the message does not name the trace: %.300s", status, text);
    /* An empty file, or one whose first bytes are no trace, has no place to name. */
    if (status == TL_EXIT_DAMAGED && !strstr(text, "byte ") && !strstr(text, "is empty") &&
        !strstr(text, "unrecognised format"))
        say_failed(change, "status %d without a place: %.300s", status, text);
}

static int run_verb(tl_cli *c)
{
    switch (c->args->verb->id) {
    case TL_VERB_INFO:
        return tl_verb_info(c);
    case TL_VERB_CHECK:
        return tl_verb_check(c);
    case TL_VERB_REPORT:
        return tl_verb_report(c);
    default:
        return tl_verb_convert(c);
    }
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static uint64_t memory_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss;
}

/* Runs a verb; standard output goes nowhere, standard error to a file in memory. False: go on in a new process. */
static bool run(uint64_t change, const char *const *word, int n)
{
    char message[TL_USAGE_SIZE] = "";
    tl_arguments a;
    tl_cli c = {.args = &a};
    d.s->verb = word[0];
    alarm(PATIENCE);
    must(ftruncate(d.messages, 0) == 0 && lseek(d.messages, 0, SEEK_SET) == 0, "messages");
    const uint64_t before = now_us();
    if (!tl_arguments_parse(&a, n, word, message)) {
        say_failed(change, "the line is wrong: %s", message);
        return true;
    }
    tl_terminal_file(&c.out);
    const int status = run_verb(&c);
    tl_arguments_fini(&a);
    const uint64_t us = now_us() - before, kib = memory_kib();
    d.s->runs++;
    d.s->slowest_us = us > d.s->slowest_us ? us : d.s->slowest_us;
    d.s->most_kib = kib > d.s->most_kib ? kib : d.s->most_kib;
    if (status < TL_EXIT_DONE || status > TL_EXIT_LOST)
        say_failed(change, "exit status %d", status);
    else
        check_message(change, status);
    if (us > (__lsan_do_recoverable_leak_check ? 5u : 1u) * SECONDS_MOST * 1000000u)
        say_failed(change, "it took %" PRIu64 " ms", us / 1000);
    if (d.memory && kib > MEMORY_MOST * 1024u) {
        say_failed(change, "it took %" PRIu64 " MiB", kib / 1024);
        return false;
    }
    return true;
}

/* All verbs; now and then with the default number of threads. */
static bool run_all(uint64_t change)
{
    const char *threads = change / KINDS % 16 == 0 ? "-v" : "--threads=1";
    const char *const line[][6] = {{"info", threads, d.trace},
                                   {"check", threads, d.trace},
                                   {"report", threads, d.trace},
                                   {"convert", threads, d.trace, "--to=jsonl", "-o", "-"}};
    bool good = true;
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        good = run(change, line[i], line[i][3] ? 6 : 3) && good;
    return good;
}

/* ------------------------------------------------------------------------------------------------------- processes */

/* A child: makes changes from d.s->next on. Messages of this program go to a copy of standard output. */
static void work(void)
{
    const int null = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO);
    must(null >= 0 && out >= 0, "descriptors");
    FILE *report = fdopen(out, "w");
    const int errors = dup(STDERR_FILENO);
    must(report && errors >= 0 && dup2(null, STDOUT_FILENO) >= 0 && dup2(d.messages, STDERR_FILENO) >= 0,
         "descriptors");
    FILE *before = stdout;
    stdout = report;
    bool good = true;
    for (unsigned i = 0; good && i < BATCH && d.s->next < d.changes; i++, d.s->next += d.every)
        if (make_change(d.s->next)) {
            good = run_all(d.s->next);
            take_back(d.s->next);
        }
    alarm(0);
    dup2(errors, STDERR_FILENO);
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0) {
        d.s->failed++;
        fprintf(stdout, "FAILED: %s: memory leaks in the changes before %" PRIu64 "\n", d.victim, d.s->next);
    }
    fflush(stdout);
    stdout = before;
    _exit(0);
}

/* Prints the child's output before it died: a sanitizer's report, if there is one. */
static void go_on_after(int status)
{
    const uint64_t change = d.s->next;
    static char text[MESSAGE_MOST];
    const ssize_t n = pread(d.messages, text, sizeof text - 1, 0);
    if (WIFSIGNALED(status))
        say_failed(change, WTERMSIG(status) == SIGALRM ? "it does not end" : "signal %d", WTERMSIG(status));
    else
        say_failed(change, "the process ended with status %d", WEXITSTATUS(status));
    printf("%.*s\n", (int)(n > 0 ? n : 0), text);
    must(ftruncate(d.fd, (off_t)d.size) == 0 && pwrite(d.fd, d.bytes, (size_t)d.size, 0) == (ssize_t)d.size,
         "it cannot be written");
    d.s->next += d.every;
}

static void read_victim(void)
{
    struct stat st;
    d.fd = open(d.victim, O_RDWR | O_CLOEXEC);
    must(d.fd >= 0 && fstat(d.fd, &st) == 0, "it cannot be opened");
    d.size = (uint64_t)st.st_size;
    d.bytes = malloc((size_t)d.size + 1);
    must(d.bytes && pread(d.fd, d.bytes, (size_t)d.size, 0) == (ssize_t)d.size, "it cannot be read");
}

static const char *read_options(int argc, char **argv)
{
    const char *places = NULL;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "--memory") == 0)
            d.memory = true;
        else if (strcmp(argv[i], "--every") == 0)
            d.every = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--from") == 0)
            d.from = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--keep") == 0)
            d.keep = value, i++;
        else if (strcmp(argv[i], "--places") == 0)
            places = value, i++;
    }
    if (argc - i != 2 || d.every == 0) {
        fprintf(stderr, "usage: hostile_driver [options] TRACE VICTIM\n");
        exit(2);
    }
    d.trace = argv[i];
    d.victim = argv[i + 1];
    return places;
}

int main(int argc, char **argv)
{
    const char *places = read_options(argc, argv);
    read_victim();
    set_places(places);
    d.s = mmap(NULL, sizeof *d.s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    d.messages = memfd_create("messages", 0);
    must(d.s != MAP_FAILED && d.messages >= 0, "memory");
    setenv("TRACELOOM_NO_CACHE", "1", 1);
    d.s->next = d.from;
    while (d.s->next < d.changes) {
        fflush(stdout);
        const pid_t child = fork();
        must(child >= 0, "fork");
        if (child == 0)
            work();
        int status = 0;
        must(waitpid(child, &status, 0) == child, "wait");
        if (status != 0)
            go_on_after(status);
    }
    printf("%" PRIu64 " changes, %" PRIu64 " runs, %" PRIu64 " failed, %" PRIu64 " us, %" PRIu64 " KiB\n", d.changes,
           d.s->runs, d.s->failed, d.s->slowest_us, d.s->most_kib);
    return d.s->failed ? 1 : 0;
}
