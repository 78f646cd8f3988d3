/* Names of recordings of instructions, which are folders. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/folder.h"
#include "cli/insn/insn_record.h"
#include "cli/message.h"

bool tl_insn_remove(const char *path)
{
    tl_folder *f = NULL;
    tl_error e = {0};
    char name[2 * PATH_MAX];
    bool ok = tl_folder_open(&f, path, &e) == 0;
    for (uint32_t i = 0; ok && i < f->n; i++)
        ok = strncmp(f->file[i].name, "xtrace.", 7) == 0 && !strchr(f->file[i].name, '/');
    for (uint32_t i = 0; ok && i < f->n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, f->file[i].name);
        ok = unlink(name) == 0;
    }
    tl_folder_close(f);
    return ok && rmdir(path) == 0;
}

int tl_insn_plan(tl_record *r)
{
    static const tl_record_kind kind = {
        .suffix = TL_INSN_SUFFIX, .noun = "folder", .content = "a recording of instructions", .remove = tl_insn_remove};
    char path[PATH_MAX];
    const int status = tl_record_plan_one(r, &kind);
    if (status != TL_EXIT_DONE)
        return status;
    if (mkdir(tl_record_one_path(r, &kind, TL_RECORD_LIVE, path), 0777) == 0)
        return TL_EXIT_DONE;
    tl_say_error(path, "the folder cannot be made: %s", strerror(errno));
    return TL_EXIT_RECORD;
}
