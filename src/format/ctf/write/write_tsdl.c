/* Metadata of CTF 1.8: prints forms in TSDL.
 *
 * Names of fields begin with '_', see raw_name() in ctf_form.c, except those that readers know. Types are written out
 * where they are used, because a type and a field may not have the same name. */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "format/ctf/write/ctf_write.h"

static void indent(tl_output *out, unsigned depth)
{
    while (depth-- > 0)
        tl_output_puts(out, "\t");
}

/* Text in quotes, with escapes as in C. */
static void put_text(tl_output *out, const char *s)
{
    tl_output_puts(out, "\"");
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            tl_output_printf(out, "\\%c", c);
        else if (c == '\n')
            tl_output_puts(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            tl_output_printf(out, "\\%03o", c);
        else
            tl_output_write(out, s, 1);
    }
    tl_output_puts(out, "\"");
}

static void put_integer(tl_output *out, const ctf_form *f, const char *encoding)
{
    tl_output_printf(out, "integer { size = %u; align = 8; signed = %u; encoding = %s; base = %u; }", f->bits,
                     f->is_signed, encoding, f->base);
}

static void put_bound(tl_output *out, const ctf_form *f, uint64_t v)
{
    if (f->is_signed)
        tl_output_printf(out, "%" PRId64, (int64_t)v);
    else
        tl_output_printf(out, "%" PRIu64, v);
}

static void put_enum(tl_output *out, const ctf_form *f, unsigned depth)
{
    tl_output_puts(out, "enum : ");
    put_integer(out, f, "none");
    tl_output_puts(out, " {\n");
    for (uint32_t i = 0; i < f->nmapping; i++) {
        const tl_mapping *m = &f->mapping[i];
        indent(out, depth + 1);
        put_text(out, m->label ? m->label : "");
        tl_output_puts(out, " = ");
        put_bound(out, f, m->low);
        if (m->low != m->high) {
            tl_output_puts(out, " ... ");
            put_bound(out, f, m->high);
        }
        tl_output_puts(out, ",\n");
    }
    indent(out, depth);
    tl_output_puts(out, "}");
}

static void put_member(tl_output *out, const ctf_part *p, unsigned depth);

static void put_struct(tl_output *out, const ctf_form *f, unsigned depth)
{
    tl_output_puts(out, "struct {\n");
    for (uint32_t i = 0; i < f->npart; i++)
        if (f->part[i].source != CTF_PART_PASSED)
            put_member(out, &f->part[i], depth + 1);
    indent(out, depth);
    tl_output_puts(out, "}");
}

/* The field with the count or selector, as seen from the field that needs it. */
static void put_location(tl_output *out, const ctf_form *f)
{
    static const char *const scope[] = {[TL_SCOPE_STREAM] = "stream.event.context.",
                                        [TL_SCOPE_EVENT] = "event.context.",
                                        [TL_SCOPE_PAYLOAD] = "event.fields."};
    tl_output_printf(out, "%s%s", f->elsewhere ? scope[f->by->scope] : "", f->by->name);
}

static void put_options(tl_output *out, const ctf_form *f, unsigned depth)
{
    tl_output_puts(out, "variant <");
    put_location(out, f);
    tl_output_puts(out, "> {\n");
    if (f->kind == CTF_FORM_OPTIONAL) {
        indent(out, depth + 1);
        tl_output_puts(out, "struct { } none;\n");
    }
    for (uint32_t i = 0; i < f->npart; i++)
        put_member(out, &f->part[i], depth + 1);
    indent(out, depth);
    tl_output_puts(out, "}");
}

/* A type, without the lengths after the name. */
static void put_type(tl_output *out, const ctf_form *f, unsigned depth)
{
    static const ctf_form byte = {.bits = 8, .base = 10}, hex = {.bits = 8, .base = 16};
    switch ((ctf_form_kind)f->kind) {
    case CTF_FORM_INT:
        if (f->nmapping > 0)
            put_enum(out, f, depth);
        else
            put_integer(out, f, "none");
        break;
    case CTF_FORM_FLOAT:
        tl_output_printf(out, "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }", f->bits == 32 ? 8 : 11,
                         f->bits == 32 ? 24 : 53);
        break;
    case CTF_FORM_STRING:
        tl_output_puts(out, "string");
        break;
    case CTF_FORM_TEXT:
        put_integer(out, &byte, "UTF8");
        break;
    case CTF_FORM_BLOB:
        put_integer(out, &hex, "none");
        break;
    case CTF_FORM_STRUCT:
        put_struct(out, f, depth);
        break;
    case CTF_FORM_LIST:
        put_type(out, f->part[0].form, depth);
        break;
    case CTF_FORM_VARIANT:
    case CTF_FORM_OPTIONAL:
        put_options(out, f, depth);
        break;
    case CTF_FORM_NOTHING:
        tl_output_puts(out, "struct { }");
        break;
    }
}

