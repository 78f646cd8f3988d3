/* Entering a process that runs already, to load the recorder into it, and stopping its threads for the recorder.
 *
 * One thread is borrowed: at a place where it holds no lock of libc or the loader, it calls dlopen() and the recorder's
 * entrance, and then goes on where it was, with all registers as they were. All that it needs to go on by itself lies
 * on its stack, in the form of a signal's frame: so if this command is killed meanwhile, the kernel puts the registers
 * back when the call returns. */
#ifndef TL_CLI_ATTACH_H
#define TL_CLI_ATTACH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/attach/attach_maps.h"
#include "cli/record/control_page.h"

#if defined(__linux__) && defined(__x86_64__) && defined(TL_HAVE_LIBDW)
#define TL_CAN_INJECT 1
#else
#define TL_CAN_INJECT 0
#endif

/* Functions of the process's libc that are called: addresses there. */
typedef enum tl_attach_function {
    TL_ATTACH_MMAP,
    TL_ATTACH_MPROTECT,
    TL_ATTACH_MUNMAP,
    TL_ATTACH_DLOPEN,
    TL_ATTACH_DLSYM,
    TL_ATTACH_DLERROR,
    TL_ATTACH_FUNCTIONS
} tl_attach_function;

/* A function of libc that only waits. */
typedef struct tl_attach_wait {
    uint64_t begin, size;
    bool on_lock; /* perhaps for another thread of the program, which holds a lock */
} tl_attach_wait;

/* A process to enter. */
typedef struct tl_attach {
    long pid;
    const char *name;    /* for messages: "4711" */
    const char *library; /* the recorder: absolute path */
    int memory;          /* /proc/PID/mem */
    tl_attach_maps maps;
    uint32_t libc;      /* its object in maps */
    uint64_t libc_bias; /* added to addresses in its file */
    uint64_t function[TL_ATTACH_FUNCTIONS];
    uint64_t sigreturn; /* code that ends a signal handler */
    tl_attach_wait *waits;
    size_t nwaits, room;
    char program[PATH_MAX];
    bool own_malloc; /* the program itself has malloc() */
} tl_attach;

/* Loads the recorder into the process and has it offer control. Reports failures; an exit status. Then the process is
 * as it was, but for a call that had begun when something died. */
int tl_attach_inject(long pid, const char *library);

/* --- parts --- */

/* Can this be entered? Fills all but `library`. Reports why not. */
int tl_attach_look(tl_attach *a, long pid);
void tl_attach_free(tl_attach *a);
/* Sets a->libc after the maps were read. False: there is none. */
bool tl_attach_find_libc(tl_attach *a);

/* Reads or writes all n bytes of its memory. */
bool tl_attach_read(const tl_attach *a, uint64_t address, void *to, size_t n);
bool tl_attach_write(const tl_attach *a, uint64_t address, const void *from, size_t n);

/* Has a thread of any process that this one may trace stop soon. False: errno says why; ESRCH: it is gone. */
bool tl_attach_interrupt(pid_t thread);
/* Waits for that. False: errno is ESRCH, it is gone; or ETIMEDOUT, it does not stop. *number: the signal that it was
 * about to get, for tl_attach_let_go(); else 0. */
bool tl_attach_stopped(pid_t thread, int *number);
void tl_attach_let_go(pid_t thread, int number);
/* Only a stopped thread can be let go. Those that did not stop in time, do so later: to be called from time to time. */
void tl_attach_let_go_late(void);
/* "Operation not permitted; /proc/sys/kernel/yama/ptrace_scope is 1: as root, or set it to 0" */
void tl_attach_say_refused(const char *name, int why);

/* May this stopped thread be borrowed? */
bool tl_attach_is_safe(tl_attach *a, pid_t thread);
/* Calls dlopen() and the recorder in a stopped thread, and lets it go. Reports failures. */
int tl_attach_borrow(tl_attach *a, pid_t thread);

/* As tl_control_ask(), and meanwhile stops all other threads of the process whenever the recorder wants that, if that
 * is allowed. Waits as long as the process works on the command; for some seconds if interrupted meanwhile. */
int tl_attach_ask(tl_control *p, const char *command, char answer[static TL_CONTROL_RESULT]);
/* Is its recorder there? Not after the process has ended, or runs another program. */
bool tl_attach_is_served(const tl_control *p);

#endif
