/* The walk over .eh_frame. */
#include "patch/patch_frames.h"

#include "patch/patch_reader.h"

#define LETTERS_MAX 8
#define INDIRECT    0x80 /* DW_EH_PE_indirect: what it points to does not matter here, and may not be there */

/* What a common entry says of those that refer to it. */
typedef struct common_entry {
    patch_frame frame; /* but for its range and its own rules */
    bool sized;        /* those that refer to it have data with a size in front */
} common_entry;

/* A reader of the entry at `at`, behind its length; false: it does not lie within [at, end). */
static bool entry(const patch_image *image, uint64_t at, uint64_t end, patch_reader *r)
{
    uint64_t length;
    if (end <= at || !patch_reader_begin(r, image, at, end - at) || !patch_read_fixed(r, 4, &length))
        return false;
    if (length == 0xffffffff && !patch_read_fixed(r, 8, &length))
        return false;
    if (length > r->end - r->at)
        return false;
    r->end = r->at + length;
    return true;
}

/* The data of an augmentation such as "zPLR", whose letters say what they are. */
static bool augmentation(patch_reader *r, const uint8_t *letter, common_entry *out)
{
    uint64_t size, pointer;
    uint8_t encoding;
    if (*letter == 0)
        return true;
    if (*letter != 'z' || !patch_read_unsigned(r, &size) || size > r->end - r->at)
        return false;
    patch_reader data = *r;
    data.end = r->at + size;
    r->at = data.end;
    out->sized = true;
    while (*++letter) {
        switch (*letter) {
        case 'R':
            if (!patch_read_byte(&data, &out->frame.pointers))
                return false;
            break;
        case 'L':
            if (!patch_read_byte(&data, &encoding))
                return false;
            break;
        case 'P':
            if (!patch_read_byte(&data, &encoding) ||
                !patch_read_pointer(&data, encoding & (0xff ^ INDIRECT), &pointer))
                return false;
            break;
        case 'S':
            out->frame.signal = true;
            break;
        case 'B': /* AArch64: return addresses are signed with key B */
            break;
        default:
            return false;
        }
    }
    return true;
}

static bool common_of(const patch_image *image, uint64_t at, uint64_t end, common_entry *out)
{
    uint8_t letter[LETTERS_MAX], version;
    unsigned n = 0;
    uint64_t id;
    patch_reader r;
    patch_frame *f = &out->frame;
    *out = (common_entry){.sized = false};
    if (!entry(image, at, end, &r) || !patch_read_fixed(&r, 4, &id) || id != 0 || !patch_read_byte(&r, &version) ||
        (version != 1 && version != 3))
        return false;
    do {
        if (n == LETTERS_MAX || !patch_read_byte(&r, &letter[n]))
            return false;
    } while (letter[n++]);
    if (!patch_read_unsigned(&r, &f->code_factor) || !patch_read_signed(&r, &f->data_factor) ||
        !(version == 1 ? patch_read_fixed(&r, 1, &f->return_register) : patch_read_unsigned(&r, &f->return_register)) ||
        !augmentation(&r, letter, out))
        return false;
    f->common = (patch_rules){r.at, r.end};
    return true;
}

bool patch_frames_begin(patch_frames *w, const patch_image *image)
{
    patch_reader r;
    uint8_t version, encoding, ignored;
    uint64_t section;
    *w = (patch_frames){.image = image};
    if (!patch_reader_begin(&r, image, image->frame_header, 20) || !patch_read_byte(&r, &version) || version != 1 ||
        !patch_read_byte(&r, &encoding) || !patch_read_byte(&r, &ignored) || !patch_read_byte(&r, &ignored) ||
        !patch_read_pointer(&r, encoding, &section))
        return false;
    const patch_part *part = patch_part_of(image, section, 4);
    if (!part)
        return false;
    w->at = section;
    w->end = part->address + part->size;
    return true;
}

/* The entry that `r` is behind the id of; false: malformed. */
static bool frame_of(const patch_frames *w, patch_reader *r, uint64_t id_at, uint64_t id, patch_frame *out)
{
    common_entry common;
    uint64_t size;
    if (id > id_at || !common_of(w->image, id_at - id, w->end, &common))
        return false;
    *out = common.frame;
    if (!patch_read_pointer(r, out->pointers, &out->begin) || !patch_read_pointer(r, out->pointers & 0x0f, &out->size))
        return false;
    if (common.sized) {
        if (!patch_read_unsigned(r, &size) || size > r->end - r->at)
            return false;
        r->at += size;
    }
    out->own = (patch_rules){r->at, r->end};
    return true;
}

bool patch_frames_next(patch_frames *w, patch_frame *out)
{
    patch_reader r;
    while (entry(w->image, w->at, w->end, &r)) {
        const uint64_t here = w->at, id_at = r.at;
        uint64_t id;
        if (r.at == r.end) /* a length of 0 ends the section */
            return false;
        w->at = r.end;
        if (!patch_read_fixed(&r, 4, &id))
            break;
        if (id == 0) /* a common entry */
            continue;
        if (frame_of(w, &r, id_at, id, out)) {
            out->entry = here;
            return true;
        }
        w->damaged = true; /* this one; those behind it may be sound */
    }
    w->damaged = true;
    return false;
}
