/* Shared by the two kinds of speedscope files, made from events and from profiles. */
#ifndef TL_FORMAT_SPEEDSCOPE_H
#define TL_FORMAT_SPEEDSCOPE_H

#include "base/text/json_write.h"
#include "model/format_impl.h"

/* The file's object up to and into "profiles":[ */
void tl_speedscope_begin(tl_json *j, const char *title);
/* ... and from "],"shared" on: the frames follow one by one, then the end. active: the profile to show first. */
void tl_speedscope_frames(tl_json *j, uint32_t active);
void tl_speedscope_frame(tl_json *j, const tl_function *f);
void tl_speedscope_end(tl_json *j);

/* Members that every profile begins with: type, name, unit, startValue. */
void tl_speedscope_profile(tl_json *j, const char *type, const char *name, bool is_ns);

int tl_speedscope_write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e);

#endif
