/* Chooses the decoder for each read, and decides what happens when one finds damage.
 *
 * The global lock is held to choose a decoder, not to decode. A decoder has a lock of its own, and moves to another
 * frame only while no thread uses or waits for it. Damage is decided under the global lock, as if everything had been
 * decompressed from front to back: earlier frames that have not been read to the end are checked first. */
#include "base/io/input_lazy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/input_slot.h"

typedef struct decoder {
    tl_slot slot;
    pthread_mutex_t lock; /* of the slot */
    /* Under the global lock: */
    bool taken; /* is in a frame */
    uint32_t frame;
    unsigned users;
    uint64_t pos, used; /* its position after the last use, and when that was */
    pthread_t user;
} decoder;

struct tl_lazy {
    tl_packed packed;
    bool close_fd;
    tl_frames frames;
    bool *checked; /* of each frame: read to its end without an error */
    _Atomic uint64_t size;
    pthread_mutex_t lock;
    pthread_cond_t idle;
    unsigned ndecoder;
    decoder decoder[TL_LAZY_SLOTS];
    uint64_t clock, made; /* bytes decompressed, including repeated ones */
    uint32_t last;        /* the frame that damage cuts off; later ones are not there. Else UINT32_MAX */
    bool spooled;
    tl_spool spool;
    char damage[TL_CODEC_DAMAGE];
};

/* Compressed bytes in order, to decompress a part at once. */
typedef struct range {
    const tl_packed *p;
    uint64_t at, end;
} range;

static int64_t next_of_range(void *arg, void *buf, size_t n, tl_error *e)
{
    range *r = arg;
    const uint64_t left = r->end - r->at;
    const int64_t got = tl_packed_read(r->p, r->at, buf, left < n ? (size_t)left : n, e);
    r->at += got > 0 ? (uint64_t)got : 0;
    return got;
}

int tl_lazy_open(tl_lazy **out, const tl_packed *p, tl_error *e)
{
    tl_frames f;
    const int status = tl_slot_possible() ? tl_frames_find(&f, p, e) : 0;
    if (status <= 0)
        return status;
    tl_lazy *l = calloc(1, sizeof *l);
    bool *checked = calloc(f.n, sizeof *checked);
    if (!l || !checked) {
        free(l);
        free(checked);
        tl_frames_fini(&f);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for decompression");
    }
    l->packed = *p;
    l->frames = f;
    l->checked = checked;
    l->size = f.size;
    l->last = UINT32_MAX;
    tl_spool_init(&l->spool);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->idle, NULL);
    const uint64_t fit = f.window ? TL_LAZY_WINDOW_BYTES / f.window : TL_LAZY_SLOTS;
    l->ndecoder = fit > TL_LAZY_SLOTS ? TL_LAZY_SLOTS : fit > 1 ? (unsigned)fit : 1;
    for (unsigned i = 0; i < l->ndecoder; i++)
        pthread_mutex_init(&l->decoder[i].lock, NULL);
    *out = l;
    return 1;
}

void tl_lazy_own(tl_lazy *l)
{
    l->close_fd = true;
}

void tl_lazy_close(tl_lazy *l)
{
    if (!l)
        return;
    for (unsigned i = 0; i < l->ndecoder; i++) {
        tl_slot_fini(&l->decoder[i].slot);
        pthread_mutex_destroy(&l->decoder[i].lock);
    }
    pthread_cond_destroy(&l->idle);
    pthread_mutex_destroy(&l->lock);
    tl_spool_fini(&l->spool);
    tl_frames_fini(&l->frames);
    free(l->checked);
    if (l->close_fd)
        close(l->packed.fd);
    free(l);
}

uint64_t tl_lazy_size(const tl_lazy *l)
{
    return l->size;
}

const tl_frames *tl_lazy_frames(const tl_lazy *l)
{
    return &l->frames;
}

const char *tl_lazy_damage(tl_lazy *l, uint64_t *offset)
{
    pthread_mutex_lock(&l->lock);
    const bool some = l->damage[0] != '\0';
    if (some && offset)
        *offset = l->size;
    pthread_mutex_unlock(&l->lock);
    return some ? l->damage : NULL;
}

