/* The table of a trace: names of functions and of tracks, in a stream of its own.
 *
 * Events say functions by number, and files have names that not every track could have. What both are called stands
 * once, in the file "functions" of the folder: events of two classes whose fields are said here. For other readers it
 * is a stream as any other. */
#ifndef TL_FORMAT_CTF_TABLE_H
#define TL_FORMAT_CTF_TABLE_H

#include "format/ctf/read/ctf_file.h"

/* Its file, stream class and section. */
#define CTF_TABLE "functions"

enum ctf_table_entry { CTF_TABLE_FUNCTION, CTF_TABLE_TRACK, CTF_TABLE_CLASSES };

/* Fields, in the order of the classes: a name of no length is one that is not known. */
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
