/* Relations: what can be said about traces, as rows with named, typed columns. What these are, whoever reads them. */
#ifndef TL_MODEL_RELATION_H
#define TL_MODEL_RELATION_H

typedef enum tl_column_type { TL_INTEGER, TL_REAL, TL_TEXT } tl_column_type;

/* What the numbers, or the text, of a column are. */
typedef enum tl_column_unit {
    TL_UNIT_NONE,  /* a number without a unit (a process id), or plain text */
    TL_UNIT_COUNT, /* of calls, samples, objects ... */
    TL_UNIT_TIME,  /* of the trace's clock: nanoseconds, unless it has no frequency */
    TL_UNIT_BYTES,
    TL_UNIT_SHARE, /* 0 .. 1 */
    TL_UNIT_HEX,   /* an address or another number that is written in hexadecimal */
    TL_UNIT_BOOL,  /* 0 or 1 */
    TL_UNIT_JSON   /* text in JSON: a list, or an object */
} tl_column_unit;

typedef struct tl_column_info {
    const char *name;  /* "end_ts": in every output that programs read */
    const char *title; /* "end": on the terminal; NULL: it is not shown there */
    tl_column_type type;
    tl_column_unit unit;
    const char *what; /* one sentence */
} tl_column_info;

/* A relation. */
typedef struct tl_table_info {
    const char *name;    /* "gc": the word of `report --by` */
    const char *summary; /* "garbage collections and their pauses" */
    const char *needs;   /* what it is made of: "calls or samples" */
} tl_table_info;

#endif
