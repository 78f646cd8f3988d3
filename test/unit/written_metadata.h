/* The metadata of a written folder, for tests that look for words in it. */
#ifndef TL_TEST_WRITTEN_METADATA_H
#define TL_TEST_WRITTEN_METADATA_H

#include "ctf_read_back.h"

static inline void has(const uint8_t *text, const char *part)
{
    if (!strstr((const char *)text, part))
        fail_msg("not found: %s\nin: %s", part, (const char *)text);
}

static inline void has_not(const uint8_t *text, const char *part)
{
    if (strstr((const char *)text, part))
        fail_msg("found: %s\nin: %s", part, (const char *)text);
}

/* The text of metadata packets of 2010, with blanks for NULs; free(). */
static inline uint8_t *text_of_2010(void)
{
    size_t n, m = 0;
    uint8_t *bytes = folder_file("metadata", &n);
    assert_int_equal(n % CTF_WRITE_PAGE, 0);
    for (size_t at = 0; at < n; at += CTF_WRITE_PAGE) {
        const size_t content = tl_load32(bytes + at + CTF_2010_CONTENT_SIZE, false) - CTF_2010_HEADER;
        assert_int_equal(tl_load32(bytes + at, false), (uint32_t)CTF_MAGIC_PACKET);
        assert_int_equal(tl_load32(bytes + at + CTF_2010_PACKET_SIZE, false), CTF_WRITE_PAGE);
        assert_int_equal(tl_load32(bytes + at + CTF_2010_COUNT, false), at / CTF_WRITE_PAGE);
        memmove(bytes + m, bytes + at + CTF_2010_HEADER, content);
        m += content;
    }
    for (size_t i = 0; i < m; i++)
        bytes[i] = bytes[i] ? bytes[i] : ' ';
    bytes[m] = '\0';
    return bytes;
}

static inline uint8_t *metadata(int dialect)
{
    size_t n;
    return dialect == 2 ? text_of_2010() : folder_file("metadata", &n);
}

#endif
