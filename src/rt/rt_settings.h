/* The environment variable TRACELOOM: key=value pairs with ':' between them; a backslash takes the next character as
 * is, and '::' stands for itself, so that names of C++ need no backslash.
 *
 *   TRACELOOM="mode=fdr:out=app.xray:ring=64M:threshold=5us:func=net_*:not=*_get"
 *
 *   mode=fdr|profile|ctf|fdr,profile   out=PATH (%e program, %p process)   ring=SIZE|all   limit=SIZE
 *   threshold=TIME   func=GLOB not=GLOB (may come again)   depth=N   start=on|off   control=on|off
 *   clock=auto|tsc|monotonic   strict=on|off   quiet=on|off
 *   patch=off|auto|on   libs=GLOB (may come again)   exe=DEVICE:INODE   min-size=BYTES   exact=on|off
 *
 * ring and threshold apply to fdr only: with mode=fdr,profile the profile still has every call. */
#ifndef TL_RT_SETTINGS_H
#define TL_RT_SETTINGS_H

#include "rt/rt_core.h"

/* mode=profile:out=%e.%p:start=on:control=on:clock=auto, with nothing left out. */
void tl_rt_settings_default(rt_settings *s);
/* Applies the pairs of `text` to *s. False: `error` has one line about the first mistake. */
bool tl_rt_settings_read(rt_settings *s, const char *text, char error[static 256]);
/* Pairs for `traceloom ctl PID set KEY=VALUE`: only those that can change while the program runs. func= and not=
 * replace all earlier patterns; an empty value removes them. After an error *s is unchanged. */
bool tl_rt_settings_set(rt_settings *s, const char *pairs, char error[static 256]);
/* Copies settings, including their strings. */
void tl_rt_settings_copy(rt_settings *to, const rt_settings *from);
/* "fdr", "profile", "ctf" or "fdr,profile". */
const char *tl_rt_settings_mode(unsigned modes);
/* The path with %e and %p replaced, and its suffix replaced by that of the mode:
 * .xray, .tlp, .ctf. It is absolute, because the program may change its directory. A number before the suffix makes it
 * unique, with and without ".live" at the end. */
void tl_rt_settings_path(const rt_settings *s, unsigned mode, const char *exe, int pid, char out[static RT_PATH]);

#endif
