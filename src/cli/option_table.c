/* The table of options, with their texts; those of record, and of query, load and serve, are in files of their own.
 * verb_table.c has the verbs. */
#include "cli/options.h"

#define INFO    TL_VERB_BIT(TL_VERB_INFO)
#define CHECK   TL_VERB_BIT(TL_VERB_CHECK)
#define REPORT  TL_VERB_BIT(TL_VERB_REPORT)
#define CONVERT TL_VERB_BIT(TL_VERB_CONVERT)
#define QUERY   TL_VERB_BIT(TL_VERB_QUERY)
#define SERVE   TL_VERB_BIT(TL_VERB_SERVE)
#define LOAD    TL_VERB_BIT(TL_VERB_LOAD)
#define RECORD  TL_VERB_BIT(TL_VERB_RECORD)
#define CTL     TL_VERB_BIT(TL_VERB_CTL)
#define HELP    TL_VERB_BIT(TL_VERB_HELP)
#define READERS (INFO | CHECK | REPORT | CONVERT | QUERY | SERVE | LOAD)
#define ALL     (READERS | RECORD | CTL)

/* The function that takes the value, and its member of tl_arguments. */
#define TO(how, member) tl_take_##how, offsetof(tl_arguments, member)

const tl_option tl_option_table[] = {
    {TO(choice, by), 0, "by", "TABLE", TL_GROUP_VERB, REPORT, "which table, by what the trace has",
     "Prints this table.\nThe default is\n.Cm func ,\nof a trace without calls and samples\n.Cm class ,\nor no table "
     "with\n.Fl o .\n", /* tl_put_table_list() continues */
     &""                /* without the blank before the first */
#define TL_TABLE(word) " " #word
#define TL_TABLE_OF_SOME(symbol)
#include "tables.def"
#undef TL_TABLE
#undef TL_TABLE_OF_SOME
         [1]},
    {TO(weight, weight), 0, "weight", "WHAT", TL_GROUP_VERB, REPORT, "samples, time, bytes or allocations",
     "Weights stack samples by\n"
     ".Cm samples\nor\n.Cm time ,\nthe default, if they were taken at intervals, or by\n"
     ".Cm bytes\nor\n.Cm allocations\nif they are allocations.\n",
     "samples time bytes allocations"},
    {TO(choice, sort), 0, "sort", "COLUMN", TL_GROUP_VERB, REPORT,
     "self, total, calls, min, p50, p90, p99, max or name",
     "Sorts by this column:\n"
     ".Cm self , total , calls , min , p50 , p90 , p99 , max ,\n"
     "all descending, or\n.Cm name .\n",
     "self total calls min p50 p90 p99 max name"},
    {TO(top, top), 0, "top", "N", TL_GROUP_VERB, REPORT | RECORD, "N rows; 0: all",
     "Prints only the first\n.Ar N\nrows, or all of them if it is 0.\n"
     "The default is what fits the screen on a terminal, and all rows otherwise.\n",
     NULL},
    {TO(flag, per_thread), 0, "per-thread", NULL, TL_GROUP_VERB, REPORT, "trees by thread",
     "Keeps the calls of each thread apart, in the tree and in written profiles.\n", NULL},
    {TO(flag, no_fold), 0, "no-fold", NULL, TL_GROUP_VERB, REPORT, "recursion by level",
     "Shows recursion level by level in the tree.\n"
     "Otherwise a function and the calls of itself right below it are one row,\n.Ql fib x11 ,\n"
     "with the number of levels: its total is that of the outermost calls, calls and self time are sums over all "
     "levels, percentiles and the longest are of all calls, and what any level calls stands below it once.\n"
     "Only text and Markdown are folded.\n",
     NULL},
    {TO(flag, wide), 0, "wide", NULL, TL_GROUP_VERB, INFO | REPORT, "whole names",
     "Shows whole names and all columns, even where they are wider than the terminal.\n"
     "Otherwise columns are left out, and then parts of long names: arguments of templates, parameters, namespaces.\n",
     NULL},
    {TO(amount, interval), 0, "interval", "N", TL_GROUP_INSNS, REPORT | CONVERT, "instructions per interval: 100M",
     "Sets how many instructions an interval has, for\n.Fl -by Cm page\nand for output that is made of intervals:\n"
     ".Ql 1000 ,\n.Ql 64k ,\n.Ql 100M .\n",
     NULL},
    {TO(line_size, line_size), 0, "line-size", "N", TL_GROUP_INSNS, REPORT, "bytes per cache line",
     "Sets how many bytes a cache line has, for\n.Fl -by Cm reuse ;\na power of two.\nThe default is 64.\n",
     "64 32 128"},
    {TO(amount, sample), 0, "sample", "N", TL_GROUP_INSNS, REPORT, "sample one line in N (with --by reuse)",
     "Samples one cache line in\n.Ar N ,\na power of two, for\n.Fl -by Cm reuse\nof very large traces: faster, "
     "and less exact.\n",
     NULL},
    {TO(text, cache), 0, "cache", "SPEC", TL_GROUP_INSNS, REPORT, "caches to simulate (with --by cache)",
     "Sets the caches that\n.Fl -by Cm cache\nsimulates: NAME=SIZE:WAYS:LINE of\n.Cm l1i , l1d\nand\n.Cm l2 ,\n"
     "NAME=ENTRIES:WAYS of\n.Cm itlb , dtlb\nand\n.Cm l2tlb ,\nseparated by commas.\n"
     "The defaults are\n"
     ".Ql l1i=64K:4:64,l1d=64K:4:64,l2=512K:8:64,itlb=48,dtlb=48,l2tlb=1280:5 ;\n"
     ".Ql l2=0\nand\n.Ql l2tlb=0\nleave out that cache.\n",
     NULL},
    {TO(text, predictor), 0, "predictor", "LIST", TL_GROUP_INSNS, REPORT, "predictors to simulate (with --by branch)",
     "Sets the branch predictors that\n.Fl -by Cm branch\nsimulates:\n"
     ".Ql bimodal:BITS,gshare:BITS:HISTORY,ras:ENTRIES,btb:BITS ,\n"
     "any of them; numbers that are left out have usual values.\n",
     NULL},
    {TO(flag, calls), 0, "calls", NULL, TL_GROUP_INSNS, REPORT, "list each call (with --by syscall)",
     "Lists system calls one by one, with arguments and result; with strings, too, where loads and stores show them.\n",
     NULL},
    {TO(flag, diff), 0, "diff", NULL, TL_GROUP_DIFF, REPORT, "compare two sides: BASE NEW",
     "Compares two sides of runs,\n.Ar BASE\nand\n.Ar NEW :\n"
     "what became slower, what is faster, and what is shown to be the same.\n"
     "Each is a file, a folder whose files are runs, or a pattern in quotes,\n.Ql 'old/*.tlp' .\n"
     "Functions are matched by name across builds.\n"
     "At least 4 runs a side are needed for a verdict, 10 are better;\n"
     ".Nm traceloom record Fl -runs\nand\n.Fl -turns\nmake them.\n"
     ".Nm traceloom diff\nis the same.\n",
     NULL},
    {TO(word, fail_if), 0, "fail-if", "GATE", TL_GROUP_DIFF, REPORT, "exit with 1 if it became so much slower",
     "Exits with 1 if a function changed by more than allowed:\n.Ql p99(render_page) > +5% ,\n"
     ".Ql calls(db_*) > +0% or total(main) > +2s ,\n.Ql p99(render_page) > 4us .\n"
     "The number is one of\n.Cm calls , total , self , percall , mean , min , max , share , self-share\nor a "
     "percentile;\n"
     "the function is a pattern,\n.Ql *\nfor all, or\n.Ql path:serve;render .\n"
     "With a sign the amount is a change, otherwise a limit for NEW.\n"
     "A gate that is about no function is an error.\n"
     "May be given several times.\n",
     NULL},
    {TO(choice, fail_when), 0, "fail-when", "WHAT", TL_GROUP_DIFF, REPORT, "interval, estimate or unclear",
     "Says when a gate fails: if the whole\n.Cm interval\nof 95\\ % is beyond the amount, the default; if the\n"
     ".Cm estimate\nis; or also where it is\n.Cm unclear .\n",
     "interval estimate unclear"},
    {TO(percent, noise), 0, "noise", "PERCENT", TL_GROUP_DIFF, REPORT, "changes that do not matter: 5%",
     "Sets which changes are too small to matter.\nThe default is 5%: code that only moved may change that much.\n",
     NULL},
    {TO(percent, min_share), 0, "min-share", "PERCENT", TL_GROUP_DIFF, REPORT, "smallest functions: 0.5%",
     "Leaves out functions with a smaller share of the whole time in both sides.\nThe default is 0.5%.\n", NULL},
    {TO(choice, per), 0, "per", "WHAT", TL_GROUP_DIFF, REPORT, "call, run or share",
     "Compares time for each\n.Cm call ,\nthe default; for a whole\n.Cm run ,\nthe default for samples; or as a\n"
     ".Cm share\nof the run.\n",
     "call run share"},
    {TO(word, map), 0, "map", "OLD=NEW", TL_GROUP_DIFF, REPORT, "a function that was renamed",
     "Says that function\n.Ar OLD\nof BASE is\n.Ar NEW\nof NEW.\nMay be given several times.\n", NULL},
    {TO(flag, one_run), 0, "one-run", NULL, TL_GROUP_DIFF, REPORT, "gates with fewer than 4 runs a side",
     "Allows gates with fewer than 4 runs a side.\n"
     "They test the numbers of these runs, which prove nothing about the next.\n",
     NULL},
#include "cli/options_query.def"
    {TO(flag, count), 0, "count", NULL, TL_GROUP_VERB, INFO, "count the events of large traces as well",
     "Reads all of an input larger than 1\\ GiB, to count its events and find damage in them.\n"
     "Smaller inputs are always read, and with\n.Fl -json\nall are.\n",
     NULL},
    {TO(at, at), 0, "at", "N", TL_GROUP_VERB, INFO, "registers and memory before instruction N",
     "Shows instead what is known of the machine just before instruction number\n.Ar N\nof the trace, or of the "
     "thread that\n.Fl -thread\nchooses:\n"
     "registers and memory, replayed from the last snapshot before it.\n"
     "What cannot be computed from the trace is shown as unknown.\n",
     NULL},
#include "cli/options_record.def"
    {TO(flag, json), 0, "json", NULL, TL_GROUP_OUTPUT, QUERY | INFO | CHECK | REPORT | RECORD | CTL,
     "print JSON, one line",
     "Prints one line of JSON instead of text.\n"
     "Times are whole nanoseconds; names do not change between versions.\n",
     NULL},
    {TO(text, output), 'o', "output", "FILE", TL_GROUP_OUTPUT, QUERY | INFO | REPORT | CONVERT | RECORD,
     "write here, format by suffix",
     "Writes to\n.Ar FILE ,\nin the format of its suffix; a further suffix\n.Pa .gz\nor\n.Pa .zst\ncompresses.\n"
     "The file appears when it is complete, or not at all.\n"
     "Except for a recording,\n.Sq -\nis standard output.\n",
     "@file"},
    {TO(flag, force), 'f', "force", NULL, TL_GROUP_OUTPUT, QUERY | INFO | REPORT | CONVERT | RECORD, "replace a file",
     "Replaces the output file if it exists; without this option that is an error.\n", NULL},
    {TO(text, to), 0, "to", "FORMAT", TL_GROUP_OUTPUT, QUERY | INFO | REPORT | CONVERT | RECORD, "output format",
     "Writes this format, whatever the suffix of\n.Fl o ;\n.Nm traceloom help formats\nlists them.\n", "@write"},
    {TO(text, title), 0, "title", "TITLE", TL_GROUP_OUTPUT, REPORT | SERVE, "of the page",
     "Sets the title of an HTML page.\nThe default is the name of the file, or how many there are.\n", NULL},
    {TO(amount, page_limit), 0, "page-limit", "N", TL_GROUP_OUTPUT, REPORT, "bytes: 10M",
     "Keeps an HTML page below so many bytes,\n.Ql 4M :\nmore of the narrow places and short functions are left out, "
     "but for their sums, and the page says so.\nThe default is 10M, the least 1M.\n",
     NULL},
    {TO(choice, text_style), 0, "text-style", "STYLE", TL_GROUP_OUTPUT, CONVERT, "babeltrace",
     "Prints text in this style:\n.Cm plain ,\nthe default, or\n.Cm babeltrace ,\n"
     "exactly as\n.Nm babeltrace2\nprints it with\n.Fl -clock-gmt .\n",
     "plain babeltrace"},
    {TO(choice, clock), 0, "clock", "TIME", TL_GROUP_OUTPUT, CONVERT, "delta, wall, date",
     "Shows other times in text than those since the begin of the trace,\n.Cm relative :\n"
     ".Cm delta ,\nthe time since the event before;\n.Cm wall ,\nthe time of day in UTC; or\n.Cm date ,\n"
     "the date and the time of day.\n"
     "Style\n.Cm babeltrace\nhas only the last two, always with the delta, and shows\n.Cm wall .\n",
     "relative delta wall date"},
    {TO(choice, clock), 0, "clock", "ns", TL_GROUP_INPUT, REPORT, "times in ns",
     "Converts the times of each input to nanoseconds before they are added up: needed for recordings of machines\n"
     "whose clocks have different frequencies.\n"
     "A sum is rounded once; durations in histograms stay within 1\\ % if they are longer than 167\\ ns.\n",
     "ns"},
    {TO(text, glob), 0, "glob", "GLOB", TL_GROUP_INPUT, REPORT, "files of a folder",
     "Reads the files of a folder whose names match, of any format.\n"
     "Without it, those that hold a profile are read.\n",
     NULL},
    {TO(text, split), 0, "split", "HOW", TL_GROUP_OUTPUT, CONVERT, "into several files: 10s, 100MB, or track",
     "Writes several files, whose names get a number before the suffix:\n"
     "a new one after a time since the trace began, such as\n.Ql 10s\nor\n.Ql 500ms ,\n"
     "or when one has a size, such as\n.Ql 100MB\nor\n.Ql 64KiB ,\nor one for each\n.Cm track .\n",
     "track"},
    {TO(version, format_version), 0, "format-version", "N", TL_GROUP_OUTPUT, REPORT | CONVERT, "its version",
     "Writes this version of the output format.\n"
     "The default is the version of the input if it has the same format, and otherwise the newest.\n",
     NULL},
    {TO(choice, format_version), 0, "dialect", "NAME", TL_GROUP_OUTPUT, REPORT | CONVERT, "doc or vs (.NET)",
     "Another spelling of\n.Fl -format-version\nfor formats whose versions have names:\n"
     ".Cm doc\nas the format is documented,\n.Cm vs\nas the viewer of Visual Studio reads it.\n",
     "doc vs"},
    {TO(choice, compress), 0, "compress", "HOW", TL_GROUP_OUTPUT, CONVERT, "compress packets: gzip, bzip2",
     "Compresses the packets of the output, each on its own:\n.Cm gzip\nor\n.Cm bzip2 ;\n"
     "what does not become smaller stays as it is.\n"
     "See\n.Xr traceloom-formats 5\nfor the formats that support it.\n",
     "gzip bzip2"},
    {TO(choice, checksum), 0, "checksum", "KIND", TL_GROUP_OUTPUT, CONVERT, "of packets: crc32, md5, sha1",
     "Gives the packets of the output checksums, which\n.Cm check\nverifies:\n"
     ".Cm crc32 , md5\nor\n.Cm sha1 .\n"
     "See\n.Xr traceloom-formats 5\nfor the formats that support it.\n",
     "crc32 md5 sha1"},
    {TO(text, time), 0, "time", "A..B", TL_GROUP_SELECT, REPORT | QUERY | CONVERT, "from A to B",
     "Only what lies between two times since the trace began:\n"
     ".Ql 2s..3s ,\n.Ql +500ms.. ,\n.Ql ..1.5s .\n"
     "Units are ns, us, ms, s, min and h; without one it is that of the other end, else ns, or ticks where the "
     "frequency of the clock is unknown.\n"
     "With several inputs,\n.Cm convert\ncounts from the earliest begin, if they have the same clock, and\n"
     ".Cm report\nfrom the begin of each.\n"
     "Where the trace knows the time of day, A and B may also be in UTC,\n.Ql 2026-01-31T12:00:00.5Z ,\nor with an "
     "offset,\n.Ql 2026-01-31T13:00:00.5+01:00 ,\n"
     "or without a date, on the day on which the trace began:\n.Ql 23:01:24.. .\n",
     NULL},
    {TO(text, insns), 0, "insns", "A..B", TL_GROUP_INSNS, REPORT | CONVERT, "instructions number A to B-1",
     "Only instructions from number A up to, but not including, number B of each thread, counted from 0,\n"
     "and what belongs to them:\n.Ql 1000..2000 ,\n.Ql 1M..\n",
     NULL},
    {TO(text, slice_at), 0, "slice-at", "N|TIME", TL_GROUP_INSNS, CONVERT, "from snapshot N, or from TIME on",
     "Writes a slice of an instruction trace: it begins with register snapshot number\n.Ar N ,\ncounted from 0, and "
     "has as many\n"
     "instructions as\n.Fl n\nsays.\n"
     "If the accesses of several threads were counted together, cuts all of them at this value of the counter, each\n"
     "with a snapshot;\n"
     ".Ql +250\ncuts a single thread, too.\n",
     NULL},
    {TO(amount, slice_insns), 'n', "slice-insns", "N", TL_GROUP_INSNS, CONVERT,
     "length in instructions (with --slice-at)",
     "Sets how many instructions a slice has:\n.Ql 1000 ,\n.Ql 64k ,\n.Ql 100M .\n", NULL},
    {TO(level, levels), 0, "el", "LEVEL", TL_GROUP_INSNS, REPORT | CONVERT, "exception level: 0 to 3",
     "Only instructions that were executed at this exception level, and what belongs to them.\n"
     "May be given several times: then any of them.\n",
     "0 1 2 3"},
    {TO(text, pc), 0, "pc", "A..B", TL_GROUP_INSNS, REPORT | CONVERT, "instructions at addresses A to B-1",
     "Only instructions at addresses from A up to, but not including, B, and what belongs to them:\n"
     ".Ql 0x400000..0x401000 ,\n.Ql 0xffff000000000000..\n",
     NULL},
    {TO(threads, thread), 't', "thread", "GLOB", TL_GROUP_SELECT, INFO | REPORT | QUERY | CONVERT, "name or id",
     "Only threads whose name matches, or which have this id, or one of several:\n.Ql 4711,4712 .\nA processor is not "
     "a "
     "thread: see\n.Fl -cpu .\n"
     "May be given several times: then any of them.\n",
     NULL},
    {TO(word, cpu), 0, "cpu", "N", TL_GROUP_SELECT, INFO | REPORT | QUERY | CONVERT, "processors: 0,2-3",
     "Only what happened on these processors: numbers and ranges, as in\n.Ql 0,2-3 .\n"
     "A call counts for the processor on which it began.\n"
     "In an instruction trace this selects streams that were recorded per processor.\n",
     NULL},
    {TO(word, func), 'F', "func", "GLOB", TL_GROUP_SELECT, REPORT | QUERY | CONVERT | RECORD, "these functions",
     "Only functions whose name matches.\n"
     "A function without a symbol is called by its place,\n.Ql lua5.4+0x8870 ,\nor if that is unknown\n.Ql #id .\n"
     "With\n.Cm record ,\n.Ql libz*:inflate*\nselects functions of objects whose file name matches.\n"
     "May be given several times: then any of them.\n",
     NULL},
    {TO(word, not_func), 'N', "not", "GLOB", TL_GROUP_SELECT, REPORT | QUERY | CONVERT | RECORD, "but not these",
     "Leaves out functions whose name matches.\nMay be given several times.\n", NULL},
    {TO(depth, depth), 'D', "depth", "N", TL_GROUP_SELECT, REPORT | QUERY | CONVERT | RECORD, "N levels of calls",
     "Only calls at most this deep; the outermost function of a thread has depth 1.\n", NULL},
    {TO(text, min_dur), 0, "min-dur", "T", TL_GROUP_SELECT, REPORT | QUERY | CONVERT, "calls of T or more",
     "Only calls that took at least this long:\n.Ql 10us .\n", NULL},
    {TO(word, cls), 0, "class", "GLOB", TL_GROUP_SELECT, REPORT | QUERY | CONVERT, "classes of events",
     "Only events of classes whose name matches;\n.Nm traceloom info\nlists the classes.\n"
     "If it is one class, comma-separated values have a column for each of its fields.\n"
     "May be given several times: then any of them.\n",
     NULL},
    {TO(word, exe_word), 'e', "exe", "PATH", TL_GROUP_INPUT, READERS, "the traced binary",
     "Reads the names of functions from this binary, the one that was traced, or from its debug file, if the trace "
     "does "
     "not hold them.\n"
     "If function ids begin with the number of an object, as those of instrumented shared libraries do,\n"
     ".Ar N Ns = Ns Ar PATH\nnames the file of object\n.Ar N\nand may be given several times.\n"
     "A file\n.Pa NAME.yaml\nmaps numbers to paths:\n.Ql 1: /usr/lib/libfoo.so\non a line each.\n"
     ".Nm traceloom check\naccepts this option and ignores it.\n",
     "@file"},
    {TO(flag, no_demangle), 0, "no-demangle", NULL, TL_GROUP_INPUT, REPORT | QUERY | SERVE | CONVERT, "mangled names",
     "Shows C++ and Rust names in the mangled form that the linker uses.\n", NULL},
    {TO(text, from), 0, "from", "FORMAT", TL_GROUP_INPUT, READERS, "input format",
     "Reads the input as this format instead of finding it by content.\n", "@read"},
    {TO(flag, strict), 0, "strict", NULL, TL_GROUP_INPUT, READERS, "stop at damage",
     "Stops at the first damage instead of skipping it, and exits with 4 if the trace says that events were lost.\n",
     NULL},
    {TO(flag, resync), 0, "resync", NULL, TL_GROUP_INPUT, READERS, "guess past damage",
     "Continues after damage even in formats where the begin of the next event can only be guessed.\n"
     "What is read from there on is probably, but not certainly, right.\n",
     NULL},
    {TO(flag, follow), 0, "follow", NULL, TL_GROUP_INPUT, CONVERT, "wait for more",
     "Reads an input that is still being written: waits for more at its end, until interrupted or, for a pipe, until "
     "the\n"
     "writer closes it.\n"
     "Events come in the order of the input, not in order of time.\n"
     "A file named with\n.Fl o\nappears when it is complete; standard output shows events at once.\n",
     NULL},
    {TO(workers, threads), 0, "threads", "N", TL_GROUP_INPUT, READERS, "worker threads",
     "Uses this many threads; the default is one per processor.\n", NULL},
    {TO(color, color), 0, "color", "WHEN", TL_GROUP_ALWAYS, ALL, "auto/always/never",
     ".Cm auto ,\n.Cm always\nor\n.Cm never .\n"
     ".Cm auto ,\nthe default, colours on a terminal if\n.Ev NO_COLOR\nis not set and\n.Ev TERM\nis not\n.Ql dumb .\n"
     ".Cm always\nthrough a pipe, as to\n.Ql less -R ,\nalso fits tables to the terminal that messages go to.\n",
     "auto always never"},
    {TO(flag, no_pager), 0, "no-pager", NULL, TL_GROUP_ALWAYS, INFO | REPORT | QUERY | CONVERT, "no pager",
     "Prints on a terminal without a pager; see\n.Sx ENVIRONMENT .\n", NULL},
    {TO(quiet, quiet), 'q', "quiet", NULL, TL_GROUP_ALWAYS, ALL, "only errors",
     "Prints no messages except errors, and no progress bar.\n", NULL},
    {TO(verbose, verbose), 'v', "verbose", NULL, TL_GROUP_ALWAYS, ALL, "say more",
     "Says what is being done, and how long it took.\n", NULL},
    {TO(flag, help), 'h', "help", NULL, TL_GROUP_ALWAYS, ALL | HELP, "this text", "Shows a short help.\n", NULL},
    {0}};

_Static_assert(sizeof tl_option_table / sizeof *tl_option_table <= 64 * TL_OPTION_WORDS, "tl_arguments.given");

const char *tl_group_title(const tl_verb *verb, tl_option_group group)
{
    static const char *const of_process[TL_GROUPS] = {"What is recorded", "Where it goes", "Which calls",
                                                      "Patched programs", "Instructions",  ".NET programs",
                                                      "Always",           "Always"};
    static const char *const title[TL_GROUPS] = {"What is shown",      "Where it goes", "Which part of the trace",
                                                 "Instruction traces", "Comparisons",   "",
                                                 "How it is read",     "Always"};
    return verb->id == TL_VERB_RECORD || verb->id == TL_VERB_CTL ? of_process[group] : title[group];
}
