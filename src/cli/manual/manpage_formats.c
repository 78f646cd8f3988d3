/* The man page traceloom-formats(5), made from the list of formats and what formats_manual.def says of each. */
#include <stdio.h>
#include <string.h>

#include "cli/manual/manpage.h"
#include "traceloom/format.h"

static const struct {
    const char *name, *text;
} manual[] = {
#define TL_FORMAT_MANUAL(name, text) {name, text},
#include "formats_manual.def"
#undef TL_FORMAT_MANUAL
    {NULL, NULL}};

const char *tl_format_manual(const char *name)
{
    for (size_t i = 0; manual[i].name; i++)
        if (strcmp(manual[i].name, name) == 0)
            return manual[i].text;
    return NULL;
}

/* "Events: read and written; profiles: written." */
static void put_abilities(FILE *f, unsigned can)
{
    static const char *const ability[] = {"", "read", "written", "read and written"};
    const char *events = ability[can & 3], *profiles = ability[can >> 2 & 3];
    if (*events)
        fprintf(f, "Events: %s%s", events, *profiles ? "; " : ".\n");
    if (*profiles)
        fprintf(f, "%srofiles: %s.\n", *events ? "p" : "P", profiles);
}

static void put_suffixes(FILE *f, const char *suffixes)
{
    if (!suffixes || !*suffixes)
        return;
    fputs(strchr(suffixes, ' ') ? "Suffixes:\n" : "Suffix:\n", f);
    for (const char *s = suffixes; *s;) {
        const size_t n = strcspn(s, " ");
        const char *rest = s + n + (s[n] == ' ');
        fprintf(f, "%s%.*s %s", s == suffixes ? ".Pa " : "", (int)n, s, *rest ? ", " : ".\n");
        s = rest;
    }
}

void tl_put_formats_page(FILE *f)
{
    tl_put_mdoc(f, ".Sh NAME\n"
                   ".Nm traceloom-formats\n"
                   ".Nd formats of traces and profiles that traceloom reads and writes\n"
                   ".Sh DESCRIPTION\n"
                   "A format holds\n"
                   ".Em events ,\n"
                   "which is what happened and when, or a\n"
                   ".Em profile ,\n"
                   "which is sums of it for each stack of functions; some hold either.\n"
                   ".Xr traceloom-convert 1\n"
                   "writes events,\n"
                   ".Xr traceloom-report 1\n"
                   "profiles.\n"
                   ".Pp\n"
                   "The format of an input is found by its content;\n"
                   ".Fl -from\n"
                   "names it instead.\n"
                   "The format of an output is that of its suffix;\n"
                   ".Fl -to\n"
                   "names it instead.\n"
                   "Every input may be compressed by gzip, zstd or bzip2, and a second suffix\n"
                   ".Pa .gz\n"
                   "or\n"
                   ".Pa .zst\n"
                   "compresses an output that is a file.\n"
                   ".Pp\n"
                   "What an output cannot hold is left out, and a message says how much of what.\n"
                   "What is called lost below is lost in every file of the format.\n"
                   ".Nm traceloom help formats\n"
                   "lists the formats of this build.\n"
                   ".Sh FORMATS\n"
                   ".Bl -tag -width Ds\n");
    for (uint32_t i = 0; i < tl_formats(); i++) {
        const tl_format_info *info = tl_format_get(i);
        const char *text = tl_format_manual(info->name);
        fprintf(f, ".It Cm %s\n", info->name);
        tl_put_summary(f, info->summary);
        put_abilities(f, info->can);
        put_suffixes(f, info->suffixes);
        if (text)
            fputs(".Pp\n", f);
        tl_put_mdoc(f, text ? text : "");
    }
    tl_put_mdoc(f,
                ".El\n"
                ".Sh LIMITS\n"
                "A trace has at most 1,048,576 threads, a call or a sample at most 1,048,576 functions on its stack, "
                "and a profile 67,108,864 stacks.\n"
                "Compressed content larger than 1\\ GiB may be 4,096 times the size of its file; more is taken for "
                "an attack.\n"
                "Files may be larger than the memory: what is kept of them is an index, and a window for each "
                "thread.\n"
                "All limits, with their reasons, are in\n"
                ".Pa SECURITY.md\n"
                "of the sources; the formats themselves are specified in\n"
                ".Pa docs/format .\n"
                ".Sh SEE ALSO\n"
                ".Xr traceloom 1 ,\n"
                ".Xr traceloom-convert 1 ,\n"
                ".Xr traceloom-info 1 ,\n"
                ".Xr traceloom-record 1 ,\n"
                ".Xr traceloom-report 1\n");
}
