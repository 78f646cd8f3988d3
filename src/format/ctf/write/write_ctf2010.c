/* Metadata of the proposal of 2010: prints forms in its language, and packs the text into packets.
 *
 * Every type is written out where it is used, with its alignment, so that nothing depends on an architecture. Names
 * that are not identifiers are quoted. `uri` of events and `clock` are our additions, which other readers ignore. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/write/ctf_write.h"

static void put_name(tl_output *out, const char *s)
{
    if (ctf_is_identifier(s)) {
        tl_output_puts(out, s);
        return;
    }
    tl_output_puts(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            tl_output_puts(out, "\\");
        tl_output_write(out, s, 1);
    }
    tl_output_puts(out, "\"");
}

static void put_type(tl_output *out, const ctf_form *f);

static void put_bound(tl_output *out, const ctf_form *f, uint64_t v)
{
    if (f->is_signed)
        tl_output_printf(out, "%" PRId64, (int64_t)v);
    else
        tl_output_printf(out, "%" PRIu64, v);
}

static void put_int(tl_output *out, const ctf_form *f)
{
    tl_output_printf(out, "type { parent = %s; size = %u; signed = %s; align = 8; ", f->nmapping ? "enum" : "integer",
                     f->bits, f->is_signed ? "true" : "false");
    if (f->nmapping > 0) {
        tl_output_puts(out, "map = { ");
        for (uint32_t i = 0; i < f->nmapping; i++) {
            const tl_mapping *m = &f->mapping[i];
            tl_output_puts(out, m->low == m->high ? "{ " : "{ { ");
            put_bound(out, f, m->low);
            if (m->low != m->high) {
                tl_output_puts(out, ", ");
                put_bound(out, f, m->high);
                tl_output_puts(out, " }");
            }
            tl_output_puts(out, ", ");
            put_name(out, m->label ? m->label : "");
            tl_output_puts(out, " }, ");
        }
        tl_output_puts(out, "}; ");
    }
    tl_output_puts(out, "}");
}

static void put_uint(tl_output *out, unsigned bits)
{
    tl_output_printf(out, "type { parent = integer; size = %u; signed = false; align = 8; }", bits);
}

/* A list; bits: the width of its length, 0: fixed. element NULL: bytes. */
static void put_list(tl_output *out, unsigned bits, uint32_t length, const ctf_form *element)
{
    if (bits) {
        tl_output_puts(out, "type { parent = sequence; length_type = ");
        put_uint(out, bits);
    } else {
        tl_output_printf(out, "type { parent = array; length = %" PRIu32, length);
    }
    tl_output_puts(out, "; elem_type = ");
    if (element)
        put_type(out, element);
    else
        put_uint(out, 8);
    tl_output_puts(out, "; }");
}

/* Fields of a struct: `{ { type, name }, ... }`. */
static void put_fields(tl_output *out, const ctf_form *f)
{
    tl_output_puts(out, "{\n");
    for (uint32_t i = 0; i < f->npart; i++) {
        const ctf_part *p = &f->part[i];
        if (p->source == CTF_PART_PASSED)
            continue;
        tl_output_puts(out, "    { ");
        if (f->kind == CTF_FORM_VARIANT)
            put_list(out, 8, 0, p->form);
        else
            put_type(out, p->form);
        tl_output_puts(out, ", ");
        put_name(out, p->name);
        tl_output_puts(out, " },\n");
    }
    tl_output_puts(out, "  }");
}

static void put_type(tl_output *out, const ctf_form *f)
{
    const bool fixed = f->counted == CTF_COUNTED_FIXED;
    switch ((ctf_form_kind)f->kind) {
    case CTF_FORM_INT:
        put_int(out, f);
        break;
    case CTF_FORM_FLOAT:
        tl_output_printf(out, "type { parent = floating_point; exp_dig = %d; mant_dig = %d; align = 8; }",
                         f->bits == 32 ? 8 : 11, f->bits == 32 ? 24 : 53);
        break;
    case CTF_FORM_STRING:
        tl_output_puts(out, "type { parent = string; encoding = UTF8; }");
        break;
    case CTF_FORM_TEXT:
    case CTF_FORM_BLOB:
        put_list(out, fixed ? 0 : 32, f->length, NULL);
        break;
    case CTF_FORM_LIST:
        put_list(out, fixed ? 0 : 32, f->length, f->part[0].form);
        break;
    case CTF_FORM_OPTIONAL:
        put_list(out, 8, 0, f->part[0].form);
        break;
    case CTF_FORM_STRUCT:
    case CTF_FORM_VARIANT:
    case CTF_FORM_NOTHING:
        tl_output_puts(out, "type { parent = struct; fields = ");
        put_fields(out, f);
        tl_output_puts(out, "; }");
        break;
    }
}

/* --- blocks; each ends with a NUL, like the strings that make up metadata --- */

