/* Which libraries and functions the user's patterns select: the rules of the recorder, and of the command that says
 * beforehand what the recorder would do.
 *
 * `glob` is the caller's matcher of patterns; it is a constant there, so no call is indirect. From anywhere; no
 * function of libc. */
#ifndef PATCH_SELECT_H
#define PATCH_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#define PATCH_INLINE static inline __attribute__((always_inline))

typedef bool patch_glob(const char *pattern, const char *text);

enum { PATCH_OBJECT_NAME = 256 }; /* bytes of an object's file name, with its zero: longer ones match no pattern */

PATCH_INLINE const char *patch_base_name(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/' && path[1])
            base = path + 1;
    return base;
}

/* What follows `with` at the begin of the text; NULL: it begins otherwise. */
PATCH_INLINE const char *patch_behind(const char *text, const char *with)
{
    for (; *with; text++, with++)
        if (*text != *with)
            return NULL;
    return text;
}

/* A pattern of libraries matches the file name or the path. libc, libpthread and libgcc_s must be named: "lib*" is not
 * enough. */
PATCH_INLINE bool patch_selects_library(const char *pattern, const char *path, patch_glob *glob)
{
    static const char *const named[] = {"libc", "libpthread", "libgcc_s"};
    const char *base = patch_base_name(path);
    if (!glob(pattern, base) && !glob(pattern, path))
        return false;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        const char *behind = patch_behind(base, named[i]);
        if (behind && *behind == '.')
            return patch_behind(patch_base_name(pattern), named[i]) != NULL;
    }
    return true;
}

/* The function's part of a pattern "object:function", or all of it; NULL: it is for other objects. Two colons are part
 * of a name of C++. `object` is a file name. */
PATCH_INLINE const char *patch_function_pattern(const char *pattern, const char *object, patch_glob *glob)
{
    char part[PATCH_OBJECT_NAME];
    for (size_t i = 0; pattern[i]; i++) {
        if (pattern[i] == ':' && pattern[i + 1] != ':') {
            if (i == 0)
                return pattern;
            if (i >= sizeof part)
                return NULL;
            for (size_t k = 0; k < i; k++)
                part[k] = pattern[k];
            part[i] = '\0';
            return glob(part, object) ? pattern + i + 1 : NULL;
        }
        while (pattern[i] == ':' && pattern[i + 1] == ':')
            i++;
    }
    return pattern;
}

/* `plain`: another form of the name, or NULL. */
PATCH_INLINE bool patch_selects_function(const char *pattern, const char *object, const char *name, const char *plain,
                                         patch_glob *glob)
{
    const char *function = patch_function_pattern(pattern, object, glob);
    return function && (glob(function, name) || (plain && glob(function, plain)));
}

#endif
