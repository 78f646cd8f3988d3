/* Fuzz target: SQL over a small log of calls. */
#include "fuzz_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A basic log of 64 calls by two threads. */
static tl_source *open_log(void)
{
    enum { RECORDS = 128, SIZE = 32 };
    static uint8_t log[SIZE * (RECORDS + 1)] = {1, 0, 0, 0, 3, 0, 0, 0, 0, 0xca, 0x9a, 0x3b};
    for (int i = 0; i < RECORDS; i++) {
        uint8_t *p = log + SIZE * (i + 1);
        p[3] = (uint8_t)(i % 2);         /* entry or exit */
        p[4] = (uint8_t)(1 + i / 4 % 5); /* function */
        p[8] = (uint8_t)i;               /* time, x 256 below */
        p[9] = (uint8_t)(i / 3);
        p[16] = (uint8_t)(7 + i / 2 % 2); /* thread */
    }
    return fuzz_open(log, sizeof log, "xray-basic", false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_source *source = open_log();
    promise(source != NULL, "the log can be read");
    tl_query *q = fuzz_query_open(&source);
    char *sql = malloc(size + 1);
    if (q && sql) {
        if (size > 0)
            memcpy(sql, data, size);
        sql[size] = '\0';
        fuzz_query_text(q, sql);
        fuzz_query_text(q, "SELECT count(*) FROM events"); /* the session goes on */
    }
    free(sql);
    tl_query_close(q);
    tl_source_close(source);
    return 0;
}
