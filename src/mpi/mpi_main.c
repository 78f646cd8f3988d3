/* traceloom-mpi: adds up the profiles of a fleet with all ranks of an MPI job. Each rank adds up groups of files, as
 * `traceloom report` does; then a binomial tree adds up what ranks have. Adding up is associative and commutative, so
 * the bytes do not depend on who did what. */
#include <locale.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/text/number.h"
#include "cli/formats_of.h"
#include "cli/message.h"
#include "cli/report/report_job.h"
#include "cli/report/report_sum.h"
#include "cli/verbs.h"
#include "mpi/fleet_list.h"
#include "mpi/mpi_options.h"
#include "mpi/part_files.h"
#include "mpi/rank_bytes.h"
#include "mpi/sum_bytes.h"
#include "traceloom/format.h"

typedef struct mpi_job {
    tl_cli cli;
    tl_mpi_options options;
    tl_report_plan plan;
    tl_profile_files *files; /* of rank 0 */
    tl_fleet_list list;
    tl_part_files parts;
    bool says_ranks; /* --verbose: about ranks, not about each file */
    bool keeps;      /* parts: until one cannot be written */
    int rank, ranks;
    tl_report_sum sum;  /* of this rank */
    int status;         /* of what it did: the others go on, so that their parts are there for a rerun */
    bool lacks;         /* the sum is not all that it should be, here or in a rank whose sum it has */
    tl_rank_bytes said; /* messages about the files of a group */
    size_t said_capacity;
    uint64_t groups, taken; /* of this rank */
} mpi_job;

static void say_help(void)
{
    puts("usage: mpirun -np N traceloom-mpi report DIR|FILE... -o FILE.tlp [options]\n"
         "Adds up profiles as `traceloom report DIR -o FILE.tlp` does, to the same bytes, with N processes.\n"
         "\n"
         "  -o, --output FILE.tlp  the sum\n"
         "  -f, --force            replace a file\n"
         "  --state DIR            where finished parts are kept for a rerun, in place of .FILE.tlp.parts\n"
         "  --glob GLOB            files of a folder\n"
         "  --clock ns             times in ns: for machines whose clocks differ\n"
         "  --by name              functions of one name are one, whatever their build\n"
         "  --strict               stop at a file that cannot be read\n"
         "  --from FORMAT          input format\n"
         "  --no-demangle          mangled names\n"
         "  -q, --quiet            only errors\n"
         "  -v, --verbose          what each rank did\n"
         "\n"
         "See traceloom-mpi(1) and traceloom-report(1).");
}

