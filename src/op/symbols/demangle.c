/* Turns linkage names of C++ and Rust into source names, with libiberty.
 *
 * The names come from untrusted files, and both schemes can refer back to parts of a name: a few hundred bytes may
 * expand to more text than there is memory. libiberty limits its recursion but not its output, so we use its callback
 * interfaces, and leave by longjmp when the text gets too long. */
#include "op/symbols/demangle.h"

#include <stddef.h>

#ifdef TL_HAVE_DEMANGLE

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Longer names are not demangled. libiberty itself gives up on C++ names of more than 1024 bytes. */
#define MANGLED_MAX  16384u
/* Longer results are not worth their memory: no table or graph can show them. */
#define READABLE_MAX 65536u

struct text {
    char *data;
    size_t n, capacity;
    bool failed;
    jmp_buf stop;
};

/* Doubles the room until `more` bytes and a terminator fit. */
static bool make_room(struct text *t, size_t more)
{
    if (more > READABLE_MAX - t->n)
        return false;
    return TL_GROW(t->data, t->n, more + 1, t->capacity);
}

static bool is_ascii(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0x80)
            return false;
    return true;
}

/* Takes the next piece of the readable name from libiberty. */
static void append(const char *piece, size_t n, void *arg)
{
    struct text *t = arg;
    if (n == 0)
        return;
    if (!t->failed && make_room(t, n)) {
        memcpy(t->data + t->n, piece, n);
        t->n += n;
        t->data[t->n] = '\0';
        return;
    }
    t->failed = true;
    /* While libiberty passes an identifier with non-ASCII letters it owns memory, which a jump would leak. Such a piece
     * is followed by an ASCII one, or by the end. */
    if (is_ascii(piece, n))
        longjmp(t->stop, 1);
}

/* `t` is the caller's: locals of the function that calls setjmp are lost by longjmp. */
static bool demangle_into(struct text *t, const char *name,
                          int (*demangle)(const char *, int, demangle_callbackref, void *))
{
    if (setjmp(t->stop) != 0)
        return false;
    return demangle(name, DMGL_PARAMS | DMGL_ANSI, append, t) != 0 && !t->failed && t->n > 0;
}

char *tl_demangle(const char *linkage_name)
{
    /* Rust before C++: its older names are C++ ones that end in a hash, which is left out. */
    static int (*const schemes[])(const char *, int, demangle_callbackref, void *) = {
        rust_demangle_callback,
        cplus_demangle_v3_callback,
    };
    if (!linkage_name || linkage_name[0] != '_' || strnlen(linkage_name, MANGLED_MAX + 1) > MANGLED_MAX)
        return NULL;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        struct text text = {.data = NULL};
        if (demangle_into(&text, linkage_name, schemes[i]))
            return text.data;
        free(text.data);
    }
    return NULL;
}

#else

char *tl_demangle(const char *linkage_name)
{
    (void)linkage_name;
    return NULL;
}

#endif
