/* Numbers functions and texts in the order in which a page first uses them. */
#include "view/page/page_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/utf8.h"
#include "view/page/page_time.h"

enum { NAME, FILE_NAME, LINE, LIBRARY, FLAGS, ID, LENGTHS, TEXTS, THREAD, PID, TID, BEGIN, END, COLUMNS };
enum { NO_NAME = 1, UNKNOWN = 2, HEX_ID = 4 };
enum { HEAD_KEPT = 700, TAIL_KEPT = 250 }; /* of a text that is too long */

static int compare(const void *a, const void *b)
{
    return tl_track_compare(*(const tl_track *const *)a, *(const tl_track *const *)b);
}

static bool sort_tracks(tl_html_names *t, const tl_trace *trace)
{
    t->of_track = calloc((size_t)trace->ntrack + 1, sizeof *t->of_track);
    t->sorted = tl_alloc((size_t)trace->ntrack + 1, sizeof(const tl_track *));
    if (!t->of_track || !t->sorted)
        return false;
    for (uint32_t i = 0; i < trace->ntrack; i++)
        t->sorted[i] = &trace->track[i];
    if (trace->ntrack)
        qsort(t->sorted, trace->ntrack, sizeof(const tl_track *), compare);
    return true;
}

bool tl_html_names_init(tl_html_names *t, const tl_profile *p, const tl_html_time *time, size_t text_most)
{
    *t = (tl_html_names){.profile = p, .time = time->known ? time : NULL, .room = text_most};
    t->number = calloc((size_t)p->nfunction + 1, sizeof *t->number);
    t->thread = calloc((size_t)p->ntrack + 1, sizeof *t->thread);
    return t->number && t->thread && tl_columns_init(&t->columns, COLUMNS) && (!t->time || sort_tracks(t, time->trace));
}

void tl_html_names_fini(tl_html_names *t)
{
    free(t->number);
    free(t->thread);
    free(t->of_track);
    free(t->sorted);
    tl_columns_fini(&t->columns);
    tl_hash_fini(&t->text);
    tl_pb_fini(&t->scratch);
}

void tl_html_repair(tl_pb *out, const char *s, size_t n)
{
    char character[4];
    for (size_t at = 0, length; at < n; at += length) {
        length = tl_utf8_length(s + at, n - at);
        if (length) {
            tl_pb_raw(out, s + at, length);
        } else if ((unsigned char)s[at] == 0xc0 && n - at > 1 && (unsigned char)s[at + 1] == 0x80) {
            tl_pb_raw(out, "", 1); /* hidden by tl_strings_get_text() */
            length = 2;
        } else {
            tl_pb_raw(out, character, tl_utf8_repair(character, s + at, 1));
            length = 1;
        }
    }
}

static bool continues(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Replaces the middle of a text that is too long. */
static void cut(tl_pb *text)
{
    const size_t n = text->n;
    char note[48];
    size_t head = HEAD_KEPT, tail = n - TAIL_KEPT;
    if (text->failed || n <= TL_HTML_TEXT_MAX)
        return;
    while (continues(text->data[head]))
        head--;
    while (tail < n && continues(text->data[tail]))
        tail++;
    snprintf(note, sizeof note, " [%zu bytes]", n);
    memmove(text->data + head + 3, text->data + tail, n - tail);
    memcpy(text->data + head, "\xe2\x80\xa6", 3);
    text->n = head + 3 + n - tail;
    tl_pb_text(text, note);
}

/* Number + 1 of a text; 0: there is none, or no room for it. */
static uint32_t put_text(tl_html_names *t, const char *s)
{
    if (!s)
        return 0;
    tl_pb *text = &t->scratch;
    tl_pb_clear(text);
    tl_html_repair(text, s, strlen(s));
    cut(text);
    t->failed = t->failed || text->failed;
    if (text->n > t->room) {
        t->texts_out++;
        return 0;
    }
    t->room -= text->n;
    tl_pb_varint(&t->columns.column[LENGTHS], text->n);
    tl_pb_raw(&t->columns.column[TEXTS], text->data, text->n);
    return ++t->texts;
}

/* The same of a string of the profile, which has each text once. */
static uint32_t text_of(tl_html_names *t, const char *s)
{
    const uint64_t key = (uint64_t)(uintptr_t)s;
    uint32_t number = s ? tl_hash_get(&t->text, key) : 0;
    if (number != TL_HASH_NONE)
        return number;
    number = put_text(t, s);
    if (!tl_hash_put(&t->text, key, number))
        t->failed = true;
    return number;
}

uint32_t tl_html_function(tl_html_names *t, uint32_t function)
{
    const tl_function *f = &t->profile->function[function];
    tl_pb *column = t->columns.column;
    char label[24];
    if (t->number[function])
        return t->number[function] - 1;
    t->number[function] = ++t->n;
    tl_pb_varint(&column[NAME], f->name ? text_of(t, f->name) : put_text(t, tl_function_label(f, label)));
    tl_pb_varint(&column[FILE_NAME], text_of(t, f->file));
    tl_pb_varint(&column[LINE], f->line);
    tl_pb_varint(&column[LIBRARY], text_of(t, f->library));
    tl_pb_varint(&column[FLAGS], (f->name ? 0u : NO_NAME) | (f->flags & TL_FUNCTION_UNKNOWN ? UNKNOWN : 0u) |
                                     (f->flags & TL_FUNCTION_HEX_ID ? HEX_ID : 0u));
    tl_columns_put_signed(&column[ID], f->id);
    return t->n - 1;
}

static uint64_t id_of(bool known, int64_t id)
{
    return known && id >= 0 ? (uint64_t)id + 1 : 0;
}

static uint32_t put_thread(tl_html_names *t, const tl_track *of, uint64_t begin, uint64_t end)
{
    tl_pb *column = t->columns.column;
    tl_pb_varint(&column[THREAD], text_of(t, of->name));
    tl_pb_varint(&column[PID], id_of(of->has_pid, of->pid));
    tl_pb_varint(&column[TID], id_of(of->has_tid, of->tid));
    tl_pb_varint(&column[BEGIN], begin);
    tl_pb_varint(&column[END], end);
    return t->threads++;
}

static uint64_t since(const tl_html_time *time, uint64_t ts)
{
    return ts <= time->begin ? 0 : ts > time->end ? time->end - time->begin : ts - time->begin;
}

uint32_t tl_html_trace_thread(tl_html_names *t, uint32_t track)
{
    const tl_time_data *d = &t->time->data;
    if (t->of_track[track])
        return t->of_track[track] - 1;
    const bool known = track < d->ntrack && d->track[track].any;
    const uint32_t number =
        put_thread(t, &t->time->trace->track[track], known ? since(t->time, d->track[track].begin) : 0,
                   known ? since(t->time, d->track[track].end) : 0);
    t->of_track[track] = number + 1;
    return number;
}

uint32_t tl_html_thread(tl_html_names *t, uint32_t track)
{
    const tl_track *of = &t->profile->track[track];
    if (t->thread[track])
        return t->thread[track] - 1;
    const tl_track **found =
        t->time ? bsearch(&of, t->sorted, t->time->trace->ntrack, sizeof(const tl_track *), compare) : NULL;
    const uint32_t number =
        found ? tl_html_trace_thread(t, (uint32_t)(*found - t->time->trace->track)) : put_thread(t, of, 0, 0);
    t->thread[track] = number + 1;
    return number;
}
