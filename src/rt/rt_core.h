/* The recorder as a whole: its settings, its state, and the few steps of its life.
 *
 *   off       loaded, inert: no file, no thread, sleds unpatched
 *   waiting   control is offered, nothing is recorded ("start=off", or stopped)
 *   on        hooks record
 *   over      finished: the program ends, or recording failed for good
 *
 * A hook (sleds, LLVM's runtime, -finstrument-functions, spans by hand) calls tl_rt_handlers; the mode decides which
 * functions these are. All paths from there use system calls of our own, take no lock that an interrupted thread may
 * hold, and touch no vector register. Functions marked "not from hooks" may use libc. */
#ifndef TL_RT_CORE_H
#define TL_RT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RT_MODE_FDR = 1, RT_MODE_PROFILE = 2, RT_MODE_CTF = 4 }; /* fdr and profile may be on together */
enum { RT_PATH = 4096, RT_GLOBS = 64, RT_TEXT = 8192 };
/* Is code patched that has no hooks? auto: only in a program without hooks of another kind. */
enum rt_patching { RT_PATCH_OFF, RT_PATCH_AUTO, RT_PATCH_ON };

/* The contents of the environment variable TRACELOOM; see rt_settings.c. Strings point into `text`. */
typedef struct rt_settings {
    unsigned modes;
    bool has_mode;         /* given explicitly, not the default */
    const char *out;       /* with %e (program) and %p (process) not replaced yet */
    uint64_t ring;         /* bytes for each thread; 0: keep all */
    uint64_t limit;        /* bytes of the file while it is written; 0: no limit but the disk (profile: 1 GiB) */
    uint64_t threshold_ns; /* shorter calls are left out; 0: none */
    const char *func[RT_GLOBS], *not_func[RT_GLOBS];
    const char *libs[RT_GLOBS]; /* file names of libraries that are patched, besides the program */
    unsigned nfunc, nnot, nlibs;
    uint32_t depth;    /* deeper calls are left out; 0: any */
    bool start;        /* record from the start */
    bool strict;       /* started by `traceloom record`: an unusable setup ends the program with 125 before main */
    bool control;      /* offer control from outside */
    bool quiet;        /* no messages but errors */
    const char *clock; /* "auto", "tsc", "monotonic" */
    uint8_t patch;     /* enum rt_patching; only libtraceloom-rt.so can */
    bool exact;        /* functions whose ends cannot all be patched are left out, too */
    bool has_exe;      /* code is patched only in the process whose program is this file */
    uint64_t exe_device, exe_inode;
    uint32_t min_size; /* bytes of the smallest function that is patched */
    char text[RT_TEXT];
} rt_settings;

enum rt_state { RT_OFF, RT_WAITING, RT_ON, RT_OVER };

typedef struct rt_core {
    rt_settings set;
    volatile uint32_t state; /* enum rt_state */
    int pid;
    uint64_t threshold; /* in ticks */
    uint32_t epoch;     /* counts each time hooks went off: lanes of another epoch check what happened */
    uint32_t file;      /* counts files: lanes of another one start anew */
    char path[RT_PATH]; /* final name of the recording; ".live" is appended while it is written */
    char exe[RT_PATH];
} rt_core;

extern rt_core tl_rt __attribute__((visibility("hidden")));

/* What hooks call. `id` is a function's number (rt_ids.h). `sp` is a place in the stack that identifies a call: a
 * callee's is lower than its caller's. Frames below `keep`, left by longjmp or an exception, can no longer exist; they
 * are closed first.
 * All are async-signal-safe, keep errno and vector registers, and may be called in any state. */
typedef struct rt_handlers {
    void (*enter)(uint32_t id, uintptr_t sp, uintptr_t keep);
    void (*exit)(uint32_t id, uintptr_t sp, uintptr_t keep);
    void (*tail)(uint32_t id, uintptr_t sp, uintptr_t keep);                     /* the function ends by a tail call */
    void (*argument)(uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value); /* enter, with its first argument */
    void (*custom)(const void *data, size_t n);
    void (*typed)(uint32_t type, const void *data, size_t n);
} rt_handlers;

extern rt_handlers tl_rt_handlers; /* current ones, by state and mode; members are never NULL */

/* Handlers in front of those of the mode, when recording is switched on; NULL: none. */
typedef const rt_handlers *rt_handlers_filter(const rt_handlers *of_mode);
extern rt_handlers_filter *tl_rt_handlers_filter;
void tl_rt_handlers_set(bool on); /* those of tl_rt.set's modes; off: that do nothing */
/* Asks the filter again, if recording is on: what it returns is in force on return. Takes a lock that no hook takes,
 * and no other lock; not from hooks. */
void tl_rt_handlers_again(void);
void tl_rt_handlers_child(void); /* after fork, in the child */

/* A source of hooks, and how it is switched. Registered by constructors, before the recorder begins. */
typedef struct rt_hook {
    const char *name;            /* "sleds", "llvm", "functions", "spans", "patch" */
    uint32_t (*functions)(void); /* how many functions it could record; 0: none here */
    uint32_t (*select)(void); /* applies tl_rt.set's patterns; returns how many functions they select. Not from hooks */
    void (*start)(void), (*stop)(void); /* from the control thread or the program: patches and unpatches sleds */
    void (*look)(void); /* from time to time while recording, from the control thread: what is new? May be NULL */
    struct rt_hook *next;
} rt_hook;

void tl_rt_hook_add(rt_hook *h);
/* Does any other hook have functions? Not from hooks. */
bool tl_rt_hook_others(const rt_hook *than);

/* Steps of life; none from hooks. begin: reads the settings and starts if they say so. finish: stops and writes the
 * file under its own name; later calls do nothing. child: after fork, in the child. */
void tl_rt_begin(void);
int tl_rt_offer(void); /* in a process that runs already: control is offered, nothing is recorded. 0 or -errno */
/* While nothing is recorded: replaces all settings, so that the next start makes a new file; a file that recording
 * stopped in is finished first. 0 or -errno, with one line about it. */
int tl_rt_open(const char *settings, char error[static 256]);
/* Stops, and finishes the file; control goes on. 0 or -errno. */
int tl_rt_close(void);
int tl_rt_start(void); /* 0, or -errno after a message was printed */
int tl_rt_stop(void);
void tl_rt_look_around(void); /* from time to time while recording: updates the clock, and adds objects loaded since */
int tl_rt_flush(void);        /* writes what was recorded, while recording continues */
void tl_rt_finish(void);
/* Around fork: the first two in the parent, before and after, so that the child never begins within a step. */
void tl_rt_before_fork(void);
void tl_rt_after_fork(void);
void tl_rt_child(void);

/* Losses, visible to all (status, notes in the file). */
typedef struct rt_losses {
    uint64_t late;    /* events of signal handlers, when too many came while the recorder was busy */
    uint64_t depth;   /* calls deeper than the stack that is followed */
    uint64_t memory;  /* events kept out of a log (fdr, ctf) by the limit, or for lack of memory, */
    uint64_t disk;    /* and those for lack of room on the disk */
    uint64_t places;  /* calls that found no room in the profile */
    uint64_t exits;   /* exits of calls that began before recording */
    uint64_t threads; /* events of threads beyond the maximum number */
} rt_losses;
void tl_rt_losses(rt_losses *sum); /* the sum over all threads that recorded to this file so far; any thread */

#endif
