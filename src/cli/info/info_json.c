/* `info --json`: one line of JSON per trace. */
#include "base/text/json_write.h"
#include "cli/info/verb_info.h"
#include "cli/inputs.h"
#include "model/trace_impl.h"

static void put_classes(tl_json *j, const tl_facts *f)
{
    tl_json_key(j, "classes");
    tl_json_array(j);
    for (uint32_t i = 0; i < f->ncls; i++) {
        tl_json_object(j);
        tl_json_key_string(j, "name", f->cls[i].name);
        tl_json_key_string(j, "kind", tl_kind_name(f->cls[i].kind));
        tl_json_key_u64(j, "events", f->cls[i].events);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

/* A whole number, or null if unknown. */
static void put_id(tl_json *j, const char *key, bool known, int64_t id)
{
    if (known)
        tl_json_key_i64(j, key, id);
    else
        tl_json_key_null(j, key);
}

static void put_tracks(tl_json *j, const tl_facts *f)
{
    const tl_trace *t = f->trace;
    tl_json_key(j, "tracks");
    tl_json_array(j);
    for (uint32_t i = 0; !f->is_profile && i < tl_trace_tracks(t); i++) {
        const tl_track *track = tl_trace_track(t, i);
        if (!tl_facts_lists_track(f, i))
            continue;
        tl_json_object(j);
        tl_json_key_string(j, "name", track->name);
        put_id(j, "pid", track->has_pid, track->pid);
        put_id(j, "tid", track->has_tid, track->tid);
        if (track->is_cpu && !track->has_tid)
            tl_json_key_i64(j, "cpu", track->tid);
        tl_json_key_u64(j, "events", f->count.by_track[i]);
        tl_json_key_u64(j, "begin", tl_trace_time(t, f->count.begin[i] - tl_facts_zero(f)));
        tl_json_key_u64(j, "end", tl_trace_time(t, f->count.end[i] - tl_facts_zero(f)));
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static void put_times(tl_json *j, const tl_facts *f)
{
    const tl_trace *t = f->trace;
    const tl_clock *clock = tl_trace_clock(t);
    tl_json_key(j, "clock");
    tl_json_object(j);
    tl_json_key_string(j, "name", clock->name);
    if (f->is_profile && clock->hz == 0)
        tl_json_key_null(j, "hz");
    else
        tl_json_key_u64(j, "hz", clock->hz);
    tl_json_object_end(j);
    if (f->is_profile) {
        tl_json_key_null(j, "begin");
        tl_json_key_null(j, "end");
    } else {
        tl_json_key_u64(j, "begin", tl_trace_time(t, f->count.first - tl_facts_zero(f)));
        tl_json_key_u64(j, "end", tl_trace_time(t, f->count.last - tl_facts_zero(f)));
    }
    char utc[64];
    bool known = clock->has_utc && clock->hz && !f->is_profile;
    tl_json_key_string(j, "start_utc", known ? tl_utc_text(utc, sizeof utc, t, tl_facts_zero(f)) : NULL);
}

static void put_place(tl_json *j, const tl_damage *d, bool bytes)
{
    tl_json_object(j);
    if (d->offset == TL_NO_OFFSET)
        tl_json_key_null(j, "offset");
    else
        tl_json_key_u64(j, "offset", d->offset);
    if (bytes)
        tl_json_key_u64(j, "bytes", d->bytes);
    tl_json_key_string(j, "what", d->what);
    if (d->file)
        tl_json_key_string(j, "file", d->file);
    tl_json_object_end(j);
}

void tl_notes_json(tl_json *j, const tl_trace *t)
{
    if (tl_trace_notes(t) == 0)
        return;
    tl_json_key(j, "notes");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_trace_notes(t); i++)
        put_place(j, tl_trace_note(t, i), false);
    tl_json_array_end(j);
}

static void put_losses(tl_json *j, const tl_trace *t)
{
    tl_json_key(j, "lost");
    tl_json_object(j);
    tl_json_key_u64(j, "events", tl_trace_lost_events(t));
    tl_json_key_u64(j, "packets", tl_trace_lost_packets(t));
    tl_json_object_end(j);
    tl_json_key(j, "damage");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_trace_damages(t); i++)
        if (tl_trace_damage(t, i)->kind & TL_DAMAGE_LOSS)
            put_place(j, tl_trace_damage(t, i), true);
    tl_json_array_end(j);
    tl_notes_json(j, t);
}

static void put_properties(tl_json *j, const tl_facts *f)
{
    tl_hash seen = {0};
    uint32_t next = 0;
    const tl_property *p = tl_facts_property(f, &next, &seen);
    if (p) {
        tl_json_key(j, "properties");
        tl_json_object(j);
        for (; p; p = tl_facts_property(f, &next, &seen)) {
            if (p->text)
                tl_json_key_string(j, p->name, p->text);
            else
                tl_json_key_i64(j, p->name, p->number);
        }
        tl_json_object_end(j);
    }
    tl_hash_fini(&seen);
}

void tl_info_json(const tl_facts *f, tl_output *out)
{
    const tl_trace *t = f->trace;
    tl_json json, *j = &json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    tl_json_key_string(j, "path", tl_base_name(tl_trace_path(t)));
    tl_json_key_string(j, "format", tl_trace_format(t));
    tl_json_key_string(j, "version", tl_trace_version(t));
    tl_json_key_string(j, "byte_order", tl_trace_byte_order(t));
    tl_json_key_u64(j, "bytes", tl_trace_bytes(t));
    tl_json_key_u64(j, "events", f->count.events);
    put_classes(j, f);
    put_tracks(j, f);
    put_times(j, f);
    put_losses(j, t);
    put_properties(j, f);
    tl_header_json(j, t);
    if (f->is_profile) {
        tl_json_key(j, "profile");
        tl_json_object(j);
        tl_json_key_u64(j, "threads", f->profile_threads);
        if (f->profile_trees < f->profile_threads)
            tl_json_key_u64(j, "trees", f->profile_trees);
        tl_json_key_u64(j, "paths", f->profile_paths);
        tl_json_key_u64(j, f->profile_sampled ? "samples" : "calls", f->profile_calls);
        tl_json_key_u64(j, "self_ticks", f->profile_self);
        if (f->profile_inclusive)
            tl_json_key_u64(j, "clamped", f->profile_clamped);
        tl_json_object_end(j);
    }
    tl_json_object_end(j);
    tl_output_puts(out, "\n");
}
