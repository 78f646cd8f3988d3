/* Recording is started and stopped by the program itself: 20 + 7 of its calls of leaf() are recorded. */
#include "traceloom/rt.h"

__attribute__((noipa)) static void leaf(void)
{
    __asm__ volatile("");
}

static void call(int times)
{
    for (int i = 0; i < times; i++)
        leaf();
}

int main(void)
{
    call(10);
    int bad = tl_rt_record_start();
    call(20);
    bad |= tl_rt_record_stop();
    call(5);
    bad |= tl_rt_record_start();
    call(7);
    return bad != 0;
}
