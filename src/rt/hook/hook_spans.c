/* Spans, instants and counters that are placed by hand (traceloom/rt.h), as a source of hooks.
 *
 * A site gets its index when it is first used. Threads, and signal handlers on top of them, may meet there: each takes
 * an index, one of them wins by compare and swap, the others' stay empty. Nobody waits. The site's name is noted before
 * its index is visible, so no event precedes its name. Only a signal handler that interrupted the recorder leaves the
 * note to the next user.
 *
 * A span is a call of a function that has only a name. Its fields, if any, are a typed event after the entry. Patterns
 * of functions do not apply to what was placed by hand. */
#include "rt/hook/rt_spans.h"
#include "rt/mode/rt_ctf.h"
#include "rt/object/rt_ids.h"
#include "rt/rt_clock.h"
#include "rt/rt_life.h"
#include "rt/rt_note.h"
#include "rt/rt_record.h"
#include "rt/rt_say.h"
#include "rt/rt_settings.h"
#include "rt/rt_store.h"
#include <errno.h>
#include <fcntl.h>

_Static_assert((int)TL_RT_OFF == (int)RT_OFF && (int)TL_RT_WAITING == (int)RT_WAITING && (int)TL_RT_ON == (int)RT_ON &&
                   (int)TL_RT_OVER == (int)RT_OVER,
               "states of the recorder are the same outside");

TL_RT_ALIVE();

uint32_t tl_rt_on;
/* The same variable by a hidden name: a library that has a recorder, too, may see the program's tl_rt_on. */
extern uint32_t tl_rt_on_here __attribute__((alias("tl_rt_on"), visibility("hidden")));

static struct entry {
    const struct tl_rt_site *site; /* a copy: the site may be in a library that is unloaded. NULL: empty */
    uintptr_t address;             /* of the site itself, once it has this index; else 0 */
    uint32_t function;             /* of a span: its function's number */
    uint32_t noted;                /* tl_rt.file + 1 of the file that has its note */
} entries[RT_SITES];
static uint32_t nentry;
#define NOT_RECORDED UINT32_MAX /* in place of a site's id: there were too many sites */
static uint32_t behind;         /* how many sites have no note yet */

uint32_t tl_rt_span_function(uint32_t index)
{
    return entries[index].function;
}

/* ---- notes ---- */

static void note_function(uint32_t function, const char *name)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "function id=");
    tl_rt_line_number(&l, function);
    tl_rt_line_text(&l, " name=");
    tl_rt_line_escaped(&l, name);
    tl_rt_note(&l);
}

/* A field's name without the characters that would end it in a note. */
static void put_key(rt_line *l, const char *name)
{
    char one[2] = {0, 0};
    for (; *name; name++) {
        one[0] = *name == ' ' || *name == ',' || *name == ':' || *name == '\n' ? '_' : *name;
        tl_rt_line_text(l, one);
    }
}

static void note_event(uint32_t index, const struct tl_rt_site *s)
{
    static const char *const types[] = {"", "i64", "u64", "f64", "string"};
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "event id=");
    tl_rt_line_number(&l, RT_SITE_EVENT + index);
    tl_rt_line_text(&l, s->kind == TL_RT_COUNTER_SITE ? " kind=counter" : " kind=instant");
    for (uint32_t i = 0; i < s->nfield; i++) {
        tl_rt_line_text(&l, i ? "," : " fields=");
        put_key(&l, s->field[i].name);
        tl_rt_line_text(&l, ":");
        tl_rt_line_text(&l, types[s->field[i].type]);
    }
    tl_rt_line_text(&l, " name=");
    tl_rt_line_escaped(&l, s->name);
    tl_rt_note(&l);
}

/* Another thread may empty the entry meanwhile; the copy stays. */
static void note(uint32_t index)
{
    struct entry *e = &entries[index];
    const struct tl_rt_site *site = __atomic_load_n(&e->site, __ATOMIC_ACQUIRE);
    if (!site)
        return;
    if (e->function)
        note_function(e->function, site->name);
    if (!e->function || site->nfield)
        note_event(index, site);
    __atomic_store_n(&e->noted, tl_rt.file + 1, __ATOMIC_RELAXED);
}

