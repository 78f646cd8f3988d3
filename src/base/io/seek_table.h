/* The table at the end of a zstd file that says where its frames begin (zstd's "seekable format"), so that a reader can
 * start at any of them. Decoders that do not know it skip it as a frame.
 *
 *   u32 0x184d2a5e   u32 bytes that follow
 *   per frame: u32 compressed size, u32 content size (0: a frame to skip)
 *   u32 frames   u8 0 (no checksums)   u32 0x8f92eab1
 *
 * All little-endian; the sizes add up to the table's offset. */
#ifndef TL_BASE_SEEK_TABLE_H
#define TL_BASE_SEEK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TL_SEEK_TABLE_MAGIC        0x184d2a5eu
#define TL_SEEK_TABLE_FOOTER_MAGIC 0x8f92eab1u
#define TL_SKIPPABLE_MAGIC         0x184d2a50u /* the first of sixteen */
enum { TL_SKIPPABLE_HEADER = 8, TL_SEEK_TABLE_ENTRY = 8, TL_SEEK_TABLE_FOOTER = 9 };

/* Most frames in a table that other tools can read. */
#define TL_SEEK_TABLE_MOST 0x8000000u

typedef struct tl_seek_frame {
    uint32_t packed, content;
} tl_seek_frame;

typedef struct tl_seek_table {
    tl_seek_frame *frame;
    uint32_t n, capacity;
    bool broken; /* a frame that the table cannot hold */
} tl_seek_table;

/* Adds the next frame: its compressed size, and that of its content. False when memory runs out. A frame of 4 GiB or
 * more breaks the table. */
bool tl_seek_table_add(tl_seek_table *t, uint64_t packed, uint64_t content);
/* The bytes of the whole table, which must not be broken; to be freed by the caller. NULL if memory runs out. */
uint8_t *tl_seek_table_make(const tl_seek_table *t, size_t *n);
void tl_seek_table_fini(tl_seek_table *t);

#endif
