/* Where `traceloom record -p` enters a process that runs already, after it had the library loaded there. */
#ifndef TL_RT_ATTACH_H
#define TL_RT_ATTACH_H

/* Offers control, as if the program had begun with "start=off"; the rest are commands (control_layout.h). Does nothing
 * if control is offered already. 0 or -errno. Not from hooks: the caller's thread may hold no lock of libc. */
__attribute__((visibility("default"))) int tl_rt_attach(void);

#endif
