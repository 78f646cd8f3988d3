/* Tables of one class of events each, with its fields as columns: event_sched_switch. Classes of the same name in
 * several traces are one table. Also `snapshots`: the events of all classes of that role. */
#ifndef TL_OP_CLASS_TABLE_H
#define TL_OP_CLASS_TABLE_H

#include "base/hash.h"
#include "op/scan/event_scan.h"

/* SQLite takes 2,000 columns; the rest of a class's fields is in `events.fields` alone. */
#define TL_CLASS_COLUMNS_MAX 1900u

typedef struct tl_class_table {
    tl_scan_table table;
    const char *class_name; /* NULL: snapshots */
    bool made;              /* its columns are */
    tl_event_table kind;
} tl_class_table;

typedef struct tl_class_tables {
    tl_class_table *table; /* [n], snapshots, then in the order of the traces' classes */
    uint32_t n, capacity;
    uint32_t **of; /* [sources][classes] index of its table, or TL_NO_COLUMN */
    const tl_dataset *dataset;
    tl_strings names; /* of classes and of tables */
    tl_hash by_class; /* name of a class -> index */
    tl_hash by_name;  /* name of a table -> index */
    tl_hash numbered; /* a name that several wanted -> the number that was added to it last */
    tl_arena arena;
} tl_class_tables;

/* Names all tables; their columns are made by tl_class_table_make(). After zeroing; fini is needed in any case. The
 * dataset is borrowed. */
int tl_class_tables_init(tl_class_tables *t, const tl_dataset *d, tl_error *e);
void tl_class_tables_fini(tl_class_tables *t);
/* Makes the columns of a table, the first time. */
int tl_class_table_make(tl_class_tables *t, uint32_t index, tl_error *e);

#endif
