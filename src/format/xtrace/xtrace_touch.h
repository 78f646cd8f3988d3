/* The memory from before the first instruction that a stream needs: bytes that are loaded, or executed, before the
 * stream itself loads or stores them. */
#ifndef TL_XTRACE_TOUCH_H
#define TL_XTRACE_TOUCH_H

#include "base/shadow.h"

/* Most pages to touch: with the data kept for each, 600 MB. */
#define XTRACE_TOUCH_PAGES (1u << 17)

/* Called for bytes that the earlier memory must hold. Returns < 0 to stop. */
typedef int xtrace_need(void *arg, uint64_t address, const uint8_t *data, size_t n, tl_error *e);

enum { XTRACE_TOUCH_STORES = 8, XTRACE_TOUCH_FETCHES = 1024 };

typedef struct xtrace_touch {
    tl_shadow *touched; /* only which bytes are known matters */
    xtrace_need *need;
    void *arg;
    struct {
        uint64_t address;
        size_t n;
    } store[XTRACE_TOUCH_STORES]; /* of the last instruction: an exclusive one may not have stored */
    uint32_t nstore;
    struct {
        uint64_t pc;
        uint32_t op;
        bool used;
    } fetched[XTRACE_TOUCH_FETCHES]; /* so that loops cost nothing */
} xtrace_touch;

int xtrace_touch_init(xtrace_touch *t, xtrace_need *need, void *arg, tl_error *e);
void xtrace_touch_fini(xtrace_touch *t); /* also after zeroing */

/* The events of a stream, in order. */
int xtrace_touch_insn(xtrace_touch *t, bool has_pc, uint64_t pc, uint32_t op, tl_error *e);
int xtrace_touch_load(xtrace_touch *t, uint64_t address, const uint8_t *data, size_t n, tl_error *e);
int xtrace_touch_store(xtrace_touch *t, uint64_t address, size_t n, tl_error *e);
/* The exclusive store of the last instruction did not store. */
void xtrace_touch_failed(xtrace_touch *t);

#endif
