/* Tokens of TSDL: the lexical grammar of the specification's appendix C. */
#include "format/ctf/metadata/tsdl_lexer.h"

#include <string.h>

#include "base/grow.h"
#include "base/text/utf8.h"

/* Longest text of a token that is kept for messages. */
#define TOKEN_TEXT_MAX 1000u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The character at an offset; NUL past the end. */
static char at(const tsdl_lexer *l, size_t offset)
{
    return offset < l->n ? l->text[offset] : '\0';
}

/* Skips white space and comments. Zeros to the end are white space, too: they pad the last block of some files. */
static int skip_space(tsdl_lexer *l)
{
    for (;;) {
        char c = at(l, l->at);
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            l->at++;
        } else if (c == '/' && at(l, l->at + 1) == '/') {
            const char *end = memchr(l->text + l->at, '\n', l->n - l->at);
            l->at = end ? (size_t)(end - l->text) : l->n;
        } else if (c == '/' && at(l, l->at + 1) == '*') {
            size_t begin = l->at;
            for (l->at += 2; at(l, l->at) != '*' || at(l, l->at + 1) != '/'; l->at++)
                if (l->at >= l->n)
                    return tsdl_fail(l, begin, "a comment without an end");
            l->at += 2;
        } else if (c == '\0' && l->at < l->n) {
            size_t end = l->at;
            while (end < l->n && l->text[end] == '\0')
                end++;
            if (end < l->n)
                return tsdl_fail(l, l->at, "a byte of value 0 in the text");
            l->at = end;
        } else {
            return 0;
        }
    }
}

/* Writes a code point as UTF-8; returns the number of bytes, 0 if invalid. */
static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00u >> n & 0xf0) | c);
    return n;
}

/* Writes \uXXXX or \UXXXXXXXX at l->at, and advances. */
static int universal_character(tsdl_lexer *l, char *out, size_t *n)
{
    size_t begin = l->at, digits = at(l, begin + 1) == 'u' ? 4 : 8;
    uint32_t code = 0;
    l->at += 2;
    for (size_t i = 0; i < digits; i++, l->at++) {
        int digit = digit_value(at(l, l->at));
        if (digit < 0)
            return tsdl_fail(l, begin, "an escape sequence with fewer than %zu hexadecimal digits", digits);
        code = code << 4 | (uint32_t)digit;
    }
    size_t written = code == 0 ? 0 : put_utf8(out + *n, code);
    if (written == 0)
        return tsdl_fail(l, begin, "an escape sequence that is not at at a character");
    *n += written;
    return 0;
}

/* The number of an octal or hexadecimal escape sequence whose digits begin at l->at. */
static int numeric_escape(tsdl_lexer *l, size_t begin, int base, unsigned most, char *out, size_t *n)
{
    unsigned value = 0, digits = 0;
    for (; digits < most; digits++, l->at++) {
        int digit = digit_value(at(l, l->at));
        if (digit < 0 || digit >= base)
            break;
        value = value * (unsigned)base + (unsigned)digit;
        if (value > 0xff)
            return tsdl_fail(l, begin, "an escape sequence that is not at at a byte");
    }
    if (digits == 0)
        return tsdl_fail(l, begin, "an escape sequence without digits");
    out[(*n)++] = (char)value;
    return 0;
}

/* Writes the character of the escape sequence at l->at, at most 4 bytes, and advances. */
static int escape(tsdl_lexer *l, char *out, size_t *n)
{
    static const char letters[] = "'\"?\\abfnrtv", values[] = "'\"?\\\a\b\f\n\r\t\v";
    size_t begin = l->at;
    char c = at(l, begin + 1);
    if (c == 'u' || c == 'U')
        return universal_character(l, out, n);
    if (c >= '0' && c <= '7') {
        l->at = begin + 1;
        return numeric_escape(l, begin, 8, 3, out, n);
    }
    if (c == 'x') {
        l->at = begin + 2;
        return numeric_escape(l, begin, 16, TOKEN_TEXT_MAX, out, n);
    }
    const char *known = c == '\0' ? NULL : strchr(letters, c);
    if (!known)
        return tsdl_fail(l, begin, "an unknown escape sequence in a string");
    out[(*n)++] = values[known - letters];
    l->at = begin + 2;
    return 0;
}

