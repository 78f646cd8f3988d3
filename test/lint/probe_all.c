/* Runs the probe of every format on files and folders: exactly one must win, and it must be the right one.
 *     probe_all FORMAT=PATH...
 * With a '?' before the format it need not win, but no other may. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "model/format_impl.h"

enum { FORMATS_MOST = 64 };

static int judge(const char *format, const char *path, const int evidence[FORMATS_MOST])
{
    const bool maybe = format[0] == '?';
    int claims = 0, wrong = 0;
    for (size_t i = 0; tl_format_list[i] != NULL && i < FORMATS_MOST; i++) {
        claims += evidence[i] != 0;
        wrong += evidence[i] != 0 && strcmp(tl_format_list[i]->name, format + maybe) != 0;
    }
    if ((claims == 1 || (maybe && claims == 0)) && wrong == 0)
        return 0;
    printf("FAILED: %s: %d formats claim it, %d of them wrongly; expected only %s\n", path, claims, wrong, format);
    return 1;
}

static int probe_file(const char *format, const char *path)
{
    static uint8_t head[TL_PROBE_SIZE];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        return 1;
    }
    tl_probe probe = {.path = path, .head = head, .size = fread(head, 1, sizeof(head), file)};
    fseek(file, 0, SEEK_END);
    probe.total = (uint64_t)ftell(file);
    fclose(file);
    int evidence[FORMATS_MOST] = {0};
    for (size_t i = 0; tl_format_list[i] != NULL && i < FORMATS_MOST; i++) {
        const tl_reader *r = tl_format_list[i]->reader;
        evidence[i] = r != NULL && r->probe != NULL ? r->probe(&probe) : 0;
    }
    return judge(format, path, evidence);
}

static int probe_folder(const char *format, const char *path)
{
    tl_folder *folder = NULL;
    tl_error e;
    if (tl_folder_open(&folder, path, &e) < 0) {
        fprintf(stderr, "%s\n", e.message);
        return 1;
    }
    int evidence[FORMATS_MOST] = {0};
    for (size_t i = 0; tl_format_list[i] != NULL && i < FORMATS_MOST; i++) {
        const tl_reader *r = tl_format_list[i]->reader;
        evidence[i] = r != NULL && r->probe_folder != NULL ? r->probe_folder(folder) : 0;
    }
    tl_folder_close(folder);
    return judge(format, path, evidence);
}

static int probe_path(const char *format, const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? probe_folder(format, path) : probe_file(format, path);
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL)
            return 2;
        *equals = '\0';
        failed += probe_path(argv[i], equals + 1);
    }
    printf("%d paths, %d failed\n", argc - 1, failed);
    return failed > 0 || argc < 2;
}
