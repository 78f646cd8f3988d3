/* The tables `fields` and `enum_labels`: fields of classes, and those members of structs that are columns. */
#ifndef TL_QUERY_FIELD_TABLES_H
#define TL_QUERY_FIELD_TABLES_H

#include "query/catalog_tables.h"

typedef struct tl_field_row {
    const tl_class *cls;
    uint32_t position; /* of the field of the class that it is, or is a member of */
    const tl_field *field;
    const char *name;   /* "outer.inner"; NULL: it has none */
    const char *column; /* NULL: it is not one */
} tl_field_row;

/* Those of one source. */
typedef struct tl_field_rows {
    tl_field_row *row;
    uint32_t n, capacity;
    uint64_t labels; /* of all of them */
} tl_field_rows;

extern const tl_catalog_entry tl_fields_entry, tl_enum_labels_entry;

/* Makes q->fields, the first time, and the columns of all classes. Errors: TL_ENOMEM. */
int tl_field_rows_make(struct tl_query *q, tl_error *e);
void tl_field_rows_fini(struct tl_query *q);

#endif
