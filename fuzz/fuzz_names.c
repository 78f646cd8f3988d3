/* Fuzz target: names. An input is a list of NUL-terminated names. They become event classes, members, labels and
 * functions of CTF 1.8, CTF 2 and TraceLog traces, and profiles of these. Readers must find exactly these names; output
 * must be well-formed, and text must not control a terminal. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/text/json_read.h"
#include "base/text/utf8.h"
#include "fuzz_promises.h"
#include "fuzz_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    NAMES_MOST = 4096,
    WRITTEN = 20000 /* values: writing is the slow part */
};

/* Names as the formats' text holds them: other characters are replaced. */
typedef struct names {
    uint32_t n;
    char **name;
} names;

/* Also sorted by bytes, to compare lists. */
static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* `utf8`: as from a reader that repairs UTF-8. */
static names names_of(const uint8_t *data, size_t size, bool utf8)
{
    names all = {.name = calloc(NAMES_MOST, sizeof(char *))};
    for (size_t at = 0; at < size && all.n < NAMES_MOST; all.n++) {
        const size_t n = strnlen((const char *)data + at, size - at);
        char *name = calloc(1, 2 * n + 2);
        if (utf8)
            tl_utf8_repair(name, (const char *)data + at, n);
        else
            memcpy(name, data + at, n);
        if (!*name)
            *name = '_';
        all.name[all.n] = name;
        at += n + 1;
    }
    return all;
}

static void names_free(names *all)
{
    for (uint32_t i = 0; i < all->n; i++)
        free(all->name[i]);
    free(all->name);
}

/* ------------------------------------------------------------------------------------------------ traces of names */

typedef struct text {
    char *data;
    size_t n;
    FILE *to;
} text;

static void text_open(text *t)
{
    t->to = open_memstream(&t->data, &t->n);
    promise(t->to != NULL, "memory suffices");
}

/* A file of a packed folder, see fuzz_ctf.c. */
static void put_file(FILE *to, const char *name, const void *data, size_t n)
{
    uint8_t size[4];
    fwrite(name, 1, strlen(name) + 1, to);
    tl_store32(size, (uint32_t)n, false);
    fwrite(size, 1, 4, to);
    fwrite(data, 1, n, to);
}

/* A folder of metadata, which is freed, and a stream with one event of each class: its number and one field. */
static void put_folder(FILE *to, text *metadata, uint32_t classes)
{
    text stream;
    text_open(&stream);
    for (uint32_t i = 0; i < classes; i++) {
        uint8_t event[8];
        tl_store32(event, i, false);
        tl_store32(event + 4, i, false);
        fwrite(event, 1, sizeof event, stream.to);
    }
    fclose(metadata->to);
    fclose(stream.to);
    put_file(to, "metadata", metadata->data, metadata->n);
    put_file(to, "stream", stream.data, stream.n);
    free(metadata->data);
    free(stream.data);
}

/* In quotes, with the necessary escapes: octal bytes, or JSON's. */
static void put_quoted(FILE *to, const char *name, const char *escape)
{
    putc('"', to);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < 32 || *c == '"' || *c == '\\' || *c == 127)
            fprintf(to, escape, *c);
        else
            putc(*c, to);
    putc('"', to);
}

/* Event classes of these names, one event of each, and a label of each. */
static void make_ctf18(FILE *to, names *all)
{
    text metadata;
    text_open(&metadata);
    fputs("/* CTF 1.8 */\ntypealias integer { size = 32; align = 8; signed = false; } := u32;\n"
          "trace { major = 1; minor = 8; byte_order = le; };\nstream { event.header := struct { u32 id; }; };\n",
          metadata.to);
    for (uint32_t i = 0; i < all->n; i++) {
        fputs("event { name = ", metadata.to);
        put_quoted(metadata.to, all->name[i], "\\%03o");
        fprintf(metadata.to, "; id = %u; fields := struct { enum : u32 { ", i);
        put_quoted(metadata.to, all->name[i], "\\%03o");
        fprintf(metadata.to, " = %u } x; }; };\n", i);
    }
    put_folder(to, &metadata, all->n);
}

static void make_ctf2(FILE *to, names *all)
{
    static const char type[] =
        "{\"type\":\"fixed-length-unsigned-integer\",\"length\":32,\"byte-order\":\"little-endian\","
        "\"alignment\":8";
    text metadata;
    text_open(&metadata);
    fprintf(metadata.to,
            "\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"trace-class\"}\n\x1e{\"type\":\"data-stream-"
            "class\","
            "\"event-record-header-field-class\":{\"type\":\"structure\",\"member-classes\":[{\"name\":\"id\",\"field-"
            "class\":"
            "%s,\"roles\":[\"event-record-class-id\"]}}]}}\n",
            type);
    for (uint32_t i = 0; i < all->n; i++) {
        fprintf(metadata.to, "\x1e{\"type\":\"event-record-class\",\"id\":%u,\"name\":", i);
        put_quoted(metadata.to, all->name[i], "\\u%04x");
        fputs(",\"payload-field-class\":{\"type\":\"structure\",\"member-classes\":[{\"name\":", metadata.to);
        put_quoted(metadata.to, all->name[i], "\\u%04x");
        fprintf(metadata.to, ",\"field-class\":%s}}]}}\n", type);
    }
    put_folder(to, &metadata, all->n);
}

