/* Included by every unit test: cmocka after the headers that it needs, assertions that show what they found, and skips
 * with a reason. */
#ifndef TL_UNIT_CHECK_H
#define TL_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* `call` must succeed; `e` is the pointer to its tl_error. */
#define must(call, e)                                                                                                  \
    do {                                                                                                               \
        if ((call) < 0)                                                                                                \
            fail_msg("%s", (e)->message);                                                                              \
    } while (0)

/* Whether the terminated text, of char or bytes, contains a piece. */
#define assert_contains(text, piece) check_piece(true, text, piece)
#define assert_lacks(text, piece)    check_piece(false, text, piece)
#define check_piece(wanted, text, piece)                                                                                 \
    do {                                                                                                                 \
        const void *check_in = _Generic((text), char *: (text), const char *: (text), uint8_t *: (text),               \
                                        const uint8_t *: (text)); \
        const char *check_for = (piece);                                                                                 \
        if ((strstr(check_in, check_for) != NULL) != (wanted))                                                           \
            fail_msg("\"%s\" is %sin:\n%.4000s", check_for, (wanted) ? "not " : "", (const char *)check_in);             \
    } while (0)

/* Ends the test; tools/run-ctest.sh lists the reasons. */
#define skip_because(reason)                                                                                           \
    do {                                                                                                               \
        print_message("skipped: %s\n", reason);                                                                        \
        skip();                                                                                                        \
    } while (0)

/* Rounds of a test that repeats itself: fewer under valgrind and qemu, where each takes thirty times as long. */
static inline unsigned rounds(unsigned usual)
{
    return getenv("TL_FEW_ROUNDS") ? (usual + 4) / 5 : usual;
}

#endif
