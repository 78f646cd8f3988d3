/* Runs the probe of every format on files: exactly one must win, and it must be the right one.
 *     probe_all FORMAT=FILE... */
#include <stdio.h>
#include <string.h>

#include "model/format_impl.h"

static int probe_file(const char *format, const char *path)
{
    static uint8_t head[TL_PROBE_SIZE];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        return 1;
    }
    tl_probe probe = {.head = head, .size = fread(head, 1, sizeof(head), file)};
    fseek(file, 0, SEEK_END);
    probe.total = (uint64_t)ftell(file);
    fclose(file);
    int claims = 0, wrong = 0;
    for (const tl_format *const *f = tl_format_list; *f != NULL; f++) {
        const int evidence = (*f)->probe != NULL ? (*f)->probe(&probe) : 0;
        if (evidence == 0)
            continue;
        claims++;
        if (strcmp((*f)->name, format) != 0)
            wrong++;
    }
    if (claims == 1 && wrong == 0)
        return 0;
    printf("FAILED: %s: %d formats claim it, %d of them wrongly; expected only %s\n", path, claims, wrong, format);
    return 1;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL)
            return 2;
        *equals = '\0';
        failed += probe_file(argv[i], equals + 1);
    }
    printf("%d files, %d failed\n", argc - 1, failed);
    return failed > 0 || argc < 2;
}
