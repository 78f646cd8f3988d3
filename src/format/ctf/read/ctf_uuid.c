/* Traces of 1.8 whose metadata has another uuid than their packets.
 *
 * Some tools write new metadata for old data streams, and readers of 1.8 commonly do not compare the two. If the first
 * packets of all files of a unit agree on another uuid, that becomes the trace's, with a note; otherwise the differing
 * packets are reported as usual. In version 2 the metadata is right. */

#include <stdlib.h>
#include <string.h>

#include "format/ctf/read/ctf_reader.h"

#define UUID_SIZE 16u
#define HEAD      4096u /* bytes of a packet that contain the uuid */

/* The result from the files of a unit so far. */
typedef struct verdict {
    enum { NOTHING, AS_METADATA, ANOTHER, DIFFERENT } say;
    uint8_t uuid[UUID_SIZE];
    const ctf_file *file; /* the first with result ANOTHER, ... */
    uint64_t at;          /* ... and where */
} verdict;

static int judge(verdict *v, const ctf_file *f, const uint8_t *head, size_t n, tl_error *e)
{
    ctf_packet p;
    char what[160];
    uint64_t bit = 0;
    const ctf_header_status status = ctf_packet_header(f->unit->plans, head, n, &p, &bit, what);
    if (status != CTF_HEADER_OK)
        return 0;
    if (!p.foreign_uuid) {
        v->say = AS_METADATA;
        return 0;
    }
    if (ctf_header_bit(f->unit->plans, head, n, CTF_ROLE_UUID, &bit, e) < 0)
        return TL_ENOMEM;
    if (v->say == NOTHING) {
        v->say = ANOTHER;
        memcpy(v->uuid, head + bit / 8, UUID_SIZE);
        v->file = f;
        v->at = bit / 8;
    } else if (memcmp(v->uuid, head + bit / 8, UUID_SIZE) != 0) {
        v->say = DIFFERENT;
    }
    return 0;
}

static int look(verdict *v, const ctf_file *f, tl_error *e)
{
    uint8_t head[HEAD + TL_WINDOW_SLACK] = {0};
    size_t n = 0;
    tl_input *in = NULL;
    int status = tl_folder_input(f->folder, f->index, &in, e);
    if (status < 0)
        return status;
    status = tl_input_read(in, 0, head, HEAD, &n, e);
    tl_input_close(in);
    if (status == 0)
        status = judge(v, f, head, n, e);
    return status < 0 ? tl_error_context(e, "%s", f->name), status : 0;
}

int ctf_uuids_open(ctf_reader *r, tl_error *e)
{
    verdict *all = calloc((size_t)r->nunit + 1, sizeof *all);
    int status = all ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare uuids");
    for (uint32_t i = 0; status == 0 && i < r->nfile; i++) {
        const ctf_file *f = &r->file[i];
        verdict *v = &all[f->unit - r->unit];
        if (f->unit->schema.dialect == CTF_1_8 && f->unit->schema.has_uuid && (v->say == NOTHING || v->say == ANOTHER))
            status = look(v, f, e);
    }
    for (uint32_t i = 0; status == 0 && i < r->nunit; i++) {
        if (all[i].say != ANOTHER)
            continue;
        memcpy(r->unit[i].schema.uuid, all[i].uuid, UUID_SIZE);
        status = ctf_report(r->trace, all[i].file, TL_DAMAGE_NOTE, all[i].at, all[i].at, 0, "ctf.uuid",
                            "all files have one uuid, and their metadata another: taken for one trace");
        if (status < 0)
            tl_fail(e, (tl_code)status, all[i].at, "no memory for the list of notes");
    }
    free(all);
    return status;
}
