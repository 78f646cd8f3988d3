/* The page that controls a recording program from outside, shared by the recorder and `traceloom ctl`.
 *
 * It is a memfd called "traceloom-control"; its descriptor stays open in the program, so a process that may open
 * /proc/PID/fd/N (the same user, or root) finds it by its name. Numbers are in the host's byte order.
 *
 *   commander                                    the recorder's control thread
 *   takes OWNER by compare and swap (0 -> pid)
 *   writes COMMAND
 *   adds 1 to REQUEST, wakes it (futex)    -->   waits on REQUEST; does what COMMAND says
 *   waits on ANSWER                        <--   writes STATUS and RESULT, sets ANSWER = REQUEST, wakes it
 *   sets OWNER to 0
 *
 * An OWNER that is no longer alive may be replaced. Counters and STATE are written by the recorder at any time.
 *
 * A commander that may trace the process can stop its other threads for the recorder, so that code can be changed that
 * they might run:
 *
 *   commander                                    the control thread
 *   sets STOPPER to its thread, and WORLD to SERVED,
 *   gives a command
 *   waits on WORLD                         <--   sets WORLD from SERVED to WANTED, wakes it, waits on it for a while
 *   stops all threads but this one,
 *   sets WORLD from WANTED to STOPPED, wakes it  goes on; if it is not STOPPED by then, sets it to RUNS
 *                                          -->   changes code, as long as the commander lives; sets WORLD to OVER,
 *                                                wakes it
 *   lets them go on, sets WORLD to SERVED        may set it to WANTED again: a thread was in the way
 *   when the command is answered, sets WORLD to RUNS, and STOPPER to 0
 *
 * STOPPER is a robust futex: when the commander ends, however, the kernel adds FUTEX_OWNER_DIED, and lets the threads
 * go on afterwards. */
#ifndef TL_RT_CONTROL_LAYOUT_H
#define TL_RT_CONTROL_LAYOUT_H

#define CONTROL_NAME  "traceloom-control"
#define CONTROL_MAGIC "tlctrl1\n" /* 8 bytes */

enum {
    CONTROL_HEAD = 0,       /* 8 bytes of magic */
    CONTROL_PID = 8,        /* u32 */
    CONTROL_STATE = 12,     /* u32: enum rt_state */
    CONTROL_OWNER = 16,     /* u32 */
    CONTROL_REQUEST = 20,   /* u32 */
    CONTROL_ANSWER = 24,    /* u32 */
    CONTROL_STATUS = 28,    /* i32: 0, or -errno */
    CONTROL_MODES = 32,     /* u32: bits of CONTROL_MODE_TABLE */
    CONTROL_FUNCTIONS = 36, /* u32: functions that are recorded */
    CONTROL_KNOWN = 40,     /* u32: functions that could be recorded */
    CONTROL_LANES = 44,     /* u32: threads seen */
    CONTROL_BYTES = 48,     /* u64: of the file so far */
    CONTROL_LOST = 56,      /* u64: the sum of all losses */
    CONTROL_SINCE = 64,     /* u64: ns since 1970, at the last start */
    CONTROL_THREAD = 72,    /* u32: number of the control thread, as the process sees it */
    CONTROL_WORLD = 76,     /* u32: CONTROL_WORLD_* */
    CONTROL_STOPPER = 80,   /* u32: thread of the commander that stops others, as the commander sees it; 0: none */
    CONTROL_COMMAND =
        128, /* text with a final zero: "start", "stop", "flush", "set KEY=VALUE", "open SETTINGS", "close" */
    CONTROL_COMMAND_SIZE = 896,
    CONTROL_RESULT = 1024, /* text with a final zero: the error, or what was done */
    CONTROL_RESULT_SIZE = 1024,
    CONTROL_PATH = 4096, /* text with a final zero: where the recording goes */
    CONTROL_PATH_SIZE = 4096,
    CONTROL_SIZE = 8192
};

enum { CONTROL_WORLD_RUNS, CONTROL_WORLD_SERVED, CONTROL_WORLD_WANTED, CONTROL_WORLD_STOPPED, CONTROL_WORLD_OVER };

/* X(bit, name, suffix): the modes, as in rt_core.h, and the suffix of their recordings. */
#define CONTROL_MODE_TABLE(X)                                                                                          \
    X(1, "fdr", ".xray")                   /* every call */                                                            \
    X(2, "profile", ".tlp")                /* the tree of calls, with histograms */                                    \
    X(4, "ctf", ".ctf")                    /* every call, and the fields of spans; a folder */
#define CONTROL_MODE_SAMPLES 8u            /* of a program of .NET: a log, whose whole name is CONTROL_PATH */
#define CONTROL_MODE_BOTH    "fdr,profile" /* the modes that may be on together */

#endif
