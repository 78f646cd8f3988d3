/* Traces in the description of a file. */
#include "model/trace_description.h"

#include "base/text/json_write.h"
#include "model/event_parts.h"

static void put_trace(tl_json *j, const tl_described_trace *t, uint32_t number)
{
    const char *version = tl_trace_version(t->trace);
    int64_t utc;
    tl_json_object(j);
    tl_json_key_u64(j, "trace", number);
    tl_json_key_string(j, "path", tl_trace_path(t->trace));
    tl_json_key_string(j, "format", tl_trace_format(t->trace));
    tl_json_key_string(j, "version", version && *version ? version : NULL);
    tl_json_key_string(j, "unit", tl_trace_unit(t->trace));
    if (tl_event_utc(t->trace, t->begin, &utc))
        tl_json_key_i64(j, "begin_utc", utc);
    else
        tl_json_key_null(j, "begin_utc");
    tl_json_object_end(j);
}

int tl_describe_traces(char **out, const tl_described_trace *t, uint32_t n, tl_error *e)
{
    tl_output *text = NULL;
    size_t size;
    int status = tl_output_open_memory(&text, TL_PLAIN, e);
    if (status < 0)
        return status;
    tl_json j;
    tl_json_init(&j, text);
    tl_json_array(&j);
    for (uint32_t i = 0; i < n; i++)
        put_trace(&j, &t[i], i + 1);
    tl_json_array_end(&j);
    tl_output_write(text, "", 1);
    status = tl_output_finish(text, e);
    *out = status == 0 ? tl_output_take_memory(text, &size) : NULL;
    tl_output_close(text);
    return status;
}
