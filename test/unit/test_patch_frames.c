/* Tests of patch/patch_frames.h: entries in every form that linkers and compilers write, rows, damage, limits. What
 * readelf says of the files of this machine is compared in test/patch/frames_compare.py. */
#include "patch_fixture.h"

#define CODE 0x401000

static void test_entries_in_their_order(void **state)
{
    patch_bytes b = begin_frames();
    const size_t usual = put_usual_common(&b);
    put_frame(&b, usual, CODE + 0x20, 0x10, "");
    put_frame(&b, usual, CODE, 0x1b, "");
    const size_t signal = put_common(&b, "zRS", "01 1b 0c 07 08 90 01");
    const size_t third = b.n;
    put_frame(&b, signal, CODE + 0x30, 1, "");
    put_frame(&b, usual, CODE + 0x40, 2, "");
    put_number(&b, 4, 0);
    put_hex(&b, "12 34 56 78"); /* of another section */
    const patch_image image = image_of(&b);
    static const struct {
        uint64_t begin, size;
        bool signal;
    } want[] = {{CODE + 0x20, 0x10, false}, {CODE, 0x1b, false}, {CODE + 0x30, 1, true}, {CODE + 0x40, 2, false}};
    patch_frames walk;
    patch_frame frame;
    assert_true(patch_frames_begin(&walk, &image));
    for (size_t i = 0; i < 4; i++) {
        assert_true(patch_frames_next(&walk, &frame));
        assert_int_equal(frame.begin, want[i].begin);
        assert_int_equal(frame.size, want[i].size);
        assert_int_equal(frame.signal, want[i].signal);
        assert_int_equal(frame.code_factor, 1);
        assert_int_equal(frame.data_factor, -8);
        assert_int_equal(frame.return_register, 16);
        if (i == 2)
            assert_int_equal(frame.entry, HEADER + third);
    }
    assert_false(patch_frames_next(&walk, &frame));
    assert_false(walk.damaged);

    walk = (patch_frames){.image = &image, .at = HEADER + third, .end = UINT64_MAX};
    assert_true(patch_frames_next(&walk, &frame)); /* from the third one on */
    assert_int_equal(frame.begin, CODE + 0x30);
    free(b.at);
}

