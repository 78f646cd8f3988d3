/* The list of inputs, which goes to all ranks as text. */
#include "mpi/fleet_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "base/io/content_id.h"
#include "cli/message.h"
#include "traceloom/format.h"

/* A group is what a run that dies loses of each rank, and what ranks share the work by. Of profiles of 25 KiB it takes
 * a quarter of a second; adding it to others and keeping its part takes 20 ms, as 40 such files do. */
enum { GROUP_FILES = 512, FEW_GROUPS = 64, MANY_GROUPS = 4096 };

#define WALKED '+'
#define NAMED  '-'

static void add(tl_fleet_list *l, const tl_profile_file *file)
{
    const size_t n = strlen(file->path) + 1;
    if (!TL_GROW(l->text.data, l->text.n, n + 1, l->capacity))
        tl_rank_no_memory("the list of inputs");
    l->text.data[l->text.n] = file->walked ? WALKED : NAMED;
    memcpy(l->text.data + l->text.n + 1, file->path, n);
    l->text.n += n + 1;
}

int tl_fleet_list_make(tl_fleet_list *l, const tl_cli *c, tl_profile_files *files)
{
    tl_profile_file file;
    tl_error e;
    int status = TL_EXIT_DONE;
    for (uint64_t i = 0;; i++) {
        const int there = tl_profile_files_get(files, i, &file, &e);
        if (there == 0)
            return TL_EXIT_DONE;
        if (there > 0)
            add(l, &file);
        else
            status = tl_say_failure(NULL, &e);
        free(file.path);
        if (there < 0 && (c->args->strict || e.code == TL_ENOMEM))
            return status;
        if (there < 0) {
            l->start.files++;
            l->start.unread++;
            l->start.losses = TL_EXIT_DAMAGED;
        }
    }
}

static size_t groups_of(size_t n)
{
    const size_t groups = n / GROUP_FILES;
    if (groups < FEW_GROUPS)
        return n < FEW_GROUPS ? n : FEW_GROUPS;
    return groups < MANY_GROUPS ? groups : MANY_GROUPS;
}

void tl_fleet_list_share(tl_fleet_list *l)
{
    size_t have = 0, have_walked = 0;
    tl_rank_share(&l->text);
    for (size_t at = 0; at < l->text.n; at += strlen((const char *)l->text.data + at) + 1) {
        if (!TL_GROW(l->path, l->n, 1, have) || !TL_GROW(l->walked, l->n, 1, have_walked))
            tl_rank_no_memory("the list of inputs");
        l->walked[l->n] = l->text.data[at] == WALKED;
        l->path[l->n++] = (const char *)l->text.data + at + 1;
    }
    l->groups = groups_of(l->n);
}

void tl_fleet_list_group(const tl_fleet_list *l, size_t group, size_t *from, size_t *to)
{
    const size_t each = l->n / l->groups, more = l->n % l->groups; /* the first ones have a file more */
    *from = group * each + (group < more ? group : more);
    *to = *from + each + (group < more);
}

static void add_text(tl_digest *d, const char *s)
{
    tl_digest_add(d, s ? s : "", (s ? strlen(s) : 0) + 1);
}

bool tl_fleet_list_key(const tl_fleet_list *l, size_t group, const tl_arguments *a, tl_part_key *key)
{
    size_t from, to;
    tl_digest d;
    tl_error e;
    tl_digest_begin(&d, TL_DIGEST_SHA256);
    add_text(&d, tl_version());
    add_text(&d, a->clock);
    add_text(&d, a->by);
    add_text(&d, a->from);
    add_text(&d, a->strict ? "strict" : NULL);
    add_text(&d, a->no_demangle ? "no-demangle" : NULL);
    tl_fleet_list_group(l, group, &from, &to);
    for (size_t i = from; i < to; i++) {
        tl_content_state look;
        uint8_t number[16];
        if (tl_content_look(&look, l->path[i], &e) < 0)
            return false;
        tl_store64(number, look.bytes, false);
        tl_store64(number + 8, look.changed, false);
        add_text(&d, l->path[i]);
        tl_digest_add(&d, l->walked[i] ? "+" : "-", 1);
        tl_digest_add(&d, number, sizeof number);
    }
    tl_digest_end(&d, key->byte);
    return true;
}

void tl_fleet_list_fini(tl_fleet_list *l)
{
    free(l->text.data);
    free(l->path);
    free(l->walked);
    *l = (tl_fleet_list){0};
}
