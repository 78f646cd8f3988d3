/* Finds the format that an option or a suffix means, or suggests one. */
#include "cli/formats_of.h"

#include <string.h>
#include <sys/stat.h>

#include "base/text/number.h"
#include "cli/message.h"
#include "cli/nearest.h"

#define CANDIDATES_MAX 64u /* more than there will be formats */

int tl_check_format_name(const char *option, const char *name, unsigned can)
{
    const char *candidate[CANDIDATES_MAX];
    size_t n = 0;
    bool known = false;
    for (uint32_t i = 0; i < tl_formats() && n < CANDIDATES_MAX; i++) {
        const tl_format_info *f = tl_format_get(i);
        bool same = strcmp(f->name, name) == 0;
        if (same && (f->can & can))
            return TL_EXIT_DONE;
        known = known || same;
        if (f->can & can)
            candidate[n++] = f->name;
    }
    const char *verb = can & (TL_CAN_READ_EVENTS | TL_CAN_READ_PROFILE) ? "read" : "written";
    const char *nearest = tl_nearest(name, candidate, n);
    if (known)
        tl_say_error(NULL, "%s %s: this format cannot be %s; traceloom help formats lists those that can", option, name,
                     verb);
    else if (nearest)
        tl_say_error(NULL, "%s %s: there is no such format; did you mean %s?", option, name, nearest);
    else
        tl_say_error(NULL, "%s %s: there is no such format; traceloom help formats lists them", option, name);
    return TL_EXIT_USAGE;
}

int tl_output_format(const tl_cli *c, unsigned first, const tl_format **out)
{
    const tl_arguments *a = c->args;
    const unsigned any = TL_CAN_WRITE_EVENTS | TL_CAN_WRITE_PROFILE;
    *out = NULL;
    if (a->to) {
        int status = tl_check_format_name("--to", a->to, any);
        *out = status ? NULL : tl_format_by_name(a->to);
        return status;
    }
    if (tl_to_stdout(a))
        return TL_EXIT_DONE;
    *out = tl_format_by_suffix(a->output, first);
    if (!*out)
        *out = tl_format_by_suffix(a->output, any);
    return TL_EXIT_DONE;
}

void tl_say_written(const tl_cli *c, const char *path)
{
    struct stat st;
    char bytes[32];
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode))
        tl_say(c, NULL, "wrote %s", path);
    if (!S_ISREG(st.st_mode))
        return;
    tl_say(c, NULL, "wrote %s (%s)", path, tl_human_bytes(bytes, sizeof bytes, (uint64_t)st.st_size));
}
