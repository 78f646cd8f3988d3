/* Opening traces of make_ctf.h, for tests. */
#ifndef TEST_CTF_SOURCE_H
#define TEST_CTF_SOURCE_H

#include "make_ctf.h"
#include "op/source_impl.h"

/* Opens a block in place of a folder; frees nothing, as the source borrows it. */
static inline tl_source *open_made(const ctf_bytes *folder, const tl_open_options *options)
{
    tl_source *s = NULL;
    tl_error e = {0};
    must(tl_source_open_folder_memory(&s, folder->data, folder->n, "made", options, &e), &e);
    return s;
}

static inline void close_made(tl_source *s, ctf_bytes *folder)
{
    tl_source_close(s);
    free(folder->data);
    *folder = (ctf_bytes){0};
}

/* The track of a name. */
static inline const tl_track *track_of(const tl_source *s, const char *name)
{
    for (uint32_t i = 0; i < s->trace.ntrack; i++)
        if (strcmp(s->trace.track[i].name, name) == 0)
            return &s->trace.track[i];
    fail_msg("no track %s", name);
    return NULL;
}

/* Reads all events of all streams; returns their number. */
static inline uint64_t read_all(tl_source *s)
{
    const tl_batch *b = NULL;
    tl_error e = {0};
    uint64_t n = 0;
    int status;
    while ((status = tl_source_next(s, &b, &e)) > 0)
        n += b->n;
    must(status, &e);
    return n;
}

#endif
