/* The registry of objects: the object of an address, and objects with sleds that come and go. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <pthread.h>
#include <unistd.h>

#include "base/elf/elf_file.h"
#include "rt/object/rt_maps.c"
#include "rt/object/rt_objects.c"

rt_core tl_rt;
rt_handlers tl_rt_handlers;
__thread rt_lane *tl_rt_lane;
rt_lock tl_rt_sleds_lock, tl_rt_found_lock;

static char noted[4096], said[512];
static uint32_t next_id, functions_of_map = 3;
static unsigned added;

/* Replaces the other parts of the recorder. */
uint32_t tl_rt_ids_take(uint32_t n)
{
    uint32_t base = next_id;
    next_id += n;
    return base;
}

bool tl_rt_note(const rt_line *l)
{
    size_t n = strlen(noted);
    snprintf(noted + n, sizeof noted - n, "%.*s\n", (int)l->n, l->text);
    return true;
}

void tl_rt_say_error(const char *what, const char *path, int sys_errno)
{
    (void)path, (void)sys_errno;
    snprintf(said, sizeof said, "%s", what);
}

void tl_rt_line_text(rt_line *l, const char *s)
{
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%s", s);
}

void tl_rt_line_escaped(rt_line *l, const char *s)
{
    tl_rt_line_text(l, s);
}

void tl_rt_line_number(rt_line *l, uint64_t v)
{
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%u", (unsigned)v);
}

void tl_rt_line_hex(rt_line *l, uint64_t v)
{
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%llx", (unsigned long long)v);
}

bool tl_rt_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static unsigned watched;
static char told[64]; /* calls about numbers */

void tl_rt_unload_watch(const rt_object *o)
{
    (void)o;
    watched++;
}

static bool is_watched;

bool tl_rt_unload_is_watched(const rt_object *o)
{
    (void)o;
    return is_watched;
}

void tl_rt_ids_unload(uintptr_t low, uintptr_t high)
{
    assert_true(low < high);
    snprintf(told, sizeof told, "unloaded");
}

void tl_rt_ids_load(uintptr_t low, uintptr_t high, bool same)
{
    assert_true(low < high);
    snprintf(told, sizeof told, same ? "same" : "other");
}

static int pieces;           /* of memory, in use */
static int pieces_left = -1; /* before memory runs out; -1: never */

void *tl_rt_memory_take(size_t n)
{
    if (pieces_left == 0)
        return NULL;
    pieces_left -= pieces_left > 0;
    pieces++;
    return calloc(1, n ? n : 1);
}

void tl_rt_memory_give(void *p, size_t n)
{
    (void)n;
    pieces--;
    free(p);
}

void tl_rt_sleds_add(rt_object *o)
{
    added += o->count;
}

uint32_t tl_rt_map_functions(const void *begin, const void *end, uintptr_t bias, uint64_t *function)
{
    (void)end;
    for (uint32_t i = 0; function && i < functions_of_map; i++)
        function[i] = (uintptr_t)begin - bias + i;
    return functions_of_map;
}

static void own_path(char path[static RT_PATH])
{
    ssize_t n = readlink("/proc/self/exe", path, RT_PATH - 1);
    assert_true(n > 0);
    path[n] = '\0';
}

static void test_object_of_this_program(void **state)
{
    char path[RT_PATH];
    tl_elf *elf;
    uintptr_t here = (uintptr_t)&own_path;
    own_path(path);
    const rt_object *o = tl_rt_object_at(here);
    assert_non_null(o);
    assert_string_equal(o->path, path);
    assert_true(o->low <= here && here < o->high);
    assert_int_equal(tl_elf_open(&elf, path, NULL), TL_OK);
    const char *build_id = tl_elf_build_id(elf);
    assert_string_equal(o->build_id, build_id ? build_id : "");
    assert_int_equal(o->bias == 0, tl_elf_type(elf) == ET_EXEC);
    tl_elf_close(elf);
    assert_int_equal(o->id, 1);
    assert_int_equal(o->count, 0);
    assert_ptr_equal(tl_rt_object_at(here + 1), o);
    assert_ptr_equal(tl_rt_object(0), o);
    assert_int_equal(tl_rt_objects(), 1);
}

