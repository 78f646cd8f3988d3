/* The threads of this process, as /proc/self/task lists them. */
#ifndef TL_RT_TASKS_H
#define TL_RT_TASKS_H

#include <stdbool.h>

/* Calls visit() with the descriptor of the folder and the name of each thread's entry, a number, until it returns
 * false. False: that, or there is no such list. System calls only, no memory. */
typedef bool rt_task_visit(void *arg, long folder, const char *name);
bool tl_rt_tasks(rt_task_visit *visit, void *arg);

#endif
