/* Opens libraries one after another, and calls all() of each that has one, which prints what was called: patch_opens
 * LIBRARY ... */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
        void (*all)(void);
        *(void **)&all = dlsym(library, "crowd_all");
        if (all)
            all();
    }
    return 0;
}
