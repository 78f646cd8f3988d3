/* Asks the runtime. */
#include "clr/clr_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { NAME = 1024, NESTED = 8 };

static clr_object *info;
static bool has_gc_only;

static clr_status query(clr_object *o, const clr_guid *id, clr_object **out)
{
    *out = NULL;
    return CLR_CALL(o, CLR_QUERY, clr_status(*)(clr_object *, const clr_guid *, clr_object **))(o, id, out);
}

bool clr_info_take(clr_object *unknown)
{
    static const clr_guid info5 = {0x07602928, 0xce38, 0x4b83, {0x81, 0xe7, 0x74, 0xad, 0xaf, 0x78, 0x12, 0x14}};
    return query(unknown, &info5, &info) >= 0 && info;
}

bool clr_info_tell(uint32_t events, uint32_t more, bool gc)
{
    clr_status (*tell)(clr_object *, uint32_t, uint32_t) =
        CLR_CALL(info, CLR_SET_EVENT_MASK_2, clr_status(*)(clr_object *, uint32_t, uint32_t));
    has_gc_only = gc && tell(info, events, more | CLR_TELL_GC_ONLY) >= 0;
    return has_gc_only || tell(info, events | (gc ? CLR_TELL_GC : 0u), more) >= 0;
}

void clr_info_thread(void)
{
    CLR_CALL(info, CLR_INITIALIZE_THREAD, clr_status(*)(clr_object *))(info);
}

clr_id clr_info_this_thread(void)
{
    clr_id thread = 0;
    CLR_CALL(info, CLR_GET_CURRENT_THREAD, clr_status(*)(clr_object *, clr_id *))(info, &thread);
    return thread;
}

static void release(clr_object *o)
{
    if (o)
        CLR_CALL(o, CLR_RELEASE, uint32_t(*)(clr_object *))(o);
}

/* A list that one of the runtime's functions makes; NULL: it fails. */
static clr_object *list_of(enum clr_info function)
{
    clr_object *list = NULL;
    return CLR_CALL(info, function, clr_status(*)(clr_object *, clr_object **))(info, &list) >= 0 ? list : NULL;
}

/* The next id of a list; 0: the end. */
static clr_id next(clr_object *list)
{
    clr_id id = 0;
    uint32_t n = 0;
    const clr_status status =
        CLR_CALL(list, CLR_NEXT, clr_status(*)(clr_object *, uint32_t, clr_id *, uint32_t *))(list, 1, &id, &n);
    return status >= 0 && n == 1 ? id : 0;
}

void clr_info_modules(void (*each)(clr_id module))
{
    clr_object *list = list_of(CLR_ENUM_MODULES);
    for (clr_id id; list && (id = next(list)) != 0;)
        each(id);
    release(list);
}

void clr_info_threads(void (*each)(clr_id thread, uint32_t tid))
{
    clr_object *list = list_of(CLR_ENUM_THREADS);
    uint32_t tid;
    for (clr_id id; list && (id = next(list)) != 0;)
        if (CLR_CALL(info, CLR_GET_THREAD_INFO, clr_status(*)(clr_object *, clr_id, uint32_t *))(info, id, &tid) >= 0)
            each(id, tid);
    release(list);
}

clr_id clr_info_function_at(uintptr_t ip)
{
    clr_id function = 0;
    const clr_status status =
        CLR_CALL(info, CLR_GET_FUNCTION_FROM_IP, clr_status(*)(clr_object *, uintptr_t, clr_id *))(info, ip, &function);
    return status >= 0 ? function : 0;
}

