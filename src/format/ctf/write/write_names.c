/* Names of files and of the sections of 2010, from the names of tracks.
 *
 * In 1.8 and 2 the name of a file means nothing to readers: it is that of the track. In 2010 it says the section, and
 * the processor: SECTION or SECTION_N. Then there are two ways:
 *
 *   one section   All classes are in one section, and no file has its name: each is named after its track.
 *   several       A track whose name already ends in the number of its processor becomes SECTION_N. Any other gets a
 *                 section of its own, with its name, because a number would be taken for a processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ctf/write/ctf_write.h"

/* File systems allow 255. A file of 2010 has the name of its section and more. */
enum { NAME_MAX_BYTES = 200, SECTION_MAX_BYTES = 150 };

void ctf_safe_name(char *s)
{
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '-'))
            *s = '_';
}

/* The part of a track's name for the stream class: up to the first '/', if the source has this format. */
static size_t prefix_of(const ctf_writer *w, uint32_t track)
{
    const char *name = w->context.trace->track[track].name;
    const char *slash = w->from_ctf ? strchr(name, '/') : NULL;
    return slash ? (size_t)(slash - name) : 0;
}

/* The digits at the end of a name that follow '_', '-' or '.'; NULL if there are none. */
static const char *number_at_end(const char *s)
{
    const char *end = s + strlen(s), *p = end;
    while (p > s && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return p < end && p > s && strchr("_-.", p[-1]) ? p : NULL;
}

static bool is_taken(const tl_strings *names, const char *s)
{
    return tl_strings_has(names, s, strlen(s));
}

static bool take(tl_strings *names, const char *s)
{
    return tl_strings_get(names, s, strlen(s)) != NULL;
}

/* Copies a name with room for a unique suffix; the caller frees it. */
static char *copy_name(const char *s, size_t n)
{
    n = n > NAME_MAX_BYTES ? NAME_MAX_BYTES : n;
    char *copy = malloc(n + 24);
    if (!copy)
        return NULL;
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

/* Appends a number if needed to make the name unique, and takes it. */
static bool make_unique(tl_strings *names, char *s, const char *suffix)
{
    const size_t n = strlen(s);
    for (uint32_t i = names->n + 1; is_taken(names, s); i++)
        snprintf(s + n, 24, "_%u%s", (unsigned)i, suffix);
    return take(names, s);
}

static bool is_reserved(const char *s)
{
    return strcmp(s, "metadata") == 0 || strcmp(s, "index") == 0 || strcmp(s, CTF_TABLE) == 0;
}

/* The part of a track's name for its file. */
static const char *file_part(const ctf_writer *w, uint32_t track)
{
    const size_t prefix = prefix_of(w, track);
    const char *name = w->context.trace->track[track].name;
    name += prefix ? prefix + 1 : 0;
    return *name ? name : "stream";
}

bool ctf_names_processor(const ctf_writer *w, uint32_t track, int32_t cpu)
{
    const char *number = number_at_end(w->context.trace->track[track].name);
    uint64_t n;
    return cpu >= 0 && number && tl_parse_u64(number, &n) && n == (uint64_t)cpu;
}

const char *ctf_class_text(const ctf_writer *w, uint32_t track, size_t *n)
{
    if (track == UINT32_MAX) {
        *n = w->one_section ? 0 : strlen(CTF_TABLE);
        return CTF_TABLE;
    }
    if (w->dialect != CTF_2010) {
        *n = prefix_of(w, track);
        return w->context.trace->track[track].name;
    }
    const char *file = file_part(w, track), *number = number_at_end(file);
    *n = w->one_section ? 0 : number && number - file > 1 ? (size_t)(number - file) - 1 : strlen(file);
    return file;
}

char *ctf_class_name(ctf_writer *w, uint32_t track, bool own)
{
    size_t n;
    const char *text = ctf_class_text(w, track, &n);
    if (own)
        n = strlen(text);
    if (w->dialect != CTF_2010 || (track == UINT32_MAX && !w->one_section))
        return copy_name(text, n);
    if (w->one_section)
        return copy_name("events", 6);
    char *section = copy_name(text, n < SECTION_MAX_BYTES ? n : SECTION_MAX_BYTES);
    if (!section)
        return NULL;
    /* '.' is allowed in names of sections, but files whose name begins with it are not read. */
    for (char *p = section; *p; p++)
        if (*p != '.' || p == section) {
            char one[2] = {*p, '\0'};
            ctf_safe_name(one);
            *p = one[0];
        }
    if (number_at_end(section) || is_reserved(section)) /* a number would be taken for a processor */
        strcat(section, "_s");
    if (!make_unique(&w->sections, section, "_s")) {
        free(section);
        return NULL;
    }
    return section;
}

/* Whether a name looks like one of the section's files. */
static bool is_of_section(const char *name, const char *section)
{
    const size_t n = strlen(section);
    const char *number = number_at_end(name);
    return strncmp(name, section, n) == 0 && (name[n] == '\0' || number == name + n + 1);
}

char *ctf_file_name(ctf_writer *w, uint32_t track, const char *section, int32_t cpu)
{
    const bool by_section = w->dialect == CTF_2010 && !w->one_section, is_table = track == UINT32_MAX;
    const char *wanted = is_table ? CTF_TABLE : by_section ? section : file_part(w, track);
    char *name = copy_name(wanted, strlen(wanted));
    if (!name || is_table)
        return name;
    if (by_section && cpu >= 0)
        snprintf(name + strlen(name), 24, "_%d", (int)cpu);
    if (!by_section) {
        ctf_safe_name(name);
        if (is_reserved(name) || (w->one_section && is_of_section(name, section)))
            strcat(name, "_t");
    }
    if (by_section ? take(&w->names, name) : make_unique(&w->names, name, ""))
        return name;
    free(name);
    return NULL;
}

bool ctf_file_exists(const ctf_writer *w, const char *section, int32_t cpu)
{
    char name[NAME_MAX_BYTES + 64];
    snprintf(name, sizeof name, "%s_%d", section, (int)cpu);
    return is_taken(&w->names, name);
}
