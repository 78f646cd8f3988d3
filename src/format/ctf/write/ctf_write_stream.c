/* Streams and stream classes of the output, made for the first event that needs them. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/write/ctf_write_packet.h"

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory to write events");
}

/* An id for a stream class: the source's number, if free. */
static uint64_t choose_id(const ctf_writer *w, const char *name)
{
    uint64_t wanted = 0, most = 0;
    bool taken = !tl_parse_u64(name, &wanted) || wanted > INT32_MAX;
    for (uint32_t i = 0; i < w->nsc; i++) {
        taken = taken || w->sc[i].id == wanted;
        most = w->sc[i].id > most ? w->sc[i].id : most;
    }
    return !taken ? wanted : w->nsc == 0 ? 0 : most + 1;
}

static bool has_packet_field(const ctf_shape *s, const char *name)
{
    for (uint32_t i = 0; i < s->nfield && tl_field_scope(&s->first->field[i]) == TL_SCOPE_PACKET; i++)
        if (strcmp(s->first->field[i].name, name) == 0)
            return true;
    return false;
}

static bool same_class(const ctf_writer *w, const ctf_written_stream_class *a, const ctf_written_stream_class *b)
{
    size_t m, n;
    if (a->shape != b->shape || a->has_cpu != b->has_cpu || a->has_pid != b->has_pid || a->has_tid != b->has_tid ||
        a->own || b->own)
        return false;
    const char *s = ctf_class_text(w, a->track, &m), *t = ctf_class_text(w, b->track, &n);
    return m == n && memcmp(s, t, n) == 0;
}

static int add_class(ctf_writer *w, ctf_written_stream_class *c, tl_error *e)
{
    if (!TL_GROW(w->sc, w->nsc, 1, w->sc_capacity))
        return no_memory(e);
    c->name = ctf_class_name(w, c->track, c->own);
    c->used = calloc(w->forms.shape[c->shape].nclass / 64 + 1, sizeof *c->used);
    if (!c->name || !c->used) {
        free(c->name);
        free(c->used);
        return no_memory(e);
    }
    c->id = choose_id(w, c->name);
    w->sc[w->nsc++] = *c;
    return 0;
}

/* The stream class for events of a track, made if needed. own: 2010, for this track only. */
static int find_class(ctf_writer *w, uint32_t track, uint32_t shape, int32_t cpu, bool own, uint32_t *out, tl_error *e)
{
    const bool has_context = w->dialect != CTF_2010;
    const tl_track *t = track == UINT32_MAX ? NULL : &w->context.trace->track[track];
    const ctf_shape *s = &w->forms.shape[shape];
    ctf_written_stream_class c = {.shape = shape, .track = track, .own = own, .first = true};
    c.has_cpu = has_context && cpu >= 0;
    c.has_pid = has_context && t && t->has_pid && !has_packet_field(s, "pid");
    c.has_tid = has_context && t && t->has_tid && !has_packet_field(s, "tid");
    c.large = s->nclass > 31;
    c.timeless = has_context && s->timeless;
    for (uint32_t i = 0; i < w->nsc; i++) {
        c.first = c.first && w->sc[i].shape != shape;
        if (same_class(w, &w->sc[i], &c)) {
            *out = i;
            return 0;
        }
    }
    const int r = add_class(w, &c, e);
    *out = w->nsc - 1;
    return r;
}

/* The stream class and the name of a new stream. Sets s->cls, s->name, and in 2010 s->cpu. */
static int name_stream(ctf_writer *w, ctf_stream *s, uint32_t shape, int32_t cpu, tl_error *e)
{
    const bool by_section = w->dialect == CTF_2010 && !w->one_section && s->track != UINT32_MAX;
    const bool numbered = by_section && ctf_names_processor(w, s->track, cpu);
    int r = find_class(w, s->track, shape, cpu, by_section && !numbered, &s->cls, e);
    if (r == 0 && numbered && ctf_file_exists(w, w->sc[s->cls].name, cpu))
        r = find_class(w, s->track, shape, cpu, true, &s->cls, e);
    if (r < 0)
        return r;
    s->cpu = numbered ? cpu : -1;
    s->name = ctf_file_name(w, s->track, w->sc[s->cls].name, s->cpu);
    return s->name ? 0 : no_memory(e);
}

/* Takes the source's packets from before the first event. */
static int take_pending(ctf_writer *w, ctf_stream *s, ctf_written_track *t, tl_error *e)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < t->npending; i++)
        r = ctf_stream_given(w, s, &t->pending[i], e);
    free(t->pending);
    t->pending = NULL;
    t->npending = t->capacity = 0;
    return r;
}

static int add_stream(ctf_writer *w, uint32_t track, uint32_t shape, int32_t cpu, tl_error *e)
{
    if (!TL_GROW(w->stream, w->nstream, 1, w->stream_capacity))
        return no_memory(e);
    ctf_stream *s = &w->stream[w->nstream];
    *s = (ctf_stream){.track = track, .next = UINT32_MAX, .index_file = UINT32_MAX};
    int r = name_stream(w, s, shape, cpu, e);
    if (r == 0)
        r = tl_output_folder_add(w->context.folder, s->name, &s->file, e);
    if (r < 0) {
        free(s->name);
        return r;
    }
    w->nstream++;
    return 0;
}

int ctf_stream_find(ctf_writer *w, uint32_t track, uint32_t shape, int32_t cpu, ctf_stream **out, tl_error *e)
{
    ctf_written_track *t = track == UINT32_MAX ? NULL : &w->track[track];
    for (uint32_t i = t ? t->first : UINT32_MAX; i != UINT32_MAX; i = w->stream[i].next) {
        const ctf_written_stream_class *c = &w->sc[w->stream[i].cls];
        if (c->shape == shape && (w->dialect == CTF_2010 || c->has_cpu == (cpu >= 0))) {
            t->last = i;
            *out = &w->stream[i];
            return 0;
        }
    }
    int r = add_stream(w, track, shape, cpu, e);
    if (r < 0)
        return r;
    ctf_stream *s = &w->stream[w->nstream - 1];
    if (t) {
        s->next = t->first;
        t->first = t->last = w->nstream - 1;
        r = take_pending(w, s, t, e);
    }
    *out = s;
    return r;
}

void ctf_stream_free(ctf_stream *s)
{
    free(s->name);
    free(s->room.data);
    free(s->last_context);
    free(s->index);
}
