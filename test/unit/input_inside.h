/* Facts about an input that only tests need. */
#ifndef TL_TEST_INPUT_INSIDE_H
#define TL_TEST_INPUT_INSIDE_H

#include "base/io/input_impl.h"

/* "gzip", "zstd", "bzip2" or NULL. */
static inline const char *input_compression(const tl_input *in)
{
    return tl_codec_name(in->codec);
}

/* Where part i begins in the content, by the file's own account; the end for i == tl_input_frames(). */
static inline uint64_t input_frame_begin(const tl_input *in, uint32_t i)
{
    return tl_lazy_frames(in->lazy)->frame[i].begin;
}

#endif