int tl_lazy_note(const tl_lazy *l, uint32_t magic, void **data, size_t *n, tl_error *e)
{
    const tl_frames *f = &l->frames;
    uint32_t i = 0;
    while (i < f->nnote && f->note[i].magic != magic)
        i++;
    if (i == f->nnote || f->note[i].n > TL_NOTE_BYTES_MAX)
        return 0;
    const size_t size = f->note[i].n;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a skippable frame of %zu bytes", size);
    const int64_t got = tl_packed_read(&l->packed, f->note[i].at, bytes, size, e);
    if (got < 0 || (uint64_t)got < size) {
        free(bytes);
        return got < 0 ? (int)got : 0;
    }
    *data = bytes;
    *n = size;
    return 1;
}

int tl_lazy_spool(const tl_lazy *l, tl_spool *spool, char damage[TL_CODEC_DAMAGE], tl_error *e)
{
    range all = {.p = &l->packed, .end = l->packed.size};
    const int status = tl_decompress(TL_CODEC_ZSTD, next_of_range, &all, spool, damage, e);
    if (status < 0)
        tl_spool_fini(spool);
    return status;
}

/* From now on everything comes from the spool. Damage reported before stays as reported. */
static int spool(tl_lazy *l, tl_error *e)
{
    char damage[TL_CODEC_DAMAGE];
    const int status = tl_lazy_spool(l, &l->spool, damage, e);
    if (status < 0)
        return status;
    l->spooled = true;
    if (l->damage[0] == '\0') {
        l->size = l->spool.size;
        memcpy(l->damage, damage, sizeof damage);
    } else if (l->spool.size < l->size) {
        l->size = l->spool.size;
    }
    for (unsigned i = 0; i < l->ndecoder; i++)
        if (l->decoder[i].users == 0)
            tl_slot_fini(&l->decoder[i].slot);
    return 0;
}

/* Does the file agree with its table, if that was used? 1, 0, or < 0. */
static int verify_table(tl_lazy *l, tl_error *e)
{
    tl_frames f;
    if (!l->frames.listed)
        return 1;
    int status = tl_frames_walk(&f, &l->packed, e);
    if (status > 0) {
        status = tl_frames_equal(&f, &l->frames);
        tl_frames_fini(&f);
    }
    l->frames.listed = status <= 0;
    return status;
}

/* A decoder found frame k to differ from what it should be: finds where the content ends. */
static int decide_damage(tl_lazy *l, uint32_t k, tl_error *e)
{
    if (l->spooled || l->last <= k) /* another thread has found it */
        return 0;
    int status = verify_table(l, e);
    if (status <= 0)
        return status < 0 ? status : spool(l, e);
    for (uint32_t i = 0; i <= k; i++) {
        const tl_packed_frame *f = &l->frames.frame[i];
        if (l->checked[i])
            continue;
        char damage[TL_CODEC_DAMAGE];
        range r = {.p = &l->packed, .at = f->at, .end = f->at + f->packed};
        uint64_t size = f->begin;
        status = tl_decompress_count(TL_CODEC_ZSTD, next_of_range, &r, f->at, &size, damage, e);
        if (status < 0)
            return status;
        if (damage[0]) {
            memcpy(l->damage, damage, sizeof damage);
            l->last = i;
            l->size = size;
            return 0;
        }
        l->checked[i] = true;
    }
    return tl_fail(e, TL_EIO, TL_NO_OFFSET, "the compressed file changed while it was read");
}

/* How many bytes a decoder must advance to reach an offset; UINT64_MAX: it must start again. */
static uint64_t way_to(const decoder *d, uint64_t begin, uint64_t offset)
{
    if (offset >= d->pos)
        return offset - d->pos;
    return d->pos - offset <= TL_SLOT_KEPT || d->pos - begin <= TL_SLOT_KEPT ? 0 : UINT64_MAX;
}

/* Chooses a decoder for a byte of frame k; NULL: all are busy elsewhere. One that other threads use is not
 * moved far ahead, unless starting again would cost more. */
