/* Collects the frames of a stack, to show them from the outermost in. */
#include "model/stack_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/number.h"

bool tl_stack_frames_set(tl_stack_frames *s, const tl_value *stack)
{
    s->n = 0;
    for (const tl_frame *f = stack->as.p; f && s->n < stack->n; f = f->caller) {
        if (!TL_GROW(s->frame, s->n, 1, s->capacity)) {
            s->n = 0;
            return false;
        }
        s->frame[s->n++] = f;
    }
    return true;
}

void tl_stack_frames_fini(tl_stack_frames *s)
{
    free(s->frame);
    *s = (tl_stack_frames){0};
}

const char *tl_frame_label(const tl_frame *f, char buf[static TL_FRAME_LABEL_ROOM])
{
    if (f->name)
        return f->name;
    if (!(f->flags & TL_FRAME_FUNCTION))
        return "?";
    memcpy(buf, "0x", 2);
    *tl_put_hex(buf + 2, f->function) = '\0';
    return buf;
}
