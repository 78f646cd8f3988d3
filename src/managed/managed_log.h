/* The file that a recorder of a managed runtime writes, a TraceLog, and its lines.
 *
 * One thread of ours writes it (managed_writer.c), so lines need no lock. Threads of the program leave what they know
 * in rings (managed_thread.h), and whole lines about things without a time as facts. */
#ifndef TL_MANAGED_LOG_H
#define TL_MANAGED_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "managed/managed_settings.h"

#define MANAGED_UNKNOWN  UINT32_MAX       /* an iid */
#define MANAGED_NO_FRAME (UINT32_MAX - 1) /* code that is no method: the frame is left out */

extern managed_settings managed_set;
/* Is anything recorded? Not before the log is open, nor after its end, in a child of fork, or after a failure. */
extern _Atomic bool managed_on;
/* A pause: samples, allocations, living objects and processor times are left out. And how many there were. */
extern _Atomic bool managed_paused;
extern _Atomic uint32_t managed_pauses;
/* May samples be taken? */
static inline bool managed_recording(void)
{
    return managed_on && !managed_paused;
}

/* The log exists, since `traceloom record` started another process that writes it, which started this one. */
extern bool managed_taken;

/* ns since the log began, by the clock that it was opened with. Async-signal-safe. */
uint64_t managed_now(void);
/* Makes the file, with the lines that every log begins with. `runtime`: "mono 6.8". False after a message. */
bool managed_log_open(const char *recorder, const char *runtime);
/* A recording of a process that runs: does nobody want it any more? Who does has locked the file. */
bool managed_log_is_left(void);
/* Writes what is buffered, in whole lines. After a failure nothing more is written: managed_on becomes false. */
void managed_log_flush(void);
void managed_log_close(void);
/* Begins or ends a pause, and says so in the log. Only for the writer. */
void managed_log_pause(bool pause);
uint64_t managed_log_bytes(void);
/* A message to standard error, unless that is the output of a program that was not started for it; with errno's text if
 * `error` is not 0. */
void managed_say(const char *what, const char *path, int error);

/* Parts of a line. */
void managed_text(const char *s);
void managed_number(uint64_t v);              /* decimal */
void managed_hex(uint64_t v, unsigned least); /* 0x, upper case, with at least that many digits */
void managed_item(uint64_t v);                /* 0x, lower case, without zeros in front: in lists */
void managed_line_end(void);

/* Lines without a time, of any thread: the writer puts them before all events that were in a ring by then. Text in
 * quotes must be clean. Takes a lock, which no handler and nobody in a stopped world may wait for. */
void managed_fact(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Makes a text that stands in quotes clean: without line feeds and the like. Returns it; NULL becomes "". */
const char *managed_clean(char *s);
/* Only for the writer: moves the facts so far into the file. */
void managed_facts_write(void);

/* In a child of fork: the file belongs to its parent. */
void managed_log_child(void);

#endif
