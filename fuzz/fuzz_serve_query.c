/* Fuzz target: addresses that a browser asks the server of a page for. An input is what follows the token. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "view/serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

/* A value lies in the address, and is text. */
static void check_value(const char *value, const char *uri, size_t n, bool is_sql)
{
    if (!value)
        return;
    promise(*value && value > uri && value + strlen(value) <= uri + n, "a value lies in the address");
    for (size_t at = 0, length; at < strlen(value); at += length) {
        length = tl_utf8_length(value + at, strlen(value) - at);
        promise(length > 0, "a value is UTF-8");
        promise((unsigned char)value[at] >= 0x20 || (is_sql && strchr("\t\n\r", value[at])),
                "without control characters");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char token[] = "0123456789abcdef0123456789abcdef";
    char *uri = malloc(size + TL_SERVE_TOKEN + 3), *other;
    tl_serve_request r;
    tl_error e = {0};
    if (!uri)
        return 0;
    snprintf(uri, TL_SERVE_TOKEN + 3, "/%s/", token);
    if (size > 0)
        memcpy(uri + TL_SERVE_TOKEN + 2, data, size);
    uri[TL_SERVE_TOKEN + 2 + size] = '\0';
    const size_t n = strlen(uri);
    other = strdup(uri);
    const int status = tl_serve_request_parse(&r, uri, token, &e);
    promise(status == 0 || e.code == status, "an error carries its code");
    promise(status != TL_ESYNTAX || (e.offset <= n && *e.message), "a mistake has a place in the address");
    if (status == 0) {
        const char *const values[] = {r.by, r.cls, r.function, r.sort, r.slot, r.time, r.top};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            check_value(values[i], uri, n, false);
        check_value(r.sql, uri, n, true);
        promise(r.rows >= 1 && r.rows <= TL_SERVE_ROWS_MAX, "rows are bounded");
        promise(n <= TL_SERVE_URI_MAX, "so is the address");
        promise(r.what != TL_SERVE_SQL || r.sql, "a question has what it needs");
    }
    if (other) { /* another token reaches nothing */
        other[1] ^= 1;
        promise(tl_serve_request_parse(&r, other, token, &e) == (n > TL_SERVE_URI_MAX ? TL_ELIMIT : TL_ENOMATCH),
                "a wrong token reaches nothing");
    }
    free(other);
    free(uri);
    return 0;
}