void tl_rt_spans_note(void)
{
    uint32_t n = __atomic_load_n(&nentry, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < RT_SITES; i++)
        note(i);
}

static void note_those_behind(void)
{
    __atomic_store_n(&behind, 0, __ATOMIC_RELAXED);
    uint32_t n = __atomic_load_n(&nentry, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < RT_SITES; i++)
        if (entries[i].noted != tl_rt.file + 1)
            note(i);
}

/* ---- sites ---- */

static bool is_inside(const rt_lane *l, uintptr_t sp)
{
    return l->busy && tl_rt_record_is_nested(l, sp);
}

static RT_COLD void say_too_many(void)
{
    static uint32_t said;
    if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        return;
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "more spans, instants and counters in the source than can be recorded: ");
    tl_rt_line_number(&l, RT_SITES);
    tl_rt_say(&l, 0, true);
}

/* Runs `what` with the lane busy, so that the recorder does not close its file meanwhile, and no signal handler writes
 * a note within a note. False: a signal handler may not. */
static RT_COLD bool guarded(uintptr_t sp, void (*what)(uint32_t), uint32_t index)
{
    if (tl_rt_lane && is_inside(tl_rt_lane, sp))
        return false;
    uint64_t mask = rt_signals_block();
    rt_lane *l = tl_rt_record_take(sp);
    if (l) {
        what(index);
        tl_rt_record_give(l);
    }
    rt_signals_restore(mask);
    return l != NULL;
}

static void note_with_others(uint32_t index)
{
    note(index);
    if (__atomic_load_n(&behind, __ATOMIC_RELAXED))
        note_those_behind();
}

static void note_others(uint32_t index)
{
    (void)index;
    note_those_behind();
}

static const char *keep_text(const char *s)
{
    char *copy = s ? tl_rt_memory_keep(rt_length(s) + 1) : NULL;
    if (copy)
        rt_copy(copy, s, rt_length(s) + 1);
    return copy;
}

static uint32_t fields_of(const struct tl_rt_site *site)
{
    return site->nfield < RT_SITE_FIELDS ? site->nfield : (uint32_t)RT_SITE_FIELDS;
}

/* A copy of what is recorded about a site; NULL: out of memory. */
static struct tl_rt_site *copy_of(const struct tl_rt_site *site)
{
    uint32_t n = fields_of(site);
    struct tl_rt_site *copy = tl_rt_memory_keep(sizeof *copy);
    struct tl_rt_field *field = tl_rt_memory_keep(n * sizeof *field);
    bool good = copy && field;
    if (good) {
        *copy = (struct tl_rt_site){.kind = site->kind, .nfield = n, .field = field};
        copy->name = keep_text(site->name);
        good = copy->name != NULL;
    }
    for (uint32_t i = 0; good && i < n; i++) {
        field[i] = (struct tl_rt_field){.name = keep_text(site->field[i].name), .type = site->field[i].type};
        good = field[i].name != NULL;
    }
    return good ? copy : NULL;
}

static bool is_copy(const struct tl_rt_site *copy, const struct tl_rt_site *site)
{
    bool same = copy->kind == site->kind && copy->nfield == fields_of(site) && tl_rt_same(copy->name, site->name);
    for (uint32_t i = 0; same && i < copy->nfield; i++)
        same = copy->field[i].type == site->field[i].type && tl_rt_same(copy->field[i].name, site->field[i].name);
    return same;
}

/* The index + 1 of a site whose library is loaded again where it was; 0: it is new. */
static uint32_t known(const struct tl_rt_site *site)
{
    uint32_t n = __atomic_load_n(&nentry, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < RT_SITES; i++)
        if (__atomic_load_n(&entries[i].address, __ATOMIC_ACQUIRE) == (uintptr_t)site && is_copy(entries[i].site, site))
            return i + 1;
    return 0;
}

