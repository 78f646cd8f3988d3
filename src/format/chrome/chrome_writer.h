/* Internals of the writer of Chrome trace events, shared by its files. */
#ifndef TL_FORMAT_CHROME_WRITER_H
#define TL_FORMAT_CHROME_WRITER_H

#include "model/label.h"
#include "model/timeline.h"
#include "model/value_json.h"

/* Deepest stack that is written; of deeper ones only the outermost frames. */
#define CHROME_DEPTH_MAX 4096u

typedef struct chrome_writer {
    tl_timeline line;
    tl_labels function; /* "name":"fib" */
    tl_labels cls;      /* "name":"xray.custom" */
    tl_labels track;    /* ,"pid":7,"tid":8,"ts": */
    tl_hash named_pid;  /* processes whose name was written */
    tl_fields fields;
    tl_pb args, text;
    bool any;       /* an event precedes: a comma is due */
    uint64_t apart; /* spans that overlap others */

    /* chrome_samples.c */
    struct chrome_profile *profile; /* [nprofile] by track */
    uint32_t nprofile;
    tl_hash told; /* track << 32 | node -> 1: the profile of the track knows the node */
} chrome_writer;

/* Writing an event in w->text: {"ph":"X" ... } */
tl_pb *chrome_begin_event(chrome_writer *w, char ph);
bool chrome_end_event(chrome_writer *w);
/* ,"pid":7,"tid":8,"ts":0.123 */
bool chrome_put_place(chrome_writer *w, uint32_t track, uint64_t ns);
void chrome_put_string(chrome_writer *w, const char *s); /* "..." */
void chrome_put_id(tl_pb *out, uint64_t v);              /* "0x1f" */
void chrome_put_time(tl_pb *out, uint64_t ns);           /* 0.123 */

/* chrome_managed.c */
bool chrome_write_span(void *writer, const tl_span *s, uint64_t begin, uint64_t end);
bool chrome_write_gauge(void *writer, const tl_gauge *g, uint64_t ns);

/* chrome_samples.c */
bool chrome_write_samples(void *writer, const tl_timeline_samples *s);
/* Ends the last sample of each thread. */
bool chrome_end_profiles(chrome_writer *w);

/* ns as microseconds with three digits. */
TL_ALWAYS_INLINE char *chrome_microseconds(char *p, uint64_t ns)
{
    const unsigned rest = (unsigned)(ns % 1000);
    p = tl_put_u64(p, ns / 1000);
    p[0] = '.';
    p[1] = (char)('0' + rest / 100);
    p[2] = (char)('0' + rest / 10 % 10);
    p[3] = (char)('0' + rest % 10);
    return p + 4;
}

#endif
