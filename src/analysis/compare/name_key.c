/* Keys of names: first suffixes go, then what is inside. */
#include "analysis/compare/name_key.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

#define RUST_HASH 16u /* hexadecimal digits after "::h" */

/* Does name[0 .. n-1] end in "::h" and a hash? */
static bool has_rust_hash(const char *name, size_t n)
{
    if (n <= RUST_HASH + 3 || strncmp(name + n - RUST_HASH - 3, "::h", 3) != 0)
        return false;
    for (size_t i = n - RUST_HASH; i < n; i++)
        if (!isxdigit((unsigned char)name[i]))
            return false;
    return true;
}

static bool is_clone_word(const char *word, size_t n)
{
    static const char *const known[] = {"constprop", "isra", "part", "cold", "lto_priv", "llvm", "__uniq", "clone"};
    for (size_t i = 0; i < TL_COUNT(known); i++)
        if (strlen(known[i]) == n && memcmp(known[i], word, n) == 0)
            return true;
    return false;
}

/* The length of the name without its last suffix ".word" or ".word.7"; *word is where that begins and ends. n: there is
 * none. */
static size_t before_clone(const char *name, size_t n, size_t *word_end)
{
    size_t end = n;
    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    if (end == n || end == 0 || name[end - 1] != '.') /* no number */
        end = n;
    else
        end--;
    size_t begin = end;
    while (begin > 0 && name[begin - 1] != '.')
        begin--;
    if (begin < 2 || !is_clone_word(name + begin, end - begin))
        return n;
    *word_end = end;
    return begin - 1;
}

/* Is the '<' at `at` that of an operator, not of a template? */
static bool is_operator(const char *name, size_t at)
{
    static const char word[] = "operator";
    while (at > 0 && (name[at - 1] == '<' || name[at - 1] == '-' || name[at - 1] == '>' || name[at - 1] == '='))
        at--;
    return at >= sizeof word - 1 && memcmp(name + at - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* Copies n bytes without numbers after '#' and "$_", and without the arguments of templates, if so wanted. */
static size_t copy_inside(char *out, const char *name, size_t n, bool no_templates)
{
    size_t depth = 0, kept = 0;
    for (size_t i = 0; i < n; i++) {
        const bool of_operator = (name[i] == '<' || name[i] == '>') && is_operator(name, i);
        if (no_templates && name[i] == '<' && !of_operator)
            depth++;
        if (depth == 0)
            out[kept++] = name[i];
        if (depth > 0 && name[i] == '>' && !of_operator && name[i - 1] != '-')
            depth--;
        if (name[i] == '#' || (i > 0 && name[i] == '_' && name[i - 1] == '$'))
            while (i + 1 < n && isdigit((unsigned char)name[i + 1]))
                i++;
    }
    return kept;
}

size_t tl_name_key(char *out, const char *name, tl_key_level level)
{
    size_t n = strlen(name), kept;
    if (has_rust_hash(name, n))
        n -= RUST_HASH + 3;
    size_t word_end = n, plain = n;
    for (size_t before; (before = before_clone(name, plain, &word_end)) < plain; plain = before)
        ;
    kept = copy_inside(out, name, plain, level == TL_KEY_NO_CLONES);
    if (level == TL_KEY_NO_NUMBERS) /* the words stay: each '.' and what follows, but for numbers */
        for (size_t i = plain; i < n;) {
            size_t end = i + 1;
            while (end < n && name[end] != '.')
                end++;
            if (is_clone_word(name + i + 1, end - i - 1)) {
                memcpy(out + kept, name + i, end - i);
                kept += end - i;
            }
            i = end;
        }
    out[kept] = 0;
    return kept;
}
