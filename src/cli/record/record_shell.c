/* Counts the functions of libraries by the tables of their call frames, without planning them. */
#include "cli/record/record_shell.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/elf/elf_segments.h"
#include "base/endian.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "cli/message.h"
#include "cli/record/record_needed.h"
#include "patch/patch_select.h"

/* A program is a shell of a library if it has fewer functions, and the library this many times as many. */
#define FEW   100u
#define TIMES 100u

/* Every program needs them: what is of interest is hardly there. */
static bool is_of_system(const char *path)
{
    static const char *const names[] = {"libc.",      "libm.",      "libpthread.", "libdl.",    "librt.",
                                        "libutil.",   "libresolv.", "libstdc++.",  "libgcc_s.", "libc++.",
                                        "libc++abi.", "ld-",        "libgomp.",    "libatomic."};
    const char *base = tl_base_name(path);
    for (size_t i = 0; i < TL_COUNT(names); i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_selected(const tl_record *r, const char *path)
{
    const tl_words *libs = &r->cli->args->libs;
    for (size_t i = 0; i < libs->n; i++)
        if (patch_selects_library(libs->word[i], path, tl_glob))
            return true;
    return false;
}

/* Entries of the search table in .eh_frame_hdr, as all linkers make it; 0: none. */
static uint64_t call_frames(const char *path)
{
    enum { BYTES = 12, VERSION = 1, PC_RELATIVE_4 = 0x1b, UNSIGNED_4 = 0x03, AT = 8 };
    tl_elf_segments s;
    tl_error ignored = {0};
    uint8_t head[BYTES];
    uint64_t n = 0;
    if (tl_elf_segments_read(&s, path, &ignored) < 0)
        return 0;
    const tl_elf_segment *table = tl_elf_segment_find(&s, PT_GNU_EH_FRAME);
    if (table && !s.big && tl_elf_segments_bytes(&s, table->offset, head, sizeof head, &ignored) == 0 &&
        head[0] == VERSION && head[1] == PC_RELATIVE_4 && head[2] == UNSIGNED_4)
        n = tl_load32(head + AT, false);
    tl_elf_segments_free(&s);
    return n;
}

/* "libpython3.11*" of "libpython3.11.so.1.0". */
static void make_pattern(char *out, size_t size, const char *base)
{
    const char *end = strstr(base, ".so");
    snprintf(out, size, "%.*s*", (int)(end ? end - base : (int)strlen(base)), base);
}

void tl_record_say_shell(const tl_record *r, const char *program, uint64_t functions)
{
    tl_needed needed;
    tl_error ignored = {0};
    const char *best = NULL;
    uint64_t most = 0;
    if (functions >= FEW || tl_needed_find(&needed, program, &ignored) < 0)
        return;
    for (size_t i = 0; i < needed.direct; i++) {
        const char *path = needed.path[i];
        const uint64_t n = is_of_system(path) || is_selected(r, path) ? 0 : call_frames(path);
        best = n > most ? path : best;
        most = n > most ? n : most;
    }
    if (best && most >= TIMES * (functions ? functions : 1)) {
        char pattern[NAME_MAX + 2], a[32], b[32];
        make_pattern(pattern, sizeof pattern, tl_base_name(best));
        tl_say(r->cli, NULL, "%s itself has %s %s, and %s about %s: --libs '%s' records these, too",
               tl_base_name(program), tl_human_grouped(a, sizeof a, functions),
               functions == 1 ? "function" : "functions", tl_base_name(best), tl_human_grouped(b, sizeof b, most),
               pattern);
    }
    tl_needed_free(&needed);
}