static void test_object_of_a_library(void **state)
{
    char path[RT_PATH];
    own_path(path);
    const rt_object *o = tl_rt_object_at((uintptr_t)&pthread_create);
    assert_non_null(o);
    if (strcmp(o->path, path) == 0)
        skip_because("linked statically, or the address is that of a stub");
    assert_contains(o->path, ".so");
    assert_int_equal(o->path[0], '/');
    assert_ptr_equal(tl_rt_object_at((uintptr_t)&pthread_create), o);
}

/* Another one, loaded over a part of this one. */
static rt_object *put_over(const rt_object *o, const char *build_id)
{
    rt_object *other = tl_rt_memory_take(sizeof *other);
    other->low = o->high - 16;
    other->high = o->high + 16;
    strcpy(other->build_id, build_id);
    assert_ptr_equal(append(other, false), other);
    return other;
}

static void test_an_object_comes_again(void **state)
{
    const uintptr_t here = (uintptr_t)&own_path;
    watched = 0;
    rt_object *o = (rt_object *)(uintptr_t)tl_rt_object_at(here);
    assert_non_null(o);
    assert_string_equal(told, "other");
    assert_int_equal(watched, 1);
    assert_int_equal(o->apart, 0);
    if (!o->build_id[0])
        strcpy(o->build_id, "00");
    tl_rt_object_leaves(o->high);
    assert_false(o->gone);
    tl_rt_object_leaves(here);
    assert_true(o->gone);
    assert_string_equal(told, "unloaded");
    is_watched = true; /* its last destructors still run */
    assert_ptr_equal(tl_rt_object_at(here), o);
    assert_true(o->gone);
    assert_string_equal(told, "unloaded");
    assert_int_equal(watched, 1);
    is_watched = false;
    rt_object same = *o;
    same.gone = false;
    assert_ptr_equal(load_again(&same), o);
    assert_false(o->gone);
    assert_string_equal(told, "same");
    assert_int_equal(watched, 2);
    assert_int_equal(tl_rt_objects(), 1);

    /* After another object at the same place, numbers are new. */
    tl_rt_object_leaves(here);
    rt_object *other = put_over(o, "abcd");
    assert_int_equal(other->apart, UINT64_C(2) << 50);
    other->gone = true;
    assert_ptr_equal(load_again(&same), o);
    assert_string_equal(told, "other");
    tl_rt_object_leaves(here);
    assert_ptr_equal(load_again(&same), o);
    assert_string_equal(told, "same");
    assert_int_equal(o->apart, 0);

    /* The same one with other functions, and an unknown one. */
    tl_rt_object_leaves(here);
    strcpy(same.build_id, "beef");
    assert_null(load_again(&same));
    same.build_id[0] = o->build_id[0] = 0;
    assert_null(load_again(&same));
    rt_object *again = put_over(o, "abcd"), *unknown = put_over(o, "");
    assert_int_equal(again->apart, other->apart);
    assert_int_equal(unknown->apart, UINT64_C(4) << 50);
}

static void test_no_object(void **state)
{
    char *heap = malloc(10);
    assert_null(tl_rt_object_at(0));
    assert_null(tl_rt_object_at(1));
    assert_null(tl_rt_object_at(UINTPTR_MAX));
    assert_null(tl_rt_object_at((uintptr_t)&state));
    assert_null(tl_rt_object_at((uintptr_t)heap));
    assert_int_equal(tl_rt_objects(), 0);
    free(heap);
}

static pthread_barrier_t together;

static void *find_own(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&together);
    return (void *)(uintptr_t)tl_rt_object_at((uintptr_t)&own_path);
}

static void test_many_threads_add_one_object(void **state)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    void *found[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, find_own, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &found[i]);
        assert_non_null(found[i]);
        assert_ptr_equal(found[i], found[0]);
    }
    pthread_barrier_destroy(&together);
    assert_int_equal(tl_rt_objects(), 1);
}

static const char sleds[64];
static const rt_handlers *handlers;
static rt_sled_map map = {.version = RT_START_VERSION, .begin = sleds, .end = sleds + 64, .handlers = &handlers};