/* Ends with the status of rank 0, where it is not TL_EXIT_DONE: all ranks come here together. */
static bool all_go_on(int *status)
{
    MPI_Bcast(status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return *status == TL_EXIT_DONE;
}

static void fail(mpi_job *j, const char *path, const tl_error *e)
{
    j->status = tl_say_failure(path, e);
    j->lacks = true;
}

/* --- The list --- */

static int make_plan(mpi_job *j)
{
    const int status = tl_report_make_plan(&j->cli, &j->plan);
    if (status != TL_EXIT_DONE)
        return status;
    if (j->plan.page || !j->plan.format || j->plan.format != tl_format_by_name(TL_SUM_FORMAT)) {
        tl_say_error(j->options.args.output,
                     "traceloom-mpi writes .tlp files only; traceloom report makes others of them");
        return TL_EXIT_USAGE;
    }
    return TL_EXIT_DONE;
}

static int open_list(mpi_job *j)
{
    tl_arguments *a = &j->options.args;
    const tl_profile_files_options options = {.glob = a->glob, .output = a->output, .walk = true};
    tl_error e = {0};
    if (tl_profile_files_open(&j->files, a->file.word, a->file.n, &options, &e) < 0)
        return tl_say_failure(NULL, &e);
    a->has_folders = tl_profile_files_folder(j->files) != NULL;
    if (a->glob && !a->has_folders) {
        tl_say_error(NULL, "--glob chooses files of a folder, and there is none without a trace");
        return TL_EXIT_USAGE;
    }
    const int status = tl_fleet_list_make(&j->list, &j->cli, j->files);
    if (status == TL_EXIT_DONE && tl_part_files_make(&j->parts, &e) < 0)
        return tl_say_failure(NULL, &e);
    return status;
}

/* --- A group --- */

static void take_line(void *arg, const char *line)
{
    mpi_job *j = arg;
    const size_t n = strlen(line);
    tl_say_line(line, n);
    if (!TL_GROW(j->said.data, j->said.n, n + 1, j->said_capacity))
        tl_rank_no_memory("messages");
    memcpy(j->said.data + j->said.n, line, n + 1);
    j->said.data[j->said.n + n] = '\n';
    j->said.n += n + 1;
}

static int add_up(mpi_job *j, size_t from, size_t to, tl_report_sum *sum)
{
    const tl_profile_files_options options = {.walked = j->list.walked + from};
    tl_profile_files *files = NULL;
    tl_error e = {0};
    if (tl_profile_files_open(&files, j->list.path + from, to - from, &options, &e) < 0)
        return tl_say_failure(NULL, &e);
    tl_messages_to(take_line, j);
    const int status = tl_report_sum_make(sum, &j->cli, &j->plan, files);
    tl_messages_to(NULL, NULL);
    tl_profile_files_close(files);
    return status;
}

/* Keeps the sum for the next run. Not if a file could not be read: perhaps it can be then. */
static void keep(mpi_job *j, const tl_part_key *key, const tl_report_sum *sum)
{
    tl_error e = {0};
    if (sum->unread || tl_part_files_keep(&j->parts, key, sum, &j->said, &e) == 0)
        return;
    tl_say(&j->cli, NULL, "%s; rank %d keeps no more parts: after a failure, its files are read again", e.message,
           j->rank);
    j->keeps = false;
}

/* The sum of a group, taken or made. An exit status. */
static int get_group(mpi_job *j, size_t group, tl_report_sum *sum)
{
    size_t from, to;
    tl_part_key key;
    j->said.n = 0;
    tl_fleet_list_group(&j->list, group, &from, &to);
    const bool has_key = tl_fleet_list_key(&j->list, group, &j->options.args, &key);
    tl_rank_bytes said = {0};
    if (has_key && tl_part_files_take(&j->parts, &key, sum, &said)) {
        if (!j->options.args.quiet)
            fwrite(said.data, 1, said.n, stderr);
        free(said.data);
        j->taken++;
        return TL_EXIT_DONE;
    }
    const int status = add_up(j, from, to, sum);
    if (status == TL_EXIT_DONE && has_key && j->keeps)
        keep(j, &key, sum);
    return status;
}

/* What does not fit the rest is named by a file: all of a group are alike. */
static void add(mpi_job *j, tl_report_sum *sum)
{
    size_t from, to;
    tl_error e = {0};
    const uint64_t last = sum->last;
    if (tl_report_sum_add(&j->sum, sum, &e) < 0) {
        tl_fleet_list_group(&j->list, (size_t)last, &from, &to);
        fail(j, j->list.path[from], &e);
    }
    tl_profile_free(sum->profile);
}

/* Every rank takes each np-th group: files beside each other are alike, and so is then the work. */
static void add_groups(mpi_job *j)
{
    for (size_t g = (size_t)j->rank; g < j->list.groups && !j->lacks; g += (size_t)j->ranks) {
        tl_report_sum sum = {0};
        j->status = get_group(j, g, &sum);
        j->lacks = j->status != TL_EXIT_DONE;
        sum.last = g;
        if (j->lacks)
            tl_profile_free(sum.profile);
        else
            add(j, &sum);
        j->groups++;
    }
}

/* --- The tree --- */

/* A sum that is not whole is no bytes. */
static void send_to(mpi_job *j, int rank)
{
    tl_rank_bytes b = {0};
    tl_error e = {0};
    if (!j->lacks && tl_sum_pack(&j->sum, &b, &e) < 0)
        fail(j, NULL, &e);
    if (j->lacks)
        b.n = 0;
    tl_rank_send(rank, &b);
    free(b.data);
}

static void add_from(mpi_job *j, int rank)
{
    tl_rank_bytes b = {0};
    tl_report_sum sum = {0};
    tl_error e = {0};
    tl_rank_receive(rank, &b);
    j->lacks = j->lacks || b.n == 0;
    if (!j->lacks && tl_sum_unpack(&sum, b.data, b.n, &e) < 0)
        fail(j, NULL, &e);
    else if (!j->lacks)
        add(j, &sum);
    free(b.data);
}

/* After step s, rank r has what ranks r to r + 2^s - 1 had, if r is divisible by 2^s; the others are done. */
static void add_ranks(mpi_job *j)
{
    for (int step = 1; step < j->ranks; step *= 2) {
        if (j->rank % (2 * step)) {
            send_to(j, j->rank - step);
            return;
        }
        if (j->rank + step < j->ranks)
            add_from(j, j->rank + step);
    }
}

static void say_rank(const mpi_job *j)
{
    struct timespec cpu = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    if (j->says_ranks)
        tl_say(&j->cli, NULL,
               "rank %d of %d: %llu groups of files, %llu of them taken from parts; %lld.%02ld s of processor time",
               j->rank, j->ranks, (unsigned long long)j->groups, (unsigned long long)j->taken, (long long)cpu.tv_sec,
               cpu.tv_nsec / 10000000);
}

static void say_taken(const mpi_job *j, uint64_t taken)
{
    char a[32], b[32];
    if (taken)
        tl_say(&j->cli, NULL, "%s of %s parts were there from an earlier run", tl_human_grouped(a, sizeof a, taken),
               tl_human_grouped(b, sizeof b, j->list.groups));
}

static int run(mpi_job *j)
{
    int status = TL_EXIT_DONE;
    if (j->rank == 0)
        status = open_list(j);
    if (!all_go_on(&status))
        return status;
    tl_fleet_list_share(&j->list);
    j->sum = j->list.start;
    j->keeps = true;
    add_groups(j);
    say_rank(j);
    add_ranks(j);
    uint64_t taken = 0;
    MPI_Reduce(&j->status, &status, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&j->taken, &taken, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (j->rank != 0)
        return TL_EXIT_DONE;
    say_taken(j, taken);
    if (status != TL_EXIT_DONE)
        return status;
    status = tl_report_sum_write(&j->sum, &j->cli, &j->plan, j->files);
    if (status == TL_EXIT_DONE)
        tl_part_files_remove(&j->parts);
    return tl_exit_worse(status, j->sum.losses);
}

static int start(mpi_job *j)
{
    int status = TL_EXIT_USAGE;
    MPI_Comm_rank(MPI_COMM_WORLD, &j->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j->ranks);
    j->cli = (tl_cli){.args = &j->options.args};
    j->says_ranks = j->options.args.verbose;
    j->options.args.verbose = false;
    if (!tl_part_files_init(&j->parts, j->options.state, j->options.args.output))
        tl_rank_no_memory("the name of the folder for parts");
    if (j->rank == 0 && (status = make_plan(j)) == TL_EXIT_DONE)
        status = tl_check_output(&j->cli);
    if (!all_go_on(&status))
        return status;
    return j->rank == 0 || make_plan(j) == TL_EXIT_DONE ? run(j) : TL_EXIT_USAGE;
}

static void fini(mpi_job *j)
{
    tl_profile_free(j->sum.profile);
    tl_profile_files_close(j->files);
    tl_fleet_list_fini(&j->list);
    tl_part_files_fini(&j->parts);
    tl_mpi_options_fini(&j->options);
    free(j->said.data);
}

int main(int argc, char **argv)
{
    static mpi_job j;
    const char *const *word = (const char *const *)(argv + 1);
    const int n = argc > 0 ? argc - 1 : 0;
    char message[TL_USAGE_SIZE];
    setlocale(LC_CTYPE, "");
    if (n == 1 && (strcmp(word[0], "--version") == 0 || strcmp(word[0], "-V") == 0)) {
        printf("traceloom-mpi %s\n", tl_version());
        return TL_EXIT_DONE;
    }
    const bool is_right = tl_mpi_options_parse(&j.options, n, word, message);
    if (n == 0 || strcmp(word[0], "--help") == 0 || strcmp(word[0], "-h") == 0 || (is_right && j.options.args.help)) {
        say_help();
        tl_mpi_options_fini(&j.options);
        return TL_EXIT_DONE;
    }
    signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit becomes an error of write() */
    int status = TL_EXIT_USAGE, is_threaded;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &is_threaded);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    if (is_right)
        status = start(&j);
    else if (j.rank == 0)
        tl_say_error(NULL, "%s", message);
    MPI_Finalize();
    fini(&j);
    return j.rank == 0 ? status : TL_EXIT_DONE;
}
