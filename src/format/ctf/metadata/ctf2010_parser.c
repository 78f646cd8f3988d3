/* Parses the metadata language of 2010: words, and their tree. */
#include "format/ctf/metadata/ctf2010_parser.h"

#include <string.h>

#include "base/compiler.h"
#include "base/text/utf8.h"
#include "format/ctf/ctf_schema.h"

/* A word, or the end of the text. */
typedef struct word {
    uint32_t position, n;
    ctf2010_kind kind;
} word;

typedef struct parser {
    const ctf2010_source *source;
    const char *text; /* of the source */
    uint32_t n;
    uint32_t at; /* after `next` */
    word token, next;
    tl_arena *arena;
    uint32_t nodes, nesting;
} parser;

static bool is_space(unsigned char c)
{
    /* White space of Latin-1, as in the executable specification, and NUL. */
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hexadecimal(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The end of the white space and comments that begin at `at`. */
static uint32_t skip_space(const char *text, uint32_t n, uint32_t at)
{
    while (at < n) {
        if (is_space((unsigned char)text[at])) {
            at++;
        } else if (text[at] == '/' && n - at >= 2 && text[at + 1] == '/') {
            while (at < n && text[at] != '\n' && text[at] != '\0')
                at++;
        } else if (text[at] == '/' && n - at >= 2 && text[at + 1] == '*') {
            const char *end = memmem(text + at + 2, n - at - 2, "*/", 2);
            if (!end)
                return at; /* an unterminated comment is not a word either */
            at = (uint32_t)(end - text) + 2;
        } else {
            break;
        }
    }
    return at;
}

static uint32_t number_length(const char *p, uint32_t n)
{
    uint32_t i = p[0] == '-';
    if (i == n || !is_digit(p[i]))
        return 0;
    if (p[i] == '0' && n - i >= 3 && (p[i + 1] == 'x' || p[i + 1] == 'X') && is_hexadecimal(p[i + 2])) {
        for (i += 2; i < n && is_hexadecimal(p[i]);)
            i++;
        return i;
    }
    while (i < n && is_digit(p[i]))
        i++;
    return i;
}

static uint32_t name_length(const char *p, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && (is_letter(p[i]) || (i > 0 && is_digit(p[i]))))
        i++;
    return i;
}

static uint32_t string_length(const char *p, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (p[i] == '"')
            return i + 1;
        if (p[i] == '\\')
            i++;
    }
    return 0;
}

static uint32_t mark_length(const char *p, uint32_t n)
{
    if (n >= 3 && memcmp(p, "...", 3) == 0)
        return 3;
    return *p != '\0' && strchr("{}=,;.", *p) ? 1 : 0;
}

/* The word at or after `at`; length 0: something else is there. */
static word read_word(const char *text, uint32_t n, uint32_t at)
{
    word w = {.position = skip_space(text, n, at)};
    const char *p = text + w.position;
    const uint32_t left = n - w.position;
    if (left == 0)
        return w;
    if (*p == '-' || is_digit(*p)) {
        w.kind = CTF2010_NUMBER;
        w.n = number_length(p, left);
    } else if (is_letter(*p)) {
        w.kind = CTF2010_NAME;
        w.n = name_length(p, left);
    } else if (*p == '"') {
        w.kind = CTF2010_STRING;
        w.n = string_length(p, left);
    } else {
        w.kind = CTF2010_MARK;
        w.n = mark_length(p, left);
    }
    return w;
}

/* Checks all words first, so that later passes can rely on them. */
static int check_words(parser *p)
{
    word w;
    for (uint32_t at = 0; (w = read_word(p->text, p->n, at)).kind != CTF2010_END; at = w.position + w.n) {
        if (w.n > 0)
            continue;
        const unsigned char c = (unsigned char)p->text[w.position];
        if (c > 0x20 && c < 0x7f)
            return ctf2010_fail(p->source, w.position, "unexpected character '%c'%s", c,
                                c == '"'   ? ": a string that does not end"
                                : c == '/' ? ": a comment that does not end"
                                           : "");
        return ctf2010_fail(p->source, w.position, "unexpected character 0x%02x", c);
    }
    return 0;
}

/* --- the tree --- */

static void step(parser *p)
{
    p->token = p->next;
    p->next = read_word(p->text, p->n, p->at);
    p->at = p->next.position + p->next.n;
}

static bool at_mark(const parser *p, char c)
{
    return p->token.kind == CTF2010_MARK && p->token.n == 1 && p->text[p->token.position] == c;
}

static void skip_separators(parser *p)
{
    while (at_mark(p, ',') || at_mark(p, ';'))
        step(p);
}

