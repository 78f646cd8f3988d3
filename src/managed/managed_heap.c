/* The count, and its line. */
#include "managed/managed_heap.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "managed/managed_names.h"

enum { CLASSES = 1 << 14, EVERY_MS = 1000 };

static struct live {
    const void *class;
    uint64_t count, bytes;
    bool may_go;
} live[CLASSES];
static _Atomic bool counting;
static uint64_t counted_at; /* ns; 0: never */

bool managed_heap_begin(void)
{
    const uint64_t now = managed_now();
    if (counting || managed_paused || (counted_at && now - counted_at < EVERY_MS * UINT64_C(1000000)))
        return false;
    memset(live, 0, sizeof live);
    counted_at = now;
    counting = true;
    return true;
}

bool managed_heap_counting(void)
{
    return counting;
}

void managed_heap_add(const void *class, uint64_t bytes, bool (*may_go)(const void *class))
{
    uint32_t i = (uint32_t)((uint64_t)(uintptr_t) class * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (CLASSES - 1),
             looked = 0;
    while (live[i].class && live[i].class != class && looked++ < CLASSES)
        i = (i + 1) & (CLASSES - 1);
    if (looked >= CLASSES)
        return;
    if (!live[i].class)
        live[i] = (struct live){.class = class, .may_go = may_go && may_go(class)};
    live[i].count++;
    live[i].bytes += bytes;
}

void managed_heap_put(void (*know)(const void *class))
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    for (const struct live *l = live; f && l < live + CLASSES; l++) {
        if (!l->class)
            continue;
        if (!l->may_go)
            know(l->class);
        const uint32_t iid = l->may_go ? MANAGED_UNKNOWN : managed_class_find(l->class);
        if (iid == MANAGED_UNKNOWN)
            fputs(" ?", f);
        else
            fprintf(f, " 0x%x", iid);
        fprintf(f, ":%llu:%llu", (unsigned long long)l->count, (unsigned long long)l->bytes);
    }
    if (f && fclose(f) == 0)
        managed_fact("gch alt %llu%s\n", (unsigned long long)(managed_now() / 1000000), text);
    free(text);
    counting = false;
}