/* UTF-16 of the runtime as UTF-8; halves of pairs become '?'. */
static char *utf8(const clr_char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    char *out = tl_alloc(n + 1, 3), *p = out;
    for (size_t i = 0; out && i < n; i++) {
        uint32_t c = s[i];
        if (c >= 0xd800 && c < 0xdc00 && s[i + 1] >= 0xdc00 && s[i + 1] < 0xe000)
            c = 0x10000 + ((c - 0xd800) << 10) + (s[++i] - 0xdc00u);
        else if (c >= 0xd800 && c < 0xe000)
            c = '?';
        if (c >= 0x10000) /* four bytes take the place of two units */
            *p++ = (char)(0xf0 | c >> 18), *p++ = (char)(0x80 | (c >> 12 & 63)), *p++ = (char)(0x80 | (c >> 6 & 63));
        else if (c >= 0x800)
            *p++ = (char)(0xe0 | c >> 12), *p++ = (char)(0x80 | (c >> 6 & 63));
        else if (c >= 0x80)
            *p++ = (char)(0xc0 | c >> 6);
        *p++ = (char)(c < 0x80 ? c : 0x80 | (c & 63));
    }
    if (p)
        *p = 0;
    return out;
}

char *clr_info_module(clr_id module, uintptr_t *base, clr_id *assembly)
{
    clr_char name[NAME] = {0};
    uint32_t n = 0;
    *base = *assembly = 0;
    CLR_CALL(info, CLR_GET_MODULE_INFO,
             clr_status(*)(clr_object *, clr_id, uintptr_t *, uint32_t, uint32_t *, clr_char *, clr_id *))
    (info, module, base, NAME - 1, &n, name, assembly);
    return utf8(name);
}

char *clr_info_assembly(clr_id assembly, clr_id *domain, clr_id *module)
{
    clr_char name[NAME] = {0};
    uint32_t n = 0;
    *domain = *module = 0;
    CLR_CALL(info, CLR_GET_ASSEMBLY_INFO,
             clr_status(*)(clr_object *, clr_id, uint32_t, uint32_t *, clr_char *, clr_id *, clr_id *))
    (info, assembly, NAME - 1, &n, name, domain, module);
    return utf8(name);
}

char *clr_info_domain(clr_id domain)
{
    clr_char name[NAME] = {0};
    uint32_t n = 0;
    clr_id process = 0;
    CLR_CALL(info, CLR_GET_APP_DOMAIN_INFO,
             clr_status(*)(clr_object *, clr_id, uint32_t, uint32_t *, clr_char *, clr_id *))
    (info, domain, NAME - 1, &n, name, &process);
    return utf8(name);
}

/* ---- functions ---- */

static clr_object *metadata_of(clr_id module)
{
    static const clr_guid import = {0x7dac8207, 0xd3ae, 0x4c75, {0x9b, 0x67, 0x92, 0x80, 0x1a, 0x49, 0x7d, 0x44}};
    clr_object *m = NULL;
    const clr_status status = CLR_CALL(info, CLR_GET_MODULE_METADATA,
                                       clr_status(*)(clr_object *, clr_id, uint32_t, const clr_guid *, clr_object **))(
        info, module, 0, &import, &m);
    return status >= 0 ? m : NULL;
}

static char *type_name(clr_object *m, uint32_t type)
{
    clr_char name[NAME] = {0};
    uint32_t n = 0, flags = 0, extends = 0;
    CLR_CALL(m, CLR_GET_TYPE_DEF_PROPS,
             clr_status(*)(clr_object *, uint32_t, clr_char *, uint32_t, uint32_t *, uint32_t *, uint32_t *))
    (m, type, name, NAME - 1, &n, &flags, &extends);
    return utf8(name);
}

/* "Space.Outer/Inner", with this for '/'. */
static char *full_type_name(clr_object *m, uint32_t type, char between)
{
    char *name = type_name(m, type);
    for (int i = 0; name && i < NESTED; i++) {
        uint32_t outer = 0;
        const clr_status status =
            CLR_CALL(m, CLR_GET_NESTED_CLASS_PROPS, clr_status(*)(clr_object *, uint32_t, uint32_t *))(m, type, &outer);
        if (status < 0 || !outer)
            break;
        char *around = type_name(m, outer), *both = NULL;
        if (!around || asprintf(&both, "%s%c%s", around, between, name) < 0)
            both = NULL;
        free(around);
        if (!both)
            break;
        free(name);
        name = both;
        type = outer;
    }
    return name;
}

