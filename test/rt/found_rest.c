/* What a program for this test lacks if it is not linked with the recorder. The preloaded recorder has the first two;
 * the others it must keep events from calling. */
#include <stdlib.h>

int tl_rt_record_start(void);
int tl_rt_record_stop(void);
void __xray_CustomEvent(void);
void __xray_TypedEvent(void);

int tl_rt_record_start(void)
{
    abort();
}

int tl_rt_record_stop(void)
{
    abort();
}

void __xray_CustomEvent(void)
{
    abort();
}

void __xray_TypedEvent(void)
{
    abort();
}