/* The next free index; RT_SITES: there is none. */
static uint32_t take_index(void)
{
    uint32_t index = __atomic_load_n(&nentry, __ATOMIC_RELAXED);
    while (index < RT_SITES &&
           !__atomic_compare_exchange_n(&nentry, &index, index + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return index;
}

/* An entry for a site; NULL: no room, or no number for its function. */
static struct entry *make_entry(const struct tl_rt_site *site)
{
    struct tl_rt_site *copy = copy_of(site);
    const uint32_t index = copy ? take_index() : (uint32_t)RT_SITES;
    if (index == RT_SITES)
        return NULL;
    struct entry *e = &entries[index];
    e->function = 0;
    if (site->kind == TL_RT_SPAN_SITE) {
        e->function = tl_rt_ids_take(1) + 1;
        if (!e->function)
            return NULL;
    }
    copy->id = index + 1;
    __atomic_store_n(&e->site, copy, __ATOMIC_RELEASE);
    return e;
}

/* Gives the site an id, unless another thread has. Returns the resulting one: an index + 1, or NOT_RECORDED. */
static uint32_t settle(struct tl_rt_site *site, uint32_t id)
{
    uint32_t there = 0;
    bool first = __atomic_compare_exchange_n(&site->id, &there, id, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE);
    return first ? id : there;
}

/* Makes an entry for the site. Returns the site's id, perhaps from a faster thread; 0: no entry can be made. */
static uint32_t add(struct tl_rt_site *site, uintptr_t sp)
{
    struct entry *e = make_entry(site);
    if (!e)
        return 0;
    const uint32_t own = e->site->id;
    if (!guarded(sp, note_with_others, own - 1))
        __atomic_fetch_add(&behind, 1, __ATOMIC_RELAXED);
    const uint32_t id = settle(site, own);
    if (id == own)
        __atomic_store_n(&e->address, (uintptr_t)site, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&e->site, NULL, __ATOMIC_RELEASE);
    return id;
}

static RT_COLD uint32_t first_use(struct tl_rt_site *site, uintptr_t sp)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);
    if (id == NOT_RECORDED)
        return 0;
    id = known(site);
    if (id) {
        __atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
    } else if (__atomic_load_n(&nentry, __ATOMIC_RELAXED) < RT_SITES) {
        id = add(site, sp);
    } else {
        say_too_many();
        id = settle(site, NOT_RECORDED);
    }
    return id == NOT_RECORDED ? 0 : id;
}

/* The site's index + 1; 0: it cannot be recorded. */
static inline uint32_t id_of(struct tl_rt_site *site, uintptr_t sp)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);
    if (RT_UNLIKELY(id - 1 >= RT_SITES))
        return first_use(site, sp);
    if (RT_UNLIKELY(__atomic_load_n(&behind, __ATOMIC_RELAXED)))
        guarded(sp, note_others, 0);
    return id;
}

/* ---- payloads ---- */

