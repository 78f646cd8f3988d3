/* What every unit test includes: cmocka behind the headers that it needs, and skips that give their reason. */
#ifndef TL_UNIT_CHECK_H
#define TL_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Ends the test; tools/run-ctest.sh lists the reasons. */
#define skip_because(reason)                                                                                           \
    do {                                                                                                               \
        print_message("skipped: %s\n", reason);                                                                        \
        skip();                                                                                                        \
    } while (0)

#endif
