/* Fuzz target: the page through which a recording program is commanded, as `ctl` reads it: a program may put anything
 * there. The page is ours, so the program that is asked is the fuzzer itself, and the answer stands there already. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "rt/control/control_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static uint8_t *make_page(void)
{
    const int fd = memfd_create(CONTROL_NAME, MFD_CLOEXEC);
    void *page = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, CONTROL_SIZE) == 0)
        page = mmap(NULL, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    promise(page != MAP_FAILED, "there is a page");
    return page;
}

/* Numbers are in the host's byte order. */
static void put(uint8_t *page, unsigned offset, uint32_t value)
{
    memcpy(page + offset, &value, sizeof value);
}

/* Runs the verb; checks its standard output. */
static void run(const char *option)
{
    static int out = -1;
    char pid[16], message[TL_USAGE_SIZE], text[32768];
    const char *line[] = {"ctl", pid, "status", option};
    tl_arguments a;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    if (out < 0 && ((out = memfd_create("output", MFD_CLOEXEC)) < 0 || dup2(out, STDOUT_FILENO) < 0))
        abort();
    promise(ftruncate(out, 0) == 0 && lseek(out, 0, SEEK_SET) == 0, "output can be kept");
    promise(tl_arguments_parse(&a, option ? 4 : 3, line, message), "the line is right");
    const int status = tl_verb_ctl(&(tl_cli){.args = &a});
    promise(status == TL_EXIT_DONE || status == TL_EXIT_NO, "the answer is told");
    fflush(stdout);
    const ssize_t n = pread(out, text, sizeof text, 0);
    for (ssize_t i = 0; i < n; i++)
        promise((uint8_t)text[i] >= ' ' || text[i] == '\n', "nothing that is printed commands the terminal");
    tl_arguments_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *page;
    if (!page)
        page = make_page();
    const size_t front = size < CONTROL_PATH / 2 ? size : CONTROL_PATH / 2;
    memset(page, 0, CONTROL_SIZE);
    if (size > 0)
        memcpy(page, data, front);
    /* The path follows the answers. */
    if (size > front)
        memcpy(page + CONTROL_PATH, data + front, size - front < CONTROL_PATH_SIZE ? size - front : CONTROL_PATH_SIZE);
    memcpy(page + CONTROL_HEAD, CONTROL_MAGIC, 8);
    put(page, CONTROL_PID, (uint32_t)getpid());
    put(page, CONTROL_OWNER, 0);
    put(page, CONTROL_REQUEST, 1);
    put(page, CONTROL_ANSWER, 2);
    run(NULL);
    put(page, CONTROL_OWNER, 0);
    put(page, CONTROL_REQUEST, 1);
    run("--json");
    return 0;
}
