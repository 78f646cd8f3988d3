/* The metadata file of 2010: ordinary packets whose contents, concatenated, are the text. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/ctf/ctf2010_packet.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/ctf_schema.h"

#define WINDOW ((size_t)64 << 10)

/* A pass over the packets, to collect the text or to find a part of it in the file. */
typedef struct pass {
    ctf_walk walk;
    ctf_schema *schema;
    char *text; /* NULL: do not collect */
    size_t n, capacity;
    uint64_t position; /* the wanted place in the text ... */
    uint64_t found;    /* ... and its place in the file, so far */
    bool has_order;
} pass;

/* Room for n more bytes of text. */
static int make_room(pass *c, size_t n, tl_error *e)
{
    if (n > CTF_METADATA_MAX - c->n)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "metadata of more than %u bytes (the limit)", CTF_METADATA_MAX);
    if (c->text && !TL_GROW(c->text, c->n, n, c->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %zu bytes of metadata", c->n + n);
    return 0;
}

/* content NULL: the bytes of the file. */
static int see_packet(pass *c, const ctf_packet *p, const uint8_t *content, size_t ncontent, tl_error *e)
{
    const uint64_t begin = p->offset + CTF_2010_HEADER;
    const bool is_plain = p->compression == 0;
    const uint64_t size = (content ? ncontent : p->content / 8) - CTF_2010_HEADER;
    if (c->n <= c->position)
        c->found = begin + (is_plain ? c->position - c->n : 0);
    int r = make_room(c, size > CTF_METADATA_MAX ? SIZE_MAX : (size_t)size, e);
    if (r < 0)
        return r;
    size_t got = (size_t)size;
    if (c->text && content)
        memcpy(c->text + c->n, content + CTF_2010_HEADER, got);
    else if (c->text && (r = tl_input_read(c->walk.window->in, begin, c->text + c->n, got, &got, e)) < 0)
        return r;
    c->n += got;
    return 0;
}

static int run(pass *c, tl_error *e)
{
    ctf_packet p;
    int r;
    c->walk.offset = c->walk.number = 0;
    c->n = 0;
    while ((r = ctf_2010_walk_next(&c->walk, &p, e)) > 0) {
        uint8_t *content;
        size_t n;
        bool skip;
        if (!c->has_order)
            c->schema->order = p.big ? CTF_BE : CTF_LE;
        c->has_order = true;
        r = ctf2010_content(&c->walk, &p, &content, &n, &skip, e);
        if (r < 0)
            return r;
        if (!skip)
            r = see_packet(c, &p, content, n, e);
        free(content);
        if (r < 0)
            return r;
    }
    return r;
}

/* Reads all packets and parses their text. */
static int read_text(pass *c, tl_error *e)
{
    c->capacity = WINDOW;
    c->position = UINT64_MAX;
    c->text = malloc(c->capacity);
    if (!c->text)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the metadata");
    int r = run(c, e);
    if (r < 0)
        return r;
    tl_error why = {.offset = TL_NO_OFFSET};
    r = ctf_2010_parse(c->schema, c->text, c->n, &why);
    if (r >= 0)
        return r;
    free(c->text);
    c->text = NULL;
    c->walk.report = NULL;
    c->position = why.offset;
    c->found = 0;
    if (why.offset != TL_NO_OFFSET && run(c, NULL) >= 0)
        why.offset = c->found;
    else
        why.offset = TL_NO_OFFSET;
    if (e)
        *e = why;
    return r;
}

/* Keeps problems of packets for the reader of the trace. */
static int keep_damage(ctf_schema *s, const tl_trace *t, tl_error *e)
{
    const uint32_t n = t->ndamage + t->nnote;
    tl_damage *damage = tl_arena_alloc(&s->arena, n * sizeof *damage);
    bool fine = damage != NULL;
    for (uint32_t i = 0; fine && i < n; i++) {
        damage[i] = i < t->ndamage ? t->damage[i] : t->note[i - t->ndamage];
        damage[i].file = NULL;
        damage[i].what = tl_arena_strndup(&s->arena, damage[i].what, strlen(damage[i].what));
        fine = damage[i].what != NULL;
    }
    if (!fine)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of damage");
    s->damage = damage;
    s->ndamage = n;
    return 0;
}

int ctf_2010_metadata(ctf_schema *s, tl_input *in, tl_error *e)
{
    uint8_t head[CTF_2010_CONTENT_SIZE];
    size_t n;
    bool big;
    int r = tl_input_read(in, 0, head, sizeof head, &n, e);
    if (r < 0)
        return r;
    if (!ctf2010_magic(head, n, &big))
        return tl_fail(e, TL_EDAMAGED, 0, "no packet magic number");
    s->dialect = CTF_2010;
    s->order = big ? CTF_BE : CTF_LE;
    s->session = n == sizeof head ? tl_load32(head + CTF_2010_SESSION, big) : 0;

    tl_window window;
    if ((r = tl_window_init(&window, in, WINDOW, e)) < 0)
        return r;
    tl_trace problems = {0};
    tl_trace_init(&problems);
    const ctf_unit unit = {.schema = {.session = s->session}};
    const ctf_file file = {.unit = &unit, .name = "metadata", .size = tl_input_size(in), .cpu = -1};
    pass c = {.walk = {.file = &file, .window = &window, .report = &problems}, .schema = s};
    r = read_text(&c, e);
    int kept = keep_damage(s, &problems, r < 0 ? NULL : e);
    free(c.text);
    tl_trace_fini(&problems);
    tl_window_fini(&window);
    return r < 0 ? r : kept;
}