static char *method_name(clr_object *m, uint32_t method)
{
    clr_char name[NAME] = {0};
    uint32_t type = 0, n = 0, flags = 0, size = 0, rva = 0, how = 0;
    const uint8_t *signature = NULL;
    CLR_CALL(m, CLR_GET_METHOD_PROPS,
             clr_status(*)(clr_object *, uint32_t, uint32_t *, clr_char *, uint32_t, uint32_t *, uint32_t *,
                           const uint8_t **, uint32_t *, uint32_t *, uint32_t *))
    (m, method, &type, name, NAME - 1, &n, &flags, &signature, &size, &rva, &how);
    char *of = full_type_name(m, type, '/'), *own = utf8(name), *both = NULL;
    if (!of || !own || asprintf(&both, "%s:%s", of, own) < 0)
        both = NULL;
    free(of);
    free(own);
    return both;
}

static bool read_function(clr_id function, clr_function *f)
{
    *f = (clr_function){0};
    return CLR_CALL(info, CLR_GET_FUNCTION_INFO, clr_status(*)(clr_object *, clr_id, clr_id *, clr_id *, uint32_t *))(
               info, function, &f->class, &f->module, &f->token) >= 0;
}

clr_id clr_info_module_of(clr_id function)
{
    clr_function f;
    return read_function(function, &f) ? f.module : 0;
}

bool clr_info_function(clr_id function, clr_function *f)
{
    struct {
        uintptr_t start, size;
    } code[8];
    uint32_t n = 0;
    if (!read_function(function, f))
        return false;
    clr_object *m = metadata_of(f->module);
    f->name = m ? method_name(m, f->token) : NULL;
    release(m);
    if (CLR_CALL(info, CLR_GET_CODE_INFO_2,
                 clr_status(*)(clr_object *, clr_id, uint32_t, uint32_t *, void *))(info, function, 8, &n, code) >= 0 &&
        n > 0) {
        f->start = code[0].start;
        f->size = code[0].size;
    }
    return f->name != NULL;
}

clr_map *clr_info_map(clr_id function, uint32_t *n)
{
    enum { MOST = 1 << 16 };
    clr_status (*get)(clr_object *, clr_id, uint32_t, uint32_t *, clr_map *) =
        CLR_CALL(info, CLR_GET_IL_TO_NATIVE, clr_status(*)(clr_object *, clr_id, uint32_t, uint32_t *, clr_map *));
    uint32_t most = 0;
    *n = 0;
    if (get(info, function, 0, &most, NULL) < 0 || most == 0 || most > MOST)
        return NULL;
    clr_map *map = tl_alloc(most, sizeof *map);
    if (map && get(info, function, most, n, map) >= 0 && *n <= most)
        return map;
    free(map);
    *n = 0;
    return NULL;
}

/* ---- classes ---- */

/* Generic arguments may have arguments, and so on. */
enum { ARGUMENTS = 16, ARGUMENTS_DEEP = 4 };

static void put_class(FILE *f, clr_id class, int deep);

/* Is it an array's class, and of what? */
static bool is_array(clr_id class, clr_id *of, uint32_t *rank)
{
    uint32_t type;
    *of = *rank = 0;
    return CLR_CALL(info, CLR_IS_ARRAY_CLASS, clr_status(*)(clr_object *, clr_id, uint32_t *, clr_id *, uint32_t *))(
               info, class, &type, of, rank) == CLR_OK;
}

/* An array's class: "Element[,]". */
static bool put_array(FILE *f, clr_id class, int deep)
{
    uint32_t rank;
    clr_id of;
    if (!is_array(class, &of, &rank))
        return false;
    put_class(f, of, deep + 1);
    fputc('[', f);
    for (uint32_t i = 1; i < rank && i < 32; i++)
        fputc(',', f);
    fputc(']', f);
    return true;
}