TL_COLD static int fail_expected(parser *p, word found, const char *expected)
{
    if (found.kind == CTF2010_END)
        return ctf2010_fail(p->source, found.position, "expected %s, but the metadata ends", expected);
    return ctf2010_fail(p->source, found.position, "expected %s, found '%.*s'%s", expected,
                        CTF2010_WORD(p->source, &found), found.n > CTF2010_SHOWN ? "..." : "");
}

static int new_node(parser *p, ctf2010_kind kind, word w, ctf2010_node **out)
{
    if (p->nodes++ == CTF2010_NODES_MAX)
        return tl_fail(p->source->e, TL_ENOMEM, w.position, "metadata of more than %u words (the limit)",
                       CTF2010_NODES_MAX);
    ctf2010_node *node = tl_arena_zalloc(p->arena, sizeof *node);
    if (!node)
        return tl_fail(p->source->e, TL_ENOMEM, w.position, "no memory for %u words of metadata", p->nodes);
    node->position = w.position;
    node->n = w.n;
    node->kind = (uint8_t)kind;
    *out = node;
    return 0;
}

/* Appends a child: *end is the place of the pointer to the next one. */
static void add_child(ctf2010_node *parent, const ctf2010_node ***end, ctf2010_node *child)
{
    **end = child;
    *end = &child->next;
    parent->count++;
}

static int deeper(parser *p)
{
    if (p->nesting == CTF2010_NESTING_MAX)
        return ctf2010_fail(p->source, p->token.position, "braces nested more than %u deep (the limit)",
                            CTF2010_NESTING_MAX);
    p->nesting++;
    return 0;
}

static int parse_value(parser *p, ctf2010_node **out);

/* The members of a block, from its '{' to its '}'. */
static int parse_members(parser *p, ctf2010_node *parent)
{
    if (!at_mark(p, '{'))
        return fail_expected(p, p->token, "'{'");
    int r = deeper(p);
    if (r < 0)
        return r;
    step(p);
    skip_separators(p);
    const ctf2010_node **end = &parent->first;
    while (!at_mark(p, '}')) {
        if (at_mark(p, '.'))
            step(p);
        if (p->token.kind != CTF2010_NAME)
            return fail_expected(p, p->token, "the name of an attribute or '}'");
        ctf2010_node *member, *value;
        if ((r = new_node(p, CTF2010_MEMBER, p->token, &member)) < 0)
            return r;
        step(p);
        if (at_mark(p, '{')) {
            if ((r = new_node(p, CTF2010_BLOCK, p->token, &value)) < 0 || (r = parse_members(p, value)) < 0)
                return r;
        } else if (at_mark(p, '=')) {
            step(p);
            if ((r = parse_value(p, &value)) < 0)
                return r;
        } else {
            return fail_expected(p, p->token, "'='");
        }
        member->first = value;
        member->count = 1;
        add_child(parent, &end, member);
        skip_separators(p);
    }
    step(p);
    p->nesting--;
    return 0;
}

/* The values in braces. */
static int parse_values(parser *p, ctf2010_node *parent)
{
    int r = deeper(p);
    if (r < 0)
        return r;
    step(p);
    skip_separators(p);
    const ctf2010_node **end = &parent->first;
    while (!at_mark(p, '}')) {
        ctf2010_node *value;
        if ((r = parse_value(p, &value)) < 0)
            return r;
        add_child(parent, &end, value);
        skip_separators(p);
    }
    step(p);
    p->nesting--;
    return 0;
}

static int parse_value(parser *p, ctf2010_node **out)
{
    const word w = p->token;
    const bool is_brace_next = p->next.kind == CTF2010_MARK && p->text[p->next.position] == '{';
    int r;
    if (w.kind == CTF2010_NAME && w.n == 4 && memcmp(p->text + w.position, "type", 4) == 0 && is_brace_next) {
        step(p);
        if ((r = new_node(p, CTF2010_TYPE, w, out)) < 0)
            return r;
        return parse_members(p, *out);
    }
    if (at_mark(p, '{')) {
        if ((r = new_node(p, CTF2010_BRACES, w, out)) < 0)
            return r;
        return parse_values(p, *out);
    }
    if (w.kind != CTF2010_NUMBER && w.kind != CTF2010_NAME && w.kind != CTF2010_STRING)
        return fail_expected(p, w, "a value");
    step(p);
    return new_node(p, w.kind, w, out);
}

