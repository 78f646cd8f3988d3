/* The table of verbs, with their texts. */
#include "cli/options.h"

#include <string.h>

static const tl_example info_examples[] = {{"info app.xray", "what is in it, what was lost"},
                                           {"info --json app.xray | jq .events", "for scripts"},
                                           {"info -o all.csv traces/*", "a row about each trace"},
                                           {"zcat app.xray.gz | traceloom info -", "from a pipe"},
                                           {NULL, NULL}};

static const tl_example check_examples[] = {{"check app.xray && ./deploy", "go on only if all is valid"},
                                            {"check --json traces/*", "a line of JSON for each"},
                                            {NULL, NULL}};

static const tl_example report_examples[] = {{"report app.xray -e app", "the functions that cost most"},
                                             {"report app.log --by gc", "garbage collection pauses"},
                                             {"report run1 run2 -o app.html", "two runs, for a browser"},
                                             {"diff old/ new/ --fail-if 'p99(*) > +5%'", "a gate"},
                                             {NULL, NULL}};

static const tl_example convert_examples[] = {{"convert app.xray -o app.pftrace", "for another tool"},
                                              {"convert a.xray --time 2s..3s -o b.jsonl", "one second of it"},
                                              {"cat app.xray -t 4711 | less", "read it as text"},
                                              {NULL, NULL}};

static const tl_example query_examples[] = {{"query app.xray 'SELECT * FROM calls LIMIT 9'", "nine calls"},
                                            {"query app.log 'SELECT * FROM collections' --to csv", "for programs"},
                                            {"query app.xray --recipe slowest-calls", "--recipes lists them"},
                                            {NULL, NULL}};

static const tl_example serve_examples[] = {{"serve app.xray -e app", "prints its address"},
                                            {"serve app.log --open", "opens the browser"},
                                            {"serve app.tlp.live", "a program that still runs"},
                                            {NULL, NULL}};

static const tl_example load_examples[] = {
    {"load --server http://ch1:8123/traces --create app.xray", "the first one"},
    {"load --server http://ch1,ch2/traces monday/*", "two shards"},
    {"load --server http://ch1,ch2/traces --verify monday/*", "is all of it there?"},
    {NULL, NULL}};

static const tl_example record_examples[] = {{"record gzip -k file", "a profile, in gzip.tlp"},
                                             {"record -o last.xray --ring 64M ./app", "every call; the last ones"},
                                             {"record -F 'net::*' -o app.svg ./app", "a flame graph of some"},
                                             {"record --start off ./server", "traceloom ctl starts it"},
                                             {"record -p 4711 --for 10s", "a process that runs already"},
                                             {"record --insn ./app", "instructions of AArch64"},
                                             {"record shop.exe", "a program of .NET"},
                                             {NULL, NULL}};

static const tl_example ctl_examples[] = {{"ctl 4711 status", "what is recorded, where to"},
                                          {"ctl 4711 start", "from now on; see also stop"},
                                          {"ctl 4711 flush", "write what there is; go on"},
                                          {"ctl 4711 set threshold=5us", "or func=, not=, depth="},
                                          {NULL, NULL}};

static const tl_example help_examples[] = {
    {"help report", "the manual page of a verb"}, {"help formats", "what can be read and written"}, {NULL, NULL}};

static const tl_alias cat = {"Print events as text", ".Ar",
                             "without\n.Fl o\nand\n.Fl -to :\n"
                             "prints the events of one or several traces as text, by time.\n"};

static const tl_alias diff = {"Compare two sides of runs", ".Ar BASE NEW",
                              "with\n.Fl -diff :\n"
                              "says what became slower from the runs of\n.Ar BASE\nto those of\n.Ar NEW ,\n"
                              "and tests gates.\n"};

