/* Writes a core file: all sizes are known before the first byte. */
#include <string.h>

#include "base/endian.h"
#include "format/xtrace/xtrace_core.h"
#include "format/xtrace/xtrace_layout.h"
#include "format/xtrace/xtrace_snapshot.h"

enum {
    PRSTATUS = 1,
    PRSTATUS_SIZE = 392,
    PRSTATUS_PID = 32,
    PRSTATUS_X = 112,
    PRSTATUS_FPVALID = 384,
    FPREGSET = 2,
    FPREGSET_SIZE = 528,
    ARM_TLS = 0x401,
    ARM_TLS_SIZE = 8,
    ALL_FLAGS = 7, /* read, write, execute */
    NAME = 8       /* room of "CORE" and "LINUX" */
};

void xtrace_registers_take(xtrace_registers *r, const uint8_t *record, uint32_t vl)
{
    /* From the end: 11 system registers and the vector length; see xtrace_snapshot.h. */
    const uint32_t vector = vl / 8, predicate = (vl / 64 + 15) / 16 * 16;
    const uint8_t *z = record + XTRACE_SNAPSHOT_Z,
                  *system = z + 32 * (size_t)vector + 17 * (size_t)predicate + (size_t)vector * vector;
    *r = (xtrace_registers){.sp = tl_load64(record + XTRACE_SNAPSHOT_X + 8 * 31, false),
                            .fpcr = tl_load64(system, false),
                            .fpsr = tl_load64(system + 8, false),
                            .tpidr = tl_load64(system + 24, false)};
    r->pstate = tl_load64(system + 16, false) | tl_load64(system + 80, false); /* flags, and what is masked */
    for (size_t i = 0; i < 31; i++)
        r->x[i] = tl_load64(record + XTRACE_SNAPSHOT_X + 8 * i, false);
    for (size_t i = 0; i < 32; i++)
        memcpy(r->v[i], z + i * vector, 16);
}

typedef struct extent {
    uint64_t pages, runs;
} extent;

/* The page after another one, or the first; NULL at the end. */
static const tl_shadow_page *next_page(tl_shadow *memory, const tl_shadow_page *p)
{
    if (!p)
        return tl_shadow_next_page(memory, 0);
    const uint64_t from = p->address + TL_SHADOW_PAGE;
    return from == 0 ? NULL : tl_shadow_next_page(memory, from);
}

static extent measure(tl_shadow *memory)
{
    extent all = {0};
    uint64_t expected = 0;
    for (const tl_shadow_page *p = next_page(memory, NULL); p; p = next_page(memory, p)) {
        all.runs += all.pages == 0 || p->address != expected;
        all.pages++;
        expected = p->address + TL_SHADOW_PAGE;
    }
    return all;
}

static void put_header(tl_output *out, uint64_t headers, bool many)
{
    uint8_t h[CORE_EHDR] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    tl_store16(h + 16, CORE_ET, false);
    tl_store16(h + 18, CORE_EM, false);
    tl_store32(h + 20, 1, false);
    tl_store64(h + 32, CORE_EHDR, false);
    tl_store64(h + 40, many ? CORE_EHDR + headers * CORE_PHDR : 0, false);
    tl_store16(h + 52, CORE_EHDR, false);
    tl_store16(h + 54, CORE_PHDR, false);
    tl_store16(h + 56, many ? CORE_MANY : (uint16_t)headers, false);
    tl_store16(h + 58, CORE_SHDR, false);
    tl_store16(h + 60, many, false);
    tl_output_write(out, h, sizeof h);
}

static void put_program_header(tl_output *out, uint32_t type, uint64_t offset, uint64_t address, uint64_t size)
{
    uint8_t h[CORE_PHDR] = {0};
    tl_store32(h, type, false);
    tl_store32(h + 4, type == CORE_LOAD ? ALL_FLAGS : 0, false);
    tl_store64(h + 8, offset, false);
    tl_store64(h + 16, address, false);
    tl_store64(h + 32, size, false);
    tl_store64(h + 40, type == CORE_LOAD ? size : 0, false);
    tl_store64(h + 48, type == CORE_LOAD ? TL_SHADOW_PAGE : 4, false);
    tl_output_write(out, h, sizeof h);
}

/* One for each run of pages; their bytes begin at `offset`. */
static void put_loads(tl_output *out, tl_shadow *memory, uint64_t offset)
{
    uint64_t begin = 0, end = 0;
    for (const tl_shadow_page *p = next_page(memory, NULL); p; p = next_page(memory, p)) {
        if (end != begin && p->address != end) {
            put_program_header(out, CORE_LOAD, offset, begin, end - begin);
            offset += end - begin;
            end = begin;
        }
        if (end == begin)
            begin = p->address;
        end = p->address + TL_SHADOW_PAGE;
    }
    if (end != begin)
        put_program_header(out, CORE_LOAD, offset, begin, end - begin);
}

