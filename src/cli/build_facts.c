/* traceloom --version: the version of this build, and its optional parts. */
#include <stdio.h>
#include <string.h>

#include "base/io/output.h"
#include "base/text/json_write.h"
#include "cli/message.h"
#include "cli/verbs.h"
#include "traceloom/format.h"

#if defined TL_HAVE_ZLIB && __has_include(<zlib.h>)
#include <zlib.h>
#define ZLIB zlibVersion()
#elif defined TL_HAVE_ZLIB
#define ZLIB NULL
#endif
#if defined TL_HAVE_ZSTD && __has_include(<zstd.h>)
#include <zstd.h>
#define ZSTD ZSTD_versionString()
#elif defined TL_HAVE_ZSTD
#define ZSTD NULL
#endif
#if defined TL_HAVE_BZIP2 && __has_include(<bzlib.h>)
#include <bzlib.h>
#define BZIP2 BZ2_bzlibVersion()
#elif defined TL_HAVE_BZIP2
#define BZIP2 NULL
#endif
#if defined TL_HAVE_LIBDW && __has_include(<elfutils/libdwfl.h>)
#include <elfutils/libdwfl.h>
#define LIBDW dwfl_version(NULL)
#elif defined TL_HAVE_LIBDW
#define LIBDW NULL
#endif
#if defined TL_HAVE_SQLITE && __has_include(<sqlite3.h>)
#include <sqlite3.h>
#define SQLITE sqlite3_libversion()
#elif defined TL_HAVE_SQLITE
#define SQLITE NULL
#endif
#ifdef __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#ifdef TL_WITH_RECORDER
enum { HAS_RECORDER = true };
#else
enum { HAS_RECORDER = false };
#endif

#define VERSION_SIZE 24u /* "1.0.8, 13-Jul-2019" is shown up to the comma */
#define NAME_SIZE    40u

typedef struct library {
    const char *name, *version; /* version: as reported by the library, or NULL */
    const char *note;           /* a note after both, or NULL */
} library;

/* Fills in the libraries of this build; returns how many there are. */
static size_t libraries(library out[static 10])
{
    size_t n = 0;
    (void)out; /* without any of them */
#ifdef ZLIB
    out[n++] = (library){.name = "zlib", .version = ZLIB};
#endif
#ifdef ZSTD
    out[n++] = (library){.name = "zstd", .version = ZSTD};
#endif
#ifdef BZIP2
    out[n++] = (library){.name = "bzip2", .version = BZIP2};
#endif
#ifdef LIBDW
    out[n++] = (library){.name = "libdw", .version = LIBDW};
#endif
#ifdef TL_HAVE_DEMANGLE
    out[n++] = (library){.name = "libiberty"};
#endif
#ifdef SQLITE
    out[n++] = (library){.name = "SQLite", .version = SQLITE};
#endif
#ifdef TL_HAVE_LIBEDIT
    out[n++] = (library){.name = "libedit"};
#endif
#ifdef TL_HAVE_SERVE
    out[n++] = (library){.name = "libmicrohttpd"};
#endif
#ifdef TL_HAVE_CURL
    out[n++] = (library){.name = "libcurl"};
#endif
#ifdef TL_HAVE_LLVM
    out[n++] = (library){.name = "LLVM", .note = " (where it is installed)"};
#endif
    return n;
}

static const char *version_of(const library *l, char buf[static VERSION_SIZE])
{
    if (!l->version)
        return NULL;
    snprintf(buf, VERSION_SIZE, "%.*s", (int)strcspn(l->version, ", "), l->version);
    return buf;
}

/* Names of formats follow from the symbols in the list of all, including those missing in this build. */
#define TL_FORMAT(symbol) #symbol,
static const char *const known[] = {
#include "formats.def"
    NULL};
#undef TL_FORMAT

/* The next format that was left out, or NULL. */
static const char *next_missing(size_t *at, char name[static NAME_SIZE])
{
    while (known[*at]) {
        snprintf(name, NAME_SIZE, "%s", known[(*at)++] + strlen("tl_format_"));
        for (char *c = name; *c; c++)
            *c = *c == '_' ? '-' : *c;
        bool there = false;
        for (uint32_t i = 0; i < tl_formats(); i++)
            there = there || strcmp(tl_format_get(i)->name, name) == 0;
        if (!there)
            return name;
    }
    return NULL;
}

static void put_text(tl_output *out)
{
    library l[10];
    char text[NAME_SIZE];
    const size_t n = libraries(l);
    tl_output_printf(out, "traceloom %s\n", tl_version());
    tl_output_puts(out, "libraries  ");
    for (size_t i = 0; i < n; i++) {
        const char *version = version_of(&l[i], text);
        tl_output_printf(out, "%s%s%s%s%s", i ? ", " : "", l[i].name, version ? " " : "", version ? version : "",
                         l[i].note ? l[i].note : "");
    }
    tl_output_printf(out, "%s\n", n ? "" : "none");
    size_t at = 0;
    const char *missing = next_missing(&at, text);
    tl_output_printf(out, "formats    %s%u%s", missing ? "" : "all ", (unsigned)tl_formats(),
                     missing ? ", without " : "");
    for (const char *comma = ""; missing; missing = next_missing(&at, text), comma = ", ")
        tl_output_printf(out, "%s%s", comma, missing);
    tl_output_printf(out, "\nrecorder   %s\ncompiler   %s\n", HAS_RECORDER ? "built" : "not built", COMPILER);
}

static void put_json(tl_output *out)
{
    library l[10];
    char text[NAME_SIZE];
    const size_t n = libraries(l);
    tl_json j;
    tl_json_init(&j, out);
    tl_json_object(&j);
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key_string(&j, "version", tl_version());
    tl_json_key(&j, "libraries");
    tl_json_array(&j);
    for (size_t i = 0; i < n; i++) {
        tl_json_object(&j);
        tl_json_key_string(&j, "name", l[i].name);
        tl_json_key_string(&j, "version", version_of(&l[i], text));
        tl_json_object_end(&j);
    }
    tl_json_array_end(&j);
    tl_json_key(&j, "formats");
    tl_json_array(&j);
    for (uint32_t i = 0; i < tl_formats(); i++)
        tl_json_string(&j, tl_format_get(i)->name);
    tl_json_array_end(&j);
    tl_json_key(&j, "without");
    tl_json_array(&j);
    size_t at = 0;
    while (next_missing(&at, text))
        tl_json_string(&j, text);
    tl_json_array_end(&j);
    tl_json_key(&j, "recorder");
    tl_json_bool(&j, HAS_RECORDER);
    tl_json_key_string(&j, "compiler", COMPILER);
    tl_json_object_end(&j);
    tl_output_puts(out, "\n");
}

int tl_print_version(bool json)
{
    tl_output *out = NULL;
    tl_error e = {0};
    if (tl_output_open(&out, "-", false, TL_PLAIN, 0, &e) < 0)
        return tl_say_failure(NULL, &e);
    json ? put_json(out) : put_text(out);
    const int status = tl_output_finish(out, &e);
    tl_output_close(out);
    return status < 0 ? tl_say_failure(NULL, &e) : TL_EXIT_DONE;
}
