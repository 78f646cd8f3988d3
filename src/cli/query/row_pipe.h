/* Rows from one process to another through a pipe: typed values of the same machine, in frames.
 *
 *     frame     u64 size of what follows the kind; u8 kind; content. All numbers are in the order of the host
 *     COLUMNS   u8 are times nanoseconds; of each column: u8 type, u8 unit, its name with a NUL
 *     ROW       of each column: u8 kind of value; nothing, 8 bytes of a number, or u64 size, that many bytes and a NUL
 *     MESSAGE   a line for standard error, without its end
 *     TEXT      a part of an answer that is text
 *     END       u8 exit status, u8 bits of tl_end_flag
 *
 * A worker ends with END; one that died does not. */
#ifndef TL_CLI_ROW_PIPE_H
#define TL_CLI_ROW_PIPE_H

#include "query/query_result.h"

typedef enum tl_row_frame_kind {
    TL_ROWS_COLUMNS = 1,
    TL_ROWS_ONE,
    TL_ROWS_MESSAGE,
    TL_ROWS_TEXT,
    TL_ROWS_END
} tl_row_frame_kind;

typedef enum tl_end_flag {
    TL_END_FAILED = 1,    /* there is no answer, or not the whole */
    TL_END_EVERYWHERE = 2 /* the statement would fail with any trace */
} tl_end_flag;

/* -- sending --------------------------------------------------------------------------------------------------------
 */

#define TL_SEND_ROOM 32768u

typedef struct tl_row_sender {
    int fd;
    size_t n;         /* bytes that wait in the room */
    uint64_t sent_at; /* ns of the monotonic clock, or 0: nothing was sent */
    uint64_t waited;  /* ns that the reader kept us waiting */
    bool is_closed;   /* nobody reads */
    uint8_t room[TL_SEND_ROOM];
} tl_row_sender;

void tl_send_columns(tl_row_sender *s, const tl_result *r);
/* Sends the first row at once, and others when the room is full or some time has passed. */
void tl_send_row(tl_row_sender *s, tl_result *r);
/* MESSAGE or TEXT. */
void tl_send_text(tl_row_sender *s, tl_row_frame_kind kind, const char *text, size_t n);
/* Sends all that waits, too. */
void tl_send_end(tl_row_sender *s, int status, unsigned flags);

/* -- receiving ------------------------------------------------------------------------------------------------------
 */

typedef struct tl_row_receiver {
    uint8_t *data; /* [begin .. end] was received, and not taken */
    size_t begin, end, capacity;
} tl_row_receiver;

/* The content of a frame; valid until more is received. */
typedef struct tl_row_frame {
    tl_row_frame_kind kind;
    const uint8_t *at, *end;
} tl_row_frame;

/* Reads what there is, or waits for it. > 0: bytes; 0: the other end is closed; < 0: TL_ENOMEM or TL_EIO. */
int tl_receive(tl_row_receiver *in, int fd, tl_error *e);
/* Takes a frame. False: it is not there as a whole. */
bool tl_row_frame_take(tl_row_receiver *in, tl_row_frame *f);
/* Forgets what was received. */
void tl_receiver_clear(tl_row_receiver *in);
void tl_receiver_fini(tl_row_receiver *in);

/* Parts of a frame, in their order; false if there is no such part, since the sender was no worker of ours. Text is
 * borrowed from the frame. */
bool tl_row_frame_byte(tl_row_frame *f, uint8_t *byte);
bool tl_row_frame_column(tl_row_frame *f, tl_column_info *column);
bool tl_row_frame_value(tl_row_frame *f, tl_sql_value *value);

#endif