/* Makes room for n bytes in the buffer. */
static int reserve(tsdl_lexer *l, size_t n)
{
    return TL_GROW(l->buffer, 0, n, l->buffer_size) ? 0 : tsdl_no_memory(l);
}

/* Decodes quoted text into the buffer, and skips the closing quote. */
static int decode(tsdl_lexer *l, size_t begin, char quote, size_t *n)
{
    for (*n = 0;;) {
        char c = at(l, l->at);
        if (l->at >= l->n || c == '\n')
            return tsdl_fail(l, begin, "a string without an end");
        if (c == '\0')
            return tsdl_fail(l, l->at, "a byte of value 0 in a string");
        TSDL_TRY(reserve(l, *n + 4));
        if (c == '\\') {
            TSDL_TRY(escape(l, l->buffer, n));
            continue;
        }
        l->at++;
        if (c == quote)
            return 0;
        l->buffer[(*n)++] = c;
    }
}

/* A string or character; repairs what is not UTF-8, because names are shown to people. */
static int quoted(tsdl_lexer *l, tsdl_token *t)
{
    size_t begin = l->at, n;
    l->at += at(l, begin) == 'L' ? 2 : 1;
    char quote = l->text[l->at - 1];
    TSDL_TRY(decode(l, begin, quote, &n));
    if (quote == '\'') {
        if (n == 0)
            return tsdl_fail(l, begin, "a character constant without a character");
        for (size_t i = 0; i < n; i++)
            t->number = t->number << 8 | (unsigned char)l->buffer[i];
    } else if (memchr(l->buffer, '\0', n)) {
        return tsdl_fail(l, begin, "a string with a character of value 0");
    }
    t->kind = quote == '"' ? TSDL_STRING : TSDL_CHARACTER;
    TSDL_TRY(reserve(l, 3 * n));
    size_t repaired = tl_utf8_repair(l->buffer + n, l->buffer, n);
    return tsdl_intern(l, l->buffer + n, repaired, &t->name);
}

/* Bytes of the letter or digit at l->at; 0: none. Letters outside ASCII may be unescaped. */
static size_t letter(const tsdl_lexer *l)
{
    char c = at(l, l->at);
    if (is_letter(c) || is_digit(c))
        return 1;
    return (unsigned char)c < 0x80 ? 0 : tl_utf8_length(l->text + l->at, l->n - l->at);
}

/* An identifier or keyword with other than ASCII letters, from its begin. */
static int international_word(tsdl_lexer *l, tsdl_token *t)
{
    size_t n = 0;
    for (;;) {
        size_t bytes = letter(l);
        TSDL_TRY(reserve(l, n + 4));
        if (bytes > 0) {
            memcpy(l->buffer + n, l->text + l->at, bytes);
            l->at += bytes;
            n += bytes;
        } else if (at(l, l->at) == '\\' && (at(l, l->at + 1) == 'u' || at(l, l->at + 1) == 'U')) {
            TSDL_TRY(universal_character(l, l->buffer, &n));
        } else {
            return tsdl_intern(l, l->buffer, n, &t->name);
        }
    }
}

static int word(tsdl_lexer *l, tsdl_token *t)
{
    size_t begin = l->at;
    t->kind = TSDL_WORD;
    while (is_letter(at(l, l->at)) || is_digit(at(l, l->at)))
        l->at++;
    char c = at(l, l->at);
    if (c != '\\' && (unsigned char)c < 0x80)
        return tsdl_intern(l, l->text + begin, l->at - begin, &t->name);
    l->at = begin;
    return international_word(l, t);
}

/* u, l, ll and both in any order, in either case. */
static bool is_suffix(const char *s, size_t n)
{
    static const char *const known[] = {"", "u", "l", "ul", "ll", "ull", "lu", "llu"};
    char lower[4] = "";
    if (n >= sizeof lower)
        return false;
    for (size_t i = 0; i < n; i++)
        lower[i] = (char)(s[i] | 0x20);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(lower, known[i]) == 0)
            return true;
    return false;
}

