/* Events and packets that the tracer lost, from the counters in packets. */
#ifndef TL_FORMAT_CTF_LOSSES_H
#define TL_FORMAT_CTF_LOSSES_H

#include "base/hash.h"
#include "format/ctf/read/ctf_file.h"

/* Streams of one file whose counters are tracked; the trace reports if there are more. */
#define CTF_CHAINS_MAX 4096u

/* The counters of one stream in one file: in its first and its latest packet. */
typedef struct ctf_counters {
    bool has_discarded, has_sequence;
    uint8_t discarded_bits, sequence_bits;
    uint64_t discarded, sequence, begin; /* begin: ticks */
} ctf_counters;

typedef struct ctf_chain {
    uint32_t stream; /* index of the stream class */
    bool has_instance;
    uint64_t instance;
    ctf_counters first, last;
} ctf_chain;

/* Zeroed is empty. */
typedef struct ctf_losses {
    uint64_t events, packets; /* lost in this file */
    ctf_chain *chain;
    uint32_t n, capacity, latest;
    bool beyond;                        /* there are more than CTF_CHAINS_MAX */
    uint64_t unnumbered, unnumbered_at; /* discarded events of the first packet of a stream without sequence numbers (0:
                                           there is none), and its offset */
    tl_hash known;                      /* stream class and instance -> chain */
} ctf_losses;

/* Adds the next packet of a file; begin: its ticks. TL_ENOMEM. */
int ctf_losses_add(ctf_losses *l, const ctf_file *f, const ctf_packet *p, uint64_t begin, tl_error *e);
/* Adds losses between the files of one stream, from tracers that rotate files. l: one for each file. TL_ENOMEM. */
int ctf_losses_join(const ctf_losses *l, const ctf_file *file, uint32_t n, uint64_t *events, uint64_t *packets,
                    tl_error *e);
void ctf_losses_fini(ctf_losses *l);

#endif
