/* Runs a fuzz target on files, without a fuzzer: replay FILE|FOLDER... It tests the seeds, and every input that once
 * failed, with every compiler and sanitizer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        exit(1);
    }
    const long size = ftell(file);
    rewind(file);
    /* Exactly as large as the file, so that the sanitizer notices any read past its end. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size)
        exit(1);
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 1;
}

static int run_path(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return run_file(path);
    int count = 0;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        char name[4096];
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        count += run_path(name);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++)
        count += run_path(argv[i]);
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