static void end_block(tl_output *out)
{
    tl_output_write(out, "", 1);
}

static void put_trace(const ctf_writer *w, tl_output *out)
{
    const tl_trace *t = w->context.trace;
    tl_output_puts(out, "trace {\n  major = 1;\n  minor = 1;\n}\n");
    end_block(out);
    for (unsigned bits = 32; bits <= 64; bits *= 2) /* their alignment is that of event headers */
        tl_output_printf(out, "type uint%u_t { parent = integer; size = %u; signed = false; align = 8; }\n", bits,
                         bits);
    end_block(out);
    tl_clock c = t->clock;
    int64_t seconds;
    uint64_t ns;
    c.utc_offset_ns = ctf_origin_ns(&c, &t->origin);
    if (!c.has_utc && c.utc_offset_ns == 0)
        return;
    if (w->scales) /* times count from the begin */
        c.utc_offset_ns += (int64_t)tl_scale_ns(&t->scale, w->context.options->begin);
    c.hz = 1000000000;
    c.has_utc = true;
    ctf_clock_offset(&c, NULL, &seconds, &ns);
    tl_output_puts(out, "clock {\n  name = ");
    put_name(out, CTF_CLOCK_NAME(&c));
    tl_output_printf(
        out, ";\n  freq = 1000000000;\n  offset_s = %" PRId64 ";\n  offset = %" PRIu64 ";\n  absolute = %s;\n}\n",
        seconds, ns, t->clock.has_utc ? "true" : "false");
    end_block(out);
}

static void put_section(const ctf_writer *w, tl_output *out, const ctf_written_stream_class *sc)
{
    const ctf_form *context = w->forms.shape[sc->shape].stream;
    tl_output_puts(out, "section {\n  name = ");
    put_name(out, sc->name);
    tl_output_printf(out, ";\n  event {\n    header_type = type%d;\n", sc->large ? 2 : 1);
    if (context->npart > 0) {
        tl_output_puts(out, "    context = ");
        put_type(out, context);
        tl_output_puts(out, ";\n");
    }
    tl_output_puts(out, "  }\n}\n");
    end_block(out);
}

static void put_event(tl_output *out, const ctf_written_stream_class *sc, const ctf_written_class *c)
{
    tl_output_puts(out, "event {\n  name = ");
    put_name(out, c->cls->name);
    tl_output_printf(out, ";\n  id = %" PRIu32 ";\n  section = ", c->id);
    put_name(out, sc->name);
    if (c->uri) {
        tl_output_puts(out, ";\n  uri = ");
        put_name(out, c->uri);
    }
    tl_output_puts(out, ";\n  fields = ");
    put_type(out, c->payload);
    tl_output_puts(out, ";\n}\n");
    end_block(out);
}

static void put_text(const ctf_writer *w, tl_output *text)
{
    put_trace(w, text);
    for (uint32_t i = 0; i < w->nsc; i++) {
        put_section(w, text, &w->sc[i]);
        for (uint32_t k = 0; k < w->ncls; k++)
            if (ctf_class_listed(w, &w->sc[i], &w->cls[k]))
                put_event(text, &w->sc[i], &w->cls[k]);
    }
}

/* --- packets --- */

static int put_packets(ctf_writer *w, tl_output *out, const char *text, size_t n, tl_error *e)
{
    enum { CONTENT = CTF_WRITE_PAGE - CTF_2010_HEADER };
    for (uint32_t number = 0; n > 0 || number == 0; number++) {
        uint8_t page[CTF_WRITE_PAGE] = {0}, *packet = page;
        const size_t part = n < CONTENT ? n : CONTENT;
        size_t size = CTF_2010_HEADER + part, padding;
        tl_store32(page, (uint32_t)CTF_MAGIC_PACKET, false);
        memcpy(page + CTF_2010_SESSION, w->uuid, 4);
        tl_store32(page + CTF_2010_COUNT, number, false);
        page[CTF_2010_COUNT_BITS] = 32;
        memcpy(page + CTF_2010_HEADER, text, part);
        const int r = ctf_seal(&w->sealing, true, &packet, &size, &padding, e);
        if (r < 0)
            return r;
        tl_output_write(out, page, sizeof page);
        text += part;
        n -= part;
    }
    return 0;
}

int ctf_metadata_2010(ctf_writer *w, tl_output *out, tl_error *e)
{
    tl_output *text;
    int r = tl_output_open_memory(&text, TL_PLAIN, e);
    if (r < 0)
        return r;
    put_text(w, text);
    size_t n;
    r = tl_output_finish(text, e);
    char *bytes = r < 0 ? NULL : tl_output_take_memory(text, &n);
    if (r == 0 && !bytes)
        r = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory for metadata");
    if (r == 0)
        r = put_packets(w, out, bytes, n, e);
    free(bytes);
    tl_output_close(text);
    return r;
}
