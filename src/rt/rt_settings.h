/* The environment variable TRACELOOM: key=value pairs with ':' between them; a backslash takes the next character as
 * is, and '::' stands for itself, so that names of C++ need no backslash.
 *
 *   TRACELOOM="mode=fdr:out=app.xray:ring=64M:threshold=5us:func=net_*:not=*_get"
 *
 *   mode=fdr|profile|ctf|fdr,profile   out=PATH (%e program, %p process)   ring=SIZE|all   limit=SIZE
 *   threshold=TIME   func=GLOB not=GLOB (may come again)   depth=N   start=on|off   control=on|off
 *   clock=auto|tsc|monotonic   strict=on|off   quiet=on|off
 *
 * ring and threshold are of the flight recorder: with mode=fdr,profile the profile still has every call. */
#ifndef TL_RT_SETTINGS_H
#define TL_RT_SETTINGS_H

#include "rt/rt_core.h"

/* mode=profile:out=%e.%p:start=on:control=on:clock=auto, and nothing left out. */
void tl_rt_settings_default(rt_settings *s);
/* Takes the pairs of `text` over *s. False with one line about the first thing that is wrong, in error. */
bool tl_rt_settings_read(rt_settings *s, const char *text, char error[static 256]);
/* Pairs for `traceloom ctl PID set KEY=VALUE`: only those that can change while the program runs. What func= and not=
 * say takes the place of all patterns before; with nothing behind the '=' there is none any more. *s is as before if
 * something is wrong. */
bool tl_rt_settings_set(rt_settings *s, const char *pairs, char error[static 256]);
/* A copy whose strings are its own. */
void tl_rt_settings_copy(rt_settings *to, const rt_settings *from);
/* "fdr", "profile", "ctf" or "fdr,profile". */
const char *tl_rt_settings_mode(unsigned modes);
/* The path with %e and %p replaced, and the suffix of a mode in place of the one that it has, if it is another:
 * .xray, .tlp, .ctf. It is absolute, because the program may change its directory. No file of that name exists, nor one
 * with ".live" at the end: a number is put in front of the suffix where need be. */
void tl_rt_settings_path(const rt_settings *s, unsigned mode, const char *exe, int pid, char out[static RT_PATH]);

#endif
