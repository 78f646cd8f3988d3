/* CTF 2 metadata: a JSON text sequence (RFC 7464) to a schema.
 *
 *   0x1e {"type": "preamble", ...} 0x0a  0x1e {"type": "trace-class", ...} 0x0a  ...
 *
 * Each fragment is parsed, used and freed before the next; its contributions are copied into the arena of the schema.
 * JSON text cannot contain a byte 0x1e, so the sequence is split without parsing it. */
#include <stdlib.h>
#include <string.h>

#include "format/ctf/metadata/json_build.h"

#define SEPARATOR 0x1e

static bool is_space(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\n' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

static void parse_fragment(ctf_json *j, size_t at, size_t n, bool is_first)
{
    const tl_json_value *tree = NULL;
    tl_error e = {0};
    j->base = at;
    tl_arena_reset(&j->fragment);
    int rc = tl_json_parse(&tree, &j->fragment, j->text + at, n, CTF_JSON_VALUES_MAX, &e);
    if (rc < 0) {
        const tl_json_value place = {.offset = (uint32_t)e.offset};
        ctf_json_fail(j, rc, &place, "%s", e.message);
    } else {
        ctf_json_fragment(j, tree, is_first);
    }
}

static void parse_sequence(ctf_json *j)
{
    bool is_first = true;
    for (size_t at = 1; at <= j->n && j->rc >= 0;) {
        const char *end = at < j->n ? memchr(j->text + at, SEPARATOR, j->n - at) : NULL;
        const size_t n = (end ? (size_t)(end - j->text) : j->n) - at;
        if (!is_space(j->text + at, n)) { /* RFC 7464: separators may be repeated */
            parse_fragment(j, at, n, is_first);
            is_first = false;
        }
        at += n + 1;
    }
    const tl_json_value begin = {0};
    j->base = 0;
    if (is_first)
        ctf_json_fail(j, TL_EDAMAGED, &begin, "metadata without fragments: expected a preamble");
}

/* Moves the collected parts into the schema. */
static void finish(ctf_json *j)
{
    ctf_schema *s = j->s;
    const ctf_clock **clock = ctf_json_alloc(j, j->clocks.n * sizeof *clock);
    const ctf_stream_class **stream = ctf_json_alloc(j, j->nstream * sizeof *stream);
    if (!clock || !stream)
        return;
    if (j->clocks.n > 0)
        memcpy(clock, j->clock, j->clocks.n * sizeof *clock);
    for (uint32_t i = 0; i < j->nstream; i++) {
        ctf_json_stream *from = &j->stream[i];
        const ctf_event_class **event = ctf_json_alloc(j, from->nevent * sizeof *event);
        if (!event)
            return;
        if (from->nevent > 0)
            memcpy(event, from->event, from->nevent * sizeof *event);
        from->cls->event = event;
        from->cls->nevent = from->nevent;
        stream[i] = from->cls;
    }
    s->clock = clock;
    s->nclock = j->clocks.n;
    s->stream = stream;
    s->nstream = j->nstream;
    s->order = j->big > j->little ? CTF_BE : CTF_LE;
}

static void free_all(ctf_json *j)
{
    for (uint32_t i = 0; i < j->nstream; i++) {
        tl_hash_fini(&j->stream[i].ids);
        free(j->stream[i].event);
    }
    free(j->stream);
    free(j->alias);
    free(j->clock);
    tl_hash_fini(&j->aliases.number);
    tl_hash_fini(&j->clocks.number);
    tl_hash_fini(&j->stream_ids);
    tl_hash_fini(&j->member_seen);
    tl_strings_fini(&j->strings);
    tl_arena_fini(&j->fragment);
}

int ctf_json_parse(ctf_schema *s, const char *text, size_t n, tl_error *e)
{
    if (n == 0 || text[0] != SEPARATOR)
        return ctf_metadata_fail(e, text, n, 0, "expected a record separator (the byte 0x1e) before each fragment");
    ctf_json j = {.s = s, .text = text, .n = n, .e = e};
    s->dialect = CTF_2;
    s->major = 2;
    s->minor = 0;
    parse_sequence(&j);
    if (j.rc >= 0)
        finish(&j);
    free_all(&j);
    return j.rc;
}