const tl_verb tl_verb_table[] = {
    {TL_VERB_INFO, "info", NULL, "FILE...", "What a trace is: format, length, contents, losses", info_examples,
     "Prints one screen about each\n.Ar FILE ,\nwhich may also be a folder whose files are one trace:\n"
     "its format and version, the time it spans, how many events of which classes it holds, its threads,\n"
     "its clock, and what was lost or damaged.\n"
     "With a table format that\n.Fl -to\nor the suffix of\n.Fl o\nnames, it writes a row about each\n.Ar FILE .\n"
     ".Nm traceloom report Fl -by Cm track , damage\nand\n.Cm property\nshow parts of it as tables.\n"
     "It reads everything once, so that the counts are exact.\n"
     "If an input is larger than 1\\ GiB and its times are known without reading it all, it counts the events only\n"
     "with\n.Fl -count\nor\n.Fl -json .\n"
     ".Pp\n"
     "Records that only frame the file, such as buffer and packet boundaries, are not counted as events.\n",
     NULL},
    {TL_VERB_CHECK, "check", NULL, "FILE...", "Is every byte valid? Problems with byte offsets", check_examples,
     "Reads each\n.Ar FILE\n"
     "completely and prints\n.Dq ok ,\n"
     "or one line for each place that breaks the rules of its format:\n"
     "the file, the byte offset, the rule, and what was found.\n"
     "Offsets count after decompression.\n",
     NULL},
    {TL_VERB_REPORT, "report", "diff", "FILE...", "Where the time goes: functions, call tree, callers, latencies",
     report_examples,
     "Matches entries and exits of functions into calls, or takes the samples of a profiler, and adds them up to a "
     "profile.\n"
     "Without\n.Fl o\n"
     "it prints a table; with it, it writes the profile to a file, as a picture or for another tool.\n"
     "Several inputs are added up.\n"
     "An input may also be a profile itself, or a folder: one that is not a trace is searched for profiles, in the "
     "order of their names.\n"
     "Files found there that cannot be read are named, counted and left out, unless\n.Fl -strict\nis given.\n"
     ".Xr traceloom-mpi 1\nadds up profiles with the processes of an MPI job.\n"
     ".Pp\n"
     "The total time of a function counts recursion once; its self time excludes what it calls.\n"
     "Percentiles have a relative error of at most 1\\ %; all other numbers are exact.\n"
     "Calls that had not ended when the trace ended are not counted; a message says how many.\n"
     "In an instruction trace, calls are found by the branches that call and return, and times are numbers of\n"
     "instructions; calls that had not ended are counted as well, so that every instruction is in a function.\n"
     "Samples and allocations that the profiler wrote while recording was paused are not counted.\n"
     ".Pp\n"
     "With\n.Fl -diff ,\nor called as\n.Nm traceloom diff ,\n"
     "it compares two sides of runs instead of adding them up.\n"
     "The exit status is then 1 if a gate of\n.Fl -fail-if\nfailed.\n",
     &diff},
    {TL_VERB_CONVERT, "convert", "cat", "FILE...", "Convert events to another format or text (cat), or cut out a part",
     convert_examples,
     "Writes the events of one or several traces in another format.\n"
     "Called as\n.Nm traceloom cat ,\n"
     "or without\n.Fl o\nand\n.Fl -to ,\n"
     "it prints them as text.\n"
     "Several inputs are merged by time.\n"
     "What the output format cannot hold is left out, and a message says what and how much.\n",
     &cat},
    {TL_VERB_QUERY, "query", NULL, "FILE... [SQL]", "Answer questions in SQL", query_examples,
     "Runs SQL over traces, without loading them into a database first.\n"
     "The SQL is the last word, if it has a blank and no file has that name; otherwise\n.Fl -query-file\n"
     "or standard input has it.\n"
     "Without any, on a terminal, a shell opens:\n.Ql .help\nlists its commands, a tab completes words, "
     "^C ends a statement.\n"
     "It keeps its history in\n.Pa $XDG_STATE_HOME/traceloom/history ,\nor\n"
     ".Pa ~/.local/state/traceloom/history .\n"
     "Statements are separated by semicolons, and each result is printed; with\n.Fl -json\nit is a line.\n"
     "With\n.Fl -server\nand without files, the SQL is that of ClickHouse, and runs there, over traces that\n"
     ".Xr traceloom-load 1\nhas put there.\n"
     ".Pp\n"
     "There are tables of everything that happened,\n.Cm events ;\n"
     "of each class of events, with its fields as columns,\n.Cm event_sched_switch ;\n"
     "of what there is,\n.Cm classes , fields , functions ;\n"
     "and those of\n.Xr traceloom-report 1 :\n.Cm function_stats , collections , blocks\nand others.\n"
     ".Fl -schema\nlists them with their columns;\n.Xr traceloom-schema 5\nhas all, and the functions.\n"
     "Several traces are the same tables:\n.Cm trace\nis the number of the input, from 1.\n"
     ".Pp\n"
     "The SQL is that of SQLite.\n"
     "Statements can only read these tables: they reach no files, and change nothing.\n",
     NULL},
    {TL_VERB_SERVE, "serve", NULL, "FILE...", "Show the report in a browser, exact for any range of time",
     serve_examples,
     "Reads each\n.Ar FILE ,\nwhich stays open, and prints the address of a page for a browser, until\n^C ends it.\n"
     "The page is that of\n.Cm report Fl o Pa x.html ,\nand it can ask: for the numbers of any range of time, for any "
     "table of\n.Cm report ,\nand in SQL.\n"
     "A recording that is still being written is followed.\n"
     ".Pp\n"
     "Only this machine reaches the address, and only those who know it: it has a random part.\n"
     "Nothing can be changed through it, and no files are read but each\n.Ar FILE\nand the binaries of its names.\n",
     NULL},
    {TL_VERB_LOAD, "load", NULL, "FILE...", "Load traces into ClickHouse, each chunk exactly once", load_examples,
     "Loads the tables of each\n.Ar FILE\ninto the servers of\n.Fl -server ,\n"
     "as\n.Xr traceloom-schema 5\nhas them: the same names and columns, for questions about many traces.\n"
     "There,\n.Cm trace\nis a number that stands for the content of the file: loading it again changes nothing.\n"
     ".Pp\n"
     "Rows are sent in chunks, which a server stores as a whole or not at all.\n"
     "Before and after, the servers are asked for what they have: chunks that are missing are sent, those that are "
     "double are removed and sent again.\n"
     "So a command that was interrupted, whatever failed, is repeated as it was.\n"
     "A trace can be seen only when all of it was found on the servers.\n"
     ".Pp\n"
     "The password is the value of\n.Ev CLICKHOUSE_PASSWORD .\n",
     NULL},
    {TL_VERB_RECORD, "record", NULL, "[--] CMD [ARG...]", "Run a program, record its function calls, and report",
     record_examples,
     "Runs\n.Ar CMD\n"
     "and records its function calls.\n"
     "A program that is linked with the recorder is recorded through it.\n"
     "Into others the recorder is loaded, and their functions are patched in memory, the file is not changed: programs "
     "need not be built for it, and may be stripped.\n"
     "A script is recorded as the program that runs it.\n"
     "Programs that are linked statically, set-user-id and set-group-id programs of others, programs with file "
     "capabilities, Go programs, 32-bit programs, and programs with another C library than glibc, or with sanitizers, "
     "cannot be patched; nothing is run then.\n"
     "When the program has ended, a table of its functions is printed to standard error, so that its own output can go "
     "through a pipe.\n"
     "Options end at\n.Ar CMD .\n"
     ".Pp\n"
     "The recording has the name of the program, in the current folder, or the name that\n.Fl o\ngives.\n"
     "If there is a recording of that program already, the name gets a number,\n.Pa app-2.tlp ,\nunless\n.Fl f\n"
     "replaces it.\n"
     "While it is being written, its name ends in\n.Pa .live ;\nit can already be read, and it keeps what was recorded "
     "if the program is killed.\n"
     "Child processes that also record write files of their own, whose names have a number before the suffix.\n"
     "The suffix of another format, such as\n.Pa .svg , .pb.gz\nor\n.Pa .pftrace ,\n"
     "makes a recording first and converts it at the end.\n"
     ".Pp\n"
     "With\n.Fl -insn\n"
     "a program of AArch64 is run in QEMU, and each of its instructions is recorded, on any machine;\n"
     "the recording is a folder,\n.Pa app.xtrace .\n"
     ".Pp\n"
     "A program of .NET is run by Mono or CoreCLR, and recorded by a profiler in it, of the package\n.Em "
     "traceloom-dotnet :\n"
     "where its processor time goes, by samples of the stacks of all threads, with collections, compilations and what "
     "is loaded.\n"
     "The recording is\n.Pa app.log .\n"
     "With\n.Fl m\n, or a suffix of\n.Fl o\nthat means the same, every call of its own methods is recorded instead; "
     "those of the class library only with\n.Fl -libs .\n",
     NULL},
    {TL_VERB_CTL, "ctl", NULL, "PID COMMAND [KEY=VALUE...]", "Control a running recording: status, start, stop, flush",
     ctl_examples,
     "Controls the recorder in the running program\n.Ar PID ,\n"
     "without stopping the program or sending it a signal.\n"
     "Only the user who runs the program, and root, may do so.\n"
     ".Bl -tag -width status -compact\n"
     ".It Cm status\nprint whether it records, what, and where to; the default\n"
     ".It Cm start\nstart recording; until then the program runs at full speed\n"
     ".It Cm stop\nstop recording; keep what was recorded\n"
     ".It Cm flush\nwrite what was recorded so far to a file of its own, and continue\n"
     ".It Cm set\nchange settings at once:\n"
     ".Ql threshold=5us ,\n.Ql func=GLOB ,\n.Ql not=GLOB ,\n.Ql depth=N .\n"
     "New patterns replace all earlier ones;\n.Ql func=\nremoves them.\n"
     ".El\n",
     NULL},
    {TL_VERB_HELP, "help", NULL, "[VERB]", "The manual of a verb, or the list of formats", help_examples,
     "Shows the manual page of a verb.\n"
     ".Nm traceloom help formats\n"
     "lists the formats that can be read and written.\n",
     NULL},
    {TL_VERB_HELP, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};

bool tl_example_is_bare(const tl_verb *verb, const tl_example *example)
{
    return strncmp(example->arguments, verb->name, strlen(verb->name)) == 0 ||
           (verb->alias && strncmp(example->arguments, verb->alias, strlen(verb->alias)) == 0);
}