static int parse_item(parser *p, ctf2010_node **out)
{
    const word w = p->token;
    int r = new_node(p, CTF2010_ITEM, w, out);
    if (r < 0)
        return r;
    const bool is_type = ctf2010_is(p->source, *out, "type") || ctf2010_is(p->source, *out, "abstract_type");
    const ctf2010_node **end = &(*out)->first;
    ctf2010_node *child;
    step(p);
    if (is_type && p->token.kind == CTF2010_NAME) {
        if ((r = new_node(p, CTF2010_NAME, p->token, &child)) < 0)
            return r;
        add_child(*out, &end, child);
        step(p);
    } else if (w.kind != CTF2010_NAME || !at_mark(p, '{')) {
        return fail_expected(p, w, "a block such as trace { }, type NAME { } or event { }");
    }
    if ((r = new_node(p, CTF2010_BLOCK, p->token, &child)) < 0)
        return r;
    add_child(*out, &end, child);
    return parse_members(p, child);
}

int ctf2010_tree(const ctf2010_node **root, tl_arena *arena, const ctf2010_source *source)
{
    if (source->n > CTF_METADATA_MAX)
        return tl_fail(source->e, TL_ENOMEM, TL_NO_OFFSET, "metadata of more than %u bytes (the limit)",
                       CTF_METADATA_MAX);
    parser p = {.source = source, .text = source->text, .n = (uint32_t)source->n, .arena = arena};
    int r = check_words(&p);
    if (r < 0)
        return r;
    ctf2010_node *top, *item;
    step(&p);
    step(&p);
    if ((r = new_node(&p, CTF2010_BLOCK, p.token, &top)) < 0)
        return r;
    const ctf2010_node **end = &top->first;
    for (skip_separators(&p); p.token.kind != CTF2010_END; skip_separators(&p)) {
        if ((r = parse_item(&p, &item)) < 0)
            return r;
        add_child(top, &end, item);
    }
    *root = top;
    return 0;
}

/* --- words --- */

bool ctf2010_is(const ctf2010_source *source, const ctf2010_node *node, const char *w)
{
    const size_t n = strlen(w);
    return node->n == n && memcmp(source->text + node->position, w, n) == 0;
}

static unsigned digit_of(char c)
{
    return (unsigned)(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
}

int ctf2010_number_of(const ctf2010_source *source, const ctf2010_node *node, ctf2010_number *out)
{
    if (node->kind != CTF2010_NUMBER)
        return ctf2010_fail(source, node->position, "expected a number");
    const char *p = source->text + node->position, *end = p + node->n;
    const bool negative = *p == '-';
    unsigned base = 10;
    p += negative;
    if (end - p > 2 && (p[1] == 'x' || p[1] == 'X')) {
        base = 16;
        p += 2;
    } else if (end - p > 1 && p[0] == '0') {
        base = 8;
    }
    const uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX;
    uint64_t v = 0;
    for (; p < end; p++) {
        const unsigned digit = digit_of(*p);
        if (digit >= base)
            return ctf2010_fail(source, node->position, "expected a number, which is octal if it begins with 0");
        if (v > (most - digit) / base)
            return ctf2010_fail(source, node->position, "expected a number of at most 64 bits");
        v = v * base + digit;
    }
    *out = (ctf2010_number){.negative = negative && v > 0, .magnitude = v};
    return 0;
}

int64_t ctf2010_to_int64(ctf2010_number number)
{
    if (number.negative)
        return (int64_t)(0 - number.magnitude);
    return number.magnitude > INT64_MAX ? INT64_MAX : (int64_t)number.magnitude;
}

static bool is_utf8(const char *s, size_t n)
{
    for (size_t i = 0, length; i < n; i += length)
        if ((length = tl_utf8_length(s + i, n - i)) == 0)
            return false;
    return true;
}

int ctf2010_text_of(const ctf2010_source *source, const ctf2010_node *node, tl_arena *arena, const char **out)
{
    if (node->kind != CTF2010_NAME && node->kind != CTF2010_STRING && node->kind != CTF2010_NUMBER)
        return ctf2010_fail(source, node->position, "expected a name or a string");
    const bool is_quoted = node->kind == CTF2010_STRING;
    const char *s = source->text + node->position + is_quoted;
    size_t length = node->n - 2 * (size_t)is_quoted, n = 0;
    char *copy = tl_arena_alloc(arena, length + 1), *whole = copy;
    for (size_t i = 0; copy && i < length; i++) {
        if (is_quoted && s[i] == '\\' && i + 1 < length && s[i + 1] != '\n')
            i++;
        copy[n++] = s[i] == '\0' ? ' ' : s[i];
    }
    if (copy && !is_utf8(copy, n) && (whole = tl_arena_alloc(arena, 2 * n + 1)))
        n = tl_utf8_repair(whole, copy, n);
    if (!whole)
        return tl_fail(source->e, TL_ENOMEM, node->position, "no memory for a name");
    whole[n] = '\0';
    *out = whole;
    return 0;
}