static void test_register_and_unregister(void **state)
{
    char expected[RT_PATH + 200];
    next_id = 10;
    tl_rt.state = RT_ON;
    tl_rt.file = 1;
    tl_rt_object_register(&map);
    assert_ptr_equal(handlers, &tl_rt_handlers);
    assert_int_equal(tl_rt_objects(), 1);
    assert_int_equal(added, 3);
    const rt_object *o = tl_rt_object(0);
    assert_int_equal(o->base, 10);
    assert_int_equal(o->count, 3);
    assert_int_equal(o->function[2], (uintptr_t)sleds - o->bias + 2);
    assert_int_equal(o->wanted[0] + o->wanted[1] + o->wanted[2], 3);
    snprintf(expected, sizeof expected, "object id=1 base=10 count=3 bias=0x%llx hooks=sleds build-id=%s path=%s\n",
             (unsigned long long)o->bias, o->build_id[0] ? o->build_id : "-", o->path);
    assert_string_equal(noted, expected);
    assert_ptr_equal(tl_rt_object_at((uintptr_t)sleds), o);
    tl_rt_object_unregister(&map);
    assert_true(o->gone);

    noted[0] = '\0';
    tl_rt_object_register(&map); /* the same place: another object, other numbers */
    assert_int_equal(tl_rt_objects(), 2);
    assert_int_equal(tl_rt_object(1)->base, 13);
    assert_contains(noted, "object id=2 base=13");
    assert_ptr_equal(tl_rt_object_at((uintptr_t)sleds), tl_rt_object(1));

    noted[0] = '\0';
    tl_rt_objects_note_new(); /* there is one already */
    assert_string_equal(noted, "");
    tl_rt.file = 2;
    tl_rt_objects_note_new();
    assert_contains(noted, "object id=2 ");
    assert_lacks(noted, "object id=1 "); /* it is gone */
    noted[0] = '\0';
    tl_rt_objects_note();
    assert_contains(noted, "object id=2 ");
}

/* Reads the addresses that the lines "frames" of an object have, and compares them with its functions. */
static unsigned check_frames(const rt_object *o)
{
    unsigned lines = 0, n = 0;
    for (const char *line = strstr(noted, "frames "); line; line = strstr(line + 1, "\nframes "), lines++) {
        unsigned id, first;
        int at;
        line += *line == '\n';
        assert_int_equal(sscanf(line, "frames object=%u first=%u at=%n", &id, &first, &at), 2);
        assert_int_equal(id, o->id);
        assert_int_equal(first, o->base + n + 1);
        assert_true(strcspn(line, "\n") < sizeof((rt_line *)NULL)->text);
        uint64_t address = 0;
        for (char *p = (char *)(uintptr_t)line + at - 1; *p != '\n'; n++) {
            address += strtoull(p + 1, &p, 16);
            assert_true(*p == ',' || *p == '\n');
            assert_true(n < o->count);
            assert_int_equal(address, o->function[n]);
        }
    }
    assert_int_equal(n, o->count);
    return lines;
}

static void test_patched_functions(void **state)
{
    static uint64_t function[400];
    static const rt_line patched = {.text = "patched object=1 functions=3", .n = 28};
    rt_object *o = (rt_object *)(uintptr_t)tl_rt_object_at((uintptr_t)&own_path);
    assert_non_null(o);
    for (unsigned i = 0; i < 400; i++)
        function[i] = i ? function[i - 1] + 1 + i * 7 % 1999 : 0x5a10;
    o->function = function;
    o->base = 123;
    o->count = 3;
    noted[0] = '\0';
    tl_rt_object_note(o); /* nothing is recorded */
    assert_string_equal(noted, "");
    tl_rt.state = RT_ON;
    tl_rt.file = 1;
    tl_rt_object_note(o);
    assert_contains(noted, "object id=1 base=123 count=3 bias=");
    assert_contains(noted, " hooks=patch build-id=");
    assert_contains(noted, "\nframes object=1 first=124 at=5a10,8,f\n");
    assert_int_equal(o->noted, 1);

    /* Several lines, for a new file: each begins with a whole address. */
    o->count = 400;
    o->patched = &patched;
    noted[0] = '\0';
    tl_rt.file = 2;
    tl_rt_objects_note_new();
    assert_int_equal(check_frames(o), 2);
    assert_contains(noted, "\npatched object=1 functions=3\n");
    assert_int_equal(o->noted, 2);

    /* Out of order: a whole address, too. The widest ones. */
    function[1] = UINT64_MAX - 1;
    function[2] = 0;
    function[3] = UINT64_MAX;
    o->count = 4;
    noted[0] = '\0';
    tl_rt_objects_note();
    assert_int_equal(check_frames(o), 2);
    tl_rt_objects_note();
    o->function = NULL;
    o->count = 0;
}

