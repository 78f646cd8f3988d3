/* Prints every entry of a file's .eh_frame and where its canonical frame address changes, for frames_compare.py. */
#include <inttypes.h>

#include "elf_image.h"
#include "patch/patch_frames.h"

static void print_rows(const patch_image *image, const patch_frame *frame)
{
    patch_cfa_walk walk;
    patch_cfa last = {.known = false};
    patch_cfa_begin(&walk, image, frame);
    for (uint64_t at = frame->begin; at < frame->begin + frame->size; at++) {
        const patch_cfa now = patch_cfa_next(&walk, at);
        if (at == frame->begin || now.known != last.known || now.reg != last.reg || now.offset != last.offset ||
            now.returns != last.returns) {
            printf("  %" PRIx64, at);
            if (now.known)
                printf(" r%d%+" PRId64, now.reg, now.offset);
            else
                printf(" exp");
            printf("%s\n", now.returns ? "" : " u");
        }
        last = now;
    }
}

int main(int argc, char **argv)
{
    elf_file file;
    patch_frames walk;
    patch_frame frame;
    if (argc != 2 || !elf_open(&file, argv[1]))
        return fprintf(stderr, "frame_rows: an ELF file\n"), 2;
    if (!patch_frames_begin(&walk, &file.image))
        return fprintf(stderr, "frame_rows: %s: no .eh_frame\n", argv[1]), 2;
    while (patch_frames_next(&walk, &frame)) {
        printf("%" PRIx64 "..%" PRIx64 "%s\n", frame.begin, frame.begin + frame.size, frame.signal ? " S" : "");
        print_rows(&file.image, &frame);
    }
    if (walk.damaged)
        printf("damaged\n");
    elf_close(&file);
    return 0;
}