static bool read_class(clr_id class, clr_id *module, uint32_t *token, uint32_t *n, clr_id argument[static ARGUMENTS])
{
    clr_id parent = 0;
    *n = 0;
    return class && CLR_CALL(info, CLR_GET_CLASS_INFO_2,
                             clr_status(*)(clr_object *, clr_id, clr_id *, uint32_t *, clr_id *, uint32_t, uint32_t *,
                                           clr_id *))(info, class, module, token, &parent, ARGUMENTS, n, argument) >= 0;
}

/* As Mono spells it: "Space.Outer.Inner<Argument>", without the number of arguments, "`1". */
static void put_name(FILE *f, clr_id module, uint32_t token)
{
    clr_object *m = metadata_of(module);
    char *name = m ? full_type_name(m, token, '.') : NULL;
    release(m);
    for (const char *c = name ? name : "?"; *c; c++) {
        if (*c == '`')
            c += strspn(c + 1, "0123456789");
        else
            fputc(*c, f);
    }
    free(name);
}

static void put_class(FILE *f, clr_id class, int deep)
{
    clr_id module = 0, argument[ARGUMENTS];
    uint32_t token = 0, n = 0;
    if (deep > ARGUMENTS_DEEP || !read_class(class, &module, &token, &n, argument)) {
        if (deep > ARGUMENTS_DEEP || !put_array(f, class, deep))
            fputc('?', f);
        return;
    }
    put_name(f, module, token);
    for (uint32_t i = 0; i < n && i < ARGUMENTS; i++) {
        fputc(i ? ',' : '<', f);
        put_class(f, argument[i], deep + 1);
    }
    if (n)
        fputc('>', f);
}

bool clr_info_class(clr_id class, clr_class *c)
{
    clr_id argument[ARGUMENTS];
    uint32_t n;
    size_t size = 0;
    *c = (clr_class){0};
    FILE *f = open_memstream(&c->name, &size);
    if (!f)
        return false;
    read_class(class, &c->module, &c->token, &n, argument);
    put_class(f, class, 0);
    if (fclose(f) == 0)
        return true;
    free(c->name);
    c->name = NULL;
    return false;
}

static bool is_collectible(clr_id class, int deep)
{
    clr_id module = 0, argument[ARGUMENTS], of, assembly;
    uint32_t token, n = 0, flags = 0, length, rank;
    uintptr_t base;
    if (deep > ARGUMENTS_DEEP)
        return true;
    if (!read_class(class, &module, &token, &n, argument))
        return !is_array(class, &of, &rank) || is_collectible(of, deep + 1);
    for (uint32_t i = 0; i < n; i++)
        if (is_collectible(argument[i], deep + 1))
            return true;
    CLR_CALL(info, CLR_GET_MODULE_INFO_2,
             clr_status(*)(clr_object *, clr_id, uintptr_t *, uint32_t, uint32_t *, clr_char *, clr_id *, uint32_t *))
    (info, module, &base, 0, &length, NULL, &assembly, &flags);
    return flags & CLR_COLLECTIBLE;
}

bool clr_info_class_collectible(clr_id class)
{
    return is_collectible(class, 0);
}

uintptr_t clr_info_object_size(clr_id object)
{
    uintptr_t size = 0;
    CLR_CALL(info, CLR_GET_OBJECT_SIZE_2, clr_status(*)(clr_object *, clr_id, uintptr_t *))(info, object, &size);
    return size;
}

bool clr_info_hooks(uintptr_t (*number)(clr_id function, void *unused, int32_t *wanted), void (*enter)(void),
                    void (*leave)(void), void (*tail)(void))
{
    return CLR_CALL(info, CLR_SET_FUNCTION_ID_MAPPER_2,
                    clr_status(*)(clr_object *, uintptr_t(*)(clr_id, void *, int32_t *), void *))(info, number, NULL) >=
               0 &&
           CLR_CALL(info, CLR_SET_HOOKS_3, clr_status(*)(clr_object *, void (*)(void), void (*)(void), void (*)(void)))(
               info, enter, leave, tail) >= 0;
}
