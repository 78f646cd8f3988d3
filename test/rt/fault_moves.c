/* A program that moves its own recording, so that its name leads nowhere at the end: argv[1] is its folder. */
#include <stdio.h>

__attribute__((noinline)) static int leaf(int n)
{
    __asm__ volatile("");
    return n + 1;
}

__attribute__((noinline)) static int calls(int n)
{
    for (int i = 0; i < 1000; i++)
        n = leaf(n);
    return n;
}

int main(int argc, char **argv)
{
    char away[4096];
    int n = calls(argc);
    snprintf(away, sizeof away, "%s.away", argv[1]);
    return rename(argv[1], away) != 0 || calls(n) != argc + 2000;
}
