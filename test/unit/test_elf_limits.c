/* Limits of notes in ELF files: a section of them, and a build-id. */
#include <elf.h>

#include "base/compiler.h"
#include "base/elf/elf_file.h"
#include "build_elf.h"
#include "check.h"

/* The size of the section, which begins with the build-id, the size of the build-id, and whether it is accepted. */
static void notes_have_limits(void **state)
{
    static const struct {
        size_t section, id;
        bool found;
    } cases[] = {{65536, 64, true}, {65536, 65, false}, {65540, 64, false}};
    static const uint8_t note[16] = "\4\0\0\0\0\0\0\0\3\0\0\0GNU";
    const struct build_section s = {.name = ".note", .type = SHT_NOTE, .data = note, .size = sizeof note};
    static struct built b;
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        build_elf(&b, false, ET_DYN, EM_X86_64, &s, 1);
        const size_t size = b.size + cases[i].section;
        uint8_t *bytes = calloc(1, size);
        tl_elf *elf;
        assert_non_null(bytes);
        tl_store64(section_field(&b, 1, 24), b.size, false); /* the section lies after all others */
        tl_store64(section_field(&b, 1, 32), cases[i].section, false);
        memcpy(bytes, b.bytes, b.size);
        memcpy(bytes + b.size, note, sizeof note);
        tl_store32(bytes + b.size + 4, (uint32_t)cases[i].id, false);
        assert_int_equal(tl_elf_open_memory(&elf, bytes, size, "test.elf", NULL), TL_OK);
        assert_int_equal(tl_elf_build_id(elf) != NULL, cases[i].found);
        tl_elf_close(elf);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
