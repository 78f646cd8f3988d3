/* Applies the settings' patterns to the functions of an object. */
#include "rt/object/rt_select.h"

#include "rt/rt_say.h"

typedef struct names {
    const char *object; /* file name */
    const char *name, *plain;
} names;

/* The place of the colon in "object:function"; 0: there is none. Two are part of a name of C++. */
static size_t colon_in(const char *pattern)
{
    for (size_t i = 0; pattern[i]; i++) {
        if (pattern[i] == ':' && pattern[i + 1] == ':')
            i++;
        else if (pattern[i] == ':')
            return i;
    }
    return 0;
}

static bool match(const char *pattern, const names *n)
{
    char object[256];
    const size_t colon = colon_in(pattern);
    if (colon > 0 && colon < sizeof object) {
        rt_copy(object, pattern, colon);
        object[colon] = '\0';
        if (!tl_rt_glob(object, n->object))
            return false;
        pattern += colon + 1;
    }
    return tl_rt_glob(pattern, n->name) || (n->plain && tl_rt_glob(pattern, n->plain));
}

/* No pattern matches a function without a name. */
static bool is_wanted(names n)
{
    char room[1024];
    bool in = tl_rt.set.nfunc == 0;
    if (!n.name)
        return in;
    if (tl_rt_symbols_plain(n.name, room, sizeof room))
        n.plain = room;
    for (unsigned i = 0; i < tl_rt.set.nfunc && !in; i++)
        in = match(tl_rt.set.func[i], &n);
    for (unsigned i = 0; i < tl_rt.set.nnot && in; i++)
        in = !match(tl_rt.set.not_func[i], &n);
    return in;
}

static const char *base_of(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

/* What people see of a function without a symbol. */
static const char *place_of(const rt_object *o, uint64_t address, rt_line *l)
{
    rt_line_begin(l);
    tl_rt_line_text(l, base_of(o->path));
    tl_rt_line_text(l, "+0x");
    tl_rt_line_hex(l, address);
    return l->text;
}

uint32_t tl_rt_select(const rt_object *o)
{
    if (tl_rt.set.nfunc == 0 && tl_rt.set.nnot == 0) {
        for (uint32_t i = 0; i < o->count; i++)
            o->wanted[i] = 1;
        return o->count;
    }
    uint32_t n = 0;
    rt_line place;
    rt_symbols *s = tl_rt_symbols_open(o);
    for (uint32_t i = 0; i < o->count; i++) {
        names f = {.object = base_of(o->path), .name = s ? tl_rt_symbols_name(s, o->function[i]) : NULL};
        if (!f.name && !o->map)
            f.name = place_of(o, o->function[i], &place);
        o->wanted[i] = is_wanted(f);
        n += o->wanted[i];
    }
    if (s)
        tl_rt_symbols_close(s);
    else if (o->map)
        tl_rt_say_error("cannot read the names of functions, so patterns match none of them:", o->path, 0);
    return n;
}
