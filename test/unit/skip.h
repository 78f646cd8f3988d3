/* A test that cannot run here says why. */
#ifndef TL_UNIT_SKIP_H
#define TL_UNIT_SKIP_H

/* Ends the test; tools/run-ctest.sh lists the reasons. Behind cmocka.h. */
#define skip_because(reason)                                                                                           \
    do {                                                                                                               \
        print_message("skipped: %s\n", reason);                                                                        \
        skip();                                                                                                        \
    } while (0)

#endif