uint32_t tl_rt_site_text(const char *s)
{
    uint32_t n = 0;
    while (s && n <= RT_SITE_TEXT && s[n])
        n++;
    if (n <= RT_SITE_TEXT)
        return n;
    for (n = RT_SITE_TEXT; n > RT_SITE_TEXT - 4 && ((unsigned char)s[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

/* The fields of an event, in order: 8 bytes each, or the length of a text (4 bytes) and its bytes. Without fields one
 * byte 0: llvm-xray reads no file that has an empty event. */
static void put_event(const struct tl_rt_site *site, const union tl_rt_value *value)
{
    enum { ROOM = 2048 }; /* longer texts are cut: a signal handler's stack is small */
    char data[ROOM];
    size_t n = 0;
    for (uint32_t i = 0; i < site->nfield; i++) {
        size_t rest = 8 * (size_t)(site->nfield - i - 1); /* each later field has at least 8 bytes */
        if (site->field[i].type != TL_RT_TEXT) {
            rt_copy(data + n, &value[i], 8);
            n += 8;
            continue;
        }
        uint32_t length = tl_rt_site_text(value[i].s);
        if (length > ROOM - n - 4 - rest)
            length = (uint32_t)(ROOM - n - 4 - rest);
        rt_copy(data + n, &length, 4);
        rt_copy(data + n + 4, value[i].s, length);
        n += 4 + length;
    }
    if (n == 0)
        data[n++] = 0;
    tl_rt_handlers.typed(RT_SITE_EVENT + site->id - 1, data, n);
}

/* ---- events with fields in mode "ctf" ---- */

/* Calls left by longjmp end before the spans around them: at the exit of a function that does not exist. */
static RT_COLD void end_calls(rt_lane *l, uintptr_t keep)
{
    uint64_t exits = l->lost.exits;
    tl_rt_handlers.exit(RT_ID_MAX, keep, keep);
    l->lost.exits = exits;
}

static void put_ctf(const struct tl_rt_site *site, int phase, uintptr_t sp, uintptr_t keep,
                    const union tl_rt_value *value)
{
    rt_lane *l = tl_rt_lane;
    if (l && is_inside(l, keep)) {
        tl_rt_ctf_site_late(l, rt_now(), site, phase, value);
        return;
    }
    if (l && RT_UNLIKELY(l->top->sp < keep))
        end_calls(l, keep);
    const rt_ctf_place at = {sp, keep};
    l = tl_rt_record_take(keep);
    if (!l)
        return;
    tl_rt_ctf_site(l, rt_now(), site, phase, &at, value);
    tl_rt_record_give(l);
}

/* ---- what macros call ---- */

void tl_rt_span_enter(struct tl_rt_site *site, uintptr_t sp, const union tl_rt_value *value)
{
    uint32_t id = id_of(site, sp);
    if (RT_UNLIKELY(!id))
        return;
    if (tl_rt.set.modes & RT_MODE_CTF) {
        put_ctf(entries[id - 1].site, RT_CTF_BEGIN, sp, sp, value);
        return;
    }
    tl_rt_handlers.enter(entries[id - 1].function, sp, sp);
    if (entries[id - 1].site->nfield && (tl_rt.set.modes & RT_MODE_FDR))
        put_event(entries[id - 1].site, value);
}

void tl_rt_span_leave(struct tl_rt_site *site, uintptr_t sp, uintptr_t keep)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);
    if (RT_UNLIKELY(id - 1 >= RT_SITES))
        return;
    if (tl_rt.set.modes & RT_MODE_CTF)
        put_ctf(entries[id - 1].site, RT_CTF_END, sp, keep, NULL);
    else
        tl_rt_handlers.exit(entries[id - 1].function, sp, keep);
}

void tl_rt_event(struct tl_rt_site *site, const union tl_rt_value *value)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    uint32_t id = id_of(site, sp);
    if (RT_UNLIKELY(!id))
        return;
    if (tl_rt.set.modes & RT_MODE_CTF)
        put_ctf(entries[id - 1].site, RT_CTF_BEGIN, sp, sp, value);
    else if (tl_rt.set.modes & RT_MODE_FDR)
        put_event(entries[id - 1].site, value);
}

/* ---- control ---- */

/* Without TRACELOOM in the environment, the program's own call begins everything. */
static void begin_unasked(void)
{
    tl_rt.pid = (int)RT_SYS0(SYS_getpid);
    long n = RT_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", tl_rt.exe, RT_PATH - 1);
    tl_rt.exe[n > 0 ? n : 0] = '\0';
    tl_rt_settings_default(&tl_rt.set);
}

int tl_rt_record_start(void)
{
    if (tl_rt.state == RT_OFF)
        begin_unasked();
    return tl_rt_start();
}

int tl_rt_record_stop(void)
{
    return tl_rt.state == RT_ON ? tl_rt_stop() : 0;
}

int tl_rt_record_flush(void)
{
    return tl_rt.state == RT_ON || tl_rt.state == RT_WAITING ? tl_rt_flush() : -EINVAL;
}

int tl_rt_record_state(void)
{
    return (int)__atomic_load_n(&tl_rt.state, __ATOMIC_RELAXED);
}

static void start(void)
{
    __atomic_store_n(&tl_rt_on, 1, __ATOMIC_RELEASE);
}

static void stop(void)
{
    __atomic_store_n(&tl_rt_on, 0, __ATOMIC_RELEASE);
}

static rt_hook hook = {.name = "spans", .start = start, .stop = stop};

/* Before the constructor that begins to record. */
static __attribute__((constructor(101))) void add_hook(void)
{
    tl_rt_hook_add(&hook);
}
