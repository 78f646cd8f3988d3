/* The reader of a folder: its units and files, and the steps of opening it. */
#ifndef TL_FORMAT_CTF_READER_H
#define TL_FORMAT_CTF_READER_H

#include "format/ctf/read/ctf_file.h"

typedef struct ctf_reader {
    const tl_folder *folder;
    tl_trace *trace;
    tl_want want;
    uint64_t *progress;
    tl_arena arena; /* fields and names of classes; data of files */
    ctf_class_list classes;
    ctf_unit *unit; /* those with usable metadata */
    uint32_t nunit;
    ctf_file *file;
    uint32_t nfile;
    ctf_file **stream; /* [nstream] the first file of each */
    uint32_t nstream;
    struct ctf_table_row *table; /* names of tracks, see ctf_table.c */
} ctf_reader;

/* The steps of opening, in this order. */
int ctf_units_open(ctf_reader *r, tl_error *e);  /* reads all metadata, makes plans and classes */
int ctf_files_open(ctf_reader *r, tl_error *e);  /* finds the data stream files */
int ctf_uuids_open(ctf_reader *r, tl_error *e);  /* checks that packets and metadata belong together */
int ctf_clocks_open(ctf_reader *r, tl_error *e); /* maps the clocks of all units to one: the times of files */
int ctf_table_open(ctf_reader *r,
                   tl_error *e); /* removes tables of functions and tracks from the files, and reads them */
int ctf_index_open(ctf_reader *r, tl_error *e); /* scans all packets: points, tracks, ranges, losses */
void ctf_table_name_tracks(ctf_reader *r);      /* from the tables */
void ctf_units_close(ctf_reader *r);

/* The default clock of a stream class in the unit's own metadata, or NULL. */
const ctf_clock *ctf_unit_clock(const ctf_unit *u, uint32_t stream);

#endif
