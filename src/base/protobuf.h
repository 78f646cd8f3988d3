/* Protocol buffer wire format, writing only: varints, fields, nested messages. */
#ifndef TL_BASE_PROTOBUF_H
#define TL_BASE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing byte buffer. Zeroed is empty. After a failed allocation `failed` is set and further puts do nothing. */
typedef struct tl_pb {
    uint8_t *data;
    size_t n, capacity;
    bool failed;
} tl_pb;

void tl_pb_fini(tl_pb *b);
void tl_pb_clear(tl_pb *b); /* keeps the memory */
void tl_pb_raw(tl_pb *b, const void *data, size_t n);
/* Adds n bytes for the caller to fill in. NULL: no memory. */
uint8_t *tl_pb_space(tl_pb *b, size_t n);
void tl_pb_varint(tl_pb *b, uint64_t v);
/* Text: a string without its NUL, and decimal numbers. */
void tl_pb_text(tl_pb *b, const char *s);
void tl_pb_text_u64(tl_pb *b, uint64_t v);
void tl_pb_text_i64(tl_pb *b, int64_t v);

void tl_pb_u64(tl_pb *b, unsigned field, uint64_t v); /* also bool, enum, int32/64 as their two's complement */
void tl_pb_fixed64(tl_pb *b, unsigned field, uint64_t v);
void tl_pb_bytes(tl_pb *b, unsigned field, const void *data, size_t n);
void tl_pb_string(tl_pb *b, unsigned field, const char *s);
void tl_pb_packed(tl_pb *b, unsigned field, const uint64_t *v, size_t n);

/* A nested message: size_t at = tl_pb_begin(b, field); ...; tl_pb_end(b, at). The length is filled in at the end. */
size_t tl_pb_begin(tl_pb *b, unsigned field);
void tl_pb_end(tl_pb *b, size_t at);

#endif