static void put_member(tl_output *out, const ctf_part *p, unsigned depth)
{
    indent(out, depth);
    put_type(out, p->form, depth);
    tl_output_printf(out, " %s", p->name);
    for (const ctf_form *f = p->form; f; f = f->kind == CTF_FORM_LIST ? f->part[0].form : NULL) {
        if (f->kind != CTF_FORM_LIST && f->kind != CTF_FORM_TEXT && f->kind != CTF_FORM_BLOB)
            break;
        tl_output_puts(out, "[");
        if (f->counted == CTF_COUNTED_FIXED)
            tl_output_printf(out, "%" PRIu32, f->length);
        else
            put_location(out, f);
        tl_output_puts(out, "]");
    }
    tl_output_puts(out, ";\n");
}

/* --- blocks --- */

/* A name as an identifier. */
static void put_identifier(tl_output *out, const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (!ctf_is_identifier(s))
        tl_output_puts(out, "_");
    for (; *s; s++)
        tl_output_write(out, strchr(letters, *s) ? s : "_", 1);
}

static void put_uuid(tl_output *out, const uint8_t *u)
{
    for (int i = 0; i < 16; i++)
        tl_output_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

static void put_trace(const ctf_writer *w, tl_output *out)
{
    tl_output_puts(out, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
    put_uuid(out, w->uuid);
    tl_output_puts(out, "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n"
                        "\t\tinteger { size = 32; align = 8; signed = 0; base = 16; } magic;\n"
                        "\t\tinteger { size = 8; align = 8; signed = 0; } uuid[16];\n"
                        "\t\tinteger { size = 32; align = 8; signed = 0; } stream_id;\n"
                        "\t\tinteger { size = 64; align = 8; signed = 0; } stream_instance_id;\n"
                        "\t};\n};\n\n");
}

static void put_environment(const ctf_writer *w, tl_output *out)
{
    const tl_trace *t = w->context.trace;
    tl_output_puts(out, "env {\n");
    for (uint32_t i = 0; i < t->nproperty; i++) {
        const tl_property *p = &t->property[i];
        tl_output_puts(out, "\t");
        put_identifier(out, p->name);
        tl_output_puts(out, " = ");
        if (p->text)
            put_text(out, p->text);
        else
            tl_output_printf(out, "%" PRId64, p->number);
        tl_output_puts(out, ";\n");
    }
    if (!t->clock.hz)
        tl_output_puts(out, "\t" CTF_TICKS_PROPERTY " = \"ticks\";\n");
    tl_output_puts(out, "};\n\n");
}

static void put_clock(const ctf_writer *w, tl_output *out)
{
    tl_clock clock = w->context.trace->clock;
    const tl_clock *c = &clock;
    int64_t seconds;
    uint64_t cycles;
    clock.has_utc = clock.has_utc && w->base == 0;
    /* Here an offset is from 1970, whatever `absolute` says. */
    ctf_clock_offset(c, c->has_utc ? &w->context.trace->origin : NULL, &seconds, &cycles);
    tl_output_puts(out, "clock {\n\tname = ");
    put_identifier(out, CTF_CLOCK_NAME(c));
    tl_output_printf(out, ";\n\tfreq = %" PRIu64 ";\n\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64 ";\n",
                     CTF_WRITE_HZ(c), seconds, cycles);
    tl_output_printf(out, "\tabsolute = %s;\n};\n\n", c->has_utc ? "true" : "false");
}

static void put_time(const ctf_writer *w, tl_output *out, unsigned bits, unsigned align, const char *name)
{
    tl_output_printf(out, "integer { size = %u; align = %u; signed = 0; map = clock.", bits, align);
    put_identifier(out, CTF_CLOCK_NAME(&w->context.trace->clock));
    tl_output_printf(out, ".value; } %s;\n", name);
}

static void put_event_header(const ctf_writer *w, tl_output *out, const ctf_written_stream_class *sc)
{
    if (sc->timeless) {
        tl_output_puts(out, "\tevent.header := struct {\n"
                            "\t\tinteger { size = 32; align = 8; signed = 0; } id;\n\t};\n");
        return;
    }
    tl_output_printf(out,
                     "\tevent.header := struct {\n"
                     "\t\tenum : integer { size = %u; align = %u; signed = 0; } { compact = 0 ... %u, extended = %u } "
                     "id;\n\t\tvariant <id> {\n\t\t\tstruct {\n\t\t\t\t",
                     sc->large ? 16 : 5, sc->large ? 8 : 1, sc->large ? 65534 : 30, sc->large ? 65535 : 31);
    put_time(w, out, sc->large ? 32 : 27, sc->large ? 8 : 1, "timestamp");
    tl_output_puts(out, "\t\t\t} compact;\n\t\t\tstruct {\n"
                        "\t\t\t\tinteger { size = 32; align = 8; signed = 0; } id;\n\t\t\t\t");
    put_time(w, out, 64, 8, "timestamp");
    tl_output_puts(out, "\t\t\t} extended;\n\t\t} v;\n\t} align(8);\n");
}

static void put_packet_context(const ctf_writer *w, tl_output *out, const ctf_written_stream_class *sc)
{
    static const char *const sizes[] = {"content_size", "packet_size", "packet_seq_num", "events_discarded"};
    const ctf_form *own = w->forms.shape[sc->shape].packet;
    tl_output_puts(out, "\tpacket.context := struct {\n");
    for (int end = 0; end < 2 && !sc->timeless; end++) {
        tl_output_puts(out, "\t\t");
        put_time(w, out, 64, 8, end ? "timestamp_end" : "timestamp_begin");
    }
    for (size_t i = 0; i < TL_COUNT(sizes); i++)
        tl_output_printf(out, "\t\tinteger { size = 64; align = 8; signed = 0; } %s;\n", sizes[i]);
    if (sc->has_cpu)
        put_member(out, &(ctf_part){.name = "cpu_id", .form = w->forms.shape[sc->shape].cpu}, 2);
    if (sc->has_pid)
        tl_output_puts(out, "\t\tinteger { size = 64; align = 8; signed = 1; } _pid;\n");
    if (sc->has_tid)
        tl_output_puts(out, "\t\tinteger { size = 64; align = 8; signed = 1; } _tid;\n");
    for (uint32_t i = 0; i < own->npart; i++)
        if (own->part[i].source != CTF_PART_PASSED)
            put_member(out, &own->part[i], 2);
    tl_output_puts(out, "\t};\n");
}

static void put_stream(const ctf_writer *w, tl_output *out, const ctf_written_stream_class *sc)
{
    const ctf_form *context = w->forms.shape[sc->shape].stream;
    tl_output_printf(out, "stream {\n\tid = %" PRIu64 ";\n", sc->id);
    put_event_header(w, out, sc);
    put_packet_context(w, out, sc);
    if (context->npart > 0 || w->forms.shape[sc->shape].shows_stream) {
        tl_output_puts(out, "\tevent.context := ");
        put_struct(out, context, 1);
        tl_output_puts(out, ";\n");
    }
    tl_output_puts(out, "};\n\n");
}

static void put_event(tl_output *out, const ctf_written_stream_class *sc, const ctf_written_class *c)
{
    tl_output_puts(out, "event {\n\tname = ");
    put_text(out, c->cls->name);
    tl_output_printf(out, ";\n\tid = %" PRIu32 ";\n\tstream_id = %" PRIu64 ";\n", c->id, sc->id);
    if (c->cls->level)
        tl_output_printf(out, "\tloglevel = %" PRId32 ";\n", c->cls->level_value);
    if (c->uri) {
        tl_output_puts(out, "\tmodel.emf.uri = ");
        put_text(out, c->uri);
        tl_output_puts(out, ";\n");
    }
    if (c->context->npart > 0 || c->shows_context) {
        tl_output_puts(out, "\tcontext := ");
        put_struct(out, c->context, 1);
        tl_output_puts(out, ";\n");
    }
    if (c->payload->npart > 0 || c->shows_payload) {
        tl_output_puts(out, "\tfields := ");
        put_struct(out, c->payload, 1);
        tl_output_puts(out, ";\n");
    }
    tl_output_puts(out, "};\n\n");
}

void ctf_metadata_tsdl(ctf_writer *w, tl_output *out)
{
    put_trace(w, out);
    put_environment(w, out);
    put_clock(w, out);
    for (uint32_t i = 0; i < w->nsc; i++) {
        put_stream(w, out, &w->sc[i]);
        for (uint32_t k = 0; k < w->ncls; k++)
            if (ctf_class_listed(w, &w->sc[i], &w->cls[k]))
                put_event(out, &w->sc[i], &w->cls[k]);
    }
}