/* The same range, in all encodings of pointers. */
static void test_encodings(void **state)
{
    enum { PLACE = 0x777000, PLACED = 0x402345 };
    static const struct {
        uint8_t encoding, bytes;
        uint64_t base, want;
    } cases[] = {
        {0x00, 8, 0, CODE},       {0x02, 2, 0, 0x1234},     {0x03, 4, 0, CODE},        {0x04, 8, 0, CODE},
        {0x0a, 2, 0, 0x1234},     {0x0b, 4, 0, CODE},       {0x0c, 8, 0, CODE},        {0x1b, 4, 1, CODE},
        {0x1c, 8, 1, CODE},       {0x10, 8, 1, CODE},       {0x3b, 4, HEADER, CODE},   {0x3c, 8, HEADER, CODE},
        {0x80, 8, PLACE, PLACED}, {0x9b, 4, PLACE, PLACED}, {0x1a, 2, 1, HEADER + 64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char rest[] = "01 .. 0c 07 08";
        patch_bytes b = begin_frames();
        snprintf(rest, sizeof rest, "01 %02x 0c 07 08", cases[i].encoding);
        const size_t common = put_common(&b, "zR", rest), entry = begin_entry(&b);
        put_number(&b, 4, b.n - common);
        /* base 1: relative to its own place; PLACE: where the pointer is */
        const uint64_t to = cases[i].base == PLACE ? PLACE : cases[i].want;
        const bool here = (cases[i].encoding & 0x70) == 0x10;
        put_number(&b, cases[i].bytes, to - (here ? HEADER + b.n : cases[i].base == HEADER ? HEADER : 0));
        put_number(&b, cases[i].bytes, 0x1b); /* the size has no base */
        put_number(&b, 1, 0);
        end_entry(&b, entry);
        put_number(&b, 4, 0);
        patch_image image = image_of(&b);
        uint8_t pointer[8] = {PLACED & 0xff, PLACED >> 8 & 0xff, PLACED >> 16};
        image.part[image.parts++] = (patch_part){.address = PLACE, .size = 8, .bytes = pointer};
        const patch_frame frame = only_frame(&image);
        if (frame.begin != cases[i].want || frame.size != 0x1b)
            fail_msg("encoding %02x: %lx+%lx", cases[i].encoding, (unsigned long)frame.begin,
                     (unsigned long)frame.size);
        free(b.at);
    }
}

static void test_numbers_of_any_length(void **state)
{
    patch_bytes b = begin_frames();
    const size_t unsigned_common = put_common(&b, "zR", "01 01 0c 07 08"), entry = begin_entry(&b);
    put_number(&b, 4, b.n - unsigned_common);
    put_hex(&b, "80 a0 80 82 00 9b 80 00 00"); /* 0x401000 and 0x1b, longer than they need be */
    end_entry(&b, entry);
    const size_t signed_common = put_common(&b, "zR", "01 09 0c 07 08"), other = begin_entry(&b);
    put_number(&b, 4, b.n - signed_common);
    put_hex(&b, "80 60 01 00"); /* -4096 */
    end_entry(&b, other);
    put_number(&b, 4, 0);
    const patch_image image = image_of(&b);
    patch_frames walk;
    patch_frame frame;
    assert_true(patch_frames_begin(&walk, &image));
    assert_true(patch_frames_next(&walk, &frame));
    assert_int_equal(frame.begin, CODE);
    assert_int_equal(frame.size, 0x1b);
    assert_true(patch_frames_next(&walk, &frame));
    assert_int_equal(frame.begin, (uint64_t)-4096);
    assert_int_equal(frame.size, 1);
    free(b.at);
}

/* Rules for nothing, so that an entry is long enough in whatever way it is read. */
#define LONG "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"

/* An entry of this common one, and one that is sound: only the sound one is there. */
static void check_refused(const char *letters, const char *rest)
{
    patch_bytes b = begin_frames();
    const size_t bad = put_common(&b, letters, rest);
    put_frame(&b, bad, CODE, 1, LONG);
    put_frame(&b, put_usual_common(&b), CODE + 1, 1, "");
    put_number(&b, 4, 0);
    const patch_image image = image_of(&b);
    patch_frames walk;
    patch_frame frame;
    assert_true(patch_frames_begin(&walk, &image));
    assert_true(patch_frames_next(&walk, &frame));
    if (frame.begin != CODE + 1)
        fail_msg("\"%s\" %s was not refused", letters, rest);
    assert_true(walk.damaged);
    assert_false(patch_frames_next(&walk, &frame));
    free(b.at);
}

static void test_what_is_refused(void **state)
{
    check_refused("zR", "01 2b 0c 07 08"); /* relative to the text */
    check_refused("zR", "01 4b 0c 07 08"); /* to the function */
    check_refused("zR", "01 50 0c 07 08"); /* aligned */
    check_refused("zR", "01 ff 0c 07 08"); /* omitted */
    check_refused("zR", "01 05 0c 07 08"); /* no format */
    check_refused("zR", "00 0c 07 08");    /* no data for the letter */
    check_refused("zR", "7f 1b 0c 07 08"); /* more data than there is */
    check_refused("zX", "01 1b 0c 07 08"); /* a letter that nobody knows */
    check_refused("eh", "01 1b 0c 07 08"); /* of gcc 2 */
    check_refused("zP", "01 1b 0c 07 08"); /* a pointer that is cut off */
    check_refused("zL", "00 0c 07 08");
    check_refused("zLLLLLLL", "07 01 02 03 04 05 06 07"); /* more letters than are kept */
}

static void test_letters(void **state)
{
    patch_bytes b = begin_frames();
    /* a personality through a pointer that is not in the image; data that no letter speaks of */
    const size_t common = put_common(&b, "zPLR", "08 9b 00 00 00 7f 1b 1b 33 0c 07 08");
    put_frame(&b, common, CODE, 0x10, "");
    put_number(&b, 4, 0);
    patch_image image = image_of(&b);
    assert_int_equal(only_frame(&image).begin, CODE);
    assert_false(only_frame(&image).signal);
    assert_int_equal(patch_cfa_at(&image, &(patch_frame){0}, 0).known, false);
    free(b.at);

    b = begin_frames(); /* no rules at all */
    put_frame(&b, put_common(&b, "zR", "01 1b"), CODE, 0x10, "");
    put_number(&b, 4, 0);
    image = image_of(&b);
    patch_frame none = only_frame(&image);
    assert_false(patch_cfa_at(&image, &none, CODE).known);
    free(b.at);

    b = begin_frames(); /* no augmentation: absolute pointers, and no data in the entry */
    const size_t plain = put_common(&b, "", "0c 07 08"), entry = begin_entry(&b);
    put_number(&b, 4, b.n - plain);
    put_number(&b, 8, CODE);
    put_number(&b, 8, 0x10);
    put_hex(&b, "44 0e 10");
    end_entry(&b, entry);
    put_number(&b, 4, 0);
    image = image_of(&b);
    const patch_frame frame = only_frame(&image);
    assert_int_equal(frame.begin, CODE);
    assert_int_equal(patch_cfa_at(&image, &frame, CODE + 4).offset, 16);
    free(b.at);

    b = begin_frames(); /* AArch64, signed with key B */
    put_frame(&b, put_common(&b, "zRB", "01 1b 0c 1f 00"), CODE, 0x10, "");
    put_number(&b, 4, 0);
    image = image_of(&b);
    assert_int_equal(patch_cfa_at(&image, &(patch_frame){.begin = CODE, .common = only_frame(&image).common}, CODE).reg,
                     31);
    free(b.at);
}

/* Where an entry's data, of which its size is known, are no rules. */
static void test_data_of_an_entry(void **state)
{
    for (unsigned more = 0; more < 2; more++) {
        patch_bytes b = begin_frames();
        const size_t common = put_usual_common(&b), entry = begin_entry(&b);
        put_number(&b, 4, b.n - common);
        put_number(&b, 4, CODE - (HEADER + b.n));
        put_hex(&b, "10 00 00 00");
        put_number(&b, 1, more ? 6 : 2);
        put_hex(&b, "0e 20 44 0e 10");
        end_entry(&b, entry);
        put_number(&b, 4, 0);
        const patch_image image = image_of(&b);
        patch_frames walk;
        patch_frame frame;
        assert_true(patch_frames_begin(&walk, &image));
        assert_int_equal(patch_frames_next(&walk, &frame), !more);
        assert_int_equal(walk.damaged, more);
        if (!more) {
            assert_int_equal(patch_cfa_at(&image, &frame, CODE).offset, 8);
            assert_int_equal(patch_cfa_at(&image, &frame, CODE + 4).offset, 16);
        }
        free(b.at);
    }
}

static void test_versions(void **state)
{
    static const struct {
        uint8_t version;
        const char *reg;
        bool good;
        uint64_t want;
    } cases[] = {{1, "90", true, 0x90}, {3, "90 01", true, 0x90}, {4, "10", false, 0}, {0, "10", false, 0}};
    for (size_t i = 0; i < 4; i++) {
        patch_bytes b = begin_frames();
        const size_t at = b.n, entry = begin_entry(&b);
        put_number(&b, 4, 0);
        put_number(&b, 1, cases[i].version);
        put_hex(&b, "7a 52 00 01 78"); /* zR */
        put_hex(&b, cases[i].reg);
        put_hex(&b, "01 1b 0c 07 08");
        end_entry(&b, entry);
        put_frame(&b, at, CODE, 1, LONG);
        put_number(&b, 4, 0);
        const patch_image image = image_of(&b);
        patch_frames walk;
        patch_frame frame;
        assert_true(patch_frames_begin(&walk, &image));
        assert_int_equal(patch_frames_next(&walk, &frame), cases[i].good);
        if (cases[i].good)
            assert_int_equal(frame.return_register, cases[i].want);
        free(b.at);
    }
}

static void test_long_entries(void **state)
{
    patch_bytes b = begin_frames();
    const size_t common = put_usual_common(&b);
    put_number(&b, 4, 0xffffffff);
    put_number(&b, 8, 17);
    put_number(&b, 4, b.n - common);
    put_number(&b, 4, CODE - (HEADER + b.n));
    put_hex(&b, "1b 00 00 00 00 44 0e 10 00");
    put_number(&b, 4, 0);
    const patch_image image = image_of(&b);
    const patch_frame frame = only_frame(&image);
    assert_int_equal(frame.begin, CODE);
    assert_int_equal(patch_cfa_at(&image, &frame, CODE + 4).offset, 16);
    free(b.at);
}

/* As in ld.so: the last entry ends with the section. One that refers to another one in place of a common entry is
 * passed over. */
static void test_ends(void **state)
{
    patch_bytes b = begin_frames();
    const size_t common = put_usual_common(&b), first = b.n, entry = begin_entry(&b);
    put_number(&b, 4, b.n - common);
    put_hex(&b, "01 7a 52 00 01 78 10 01 1b " LONG " " LONG); /* all but a common entry */
    end_entry(&b, entry);
    put_frame(&b, first, CODE + 1, 1, LONG);
    put_frame(&b, common, CODE + 2, 1, "");
    const patch_image image = image_of(&b);
    patch_frames walk;
    patch_frame frame;
    assert_true(patch_frames_begin(&walk, &image));
    assert_true(patch_frames_next(&walk, &frame));
    assert_false(walk.damaged);
    assert_true(patch_frames_next(&walk, &frame));
    assert_int_equal(frame.begin, CODE + 2);
    assert_true(walk.damaged);
    assert_false(patch_frames_next(&walk, &frame));
    assert_false(patch_frames_next(&walk, &frame));
    free(b.at);
}

static void test_headers(void **state)
{
    static const struct {
        const char *hex;
        bool good;
    } cases[] = {
        {"01 1b ff ff 04 00 00 00", true},
        {"02 1b ff ff 04 00 00 00", false},
        {"01 ff ff ff 04 00 00 00", false},
        {"01 03 ff ff 08 00 50 00", true},
        {"01 03 ff ff 08 00 60 00", false},
        {"01 3b ff ff 08 00 00 00", true},
        {"01 1b ff ff", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        patch_bytes b = {NULL, 0, 0};
        put_hex(&b, cases[i].hex);
        if (b.n == 8)
            put_number(&b, 4, 0);
        const patch_image image = image_of(&b);
        patch_frames walk;
        assert_int_equal(patch_frames_begin(&walk, &image), cases[i].good);
        free(b.at);
    }
    patch_frames walk;
    assert_false(patch_frames_begin(&walk, &(patch_image){.parts = 0}));
}

/* Whatever is cut off, or changed, the walk ends, and reads nothing outside: AddressSanitizer watches a copy. */
static void test_damage(void **state)
{
    patch_bytes b = begin_frames();
    const size_t common = put_common(&b, "zPLR", "07 03 00 10 40 00 1b 1b 0c 07 08 90 01");
    put_frame(&b, common, CODE, 0x1b, "41 0e 10 86 02 43 0d 06 52 0c 07 08");
    put_frame(&b, common, CODE + 0x20, 0x1b, "0a 0f 03 77 80 01 0b 16 10 02 77 00");
    put_number(&b, 4, 0);
    unsigned walks = 0, frames = 0;
    for (size_t n = 0; n <= b.n; n++) {
        for (unsigned change = 0; change < (n == b.n ? 5 * b.n : 1); change++) {
            uint8_t *copy = malloc(n + !n);
            assert_non_null(copy);
            memcpy(copy, b.at, n);
            if (n == b.n)
                copy[change / 5] ^= (uint8_t)(0x81 >> change % 5);
            const patch_bytes cut = {copy, n, n};
            const patch_image image = image_of(&cut);
            patch_frames walk;
            patch_frame frame;
            if (patch_frames_begin(&walk, &image)) {
                unsigned found = 0;
                for (; patch_frames_next(&walk, &frame); found++)
                    for (uint64_t at = 0; at < 0x20; at++)
                        patch_cfa_at(&image, &frame, frame.begin + at);
                assert_in_range(found, 0, n / 8);
                assert_true(n == b.n || found < 2 || walk.damaged);
                walks++;
                frames += found;
            }
            free(copy);
        }
    }
    assert_true(walks > b.n && frames > b.n);
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_in_their_order),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_numbers_of_any_length),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_long_entries),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_data_of_an_entry),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
