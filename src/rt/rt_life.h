/* The recorder's life in the process: it begins before main, and ends after exit handlers. */
#ifndef TL_RT_LIFE_H
#define TL_RT_LIFE_H

/* Never called. Code that records refers to it, so that the linker takes rt_life.c from the archive. */
extern const char tl_rt_life[];
#define TL_RT_ALIVE() __attribute__((used)) static const char *const alive = tl_rt_life

#endif
