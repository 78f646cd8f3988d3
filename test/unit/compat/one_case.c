/* Linked into every unit test: the environment variable TL_CASE names the only case to run. */
#include "../check.h"

__attribute__((constructor)) static void choose_case(void)
{
    const char *name = getenv("TL_CASE");
    if (name != NULL && *name != '\0')
        cmocka_set_test_filter(name);
}
