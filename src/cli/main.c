/* The command: parses the command line and calls the verb. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exe_files.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/verbs.h"

/* Checks that what was printed with stdio has arrived; verbs check their own output. */
static int flush_stdout(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    struct pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&reader, 1, 0) <= 0 || !(reader.revents & POLLERR)) /* it is a pipe without a reader */
        tl_say_error(NULL, "standard output cannot be written");
    return TL_EXIT_DAMAGED;
}

/* traceloom --version [--json] */
static int say_version(int n, const char *const *word)
{
    const bool json = n == 2 && strcmp(word[1], "--json") == 0;
    if (n == 1 || json)
        return tl_print_version(json);
    tl_say_error(NULL, "%s takes no other arguments than --json", word[0]);
    return TL_EXIT_USAGE;
}

static int run_verb(tl_cli *c)
{
    switch (c->args->verb->id) {
    case TL_VERB_INFO:
        return tl_verb_info(c);
    case TL_VERB_CHECK:
        return tl_verb_check(c);
    case TL_VERB_REPORT:
        return tl_verb_report(c);
    case TL_VERB_CONVERT:
        return tl_verb_convert(c);
    case TL_VERB_QUERY:
        return tl_verb_query(c);
    case TL_VERB_SERVE:
        return tl_verb_serve(c);
    case TL_VERB_LOAD:
        return flush_stdout(tl_verb_load(c));
    case TL_VERB_RECORD:
        return tl_verb_record(c);
    case TL_VERB_CTL:
        return flush_stdout(tl_verb_ctl(c));
    default:
        return TL_EXIT_USAGE;
    }
}

/* Before anything is opened: occupies the numbers of closed standard files, so that no file gets one of them and
 * receives what is printed. They can be neither read nor written. False on failure. */
static bool fill_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The wrong way round, so that use fails; a program that we run finds them closed, as it would without us. */
        const int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", way | O_CLOEXEC) != fd)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *const *word = (const char *const *)(argv + 1);
    int n = argc > 0 ? argc - 1 : 0;
    if (!fill_standard_files())
        return TL_EXIT_DAMAGED;
    setlocale(LC_CTYPE, ""); /* only characters: numbers look the same everywhere */
    if (n == 0 || strcmp(word[0], "--help") == 0 || strcmp(word[0], "-h") == 0) {
        tl_print_help(NULL);
        return flush_stdout(TL_EXIT_DONE);
    }
    if (strcmp(word[0], "--version") == 0 || strcmp(word[0], "-V") == 0)
        return say_version(n, word);
    tl_arguments arguments;
    static tl_exe_files files;
    tl_cli cli = {.args = &arguments, .files = &files};
    if (strcmp(word[0], "help") == 0)
        return flush_stdout(tl_verb_help(&cli, n - 1, word + 1));
    char message[TL_USAGE_SIZE];
    int status = TL_EXIT_USAGE;
    if (!tl_arguments_parse(&arguments, n, word, message)) {
        tl_say_error(NULL, "%s", message);
        if (arguments.no_memory)
            status = TL_EXIT_DAMAGED;
        if (arguments.verb && arguments.verb->id == TL_VERB_RECORD)
            status = TL_EXIT_RECORD; /* a status that the program cannot have */
    } else if (arguments.help) {
        tl_print_help(arguments.verb);
        status = flush_stdout(TL_EXIT_DONE);
    } else {
        if (arguments.verb->id != TL_VERB_RECORD) /* which would pass it on to the program */
            signal(SIGXFSZ, SIG_IGN);             /* exceeding the file size limit becomes an error of write() */
        tl_terminal_init(&cli.out, STDOUT_FILENO, arguments.color);
        cli.out.fit = cli.out.fit && !arguments.wide;
        status = tl_exe_files_read(&files, &arguments);
        if (status == TL_EXIT_DONE)
            status = run_verb(&cli);
        tl_pager_stop();
        tl_exe_files_fini(&files);
    }
    tl_arguments_fini(&arguments);
    return status;
}
