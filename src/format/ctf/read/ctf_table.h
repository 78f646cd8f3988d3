/* The table of a trace: names of functions and of tracks, in a stream of its own.
 *
 * Events contain numbers of functions, and file names cannot hold every name of a track. Both kinds of names are stored
 * once, in the file "functions" of the folder: events of two classes with the fields below. For other readers it is an
 * ordinary stream. */
#ifndef TL_FORMAT_CTF_TABLE_H
#define TL_FORMAT_CTF_TABLE_H

#include "format/ctf/read/ctf_file.h"

/* Its file, stream class and section. */
#define CTF_TABLE "functions"

enum ctf_table_entry { CTF_TABLE_FUNCTION, CTF_TABLE_TRACK, CTF_TABLE_CLASSES };

/* Fields, in the order of the classes: an empty name is an unknown one. */
enum ctf_table_function {
    CTF_FUNCTION_ID,
    CTF_FUNCTION_ADDRESS,
    CTF_FUNCTION_LINE,
    CTF_FUNCTION_NAME,
    CTF_FUNCTION_LINKAGE_NAME,
    CTF_FUNCTION_FILE,
    CTF_FUNCTION_MODULE,
    CTF_FUNCTION_FIELDS
};
enum ctf_table_track {
    CTF_TRACK_FILE, /* of the stream, in the same folder */
    CTF_TRACK_NAME,
    CTF_TRACK_HAS, /* 1: process, 2: thread */
    CTF_TRACK_PID,
    CTF_TRACK_TID,
    CTF_TRACK_FIELDS
};

extern const tl_class ctf_table_class[CTF_TABLE_CLASSES];

#endif
