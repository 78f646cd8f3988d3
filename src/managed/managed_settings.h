/* The environment variable TRACELOOM_DOTNET: key=value pairs with ':' between them; a backslash takes the next
 * character as is.
 *
 *   TRACELOOM_DOTNET="out=app.log:sample=cpu:period=4ms:alloc=64K"
 *
 *   out=PATH (%p process)   sample=cpu|wall|off   period=TIME, whole milliseconds   alloc=on|off|SIZE   heap=on|off
 *   jit=on|all|off   classes=on|off   lines=on|off   start=on|off   attached=on|off   strict=on|off */
#ifndef TL_MANAGED_SETTINGS_H
#define TL_MANAGED_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum managed_clock {
    MANAGED_CPU,  /* samples of what runs: each stands for that much processor time of the thread */
    MANAGED_WALL, /* of all threads, also of those that wait */
    MANAGED_NO_SAMPLES
} managed_clock;

typedef enum managed_jit {
    MANAGED_JIT,     /* compilations, and names of all that is compiled */
    MANAGED_JIT_ALL, /* and code that was compiled before */
    MANAGED_NO_JIT   /* only names of what samples and allocations were in */
} managed_jit;

typedef struct managed_settings {
    char out[PATH_MAX];
    managed_clock clock;
    uint32_t period_ms;
    uint64_t alloc; /* bytes for which one allocated object is recorded; MANAGED_EVERY_OBJECT: all are; 0: none */
    managed_jit jit;
    bool heap, lines;
    bool classes;  /* names of all that are loaded, not only of those that objects are of */
    bool paused;   /* nothing is recorded until the command start */
    bool attached; /* the process ran before: the file exists, and whoever wants the recording has locked it */
    bool strict;   /* started by `traceloom record`: what cannot be recorded ends the program before it begins */
} managed_settings;

/* The defaults, and then the pairs of `text` (NULL: none). False: `error` has one line about the first mistake. */
bool managed_settings_read(managed_settings *s, const char *text, char error[static 256]);

#endif