/* A log cannot hold line ends and quotes in names. */
static void replace(names *all)
{
    for (uint32_t i = 0; i < all->n; i++)
        for (char *c = all->name[i]; *c; c++)
            if (*c == '"' || *c == '\n' || *c == '\r')
                *c = '\'';
}

/* Functions of these names, each sampled once. */
static void make_log(FILE *to, names *all)
{
    replace(all);
    fputs("prf stm 2018-06-25 07:24:28.049\nprf cfg CollectionMethod Sampling\nthr crt 0x1 0x0\nthr aos 0x0 5483\n",
          to);
    for (uint32_t i = 0; i < all->n; i++)
        fprintf(to, "fun nam 0x%x \"%s\" \"void\" \"()\"\nsam str 0x0 %u 1 0:%d 0x%x:0x%x\n", i, all->name[i], i + 1,
                i > 0, i, i + 1);
}

/* ------------------------------------------------------------------------------------------------ what is written */

static bool is_json(const char *s, size_t n)
{
    const tl_json_value *value = NULL;
    tl_arena arena = {0};
    tl_error e;
    const int status = tl_json_parse(&value, &arena, s, n, 1u << 22, &e);
    tl_arena_fini(&arena);
    return status == 0;
}

static bool is_lines_of_json(const char *s, size_t n)
{
    while (n > 0) {
        const char *end = memchr(s, '\n', n);
        const size_t line = end ? (size_t)(end - s) : n;
        if (!is_json(s, line) || !end)
            return false;
        s += line + 1;
        n -= line + 1;
    }
    return true;
}

/* Only characters that are safe on a terminal, and line feeds. */
static bool is_harmless(const char *s, size_t n)
{
    for (size_t k; n > 0; s += k, n -= k) {
        k = *s == '\n' || *s == '\t' ? 1 : tl_utf8_shown(s, n);
        if (k == 0)
            return false;
    }
    return true;
}

/* RFC 4180: all rows have as many fields as the first. */
static bool is_csv(const char *s, size_t n)
{
    size_t fields = 1, wanted = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"')
            quoted = !quoted;
        else if (!quoted && s[i] == ',')
            fields++;
        else if (!quoted && s[i] == '\n') {
            if (wanted && fields != wanted)
                return false;
            wanted = fields;
            fields = 1;
        }
    }
    return !quoted && fields == 1;
}

/* Stacks of one frame: NAME NUMBER. */
static bool is_folded(const char *s, size_t n)
{
    for (const char *end; n > 0; n -= (size_t)(end - s) + 1, s = end + 1) {
        end = memchr(s, '\n', n);
        const char *space = end ? memrchr(s, ' ', (size_t)(end - s)) : NULL;
        if (!space || space == s || memchr(s, ';', (size_t)(space - s)) ||
            strspn(space + 1, "0123456789") != (size_t)(end - space - 1))
            return false;
    }
    return true;
}

/* Tags are closed in order, and text has no character that begins a tag. */
static bool is_xml(const char *s, size_t n)
{
    int depth = 0;
    const char *const end = s + n;
    while ((s = memchr(s, '<', (size_t)(end - s)))) {
        const char *close = s + 1;
        char quote = 0;
        if (end - s > 9 && memcmp(s, "<![CDATA[", 9) == 0) {
            s = memmem(s, (size_t)(end - s), "]]>", 3);
            if (!s)
                return false;
            continue;
        }
        for (; close < end && (quote || *close != '>'); close++) {
            if (*close == '<' || (*(const unsigned char *)close < 32 && *close != '\n'))
                return false;
            if (quote ? *close == quote : *close == '"' || *close == '\'')
                quote = quote ? 0 : *close;
        }
        if (close >= end || depth < 0)
            return false;
        if (s[1] == '/')
            depth--;
        else if (s[1] != '?' && s[1] != '!' && close[-1] != '/')
            depth++;
        s = close + 1;
    }
    return depth == 0;
}

static const struct written {
    const char *to;
    bool (*good)(const char *s, size_t n);
} of_events[] = {{"jsonl", is_lines_of_json}, {"csv", is_csv},         {"text", is_harmless}, {"chrome", is_json},
                 {"perfetto", NULL},          {"speedscope", is_json}, {"babeltrace", NULL},  {"tracelog", NULL}},
  of_profiles[] = {{"folded", is_folded}, {"callgrind", NULL}, {"svg", is_xml},
                   {"dot", NULL},         {"pprof", NULL},     {"speedscope", is_json}};

static void write_events(tl_source *s, const struct written *w)
{
    size_t n = 0;
    uint8_t *bytes = fuzz_written(s, &(tl_write_options){.to = w->to}, WRITTEN, &n);
    promise(!bytes || !w->good || w->good((const char *)bytes, n), w->to);
    free(bytes);
}

