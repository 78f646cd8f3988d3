/* Tests of base/elf/elf_segments.h: program headers, the dynamic section, and their faults. */
#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "base/elf/elf_segments.h"
#include "base/endian.h"
#include "check.h"

enum { HEADERS = 64, CONTENT = 4096, TEXTS = 1024, ROOM = 1 << 20, ADDRESS = 0x10000 };

static uint8_t *bytes; /* of a file */
static size_t size;

static void put_segment(unsigned i, uint32_t type, uint64_t offset, uint64_t n)
{
    uint8_t *p = bytes + HEADERS + (size_t)i * 56;
    tl_store32(p, type, false);
    tl_store64(p + 8, offset, false);
    tl_store64(p + 16, ADDRESS + offset, false);
    tl_store64(p + 32, n, false);
    tl_store64(p + 40, n, false);
    tl_store16(bytes + 56, (uint16_t)(i + 1), false);
}

static void put_dynamic(unsigned i, int64_t tag, uint64_t value)
{
    tl_store64(bytes + CONTENT + (size_t)i * 16, (uint64_t)tag, false);
    tl_store64(bytes + CONTENT + (size_t)i * 16 + 8, value, false);
}

static int setup(void **state)
{
    bytes = calloc(1, ROOM);
    size = ROOM;
    memcpy(bytes, "\x7f\x45LF\2\1\1", 7);
    tl_store16(bytes + 16, ET_DYN, false);
    tl_store16(bytes + 18, EM_X86_64, false);
    tl_store64(bytes + 32, HEADERS, false);
    tl_store16(bytes + 54, 56, false);
    memcpy(bytes + TEXTS, "/lib/loader\0libone.so\0$ORIGIN", 30);
    put_segment(0, PT_LOAD, 0, ROOM);
    put_segment(1, PT_INTERP, TEXTS, 12);
    put_segment(2, PT_DYNAMIC, CONTENT, 80);
    put_dynamic(0, DT_NEEDED, 12);
    put_dynamic(1, DT_STRTAB, ADDRESS + TEXTS);
    put_dynamic(2, DT_RUNPATH, 22);
    put_dynamic(3, DT_NULL, 0);
    put_dynamic(4, DT_NEEDED, 12);
    return 0;
}

static int teardown(void **state)
{
    free(bytes);
    return 0;
}

static int read_it(tl_elf_segments *s, tl_error *e)
{
    char path[] = "/tmp/test_elf_segments.XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    const int status = tl_elf_segments_read(s, path, e);
    unlink(path);
    return status;
}

static void test_all(void **state)
{
    tl_elf_segments s;
    assert_int_equal(read_it(&s, NULL), 0);
    assert_true(s.is64 && !s.big && s.type == ET_DYN && s.machine == EM_X86_64 && !s.go);
    assert_int_equal(s.nsegment, 3);
    assert_string_equal(s.interpreter, "/lib/loader");
    assert_int_equal(s.ndynamic, 3);
    assert_string_equal(s.dynamic[0].text, "libone.so");
    assert_null(s.dynamic[1].text);
    assert_string_equal(s.dynamic[2].text, "$ORIGIN");
    assert_true(tl_elf_segment_find(&s, PT_INTERP) == &s.segment[1]);
    assert_null(tl_elf_segment_find(&s, PT_TLS));
    uint8_t some[4];
    assert_int_equal(tl_elf_segments_bytes(&s, ROOM - 4, some, 4, NULL), 0);
    assert_int_equal(tl_elf_segments_bytes(&s, ROOM - 3, some, 4, NULL), TL_EDAMAGED);
    tl_elf_segments_free(&s);
}

static void test_notes_of_go(void **state)
{
    tl_elf_segments s;
    memcpy(bytes + TEXTS, "\4\0\0\0\3\0\0\0\1\0\0\0GNU\0abc\0\4\0\0\0\0\0\0\0\4\0\0\0Go\0", 36);
    put_segment(1, PT_NOTE, TEXTS, 36);
    assert_int_equal(read_it(&s, NULL), 0);
    assert_true(s.go);
    tl_elf_segments_free(&s);
    put_segment(1, PT_NOTE, TEXTS, 35);
    assert_int_equal(read_it(&s, NULL), 0);
    assert_false(s.go);
    tl_elf_segments_free(&s);
}

static void test_faults(void **state)
{
    tl_elf_segments s;
    tl_error e = {0};
    tl_store16(bytes + 54, 55, false);
    assert_int_equal(read_it(&s, &e), TL_EDAMAGED);
    tl_store16(bytes + 54, 56, false);
    tl_store64(bytes + 32, UINT64_MAX - 60, false);
    assert_int_equal(read_it(&s, &e), TL_EDAMAGED);
    tl_store64(bytes + 32, HEADERS, false);
    put_segment(2, PT_DYNAMIC, ROOM - 8, 80);
    assert_int_equal(read_it(&s, &e), TL_EDAMAGED);
    put_segment(2, PT_DYNAMIC, CONTENT, 80);
    put_segment(1, PT_INTERP, TEXTS, 4097);
    put_segment(2, PT_DYNAMIC, CONTENT, 80);
    assert_int_equal(read_it(&s, &e), TL_EDAMAGED);
    bytes[3] = 'f';
    assert_int_equal(read_it(&s, &e), TL_EFORMAT);
    bytes[3] = 'F';
    size = 63;
    assert_int_equal(read_it(&s, &e), TL_EDAMAGED);
    bytes[4] = 1; /* ELF32: only its header */
    assert_int_equal(read_it(&s, &e), 0);
    assert_true(!s.is64 && s.machine == EM_X86_64 && s.nsegment == 0);
    tl_elf_segments_free(&s);
    size = 19;
    assert_int_equal(read_it(&s, &e), TL_EDAMAGED);
}

/* Texts outside of the file, and without an end. */
static void test_texts(void **state)
{
    tl_elf_segments s;
    put_dynamic(0, DT_NEEDED, UINT64_MAX);
    memset(bytes + ROOM - 5000, 'x', 5000);
    put_dynamic(2, DT_RUNPATH, ROOM - 5000 - TEXTS);
    assert_int_equal(read_it(&s, NULL), 0);
    assert_null(s.dynamic[0].text);
    assert_null(s.dynamic[2].text);
    tl_elf_segments_free(&s);
}

static void test_limits(void **state)
{
    tl_elf_segments s;
    for (unsigned i = 0; i < 5000; i++)
        put_dynamic(i, DT_DEBUG, i);
    put_segment(2, PT_DYNAMIC, CONTENT, 5000 * 16);
    assert_int_equal(read_it(&s, NULL), 0);
    assert_int_equal(s.ndynamic, 4096);
    tl_elf_segments_free(&s);
    /* Notes: more than 64 KiB are not looked into. */
    memcpy(bytes + TEXTS, "\4\0\0\0\0\0\0\0\4\0\0\0Go\0", 16);
    put_segment(1, PT_NOTE, TEXTS, 65536);
    put_segment(2, PT_DYNAMIC, CONTENT, 16);
    assert_int_equal(read_it(&s, NULL), 0);
    assert_true(s.go);
    tl_elf_segments_free(&s);
    put_segment(1, PT_NOTE, TEXTS, 65537);
    put_segment(2, PT_DYNAMIC, CONTENT, 16);
    assert_int_equal(read_it(&s, NULL), 0);
    assert_false(s.go);
    tl_elf_segments_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_notes_of_go, setup, teardown),
        cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
