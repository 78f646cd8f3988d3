/* Says what was patched, as the recording's notes have it. */
#include <string.h>
#include <sys/stat.h>

#include "cli/message.h"
#include "cli/record/record.h"
#include "traceloom/source.h"
#include "traceloom/trace.h"

#define OBJECTS_SHOWN 4u                 /* the program, and some libraries */
#define READ_BYTES    (INT64_C(1) << 30) /* larger files are not read for that alone */

/* "gzip: 122 of 123 functions; left out: ...": the counts of one object. */
static void say_object(const tl_record *r, const tl_value *v)
{
    static const char out[] = "left out", names[] = "--dry-run";
    const bool more = memmem(v->as.p, v->n, out, sizeof out - 1) && !memmem(v->as.p, v->n, names, sizeof names - 1);
    tl_say(r->cli, NULL, "patched %.*s%s", (int)v->n, (const char *)v->as.p, more ? " (--dry-run says which)" : "");
}

static void say_header(const tl_record *r, const tl_trace *t)
{
    const tl_field *field;
    uint32_t n;
    const tl_value *v = tl_trace_header(t, &field, &n);
    for (uint32_t i = 0; v && i < n; i++, v++) { /* a struct owns the values behind it, which are no structs */
        const uint32_t members = v->type == TL_STRUCT ? v->n : 0;
        const bool patched = strcmp(field[i].name, "patched") == 0;
        for (uint32_t k = 1; k <= members && k <= OBJECTS_SHOWN && patched; k++)
            if (v[k].type == TL_STRING)
                say_object(r, &v[k]);
        if (patched && members > OBJECTS_SHOWN)
            tl_say(r->cli, NULL, "patched %u more libraries", members - OBJECTS_SHOWN);
        v += members;
    }
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
    say_header(r, tl_source_trace(s));
    tl_source_close(s);
}
