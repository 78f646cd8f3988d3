/* Progress: a thread that polls a counter and draws one line on the terminal. */
#include "base/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/text/number.h"

/* Shorter work needs no bar; faster updates are unreadable. */
#define NS_PER_S    1000000000u
#define APPEAR_NS   500000000u
#define REDRAW_NS   100000000u
#define BAR_CELLS   24u
#define LINE_SIZE   512u
#define USUAL_WIDTH 80u

struct tl_progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool stop;
    const uint64_t *done;
    uint64_t total, begin;
    bool drawn;
    char what[];
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static unsigned terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col < LINE_SIZE - 1 ? size.ws_col : LINE_SIZE - 1;
}

/* A bar is never worth an error: failed writes are ignored. */
static void write_terminal(const char *text, size_t n)
{
    ssize_t ignored = write(STDERR_FILENO, text, n);
    (void)ignored;
}

typedef struct line {
    char text[LINE_SIZE];
    size_t n;
} line;

TL_PRINTF(2, 3) static void add(line *l, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(l->text + l->n, sizeof l->text - l->n, format, ap);
    va_end(ap);
    if (n > 0)
        l->n += (size_t)n < sizeof l->text - l->n ? (size_t)n : sizeof l->text - l->n - 1;
}

static void draw(tl_progress *p)
{
    line l = {.n = 0};
    char text[32];
    uint64_t done = __atomic_load_n(p->done, __ATOMIC_RELAXED), elapsed = now_ns() - p->begin;
    if (p->total > 0 && done > p->total)
        done = p->total;
    /* A double is exact enough for people. */
    double share = p->total > 0 ? (double)done / (double)p->total : 0;
    double rate = (double)done / ((double)elapsed / NS_PER_S);

    add(&l, "%s ", p->what);
    if (p->total > 0) {
        unsigned cells = (unsigned)(share * BAR_CELLS);
        add(&l, "[%.*s%*s] %3u %%  ", (int)cells, "########################", (int)(BAR_CELLS - cells), "",
            (unsigned)(share * 100));
    } else {
        add(&l, "%s  ", tl_human_bytes(text, sizeof text, done));
    }
    add(&l, "%.0f MB/s", rate / 1e6);
    if (p->total > 0 && done > 0) {
        double left = (double)elapsed * (1 - share) / share;
        /* Whole seconds: more digits would only flicker. */
        uint64_t seconds = left < 1e18 ? (uint64_t)(left / NS_PER_S + 0.5) : 0;
        if (left < 1e18 && seconds < 60)
            add(&l, "  %" PRIu64 " s left", seconds);
        else if (left < 1e18)
            add(&l, "  %s left", tl_human_time(text, sizeof text, seconds * NS_PER_S, true));
    }

    /* A line that reaches the last column would wrap, and could not be erased. */
    char output[LINE_SIZE + 8];
    unsigned width = terminal_width();
    int n = snprintf(output, sizeof output, "\r%.*s\033[K", (int)(l.n < width ? l.n : width - 1), l.text);
    write_terminal(output, (size_t)n);
    p->drawn = true;
}

static void *watch(void *arg)
{
    tl_progress *p = arg;
    uint64_t next = p->begin + APPEAR_NS;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        struct timespec until = {.tv_sec = (time_t)(next / NS_PER_S), .tv_nsec = (long)(next % NS_PER_S)};
        pthread_cond_timedwait(&p->stopped, &p->lock, &until);
        if (p->stop || now_ns() < next)
            continue;
        draw(p);
        next = now_ns() + REDRAW_NS;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool init_condition(pthread_cond_t *c)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    /* The time of day may be set while we wait. */
    bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(c, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return ok;
}

/* The thread takes no signals: they are for the program. */
static bool start_thread(tl_progress *p)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool ok = pthread_create(&p->thread, NULL, watch, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

tl_progress *tl_progress_start(const char *what, const uint64_t *done, uint64_t total)
{
    const char *terminal = getenv("TERM");
    if (!isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
        return NULL;

    size_t n = strlen(what) + 1;
    tl_progress *p = calloc(1, sizeof *p + n);
    if (!p)
        return NULL;
    p->done = done;
    p->total = total;
    p->begin = now_ns();
    memcpy(p->what, what, n);
    for (char *c = p->what; *c; c++) /* a file's name may contain anything */
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';

    if (pthread_mutex_init(&p->lock, NULL) != 0)
        goto no_lock;
    if (!init_condition(&p->stopped))
        goto no_condition;
    if (!start_thread(p))
        goto no_thread;
    return p;

no_thread:
    pthread_cond_destroy(&p->stopped);
no_condition:
    pthread_mutex_destroy(&p->lock);
no_lock:
    free(p);
    return NULL;
}

void tl_progress_stop(tl_progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->stopped);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (p->drawn) {
        static const char erase[] = "\r\033[K";
        write_terminal(erase, sizeof erase - 1);
    }
    pthread_cond_destroy(&p->stopped);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
