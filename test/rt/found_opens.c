/* A program without sleds opens a library that has some, and waits until the recorder has looked at it: a line on
 * standard error says so, of which found_opens only knows that it comes within a minute. */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

int main(int argc, char **argv)
{
    int ends[2], shown = dup(STDERR_FILENO);
    char line[4096];
    if (argc < 2 || shown < 0 || pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 3;
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    if (poll(&wait, 1, PATIENCE_MS) != 1)
        return 4;
    ssize_t n = read(ends[0], line, sizeof line);
    dup2(shown, STDERR_FILENO);
    if (n <= 0 || write(STDERR_FILENO, line, (size_t)n) != n)
        return 5;
    void (*work)(unsigned, void (*)(unsigned));
    *(void **)&work = dlsym(library, "plugin_leaf");
    work(1, NULL);
    return dlclose(library);
}
