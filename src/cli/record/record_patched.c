/* Says what was patched, as the recording has it. */
#include <string.h>
#include <sys/stat.h>

#include "base/text/glob.h"
#include "cli/message.h"
#include "cli/record/record.h"
#include "cli/record/record_shell.h"
#include "model/patched.h"
#include "patch/patch_select.h"
#include "traceloom/source.h"
#include "traceloom/trace.h"

#define OBJECTS_SHOWN 4u                 /* the program, and some libraries */
#define READ_BYTES    (INT64_C(1) << 30) /* larger files are not read for that alone */

/* Patterns of libraries that did nothing. */
static void say_unmatched(const tl_record *r, const tl_patched *o, uint32_t n)
{
    const tl_words *libs = &r->cli->args->libs;
    for (size_t k = 0; k < libs->n; k++) {
        bool matched = false;
        for (uint32_t i = 0; i < n && !matched; i++)
            matched = o[i].path && patch_selects_library(libs->word[k], o[i].path, tl_glob);
        if (!matched)
            tl_say(r->cli, NULL, "no library that matches %s was patched", libs->word[k]);
    }
}

static void say_objects(const tl_record *r, const tl_trace *t)
{
    uint32_t n;
    const tl_patched *o = tl_trace_patched(t, &n);
    char text[TL_PATCHED_TEXT];
    for (uint32_t i = 0; i < n && i < OBJECTS_SHOWN; i++)
        tl_say(r->cli, NULL, "patched %s%s", tl_patched_text(text, &o[i]),
               o[i].late || o[i].why ? " (--dry-run says which)" : "");
    if (n > OBJECTS_SHOWN)
        tl_say(r->cli, NULL, "patched %u more %s", n - OBJECTS_SHOWN, n - OBJECTS_SHOWN == 1 ? "library" : "libraries");
    say_unmatched(r, o, n);
    for (uint32_t i = 0; i < n; i++)
        if (o[i].path && tl_trace_exe(t) && strcmp(o[i].path, tl_trace_exe(t)) == 0)
            tl_record_say_shell(r, o[i].path, o[i].functions);
}

void tl_record_say_patched(const tl_record *r)
{
    const tl_open_options reading = {.no_names = true};
    char path[PATH_MAX];
    struct stat st;
    tl_source *s = NULL;
    tl_error ignored = {0};
    unsigned mode = 1;
    while (mode < 1u << TL_RECORD_MODES && !(r->modes & mode))
        mode <<= 1;
    if (lstat(tl_record_path(r, mode, "", path), &st) != 0 &&
        lstat(tl_record_path(r, mode, TL_RECORD_LIVE, path), &st) != 0)
        return;
    if (r->cli->args->quiet || r->way == TL_WAY_LINKED || st.st_size > READ_BYTES ||
        tl_source_open(&s, path, &reading, &ignored) < 0)
        return;
    say_objects(r, tl_source_trace(s));
    tl_source_close(s);
}
