/* Prints names that collided while the hash had no key, one a line: collisions N */
#include "old_collisions.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : OLD_NAMES;
    char(*name)[OLD_NAME_BYTES + 1] = malloc(OLD_NAMES * sizeof *name);
    if (!name || n > OLD_NAMES)
        return 1;
    old_collisions(name, n);
    for (unsigned i = 0; i < n; i++) {
        if (old_hash(name[i], OLD_NAME_BYTES) != old_hash(name[0], OLD_NAME_BYTES))
            return 1;
        puts(name[i]);
    }
    free(name);
    return 0;
}
