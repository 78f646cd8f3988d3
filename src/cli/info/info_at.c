/* The known state before an instruction, for people and as JSON: registers, flags, vectors, memory. */
#include "cli/info/info_at.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/instruction/machine_state.h"
#include "base/text/json_write.h"
#include "base/text/number.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/selection.h"
#include "isa/a64_disasm.h"

#define PEEK         16u /* bytes shown at the target of a register */
#define TEXT_COLUMNS 4u  /* registers per line */

typedef struct view {
    const tl_cli *cli;
    const tl_machine *machine;
    const tl_trace *trace;
    char text[A64_TEXT_MAX]; /* of the next instruction */
} view;

static const char *register_name(unsigned n, char buf[8])
{
    snprintf(buf, 8, n == 31 ? "sp" : "x%u", n);
    return buf;
}

static bool knows(const tl_machine *m, unsigned n)
{
    return m->registers.known >> n & 1;
}

/* Known bytes of a page. */
static unsigned known_bytes(const tl_shadow_page *p)
{
    unsigned n = 0;
    for (size_t i = 0; i < TL_COUNT(p->known); i++)
        n += (unsigned)__builtin_popcountll(p->known[i]);
    return n;
}

static void print_head(const view *v, tl_output *out)
{
    const tl_machine *m = v->machine;
    char number[32], other[32], path[1024];
    tl_output_printf(out, "%s%s%s: %s%s before instruction %s\n", tl_style_on(&v->cli->out, TL_STRONG),
                     tl_text_clean(path, sizeof path, tl_path_name(tl_trace_path(v->trace))),
                     tl_style_on(&v->cli->out, TL_PLAIN_TEXT), m->is_cpu ? "" : "thread ", m->track ? m->track : "?",
                     tl_human_grouped(number, sizeof number, m->at));
    tl_output_puts(out, "  next      ");
    if (!m->has_next)
        tl_output_puts(out, "nothing: the stream ends here\n");
    else if (m->has_pc)
        tl_output_printf(out, "0x%" PRIx64 "  %08" PRIx32 "  %s  (EL%u)\n", m->pc, m->opcode, v->text, m->level);
    else
        tl_output_printf(out, "%08" PRIx32 "  %s  (EL%u; pc not known)\n", m->opcode, v->text, m->level);
    tl_human_grouped(other, sizeof other, m->from);
    tl_human_grouped(number, sizeof number, m->at - m->from);
    if (m->has_snapshot)
        tl_output_printf(out, "  known by  the snapshot before instruction %s, and %s instructions replayed\n", other,
                         number);
    else
        tl_output_printf(out, "  known by  %s instructions replayed, without a snapshot\n", number);
}

static void print_flags(const a64_state *r, tl_output *out)
{
    if (!r->has_nzcv) {
        tl_output_puts(out, "\n  nzcv ?\n");
        return;
    }
    tl_output_printf(out, "\n  nzcv %c%c%c%c\n", r->nzcv >> 31 & 1 ? 'N' : '-', r->nzcv >> 30 & 1 ? 'Z' : '-',
                     r->nzcv >> 29 & 1 ? 'C' : '-', r->nzcv >> 28 & 1 ? 'V' : '-');
}

static void print_registers(const view *v, tl_output *out)
{
    const tl_machine *m = v->machine;
    char name[8];
    const unsigned columns = v->cli->out.width >= 96 ? TEXT_COLUMNS : TEXT_COLUMNS / 2;
    for (unsigned n = 0; n < 32; n++) {
        tl_output_printf(out, "%s%4s ", n % columns ? " " : "\n ", register_name(n, name));
        char hex[24] = "?";
        if (knows(m, n))
            snprintf(hex, sizeof hex, "0x%" PRIx64, m->registers.x[n]);
        tl_output_printf(out, n % columns == columns - 1 ? "%s" : "%-18s", hex);
    }
    print_flags(&m->registers, out);
}

static void print_bytes(const uint8_t *p, size_t n, size_t room, tl_output *out)
{
    for (size_t i = 0; i < room; i++)
        tl_output_printf(out, i < n ? "%02x " : "   ", i < n ? p[i] : 0u);
    tl_output_puts(out, " ");
    for (size_t i = 0; i < n; i++)
        tl_output_printf(out, "%c", p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '.');
}

/* Registers that point to known memory. */
static void print_pointers(const view *v, tl_output *out)
{
    const tl_machine *m = v->machine;
    bool first = true;
    for (unsigned n = 0; n < 32; n++) {
        uint8_t bytes[PEEK];
        char name[8];
        const size_t got = knows(m, n) ? tl_shadow_get(m->memory, m->registers.x[n], bytes, sizeof bytes) : 0;
        if (got == 0)
            continue;
        if (first)
            tl_output_puts(out, "\n  memory at registers\n");
        first = false;
        tl_output_printf(out, "  %4s  0x%-16" PRIx64 "  ", register_name(n, name), m->registers.x[n]);
        print_bytes(bytes, got, PEEK, out);
        tl_output_puts(out, "\n");
    }
}

static void print_memory(const view *v, tl_output *out)
{
    const tl_machine *m = v->machine;
    uint64_t bytes = 0, pages = 0;
    char number[32];
    for (const tl_shadow_page *p = tl_shadow_next_page(m->memory, 0); p;) {
        bytes += known_bytes(p);
        pages++;
        p = p->address > UINT64_MAX - TL_SHADOW_PAGE ? NULL
                                                     : tl_shadow_next_page(m->memory, p->address + TL_SHADOW_PAGE);
    }
    tl_output_printf(out, "\n  memory    %s bytes known", tl_human_grouped(number, sizeof number, bytes));
    tl_output_printf(out, " in %s page%s%s\n", tl_human_grouped(number, sizeof number, pages), pages == 1 ? "" : "s",
                     bytes ? ": --json shows them" : "; a system call may have changed what was");
}

