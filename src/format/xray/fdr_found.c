/* Creating and freeing a scan, and its growing lists of findings. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/xray/fdr_scan.h"

enum { WINDOW = 256 << 10 };

int fdr_scan_init(fdr_scan *s, const fdr_index *x, tl_input *in, tl_error *e)
{
    *s = (fdr_scan){.index = x, .slot = x->slot, .first = UINT64_MAX, .give_up = UINT64_MAX};
    return tl_window_init(&s->window, in, WINDOW, e);
}

void fdr_scan_fini(fdr_scan *s)
{
    tl_window_fini(&s->window);
    free(s->buffer);
    free(s->damage);
    free(s->note);
    *s = (fdr_scan){0};
}

int fdr_found_buffer(fdr_scan *s, const fdr_buffer *buffer, tl_error *e)
{
    if (!TL_GROW(s->buffer, s->nbuffer, 1, s->buffer_capacity))
        return tl_fail(e, TL_ENOMEM, buffer->begin, "no memory for the index of buffers");
    s->buffer[s->nbuffer++] = *buffer;
    return 0;
}

TL_COLD int fdr_found_damage(fdr_scan *s, tl_error *e, uint64_t offset, uint64_t bytes, const char *rule,
                             const char *format, ...)
{
    s->ndamage_all++;
    if (s->ndamage == TL_DAMAGE_KEPT)
        return 0;
    if (!TL_GROW(s->damage, s->ndamage, 1, s->damage_capacity))
        return tl_fail(e, TL_ENOMEM, offset, "no memory for the list of damage");
    fdr_damage *d = &s->damage[s->ndamage++];
    *d = (fdr_damage){.offset = offset, .bytes = bytes, .rule = rule};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->what, sizeof d->what, format, arguments);
    va_end(arguments);
    return 0;
}

int fdr_found_note(fdr_scan *s, uint64_t offset, uint32_t size, tl_error *e)
{
    if (!TL_GROW(s->note, s->nnote, 1, s->note_capacity))
        return tl_fail(e, TL_ENOMEM, offset, "no memory for the list of notes");
    s->note[s->nnote++] = (fdr_note){.offset = offset, .size = size};
    return 0;
}
