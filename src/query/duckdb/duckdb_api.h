/* The functions of libduckdb that are used, loaded at run time: nothing of it is needed to build. The
 * declarations follow its C API; handles are opaque. */
#ifndef TL_QUERY_DUCKDB_API_H
#define TL_QUERY_DUCKDB_API_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "traceloom/error.h"

typedef uint64_t duck_size;
typedef struct duck_database duck_database;
typedef struct duck_connection duck_connection;
typedef struct duck_config duck_config;
typedef struct duck_prepared duck_prepared;
typedef struct duck_chunk duck_chunk;
typedef struct duck_vector duck_vector;
typedef struct duck_type duck_type;
typedef struct duck_value duck_value;
typedef struct duck_table_function duck_table_function;
typedef struct duck_scalar_function duck_scalar_function;
typedef struct duck_scalar_set duck_scalar_set;
typedef struct duck_aggregate duck_aggregate;
typedef struct duck_info duck_info; /* of a call back: of bind, init, a function, ... */
typedef void duck_drop(void *data);

/* What a statement gave. Only the library looks into it. */
typedef struct duck_result {
    duck_size deprecated[3];
    void *columns;
    char *error;
    void *internal;
} duck_result;

/* A text in a vector: up to 12 bytes are in place. */
typedef struct duck_string {
    uint32_t n;
    char prefix[4]; /* continued in `rest` */
    union {
        char rest[8];
        const char *p;
        uint64_t bits; /* 8 bytes, also where pointers have 4 */
    };
} duck_string;
#define DUCK_STRING_IN_PLACE 12u

typedef struct duck_huge {
    uint64_t low;
    int64_t high;
} duck_huge;

typedef struct duck_blob {
    void *data;
    duck_size n;
} duck_blob;

/* Types of values. */
enum {
    DUCK_BOOLEAN = 1,
    DUCK_TINYINT,
    DUCK_SMALLINT,
    DUCK_INTEGER,
    DUCK_BIGINT,
    DUCK_UTINYINT,
    DUCK_USMALLINT,
    DUCK_UINTEGER,
    DUCK_UBIGINT,
    DUCK_FLOAT,
    DUCK_DOUBLE,
    DUCK_HUGEINT = 16,
    DUCK_VARCHAR,
    DUCK_BLOB,
    DUCK_DECIMAL,
    DUCK_UHUGEINT = 32,
    DUCK_ANY = 34,
    DUCK_NULL = 36
};

enum { DUCK_OK = 0, DUCK_SELECT = 1, DUCK_EXPLAIN = 4, DUCK_VECTOR_ROWS = 2048 };