static void print_text(view *v, tl_output *out)
{
    print_head(v, out);
    print_registers(v, out);
    print_pointers(v, out);
    print_memory(v, out);
}

static void put_hex(tl_json *j, uint64_t value)
{
    char hex[24];
    snprintf(hex, sizeof hex, "0x%" PRIx64, value);
    tl_json_string(j, hex);
}

static void put_bytes(tl_json *j, const uint8_t *p, size_t n)
{
    char hex[2 * TL_SHADOW_PAGE + 1];
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", p[i]);
    tl_json_string_n(j, hex, 2 * n);
}

/* The runs of known bytes of a page. */
static void put_page(tl_json *j, const tl_shadow_page *p)
{
    for (unsigned at = 0; at < TL_SHADOW_PAGE;) {
        unsigned end = at;
        while (end < TL_SHADOW_PAGE && p->known[end / 64] >> (end % 64) & 1)
            end++;
        if (end > at) {
            tl_json_object(j);
            tl_json_key(j, "address");
            put_hex(j, p->address + at);
            tl_json_key(j, "bytes");
            put_bytes(j, p->data + at, end - at);
            tl_json_object_end(j);
        }
        at = end + 1;
    }
}

static void put_next(tl_json *j, const view *v)
{
    const tl_machine *m = v->machine;
    if (!m->has_next) {
        tl_json_key_null(j, "next");
        return;
    }
    tl_json_key(j, "next");
    tl_json_object(j);
    tl_json_key(j, "pc");
    if (m->has_pc)
        put_hex(j, m->pc);
    else
        tl_json_null(j);
    tl_json_key(j, "opcode");
    put_hex(j, m->opcode);
    tl_json_key_u64(j, "el", m->level);
    tl_json_key_string(j, "asm", v->text);
    tl_json_object_end(j);
}

static void put_registers(tl_json *j, const tl_machine *m)
{
    char name[8];
    tl_json_key(j, "registers");
    tl_json_object(j);
    for (unsigned n = 0; n < 32; n++) {
        tl_json_key(j, register_name(n, name));
        if (knows(m, n))
            put_hex(j, m->registers.x[n]);
        else
            tl_json_null(j);
    }
    tl_json_key(j, "nzcv");
    if (m->registers.has_nzcv)
        put_hex(j, m->registers.nzcv);
    else
        tl_json_null(j);
    for (unsigned n = 0; n < 32; n++) {
        snprintf(name, sizeof name, "v%u", n);
        tl_json_key(j, name);
        if (m->vectors >> n & 1)
            put_bytes(j, m->vector[n], TL_VECTOR_BYTES);
        else
            tl_json_null(j);
    }
    tl_json_object_end(j);
}

static void print_json(const view *v, tl_output *out)
{
    const tl_machine *m = v->machine;
    tl_json json, *j = &json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    tl_json_key_string(j, "path", tl_base_name(tl_trace_path(v->trace)));
    tl_json_key_string(j, "track", m->track);
    tl_json_key_u64(j, "at", m->at);
    tl_json_key_u64(j, "from", m->from);
    tl_json_key(j, "snapshot");
    tl_json_bool(j, m->has_snapshot);
    put_next(j, v);
    put_registers(j, m);
    tl_json_key(j, "memory");
    tl_json_array(j);
    for (const tl_shadow_page *p = tl_shadow_next_page(m->memory, 0); p;) {
        put_page(j, p);
        p = p->address > UINT64_MAX - TL_SHADOW_PAGE ? NULL
                                                     : tl_shadow_next_page(m->memory, p->address + TL_SHADOW_PAGE);
    }
    tl_json_array_end(j);
    tl_json_object_end(j);
    tl_output_puts(out, "\n");
}

static int show(const tl_cli *c, tl_reading *r, const tl_machine *m, bool json, tl_output *out, tl_error *e)
{
    view v = {.cli = c, .machine = m, .trace = r->trace};
    a64_disasm *disasm = NULL;
    int status = a64_disasm_new(&disasm, false, e);
    if (status < 0)
        return status;
    a64_disasm_text(disasm, m->opcode, m->has_pc, m->pc, v.text);
    a64_disasm_free(disasm);
    if (json)
        print_json(&v, out);
    else
        print_text(&v, out);
    return 0;
}

int tl_info_at(const tl_cli *c, const char *path, bool json, tl_output *out)
{
    tl_reading r;
    tl_machine m = {0};
    tl_selection selection = {0};
    tl_error e = {0};
    const tl_want want = {
        .fields = true, .companions = true, .strict = c->args->strict, .resync = c->args->resync, .threads = 1};
    int exit = tl_reading_open(&r, c, path, &want);
    if (exit != TL_EXIT_DONE)
        return exit;
    int status = tl_selection_parse(&selection, c->args, &e);
    if (status == 0)
        status = tl_selection_apply(&selection, r.trace, &e);
    if (status == 0)
        status = tl_machine_at(&m, r.source, &selection.select, c->args->at, &e);
    if (status == 0) {
        tl_pager_start(c);
        status = show(c, &r, &m, json, out, &e);
    }
    if (status < 0)
        exit = tl_say_failure(path, &e);
    else
        exit = tl_say_losses(c, r.trace, 0);
    tl_machine_fini(&m);
    tl_selection_fini(&selection);
    tl_reading_close(&r);
    return exit;
}