static void test_not_registered(void **state)
{
    map.version++;
    tl_rt_object_register(&map);
    assert_contains(said, "another recorder");
    map.version--;
    map.end = map.begin; /* linked with the start file, but without sleds */
    tl_rt_object_register(&map);
    map.end = sleds + 64;
    assert_int_equal(tl_rt_objects(), 0);
    assert_null(handlers);
    const int before = pieces;
    next_id = UINT32_MAX; /* no more numbers */
    tl_rt_object_register(&map);
    assert_int_equal(tl_rt_objects(), 0);
    assert_contains(said, "no room");
    assert_int_equal(pieces, before);
    int enough = 0;
    for (next_id = 0; tl_rt_objects() == 0; enough++) {
        assert_true(enough < 100);
        assert_int_equal(pieces, before);
        assert_null(handlers);
        pieces_left = enough;
        tl_rt_object_register(&map);
    }
    pieces_left = -1;
    assert_true(enough > 2);
    assert_ptr_equal(handlers, &tl_rt_handlers);
}

static void test_build_ids_of_odd_notes(void **state)
{
    unsigned char note[64] = {4, 0, 0, 0, 3, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0x01, 0xfe};
    char id[65] = "";
    assert_true(tl_rt_notes_build_id(note, 19, id));
    assert_string_equal(id, "ab01fe");
    for (size_t n = 0; n < 19; n++) {
        unsigned char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, note, n);
        assert_false(tl_rt_notes_build_id(copy, n, id));
        free(copy);
    }
    memset(note, 0xff, 4);
    assert_false(tl_rt_notes_build_id(note, 64, id));
    note[0] = 4, note[1] = note[2] = note[3] = 0;
    memset(note + 4, 0xff, 4);
    assert_false(tl_rt_notes_build_id(note, 64, id));
    note[4] = 33, note[5] = note[6] = note[7] = 0; /* longer than any known */
    assert_false(tl_rt_notes_build_id(note, 64, id));
}

/* Cases share one process only if the program is started by hand. */
static int forget(void **state)
{
    for (uint32_t i = 0; i < nobject; i++) {
        free((void *)(uintptr_t)object[i]->function);
        free(object[i]);
        object[i] = NULL;
    }
    nobject = 0;
    handlers = NULL;
    added = 0;
    tl_rt.state = RT_OFF;
    noted[0] = said[0] = '\0';
    return 0;
}

#else
#define forget NULL
RT_SKIPPED(test_object_of_this_program)
RT_SKIPPED(test_object_of_a_library)
RT_SKIPPED(test_an_object_comes_again)
RT_SKIPPED(test_no_object)
RT_SKIPPED(test_many_threads_add_one_object)
RT_SKIPPED(test_register_and_unregister)
RT_SKIPPED(test_patched_functions)
RT_SKIPPED(test_not_registered)
RT_SKIPPED(test_build_ids_of_odd_notes)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_object_of_this_program, forget),
        cmocka_unit_test_teardown(test_object_of_a_library, forget),
        cmocka_unit_test_teardown(test_an_object_comes_again, forget),
        cmocka_unit_test_teardown(test_no_object, forget),
        cmocka_unit_test_teardown(test_many_threads_add_one_object, forget),
        cmocka_unit_test_teardown(test_register_and_unregister, forget),
        cmocka_unit_test_teardown(test_patched_functions, forget),
        cmocka_unit_test_teardown(test_not_registered, forget),
        cmocka_unit_test_teardown(test_build_ids_of_odd_notes, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