static decoder *choose(tl_lazy *l, uint32_t k, uint64_t offset)
{
    const uint64_t begin = l->frames.frame[k].begin;
    decoder *near = NULL, *idle = NULL;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < l->ndecoder; i++) {
        decoder *d = &l->decoder[i];
        if (d->users == 0 && (!idle || (idle->taken && (!d->taken || d->used < idle->used))))
            idle = d;
        const uint64_t way = d->taken && d->frame == k ? way_to(d, begin, offset) : UINT64_MAX;
        if (way < least || (near && way == least && d->users < near->users)) {
            near = d;
            least = way;
        }
    }
    if (near &&
        (!idle || least <= TL_SLOT_KEPT / 2 || pthread_equal(near->user, pthread_self()) || least < near->pos - begin))
        return near;
    if (idle) {
        idle->taken = true;
        idle->frame = k;
        idle->pos = begin;
    }
    return idle;
}

/* One read within one frame, under the lock, which it releases while it decodes. */
static int read_frame(tl_lazy *l, uint64_t offset, void *buf, size_t n, size_t *got, tl_error *e)
{
    const uint32_t at = tl_frames_at(&l->frames, offset), k = at < l->last ? at : l->last;
    const tl_packed_frame *f = &l->frames.frame[k];
    const tl_slot_frame frame = {.at = f->at,
                                 .packed = f->packed,
                                 .begin = f->begin,
                                 .end = k == l->last ? l->size : f[1].begin,
                                 .whole = k != l->last};
    decoder *d = choose(l, k, offset);
    if (!d) {
        pthread_cond_wait(&l->idle, &l->lock);
        return 1;
    }
    const uint64_t left = frame.end - offset;
    d->users++;
    d->used = ++l->clock;
    d->user = pthread_self();
    pthread_mutex_unlock(&l->lock);
    pthread_mutex_lock(&d->lock);
    int status = tl_slot_read(&d->slot, &l->packed, &frame, offset, buf, left < n ? (size_t)left : n, got, e);
    const uint64_t pos = d->slot.pos, made = d->slot.made;
    d->slot.made = 0;
    pthread_mutex_unlock(&d->lock);
    pthread_mutex_lock(&l->lock);
    d->pos = pos;
    d->taken = status > 0;
    l->made += made;
    if (status > 0 && frame.whole && pos == frame.end)
        l->checked[k] = true;
    if (--d->users == 0) /* wakes all: a thread that no longer needs a decoder would not pass it on */
        pthread_cond_broadcast(&l->idle);
    if (status == 0 && !frame.whole && !l->spooled)
        return tl_fail(e, TL_EIO, TL_NO_OFFSET, "the compressed file changed while it was read");
    return status == 0 ? decide_damage(l, k, e) : status;
}

static bool too_much_again(const tl_lazy *l)
{
    const uint64_t size = l->frames.size, again = size > TL_LAZY_AGAIN ? size : TL_LAZY_AGAIN;
    return l->made > size && l->made - size > again;
}

int tl_lazy_read(tl_lazy *l, uint64_t offset, void *buf, size_t n, size_t *got, tl_error *e)
{
    size_t sum = 0;
    int status = 0;
    pthread_mutex_lock(&l->lock);
    while (status >= 0 && sum < n && offset + sum < l->size) {
        if (!l->spooled && too_much_again(l) && (status = spool(l, e)) < 0)
            break;
        const uint64_t left = l->size > offset + sum ? l->size - offset - sum : 0;
        const size_t wanted = left < n - sum ? (size_t)left : n - sum;
        size_t more = 0;
        if (!l->spooled) {
            status = read_frame(l, offset + sum, (uint8_t *)buf + sum, wanted, &more, e);
        } else {
            pthread_mutex_unlock(&l->lock);
            status = tl_spool_read(&l->spool, offset + sum, (uint8_t *)buf + sum, wanted, e);
            pthread_mutex_lock(&l->lock);
            more = wanted;
        }
        sum += status >= 0 ? more : 0;
    }
    pthread_mutex_unlock(&l->lock);
    if (status < 0)
        return status;
    *got = sum;
    return 0;
}
