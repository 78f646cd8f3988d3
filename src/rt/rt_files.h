/* Names of recordings: tl_rt.path for the mode, plus ".live" while it is written. None from hooks. */
#ifndef TL_RT_FILES_H
#define TL_RT_FILES_H

#include "rt/rt_core.h"

/* Chooses the paths of some modes, for this process, and tl_rt.path: that of the first mode that is on. */
void tl_rt_files_choose(unsigned modes);
const char *tl_rt_files_path(unsigned mode);
void tl_rt_files_live(char out[static RT_PATH + 8], unsigned mode);
/* Gives the live file its final name. 0 or -errno. */
int tl_rt_files_settle(unsigned mode);
/* Creates a file beside `path`, and puts its name in `beside`. A descriptor or -errno. */
int tl_rt_files_beside(const char *path, char beside[static RT_PATH + 8]);
/* Closes it, and renames it if status is 0, else removes it. Returns status, or the error. */
int tl_rt_files_rename(int fd, const char *beside, const char *path, int status);

#endif
