/* Where a thread's stack lies. */
#include "clr/clr_stack.h"

#include <pthread.h>
#include <stddef.h>

__thread uintptr_t clr_stack_low, clr_stack_high;

void clr_stack_measure(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        clr_stack_low = (uintptr_t)low, clr_stack_high = clr_stack_low + size;
    pthread_attr_destroy(&attributes);
}
