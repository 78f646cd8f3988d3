/* Reads portable PDBs, the debug information of .NET: which offset of a method's code is which line of its source.
 *
 *   "BSJB"  u16 u16 u32  u32 length  version[length]  u16 flags  u16 streams
 *   each stream: u32 offset, u32 size, name, padded to 4 bytes
 *   "#Pdb"   id[20] ...
 *   "#~"     u32 u8 u8 u8 sizes of heaps' indexes  u8  u64 tables  u64  u32 rows of each table; then the tables
 *   "#Blob"  lengths and bytes; "#GUID"
 *
 * Two tables of it are read: Document (0x30), and MethodDebugInformation (0x31), whose rows are those of the methods.
 * Numbers in blobs have one, two or four bytes. Whatever the file holds: nothing outside it is read. */
#ifndef TL_PORTABLE_PDB_H
#define TL_PORTABLE_PDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PORTABLE_PDB_ID = 20,
    PORTABLE_POINTS_MOST = 1 << 16 /* of a method: a statement has one, or two */
};

/* Bytes of a file, or of a part. */
typedef struct portable_part {
    const uint8_t *at;
    size_t size;
} portable_part;

typedef struct portable_pdb {
    portable_part blob;
    portable_part documents, methods; /* rows */
    uint8_t id[PORTABLE_PDB_ID];
    uint8_t blob_index, guid_index, document_index; /* bytes of an index */
} portable_pdb;

/* False: it is none, or cut off. The bytes are borrowed. */
bool portable_pdb_open(portable_pdb *p, const void *bytes, size_t size);

/* A place in the code of a method. Hidden ones belong to no line. */
typedef struct portable_point {
    uint32_t offset, row, column, document;
    bool hidden;
} portable_point;

/* The places of a method, by its token, in the order of the code, to be freed; NULL: none. */
portable_point *portable_pdb_points(const portable_pdb *p, uint32_t token, uint32_t *n);
/* The path of a source file, to be freed; NULL: none. */
char *portable_pdb_document(const portable_pdb *p, uint32_t document);

#endif
