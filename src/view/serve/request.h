/* What a request of `serve` asks for: its path and query string, read strictly. */
#ifndef TL_VIEW_SERVE_REQUEST_H
#define TL_VIEW_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

#define TL_SERVE_TOKEN      32u    /* hexadecimal digits: 128 bits */
#define TL_SERVE_URI_MAX    16384u /* bytes of path and query: SQL that people type */
#define TL_SERVE_SLOT_MAX   64u    /* bytes of a slot's name */
#define TL_SERVE_ROWS_MAX   10000u /* of `n`: rows of an answer */
#define TL_SERVE_ROWS_USUAL 1000u

typedef enum tl_serve_what {
    TL_SERVE_PAGE,
    TL_SERVE_LIVE,
    TL_SERVE_META,
    TL_SERVE_PROFILE,
    TL_SERVE_SPANS,
    TL_SERVE_TABLE,
    TL_SERVE_CALLS,
    TL_SERVE_EVENTS,
    TL_SERVE_SQL
} tl_serve_what;

typedef struct tl_serve_request {
    tl_serve_what what;
    /* Decoded; NULL: not given. They lie in the URI. */
    const char *by, *cls, *function, *sort, *slot, *sql, *time, *top;
    uint64_t seq;  /* of the slot */
    uint32_t rows; /* at most */
    bool fresh;    /* read the inputs anew */
} tl_serve_request;

/* Reads "/TOKEN/q/table?by=gc&t=1s..2s" in place. Errors: TL_ENOMATCH: nothing is there; TL_ESYNTAX: offset is a byte
 * of the URI. */
int tl_serve_request_parse(tl_serve_request *r, char *uri, const char *token, tl_error *e);

#endif