/* The number of program headers, if it does not fit into the file's header. */
static void put_section_header(tl_output *out, uint64_t headers)
{
    uint8_t h[CORE_SHDR] = {0};
    tl_store32(h + 44, (uint32_t)headers, false);
    tl_output_write(out, h, sizeof h);
}

static void put_note_head(tl_output *out, const char *name, uint32_t type, uint32_t size)
{
    uint8_t h[CORE_NOTE_HEAD + 12] = {0};
    const size_t n = strlen(name) + 1;
    tl_store32(h, (uint32_t)n, false);
    tl_store32(h + 4, size, false);
    tl_store32(h + 8, type, false);
    memcpy(h + CORE_NOTE_HEAD, name, n);
    tl_output_write(out, h, CORE_NOTE_HEAD + (n + 3) / 4 * 4);
}

static uint64_t note_size(size_t name, uint64_t size)
{
    return CORE_NOTE_HEAD + (name + 3) / 4 * 4 + size;
}

static void put_registers(tl_output *out, const xtrace_registers *r, uint32_t thread)
{
    uint8_t status[PRSTATUS_SIZE] = {0}, fp[FPREGSET_SIZE] = {0}, tls[ARM_TLS_SIZE];
    tl_store32(status + PRSTATUS_PID, thread, false);
    for (size_t i = 0; i < 31; i++)
        tl_store64(status + PRSTATUS_X + 8 * i, r->x[i], false);
    tl_store64(status + PRSTATUS_X + 8 * 31, r->sp, false);
    tl_store64(status + PRSTATUS_X + 8 * 32, r->pc, false);
    tl_store64(status + PRSTATUS_X + 8 * 33, r->pstate, false);
    tl_store32(status + PRSTATUS_FPVALID, 1, false);
    memcpy(fp, r->v, sizeof r->v);
    tl_store32(fp + 512, (uint32_t)r->fpsr, false);
    tl_store32(fp + 516, (uint32_t)r->fpcr, false);
    tl_store64(tls, r->tpidr, false);
    put_note_head(out, "CORE", PRSTATUS, sizeof status);
    tl_output_write(out, status, sizeof status);
    put_note_head(out, "CORE", FPREGSET, sizeof fp);
    tl_output_write(out, fp, sizeof fp);
    put_note_head(out, "LINUX", ARM_TLS, sizeof tls);
    tl_output_write(out, tls, sizeof tls);
}

static void put_known(tl_output *out, tl_shadow *memory, uint64_t pages)
{
    uint8_t head[CORE_KNOWN_HEAD];
    put_note_head(out, CORE_KNOWN, CORE_KNOWN_TYPE, (uint32_t)(CORE_KNOWN_HEAD + pages * CORE_KNOWN_PAGE));
    tl_store32(head, 1, false);
    tl_store32(head + 4, TL_SHADOW_PAGE, false);
    tl_store64(head + 8, pages, false);
    tl_output_write(out, head, sizeof head);
    for (const tl_shadow_page *p = next_page(memory, NULL); p; p = next_page(memory, p)) {
        uint8_t known[CORE_KNOWN_PAGE];
        tl_store64(known, p->address, false);
        for (size_t i = 0; i < TL_SHADOW_PAGE / 64; i++)
            tl_store64(known + 8 + 8 * i, p->known[i], false);
        tl_output_write(out, known, sizeof known);
    }
}

static void pad(tl_output *out, uint64_t from, uint64_t to)
{
    static const uint8_t zero[TL_SHADOW_PAGE];
    tl_output_write(out, zero, (size_t)(to - from));
}

int xtrace_core_write(tl_output *out, tl_shadow *memory, const xtrace_registers *r, uint32_t thread, uint64_t most,
                      tl_error *e)
{
    const extent all = measure(memory);
    const uint64_t headers = 1 + all.runs;
    const bool many = headers >= most;
    uint64_t notes = note_size(CORE_KNOWN_NAME, CORE_KNOWN_HEAD + all.pages * CORE_KNOWN_PAGE);
    if (all.pages > XTRACE_CORE_PAGES)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "a memory image has too many pages");
    if (r)
        notes += note_size(NAME, PRSTATUS_SIZE) + note_size(NAME, FPREGSET_SIZE) + note_size(NAME, ARM_TLS_SIZE);
    const uint64_t note_at = CORE_EHDR + headers * CORE_PHDR + (many ? CORE_SHDR : 0);
    const uint64_t end = note_at + notes, pages_at = (end + TL_SHADOW_PAGE - 1) / TL_SHADOW_PAGE * TL_SHADOW_PAGE;
    put_header(out, headers, many);
    put_program_header(out, CORE_NOTE, note_at, 0, notes);
    put_loads(out, memory, pages_at);
    if (many)
        put_section_header(out, headers);
    if (r)
        put_registers(out, r, thread);
    put_known(out, memory, all.pages);
    pad(out, end, pages_at);
    for (const tl_shadow_page *p = next_page(memory, NULL); p; p = next_page(memory, p))
        tl_output_write(out, p->data, TL_SHADOW_PAGE);
    return 0;
}
