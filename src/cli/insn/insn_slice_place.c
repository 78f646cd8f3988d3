/* Finds the place in the program that --slice-at names. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf/elf_file.h"
#include "base/elf/elf_segments.h"
#include "base/text/number.h"
#include "cli/insn/insn_record.h"
#include "cli/message.h"
#include "op/symbols/demangle.h"
#include "qemu/insn_layout.h"

typedef struct search {
    const char *name;
    size_t length;
    uint64_t address, other; /* 0: none */
} search;

/* Its linkage name, or the readable one with or without parameters. */
static bool is_named(const search *s, const char *symbol)
{
    if (strlen(symbol) == s->length && memcmp(symbol, s->name, s->length) == 0)
        return true;
    char *const readable = tl_demangle(symbol);
    const bool fits = readable && strncmp(readable, s->name, s->length) == 0 &&
                      (readable[s->length] == '\0' || readable[s->length] == '(');
    free(readable);
    return fits;
}

static int look(void *arg, const tl_elf_symbol *symbol)
{
    search *const s = arg;
    if (symbol->type != STT_FUNC || symbol->section == SHN_UNDEF || symbol->value == s->address ||
        !is_named(s, symbol->name))
        return 0;
    *(s->address ? &s->other : &s->address) = symbol->value;
    return 0;
}

static int find_symbol(const char *path, search *s, tl_error *e)
{
    tl_elf *elf = NULL;
    int status = tl_elf_open(&elf, path, e);
    if (status == 0)
        status = tl_elf_each_symbol(elf, look, s, e);
    tl_elf_close(elf);
    return status;
}

static bool is_dynamic(const char *path)
{
    tl_elf_segments segments;
    tl_error e = {0};
    if (tl_elf_segments_read(&segments, path, &e) < 0)
        return false;
    const bool has_loader = segments.interpreter != NULL;
    tl_elf_segments_free(&segments);
    return has_loader;
}

static int find_function(const tl_record *r, search *s, insn_slice *out)
{
    const char *const program = r->cli->args->file.word[0];
    tl_error e = {0};
    const int status = find_symbol(r->program, s, &e);
    out->in_library = status == 0 && !s->address && is_dynamic(r->program);
    if (out->in_library)
        return TL_EXIT_DONE; /* once its library is there */
    if (status < 0)
        tl_say_error(program, "%s", e.message);
    else if (!s->address)
        tl_say_error(program, "has no function %.*s; --slice-at also takes an address, such as 0x4006d0",
                     (int)s->length, s->name);
    else if (s->other)
        tl_say_error(program,
                     "has more than one function %.*s, at 0x%" PRIx64 " and 0x%" PRIx64
                     "; --slice-at takes an address, too",
                     (int)s->length, s->name, s->address, s->other);
    else
        return TL_EXIT_DONE;
    return TL_EXIT_RECORD;
}

/* "mul#3" is the third call of mul. */
static bool split(const char *text, search *s, uint64_t *number)
{
    const char *const mark = strrchr(text, '#');
    *number = 1;
    *s = (search){.name = text, .length = mark ? (size_t)(mark - text) : strlen(text)};
    return s->length && (!mark || (tl_parse_count(mark + 1, number) && *number));
}

static bool parse_address(const search *s, uint64_t *out)
{
    char *end;
    if (s->length < 3 || strncmp(s->name, "0x", 2) != 0)
        return false;
    errno = 0;
    *out = strtoull(s->name, &end, 16);
    return errno == 0 && end == s->name + s->length && *out;
}

int tl_insn_find_slice(const tl_record *r, insn_slice *out)
{
    const tl_arguments *const a = r->cli->args;
    tl_elf_segments segments;
    tl_error e = {0};
    search s;
    *out = (insn_slice){.wanted = 1, .insns_most = a->slice_insns};
    if (tl_parse_count(a->slice_at, &out->number))
        return TL_EXIT_DONE;
    if (!split(a->slice_at, &s, &out->number)) {
        tl_say_error(NULL, "record: --slice-at %s: expected a number such as 5M, or a function such as main or mul#3",
                     a->slice_at);
        return TL_EXIT_RECORD;
    }
    if (!parse_address(&s, &s.address)) {
        const int status = find_function(r, &s, out);
        if (status != TL_EXIT_DONE)
            return status;
    }
    out->function = s.address;
    if (tl_elf_segments_read(&segments, r->program, &e) < 0) {
        tl_say_error(a->file.word[0], "%s", e.message);
        return TL_EXIT_RECORD;
    }
    out->entry = segments.entry;
    tl_elf_segments_free(&segments);
    return TL_EXIT_DONE;
}

uint64_t tl_insn_find_in_library(void *record, const char *path)
{
    const tl_record *const r = record;
    tl_elf_segments segments;
    tl_error e = {0};
    search s;
    uint64_t number, offset = 0;
    if (!split(r->cli->args->slice_at, &s, &number) || tl_elf_segments_read(&segments, path, &e) < 0)
        return 0; /* a program maps other files, too */
    const tl_elf_segment *const first = tl_elf_segment_find(&segments, PT_LOAD);
    /* The first of several, which are versions of one function. */
    if (first && segments.machine == EM_AARCH64 && find_symbol(path, &s, &e) == 0 && s.address > first->address)
        offset = s.address - first->address + first->offset;
    tl_elf_segments_free(&segments);
    return offset;
}
