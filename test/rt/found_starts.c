/* A program with sleds starts another one, and waits for it: found_starts PROGRAM */
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((xray_always_instrument)) int main(int argc, char **argv)
{
    int status = 2;
    pid_t child;
    if (argc < 2 || posix_spawn(&child, argv[1], NULL, NULL, argv + 1, environ) != 0)
        return status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