static uint8_t *written_profile(const tl_profile *p, const char *to, size_t *n)
{
    const tl_format *f = tl_format_by_name(to);
    const tl_write_options options = {.to = to};
    tl_output *out = NULL;
    tl_error e;
    tl_drops drops = {0};
    uint8_t *bytes = NULL;
    if (!f || !f->profile_writer)
        return NULL;
    promise(tl_output_open_memory(&out, TL_PLAIN, &e) == 0, "memory suffices");
    const tl_write_context context = {.out = out, .drops = &drops, .options = &options};
    if (f->profile_writer->write(&context, p, &e) == 0 && tl_output_finish(out, &e) == 0)
        bytes = tl_output_take_memory(out, n);
    tl_output_close(out);
    free(drops.drop);
    return bytes;
}

/* ------------------------------------------------------------------------------------------------ what is read */

/* Checks that a profile's functions have exactly these names. */
static void check_functions(const tl_profile *p, const names *all, const char *what)
{
    char **found = calloc((size_t)tl_profile_functions(p) + 1, sizeof *found);
    uint32_t n = 0;
    promise(found != NULL, "memory suffices");
    for (uint32_t i = 0; i < tl_profile_functions(p); i++)
        if (tl_profile_get_function(p, i)->name)
            found[n++] = (char *)(uintptr_t)tl_profile_get_function(p, i)->name;
    promise(n == all->n, what);
    qsort(found, n, sizeof *found, compare);
    for (uint32_t i = 0; i < n; i++)
        promise(strcmp(found[i], all->name[i]) == 0, what);
    free(found);
}

static void read_profile(tl_source *s, const names *sorted, size_t size)
{
    const struct written *w = &of_profiles[size % (sizeof of_profiles / sizeof *of_profiles)];
    const tl_profile_options options = {.threads = 1};
    tl_profile *p = NULL;
    tl_error e;
    size_t n = 0;
    if (tl_profile_from_source(&p, s, &options, &e) < 0)
        return;
    check_functions(p, sorted, "a profile has the names of the log");
    uint8_t *bytes = written_profile(p, w->to, &n);
    promise(!bytes || !w->good || w->good((const char *)bytes, n), w->to);
    free(bytes);
    bytes = written_profile(p, "tlp", &n);
    tl_profile_free(p);
    tl_source *again = NULL;
    if (!bytes)
        return;
    promise(tl_source_open_memory(&again, bytes, n, "fuzz.tlp", NULL, &e) == 0, "a profile that was written is one");
    promise(tl_profile_from_source(&p, again, &options, &e) == 0, "and is read");
    check_functions(p, sorted, "a profile that was written has the names of the log");
    tl_profile_free(p);
    tl_source_close(again);
    free(bytes);
}

/* Checks that events have these names, in order. */
static void check_events(tl_source *s, const names *all)
{
    const tl_batch *b;
    tl_error e;
    uint32_t n = 0;
    while (tl_source_next(s, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_class *c = tl_trace_class(tl_source_trace(s), b->cls[i]);
            promise(n < all->n && strcmp(c->name, all->name[n]) == 0, "an event has the name of its class");
            n++;
        }
    promise(n == all->n, "each class has an event");
}

/* A trace of names, and what readers make of it. */
typedef struct made {
    text bytes;
    names read;
} made;

static made make_trace(void (*make)(FILE *, names *), const uint8_t *data, size_t size, bool utf8)
{
    made m = {.read = names_of(data, size, true)};
    names all = names_of(data, size, utf8);
    text_open(&m.bytes);
    make(m.bytes.to, &all);
    fclose(m.bytes.to);
    names_free(&all);
    return m;
}

static void made_free(made *m)
{
    free(m->bytes.data);
    names_free(&m->read);
}

static void read_folder(void (*make)(FILE *, names *), const uint8_t *data, size_t size, bool utf8)
{
    static const tl_open_options options = {.from = "ctf", .want = {.fields = true}};
    made m = make_trace(make, data, size, utf8);
    tl_source *s = NULL;
    tl_error e = {0};
    promise(tl_source_open_folder_memory(&s, m.bytes.data, m.bytes.n, "fuzz", &options, &e) == 0,
            "names refuse no trace");
    check_events(s, &m.read);
    write_events(s, &of_events[size % (sizeof of_events / sizeof *of_events)]);
    tl_source_close(s);
    made_free(&m);
}

static void read_log(const uint8_t *data, size_t size)
{
    static const tl_open_options options = {.from = "tracelog", .want = {.fields = true}};
    made m = make_trace(make_log, data, size, false);
    tl_source *s = NULL;
    tl_error e = {0};
    promise(tl_source_open_memory(&s, m.bytes.data, m.bytes.n, "fuzz.log", &options, &e) == 0, "every text is a log");
    replace(&m.read);
    qsort(m.read.name, m.read.n, sizeof *m.read.name, compare);
    read_profile(s, &m.read, size);
    write_events(s, &of_events[size % (sizeof of_events / sizeof *of_events)]);
    tl_source_close(s);
    made_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_folder(make_ctf18, data, size, false);
    read_folder(make_ctf2, data, size, true);
    read_log(data, size);
    return 0;
}