/* F(result, name, arguments): the member `name` is duckdb_name. */
#define TL_DUCKDB_FUNCTIONS(F)                                                                                         \
    F(const char *, library_version, (void))                                                                           \
    F(duck_size, vector_size, (void))                                                                                  \
    F(void, free, (void *p))                                                                                           \
    F(int, create_config, (duck_config * *out))                                                                        \
    F(int, set_config, (duck_config * c, const char *name, const char *value))                                         \
    F(void, destroy_config, (duck_config * *c))                                                                        \
    F(int, open_ext, (const char *path, duck_database **out, duck_config *c, char **error))                            \
    F(void, close, (duck_database * *db))                                                                              \
    F(int, connect, (duck_database * db, duck_connection * *out))                                                      \
    F(void, disconnect, (duck_connection * *c))                                                                        \
    F(void, interrupt, (duck_connection * c))                                                                          \
    F(int, query, (duck_connection * c, const char *sql, duck_result *out))                                            \
    F(void, destroy_result, (duck_result * r))                                                                         \
    F(const char *, result_error, (duck_result * r))                                                                   \
    F(duck_size, column_count, (duck_result * r))                                                                      \
    F(const char *, column_name, (duck_result * r, duck_size i))                                                       \
    F(duck_chunk *, fetch_chunk, (duck_result r))                                                                      \
    F(int, prepare, (duck_connection * c, const char *sql, duck_prepared **out))                                       \
    F(const char *, prepare_error, (duck_prepared * p))                                                                \
    F(duck_size, nparams, (duck_prepared * p))                                                                         \
    F(int, prepared_statement_type, (duck_prepared * p))                                                               \
    F(int, execute_prepared, (duck_prepared * p, duck_result * out))                                                   \
    F(int, execute_prepared_streaming, (duck_prepared * p, duck_result * out))                                         \
    F(void, destroy_prepare, (duck_prepared * *p))                                                                     \
    F(duck_size, data_chunk_get_size, (duck_chunk * c))                                                                \
    F(void, data_chunk_set_size, (duck_chunk * c, duck_size n))                                                        \
    F(duck_size, data_chunk_get_column_count, (duck_chunk * c))                                                        \
    F(duck_vector *, data_chunk_get_vector, (duck_chunk * c, duck_size i))                                             \
    F(void, destroy_data_chunk, (duck_chunk * *c))                                                                     \
    F(void *, vector_get_data, (duck_vector * v))                                                                      \
    F(uint64_t *, vector_get_validity, (duck_vector * v))                                                              \
    F(void, vector_ensure_validity_writable, (duck_vector * v))                                                        \
    F(void, vector_assign_string_element_len, (duck_vector * v, duck_size i, const char *text, duck_size n))           \
    F(duck_type *, vector_get_column_type, (duck_vector * v))                                                          \
    F(duck_vector *, list_vector_get_child, (duck_vector * v))                                                         \
    F(duck_size, list_vector_get_size, (duck_vector * v))                                                              \
    F(int, list_vector_set_size, (duck_vector * v, duck_size n))                                                       \
    F(int, list_vector_reserve, (duck_vector * v, duck_size n))                                                        \
    F(duck_vector *, struct_vector_get_child, (duck_vector * v, duck_size i))                                          \
    F(duck_type *, create_logical_type, (int type))                                                                    \
    F(duck_type *, create_list_type, (duck_type * of))                                                                 \
    F(duck_type *, create_struct_type, (duck_type * *type, const char **name, duck_size n))                            \
    F(int, get_type_id, (duck_type * t))                                                                               \
    F(uint8_t, decimal_scale, (duck_type * t))                                                                         \
    F(int, decimal_internal_type, (duck_type * t))                                                                     \
    F(void, destroy_logical_type, (duck_type * *t))                                                                    \
    F(duck_value *, create_null_value, (void))                                                                         \
    F(duck_value *, create_varchar, (const char *text))                                                                \
    F(bool, is_null_value, (duck_value * v))                                                                           \
    F(duck_type *, get_value_type, (duck_value * v))                                                                   \
    F(int64_t, get_int64, (duck_value * v))                                                                            \
    F(double, get_double, (duck_value * v))                                                                            \
    F(char *, get_varchar, (duck_value * v))                                                                           \
    F(duck_blob, get_blob, (duck_value * v))                                                                           \
    F(void, destroy_value, (duck_value * *v))                                                                          \
    F(void, add_replacement_scan,                                                                                      \
      (duck_database * db, void (*call)(duck_info * i, const char *name, void *data), void *data, duck_drop *drop))    \
    F(void, replacement_scan_set_function_name, (duck_info * i, const char *name))                                     \
    F(void, replacement_scan_add_parameter, (duck_info * i, duck_value * v))                                           \
    F(duck_table_function *, create_table_function, (void))                                                            \
    F(void, table_function_set_name, (duck_table_function * f, const char *name))                                      \
    F(void, table_function_add_parameter, (duck_table_function * f, duck_type * t))                                    \
    F(void, table_function_set_extra_info, (duck_table_function * f, void *data, duck_drop *drop))                     \
    F(void, table_function_set_bind, (duck_table_function * f, void (*call)(duck_info * i)))                           \
    F(void, table_function_set_init, (duck_table_function * f, void (*call)(duck_info * i)))                           \
    F(void, table_function_set_local_init, (duck_table_function * f, void (*call)(duck_info * i)))                     \
    F(void, table_function_set_function, (duck_table_function * f, void (*call)(duck_info * i, duck_chunk * out)))     \
    F(void, table_function_supports_projection_pushdown, (duck_table_function * f, bool is))                           \
    F(int, register_table_function, (duck_connection * c, duck_table_function * f))                                    \
    F(void, destroy_table_function, (duck_table_function * *f))                                                        \
    F(void *, bind_get_extra_info, (duck_info * i))                                                                    \
    F(duck_value *, bind_get_parameter, (duck_info * i, duck_size n))                                                  \
    F(void, bind_add_result_column, (duck_info * i, const char *name, duck_type *t))                                   \
    F(void, bind_set_bind_data, (duck_info * i, void *data, duck_drop *drop))                                          \
    F(void, bind_set_cardinality, (duck_info * i, duck_size rows, bool exact))                                         \
    F(void, bind_set_error, (duck_info * i, const char *message))                                                      \
    F(void *, init_get_bind_data, (duck_info * i))                                                                     \
    F(void, init_set_init_data, (duck_info * i, void *data, duck_drop *drop))                                          \
    F(duck_size, init_get_column_count, (duck_info * i))                                                               \
    F(duck_size, init_get_column_index, (duck_info * i, duck_size n))                                                  \
    F(void, init_set_max_threads, (duck_info * i, duck_size n))                                                        \
    F(void, init_set_error, (duck_info * i, const char *message))                                                      \
    F(void *, function_get_bind_data, (duck_info * i))                                                                 \
    F(void *, function_get_init_data, (duck_info * i))                                                                 \
    F(void *, function_get_local_init_data, (duck_info * i))                                                           \
    F(void, function_set_error, (duck_info * i, const char *message))                                                  \
    F(duck_scalar_function *, create_scalar_function, (void))                                                          \
    F(void, scalar_function_set_name, (duck_scalar_function * f, const char *name))                                    \
    F(void, scalar_function_add_parameter, (duck_scalar_function * f, duck_type * t))                                  \
    F(void, scalar_function_set_return_type, (duck_scalar_function * f, duck_type * t))                                \
    F(void, scalar_function_set_special_handling, (duck_scalar_function * f))                                          \
    F(void, scalar_function_set_extra_info, (duck_scalar_function * f, void *data, duck_drop *drop))                   \
    F(void, scalar_function_set_function,                                                                              \
      (duck_scalar_function * f, void (*call)(duck_info * i, duck_chunk * in, duck_vector * out)))                     \
    F(void *, scalar_function_get_extra_info, (duck_info * i))                                                         \
    F(void, scalar_function_set_error, (duck_info * i, const char *message))                                           \
    F(void, scalar_function_set_volatile, (duck_scalar_function * f))                                                  \
    F(int, register_scalar_function, (duck_connection * c, duck_scalar_function * f))                                  \
    F(duck_scalar_set *, create_scalar_function_set, (const char *name))                                               \
    F(int, add_scalar_function_to_set, (duck_scalar_set * s, duck_scalar_function * f))                                \
    F(int, register_scalar_function_set, (duck_connection * c, duck_scalar_set * s))                                   \
    F(void, destroy_scalar_function_set, (duck_scalar_set * *s))                                                       \
    F(void, destroy_scalar_function, (duck_scalar_function * *f))                                                      \
    F(duck_aggregate *, create_aggregate_function, (void))                                                             \
    F(void, aggregate_function_set_name, (duck_aggregate * f, const char *name))                                       \
    F(void, aggregate_function_add_parameter, (duck_aggregate * f, duck_type * t))                                     \
    F(void, aggregate_function_set_return_type, (duck_aggregate * f, duck_type * t))                                   \
    F(void, aggregate_function_set_special_handling, (duck_aggregate * f))                                             \
    F(void, aggregate_function_set_extra_info, (duck_aggregate * f, void *data, duck_drop *drop))                      \
    F(void, aggregate_function_set_functions,                                                                          \
      (duck_aggregate * f, duck_size(*size)(duck_info * i), void (*init)(duck_info * i, void *state),                  \
       void (*update)(duck_info * i, duck_chunk * in, void **state),                                                   \
       void (*combine)(duck_info * i, void **from, void **into, duck_size n),                                          \
       void (*finalize)(duck_info * i, void **state, duck_vector *out, duck_size n, duck_size at)))                    \
    F(void, aggregate_function_set_destructor, (duck_aggregate * f, void (*drop)(void **state, duck_size n)))          \
    F(void *, aggregate_function_get_extra_info, (duck_info * i))                                                      \
    F(void, aggregate_function_set_error, (duck_info * i, const char *message))                                        \
    F(int, register_aggregate_function, (duck_connection * c, duck_aggregate * f))                                     \
    F(void, destroy_aggregate_function, (duck_aggregate * *f))

typedef struct tl_duckdb_api {
#define F(result, name, arguments) result(*name) arguments;
    TL_DUCKDB_FUNCTIONS(F)
#undef F
} tl_duckdb_api;

/* The library, loaded by the first call and kept: that of $TRACELOOM_DUCKDB, else libduckdb.so or libduckdb.so.1. NULL,
 * with TL_EUNSUPPORTED: it is not there, or lacks one of these. */
const tl_duckdb_api *tl_duckdb_load(tl_error *e);

#endif
