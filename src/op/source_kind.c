/* Which format a file or a folder has: every format is asked, by content. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "op/source_kind.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The format with the most evidence so far. */
typedef struct contest {
    const tl_format *best, *rival; /* rival: another one with the same evidence */
    int most;
} contest;

static void bid(contest *c, const tl_format *f, int evidence)
{
    if (evidence > c->most) {
        *c = (contest){.best = f, .most = evidence};
    } else if (evidence == c->most && evidence > 0) {
        c->rival = f;
    }
}

static void bid_all(contest *c, const tl_probe *probe)
{
    for (const tl_format *const *f = tl_format_list; *f; f++)
        bid(c, *f, (*f)->reader && (*f)->reader->probe ? (*f)->reader->probe(probe) : 0);
}

static void bid_folder(contest *c, const tl_folder *folder)
{
    for (const tl_format *const *f = tl_format_list; *f; f++)
        bid(c, *f, (*f)->reader && (*f)->reader->probe_folder ? (*f)->reader->probe_folder(folder) : 0);
}

static int tie(const contest *c, uint64_t offset, tl_error *e)
{
    return tl_fail(e, TL_EFORMAT, offset, "could be %s or %s; choose with --from", c->best->name, c->rival->name);
}

/* Time, in ms, for an input that is followed to show its format. */
enum { PATIENCE = 5000 };

/* Waits for more than `known` bytes of an input that is followed. 1: there are some, 0: none came, < 0: error. If there
 * are fewer than its size says, it became shorter, and waiting is useless. */
static int wait_for_more(tl_input *in, size_t known, tl_error *e)
{
    bool ended;
    if (!tl_input_follows(in) || tl_input_size(in) > known)
        return 0;
    int status = tl_input_wait(in, known, PATIENCE, &ended, e);
    return status < 0 ? status : tl_input_size(in) > known;
}

static int no_format(const tl_input *in, const uint8_t *head, size_t got, tl_error *e)
{
    enum { SHOWN = 4 };
    const bool is_elf = got >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
    const char *hint = tl_input_follows(in) ? "; choose the format of an input to come with --from"
                       : is_elf             ? "; it is a binary, which goes with its trace as -e"
                                            : "";
    char bytes[3 * SHOWN + 1] = "";
    if (got == 0)
        return tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "the file is empty; expected a trace%s", hint);
    for (size_t i = 0; i < got && i < SHOWN; i++)
        snprintf(bytes + 3 * i, sizeof bytes - 3 * i, " %02x", head[i]);
    return tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "unrecognised format (starts with%s)%s", bytes, hint);
}

/* Asks every format; the one with the most evidence wins, a draw is an error. The name of an empty file decides. */
int tl_find_format(const tl_format **out, tl_input *in, tl_error *e)
{
    uint8_t head[TL_PROBE_SIZE];
    size_t got = 0;
    contest c;
    int status;
    do {
        status = tl_input_read(in, 0, head, sizeof head, &got, e);
        if (status < 0)
            return status;
        c = (contest){.best = got ? NULL : tl_format_of_empty(tl_input_path(in))};
        const tl_probe probe = {.head = head, .size = got, .total = tl_input_size(in), .path = tl_input_path(in)};
        if (got)
            bid_all(&c, &probe);
    } while ((!c.best || c.rival) && got < sizeof head && (status = wait_for_more(in, got, e)) > 0);
    if (status < 0)
        return status;
    if (c.rival)
        return tie(&c, 0, e);
    if (!c.best)
        return no_format(in, head, got, e);
    *out = c.best;
    return 0;
}

/* The same for a folder. */
int tl_find_folder_format(const tl_format **out, const tl_folder *folder, tl_error *e)
{
    contest c = {0};
    bid_folder(&c, folder);
    if (c.rival)
        return tie(&c, TL_NO_OFFSET, e);
    if (!c.best)
        return tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "no recognised trace in this folder");
    *out = c.best;
    return 0;
}

bool tl_path_is_folder(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int tl_folder_is_trace(const char *path, tl_error *e)
{
    tl_folder *folder = NULL;
    const int status = tl_folder_open(&folder, path, e);
    if (status == TL_EUNSUPPORTED || (status == TL_EIO && e->sys_errno == EACCES))
        return 0;
    if (status < 0)
        return status;
    contest c = {0};
    bid_folder(&c, folder);
    tl_folder_close(folder);
    return c.best != NULL;
}

/* A compressed file is not decompressed for this: a large trace would take long. */
int tl_file_holds_profile(const char *path, tl_error *e)
{
    uint8_t head[TL_PROBE_SIZE];
    size_t got = 0;
    contest c = {0};
    tl_input *in = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int status = fd < 0 ? tl_fail_errno(e, errno, "%s", path) : tl_input_open_file(&in, fd, path, e);
    if (status == 0 && (status = tl_input_read(in, 0, head, sizeof head, &got, e)) < 0)
        tl_error_context(e, "%s", path);
    if (got > 0)
        bid_all(&c, &(tl_probe){.head = head, .size = got, .total = tl_input_size(in), .path = path});
    tl_input_close(in);
    return status < 0 ? status : c.best && !c.rival && c.best->reader->profile;
}
