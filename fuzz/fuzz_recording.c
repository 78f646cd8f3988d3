/* Fuzz target: the notes of our recorder. They come in two parts, split where the size says. */
#include <stdio.h>
#include <stdlib.h>

#include "model/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void check_recording(const tl_trace *t)
{
    const tl_recording *r = t->recording;
    promise(r->nobject <= TL_RECORDING_OBJECTS_MAX && r->nevent <= TL_RECORDING_EVENTS_MAX, "lists have their limits");
    for (uint32_t i = 0; i < r->nobject; i++)
        promise(tl_recording_object_of(r, r->object[i].id) == &r->object[i], "objects are found by their number");
    for (uint32_t i = 0; i < r->nevent; i++) {
        promise(tl_recording_event_of(r, r->event[i].id) == &r->event[i], "events are found by their number");
        promise(r->event[i].name && r->event[i].nfield <= TL_RECORDING_FIELDS_MAX,
                "events have names, and some fields");
    }
    for (uint32_t i = 0; i < r->nfunction; i++)
        (void)tl_recording_home(r, r->function[i].id);
    promise(r->nframed <= TL_RECORDING_FRAMES_MAX, "patched functions have their limit");
    for (uint32_t i = 0; i < r->nframes; i++)
        promise(r->frames[i].at <= r->n && r->frames[i].bytes <= r->n - r->frames[i].at, "addresses are in the text");
    for (int64_t tid = -1; tid < 100; tid++)
        (void)tl_recording_thread(t, tid);
    (void)tl_recording_program(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_trace t = {0};
    tl_error e = {0};
    const char *text = (const char *)data;
    const size_t cut = size / 3;
    tl_trace_init(&t);
    promise(tl_recording_begin(&t, &e) == 0, "memory suffices");
    promise(tl_recording_add(&t, text, cut, 100, &e) == 0, "what is wrong in notes is damage, no failure");
    promise(tl_recording_add(&t, text + cut, size - cut, 100 + cut, &e) == 0, "of all notes");
    check_recording(&t);
    promise(tl_recording_finish(&t, size % 2 ? TL_RECORDING_LIVE : TL_RECORDING_DONE, &e) == 0, "they can be finished");
    for (uint32_t i = 0; i < t.ndamage; i++)
        promise(t.damage[i].at >= 100 && t.damage[i].at <= 100 + size, "damage lies in the notes");
    tl_trace_fini(&t);
    return 0;
}