static int number(tsdl_lexer *l, tsdl_token *t)
{
    size_t begin = l->at;
    unsigned base = at(l, begin) != '0' ? 10 : (at(l, begin + 1) | 0x20) == 'x' ? 16 : 8;
    size_t first = base == 16 ? begin + 2 : begin;
    for (l->at = first;; l->at++) {
        int digit = digit_value(at(l, l->at));
        if (digit < 0 || (base < 16 && digit >= 10))
            break;
        if ((unsigned)digit >= base)
            return tsdl_fail(l, l->at, "'%c' is not an octal digit", at(l, l->at));
        if (t->number > (UINT64_MAX - (unsigned)digit) / base)
            return tsdl_fail(l, begin, "a number of more than 64 bits");
        t->number = t->number * base + (unsigned)digit;
    }
    size_t suffix = l->at;
    while (letter(l) > 0)
        l->at += letter(l);
    if (l->at == first || !is_suffix(l->text + suffix, l->at - suffix))
        return tsdl_fail(l, begin, "a malformed number");
    t->kind = TSDL_NUMBER;
    return 0;
}

static int punctuator(tsdl_lexer *l, tsdl_token *t)
{
    char c = l->text[l->at], second = at(l, l->at + 1);
    size_t n = 2;
    if (c == ':' && second == '=') {
        t->kind = TSDL_BECOMES;
    } else if (c == '-' && second == '>') {
        t->kind = TSDL_ARROW;
    } else if (c == '.' && second == '.' && at(l, l->at + 2) == '.') {
        t->kind = TSDL_ELLIPSIS;
        n = 3;
    } else if (strchr("[](){}.*+-<>:;=,", c)) {
        t->kind = (unsigned char)c;
        n = 1;
    } else if (c >= ' ' && c < 0x7f) {
        return tsdl_fail(l, l->at, "a character '%c' that does not belong here", c);
    } else {
        return tsdl_fail(l, l->at, "a byte 0x%02x that is not text", (unsigned)(unsigned char)c);
    }
    l->at += n;
    return 0;
}

static int lex(tsdl_lexer *l, tsdl_token *t)
{
    *t = (tsdl_token){.kind = TSDL_END};
    TSDL_TRY(skip_space(l));
    size_t begin = l->at;
    char c = at(l, begin), second = at(l, begin + 1);
    t->position = begin;
    if (begin < l->n) {
        if (c == '"' || c == '\'' || (c == 'L' && (second == '"' || second == '\'')))
            TSDL_TRY(quoted(l, t));
        else if (is_digit(c))
            TSDL_TRY(number(l, t));
        else if (letter(l) > 0 || (c == '\\' && (second == 'u' || second == 'U')))
            TSDL_TRY(word(l, t));
        else
            TSDL_TRY(punctuator(l, t));
    }
    size_t length = l->at - begin;
    t->length = (uint32_t)(length < TOKEN_TEXT_MAX ? length : TOKEN_TEXT_MAX);
    return 0;
}

int tsdl_next(tsdl_lexer *l)
{
    if (!l->has_ahead)
        return lex(l, &l->token);
    l->token = l->ahead;
    l->has_ahead = false;
    return 0;
}

int tsdl_peek(tsdl_lexer *l, const tsdl_token **token)
{
    if (!l->has_ahead) {
        TSDL_TRY(lex(l, &l->ahead));
        l->has_ahead = true;
    }
    *token = &l->ahead;
    return 0;
}

int tsdl_accept(tsdl_lexer *l, int kind)
{
    if (l->token.kind != kind)
        return 0;
    TSDL_TRY(tsdl_next(l));
    return 1;
}

int tsdl_fail_expected(tsdl_lexer *l, const char *what)
{
    const tsdl_token *t = &l->token;
    if (t->kind == TSDL_END)
        return tsdl_fail(l, t->position, "expected %s, found the end of the text", what);
    int n = t->length > 40 ? 40 : (int)t->length;
    return tsdl_fail(l, t->position, "expected %s, found '%.*s'", what, n, l->text + t->position);
}

int tsdl_expect(tsdl_lexer *l, int kind)
{
    if (l->token.kind == kind)
        return tsdl_next(l);
    char what[] = "'c'";
    what[1] = (char)kind;
    return tsdl_fail_expected(l, kind == TSDL_BECOMES ? "':='" : kind == TSDL_WORD ? "a name" : what);
}
