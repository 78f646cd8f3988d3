/* What a stream needs of the memory that was there before its first instruction: the bytes that are loaded, or
 * executed, before the stream itself loads or stores them. */
#ifndef TL_XTRACE_TOUCH_H
#define TL_XTRACE_TOUCH_H

#include "base/shadow.h"

/* Pages that one is allowed to have touched: with what is kept of each, 600 MB. */
#define XTRACE_TOUCH_PAGES (1u << 17)

/* Called for bytes that the memory before has to hold. Returns < 0 to stop. */
typedef int xtrace_need(void *arg, uint64_t address, const uint8_t *data, size_t n, tl_error *e);

enum { XTRACE_TOUCH_STORES = 8, XTRACE_TOUCH_FETCHES = 1024 };

typedef struct xtrace_touch {
    tl_shadow *touched; /* which bytes are known is all that counts */
    xtrace_need *need;
    void *arg;
    struct {
        uint64_t address;
        size_t n;
    } store[XTRACE_TOUCH_STORES]; /* of the last instruction: an exclusive one may turn out not to have stored */
    uint32_t nstore;
    struct {
        uint64_t pc;
        uint32_t op;
        bool used;
    } fetched[XTRACE_TOUCH_FETCHES]; /* so that loops cost nothing */
} xtrace_touch;

int xtrace_touch_init(xtrace_touch *t, xtrace_need *need, void *arg, tl_error *e);
void xtrace_touch_fini(xtrace_touch *t); /* also of zeroed memory */

/* The events of a stream in its order. */
int xtrace_touch_insn(xtrace_touch *t, bool has_pc, uint64_t pc, uint32_t op, tl_error *e);
int xtrace_touch_load(xtrace_touch *t, uint64_t address, const uint8_t *data, size_t n, tl_error *e);
int xtrace_touch_store(xtrace_touch *t, uint64_t address, size_t n, tl_error *e);
/* The exclusive store of the last instruction did not store. */
void xtrace_touch_failed(xtrace_touch *t);

#endif
