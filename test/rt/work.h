/* Work for signal handlers and cancellations to interrupt: work() calls leaf() 20 times. Include after count.h. */
#ifndef WORK_H
#define WORK_H

TRACED static void leaf(void)
{
    CALLED(leaf);
    NO_TAIL();
}

TRACED static void work(void)
{
    CALLED(work);
    for (int i = 0; i < 20; i++)
        leaf();
    NO_TAIL();
}

#endif
